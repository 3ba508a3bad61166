"""The language Kotlin: finds the references in a file and their kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.parsing import ROUND, Match, Repair, outside, replace_groups
from ci_eval.core.grammar.scopes import LOCAL, LOCAL_TYPE, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, read_keywords
from ci_eval.core.grammar.walk import CALLED, REFERENCE, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.jvm import JVM_WORD, JvmWalk, Names, imports, read_package


def _dollars(match: Match) -> bytes:
    """Rewrite `$$"a $b $$c"`, in which `$b` is plain text, as the same string with a single `$`."""
    before, text = match["dollars"], match["text"]
    inner = re.sub(
        rb"\$+",
        lambda run: run[0].replace(b"$", b" ")[:-1] + b"$" if len(run[0]) >= len(before) else b" " * len(run[0]),
        text,
    )
    return b" " * len(before) + inner


def _context(match: Match) -> bytes:
    """Rewrite `context(a: A)` as the head of a function, and `context(A)` as the type of a value."""
    named = re.match(rb"\s*\w+\s*:", match["inner"])
    before, after = (b"fun con(", b")") if named else (b"val c:x<", b">")
    return match["indent"] + before + match["inner"] + after


REPAIRS = (
    Repair(
        re.compile(
            rb"(?P<skip>/(?:/[^\n]*|\*[\s\S]*?\*/))|(?P<dollars>\$\$+)(?P<text>\"\"\"[\s\S]*?\"\"\"+|"
            rb"\"(?:\\.|[^\"\\\n])*\")"
        ),
        _dollars,
    ),
    Repair(outside(rb"^(?P<indent>[ \t]*)(?P<k>context)\((?P<inner>" + ROUND + rb")\)(?=\s*(?:@|\w))"), _context),
    Repair(
        outside(rb"(?:^|[{;])[ \t]*!?(?:is|in)\b[^\n{}]{0,200}?[ \t](?P<k>if)\b(?=[^\n]{0,200}?->)"),
        lambda m: replace_groups(m, k=b","),
    ),
    Repair(outside(rb"(?:^|[{;])[ \t]*(?P<k1>else)[ \t]+(?P<k2>if)\b(?=[^\n{]{0,200}?->)")),
    # In `@A @B() internal expect annotation class C()`, the grammar would parse a call of `expect`.
    Repair(
        outside(rb"\bexpect[ \t]+(?P<k>annotation)(?=\s+class\b)"),
        always=True,
        trigger=re.compile(rb"expect[ \t]+annotation"),
    ),
    # In `: A by a {`, the grammar would parse a call of `a` with a lambda.
    Repair(
        outside(
            rb"^(?:[^\n{}/\"]{0,200}\b(?:class|object)\b[^\n{}/\"]{0,300}|[ \t]*\)[ \t]*)"
            rb":[^\n{}=/\"]{0,300}[ \t](?P<k>by)(?=[ \t]+[\w.]+(?:\([^()\n]{0,200}\))?[ \t]*\{)"
        ),
        lambda m: replace_groups(m, k=b","),
    ),
    # The grammar does not support `constructor` on a separate line after `class`.
    Repair(
        outside(
            rb"\bclass\s+\w+(?:[ \t]*<[^<>{}()]{0,200}>)?(?P<gap>(?:[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/)){0,2000}\*/)?\n){1,5}\s*)(?=(?:@\w+\s+|[a-z]+\s+){0,5}constructor\b)"
        )
    ),
    # The grammar does not support `actual val x: Int` as a constructor parameter. `public` has the same length.
    Repair(outside(rb"\b(?P<k>actual)(?=\s+va[lr]\b)"), lambda _: b"public"),
    # The grammar does not support the `<*>` in `A<*>::f`.
    Repair(outside(rb"\b[A-Z]\w*(?P<type><\*>)(?=::)")),
    # The grammar would parse `return !isEmpty()` as `return !is Empty()`.
    Repair(
        outside(rb"\breturn(?:@\w+)?[ \t]+(?P<not>!)(?=i[sn]\w)"),
        always=True,
        trigger=re.compile(rb"return(?:@\w+)?[ \t]+!i[sn]\w"),
    ),
    # The grammar does not support the `\$` in `"\$$name"`.
    Repair(re.compile(rb"(?P<dollar>\\\$)(?=\$)"), always=True, trigger=re.compile(rb"\\\$\$")),
    # The grammar supports `{ val x: Int }` only with a line end before the closing brace.
    Repair(outside(rb"[ \t](?=\})"), lambda _: b"\n"),
)

# The grammar has single nodes for `as?`, `!in` and `return@`, so these are keywords here.
KEYWORDS = read_keywords("kotlin").union("!in !is const context null reified".split()) - {"dynamic"}
USUAL = dict.fromkeys(
    "Any Annotation Array Boolean BooleanArray Byte ByteArray Char CharArray CharSequence Comparable Deprecated "
    "Double DoubleArray Enum Error Exception Float FloatArray Function IllegalArgumentException "
    "IllegalStateException IndexOutOfBoundsException Int IntArray Lazy Long LongArray NoSuchElementException "
    "Nothing NullPointerException Number OptIn Pair Result RuntimeException Short ShortArray String StringBuilder "
    "Suppress Throwable Triple UInt ULong Unit UnsupportedOperationException".split(),
    "kotlin",
) | dict.fromkeys(
    "ArrayList Collection HashMap HashSet Iterable Iterator LinkedHashMap LinkedHashSet List ListIterator Map "
    "MutableCollection MutableIterable MutableIterator MutableList MutableMap MutableSet Sequence Set".split(),
    "kotlin.collections",
)
"""The types that need no import → their packages."""


_COMMENTS = frozenset(["line_comment", "multiline_comment"])


# The number of annotations and modifiers is limited: a hostile file of nothing else would take very long to match.
_TOP = re.compile(
    r"^(?:@\S+\s+){0,20}(?:[a-z]+\s+){0,20}(?:class|interface|object|fun|val|var|typealias)\s+(?:<[^>\n]*>\s*)?"
    r"(?:[\w<>?, *]+\.)?(\w+)",
    re.MULTILINE,
)
# The node type of a modifier is the name of the modifier's group, not the keyword.
_MODIFIERS = (
    "class_modifier member_modifier visibility_modifier function_modifier property_modifier inheritance_modifier "
    "parameter_modifier reification_modifier platform_modifier variance_modifier"
).split()
_CLASSES = frozenset(["class_declaration", "object_declaration", "companion_object", "object_literal"])
_BODIES = frozenset(["class_body", "enum_class_body"])
_KEYS = {
    **dict.fromkeys((*_CLASSES, "type_alias"), ("{}", "{}()", "<{}>")),
    "function_declaration": ("{}()",),
    "enum_entry": ("{}",),
}
"""Node type of a declaration → the keys of the declared name in a scope."""


class ClassScope(Scope):
    parameters: dict[str, Origin] = msgspec.field(default_factory=dict)
    """The constructor parameters that hide members of the same name in initializers."""


class KotlinWalk(JvmWalk):
    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node).strip("`")
        if role == TYPE or node.type == "type_identifier":
            self.emit(node, Kind.TYPE_REFERENCE, place, self.known.find(f"<{name}>", place.scope))
        elif role == CALLED:
            origin = self.known.find(f"{name}()", place.scope)
            # The name may be a variable that holds a function.
            origin = place.scope.find(name) if origin is UNKNOWN else origin
            self.emit(node, Kind.METHOD_CALL, place, Origin(origin.static, origin.package))
        else:
            self.variable(node, name, place)

    def variable(self, node: Node, name: str, place: NodePlace) -> None:
        owner = place.scope.owner(name)
        if name == "this":
            # This is `$this` in a string.
            self.emit(node, Kind.KEYWORD, place)
        elif owner is not None:
            origin = owner.names[name]
            kind = Kind.FIELD if owner.kind == "class" else Kind.VARIABLE
            self.emit(node, Kind.TYPE_REFERENCE if origin.holder == "class" else kind, place, origin)
        # `it` is the implicit parameter of a lambda; `field` is the value of a property.
        elif name in {"it", "field"}:
            self.emit(node, Kind.VARIABLE, place, LOCAL)
        else:
            origin = self.known.find(name, place.scope)
            self.emit(node, Kind.TYPE_REFERENCE if self.known.is_type(name) else Kind.VARIABLE, place, origin)

    @handle_nodes("call_expression")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        callee, *suffixes = node.children
        role = CALLED
        # The grammar parses a line that begins with a parenthesis as arguments of the call on the line above.
        if suffixes and b"\n" in self.source[callee.end_byte : suffixes[-1].start_byte]:
            arguments = suffixes[-1].children
            if arguments and arguments[0].type == "value_arguments":
                role, suffixes = REFERENCE, [*suffixes[:-1], *arguments[0].children, *arguments[1:]]
        self.push(suffixes, REFERENCE, place)
        self.each([(callee, role, place)])

    @handle_nodes("navigation_expression")
    def navigation(self, node: Node, role: str, place: NodePlace) -> None:
        receiver, *suffixes = node.children
        origin = self.expression_before_dot(receiver, place)
        for suffix in suffixes:
            self._suffix(suffix, role, origin, receiver, place)

    def _suffix(self, node: Node, role: str, origin: Origin, receiver: Node, place: NodePlace) -> None:
        for member in node.children if node.child_count else [node]:
            if member.type == "simple_identifier":
                self._member(member, role, origin, receiver, place)
            else:
                # The name after `::` is usually a function.
                role = CALLED if member.type == "::" else role
                self.push([member], REFERENCE, place)

    @handle_nodes("directly_assignable_expression")
    def assigned(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `a.b[c].d` before `=`. All suffixes are in one node."""
        receiver, *suffixes = node.children
        origin = UNKNOWN
        if suffixes and suffixes[0].type == "navigation_suffix":
            origin = self.expression_before_dot(receiver, place)
        else:
            self.push([receiver], REFERENCE, place)
        for suffix in suffixes:
            if suffix.type == "navigation_suffix":
                self._suffix(suffix, REFERENCE, origin, receiver, place)
            else:
                self.push([suffix], REFERENCE, place)
            origin = self.origin_of_members(self.source[node.start_byte : suffix.end_byte].decode(), place)
            receiver = suffix

    def _member(self, node: Node, role: str, origin: Origin, receiver: Node, place: NodePlace) -> None:
        name = self.text(node).strip("`")
        known = origin
        of_this = receiver.type == "this_expression"
        if of_this:
            owner = place.scope.enclosing("class")
            # A method may have the name of a field, so its key is `x()`.
            known = (owner.names.get(f"{name}()" if role == CALLED else name) if owner else None) or LOCAL
        elif origin.holder == "module" and role == CALLED:
            known = Origin(True, origin.package)
        if role == CALLED:
            # The function may be an extension function, which is static.
            static = None if known.static is False and known.package is None else known.static
            self.emit(node, Kind.METHOD_CALL, place, Origin(static, known.package))
        elif of_this:
            self.emit(node, Kind.FIELD, place, known)
        else:
            self.plain_member(node, name, known, place)

    @handle_nodes("infix_expression")
    def infix(self, node: Node, _role: str, place: NodePlace) -> None:
        left, *siblings = [child for child in node.children if child.type not in _COMMENTS]
        if siblings and siblings[0].type == "simple_identifier":
            # The grammar parses the `if` of a guard as a function.
            word = siblings.pop(0)
            self.emit(word, Kind.KEYWORD if self.text(word) == "if" else Kind.METHOD_CALL, place)
        self.push([left, *siblings], REFERENCE, place)

    @handle_nodes("callable_reference")
    def callable_reference(self, node: Node, _role: str, place: NodePlace) -> None:
        *before, member = node.children
        for child in before:
            if child.type == "type_identifier":
                self.variable(child, self.text(child), place)
            else:
                self.push([child], REFERENCE, place)
        if member.type == "simple_identifier":
            self.emit(member, Kind.METHOD_CALL, place)
        else:
            self.push([member], REFERENCE, place)

    @handle_nodes("value_arguments", "indexing_suffix")
    def arguments(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, NodePlace(place.scope, node.type == "value_arguments" or place.argument))

    @handle_nodes("value_argument")
    def argument(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        if len(children) > 2 and children[1].type == "=":
            self.emit(children[0], Kind.ARGUMENT_NAME, place)
            children = children[2:]
        self.push(children, REFERENCE, place)

    @handle_nodes("user_type")
    def user_type(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the parts of `java.util.Map.Entry<K, V>` and visit the type arguments."""
        parts = [child for child in node.children if child.type == "type_identifier"]
        self.emit_qualified(parts, place, starts_with_type=True)
        self.push([child for child in node.children if child.type != "type_identifier"], TYPE, place)

    @handle_nodes("import_header")
    def import_(self, node: Node, _role: str, place: NodePlace) -> None:
        for child in node.children:
            if child.type == "identifier":
                self.import_path([part for part in child.children if part.type == "simple_identifier"], place)
            elif child.type == "import_alias":
                self.push(child.children[:1], REFERENCE, place)
            else:
                self.push([child], REFERENCE, place)

    names = frozenset(["simple_identifier", "type_identifier", "interpolated_identifier"])
    keywords = KEYWORDS | {"super_expression", "this_expression", "null_literal", "use_site_target", *_MODIFIERS}
    ignored = "package_header"

    paths = frozenset(["navigation_expression"])
    blocks = "statements control_structure_body function_body"
    unnamed = "enum_entry type_alias type_parameter"

    def __init__(self, text: str, path: str, declared: Declarations) -> None:
        super().__init__(text.encode(), read_package(text, path), declared)
        self.known = Names(self.package, declared, USUAL, text)

    def outermost(self, root: Node) -> Scope:
        scope = Scope("file")
        for child in root.children:
            for header in child.children if child.type == "import_list" else ():
                parts = {part.type: part for part in header.children}
                path = self.text(parts["identifier"]) if "identifier" in parts else ""
                self.known.roots.add(path.partition(".")[0])
                if parts.keys() & {".*", "wildcard_import"}:
                    self.known.wildcards.append(path)
                else:
                    alias = parts["import_alias"].children[-1:] if "import_alias" in parts else []
                    name = self.text(alias[0]) if alias else path.rpartition(".")[2]
                    scope.names.update(self.known.imported(path, name))
        scope.names.update(self._declared_names(root.children, static=True))
        return scope

    def _declared_names(self, nodes: Sequence[Node], *, static: bool) -> dict[str, Origin]:
        """Return the origins of the names that a file or class body declares. They are known in the whole file or body,
        even before their declaration."""
        origins: dict[str, Origin] = {}
        for child in nodes:
            kind = child.type
            # Members of a companion object are used like static members of the class.
            if kind == "companion_object":
                for body in child.children:
                    if body.type in _BODIES:
                        origins.update(self._declared_names(body.children, static=True))
            elif kind == "property_declaration":
                origins.update({self.text(name): Origin(static, self.package) for name in self._bound_names(child)})
            elif kind in _KEYS and (name := self.find_name(child)) is not None:
                holder = "class" if kind in _CLASSES or kind == "type_alias" else ""
                origin = Origin(static or kind != "function_declaration", self.package, holder)
                origins.update({key.format(self.text(name)): origin for key in _KEYS[kind]})
        return origins

    def _bound_names(self, node: Node) -> list[Node]:
        """Return the nodes of the names that a `val`, a loop or a lambda defines."""
        names = []
        for child in node.children:
            if child.type == "variable_declaration":
                names += [leaf for leaf in child.children[:2] if leaf.type == "simple_identifier"]
            elif child.type == "multi_variable_declaration":
                names += self._bound_names(child)
        return names

    @handle_nodes(*_CLASSES)
    def class_(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a class. Its constructor's parameters are known in the body; those with `val` or `var` are fields."""
        children = node.children
        name = self.find_name(node) if node.type != "object_literal" else None
        static = node.type in {"object_declaration", "companion_object"}
        # Constructor parameters without `val` or `var` are not members, so they are in a scope around the class.
        around = Scope("block", place.scope)
        scope = ClassScope("class", around)
        for child in children:
            if child.type in _BODIES:
                scope.names.update(self._declared_names(child.children, static=static))
            elif child.type == "primary_constructor":
                for parameter in child.children:
                    # `binding_pattern_kind` is the node of `val` or `var`.
                    is_field = any(part.type == "binding_pattern_kind" for part in parameter.children)
                    if parameter.type == "class_parameter":
                        origin = Origin(False, self.package) if is_field else LOCAL
                        self.define(self.find_name(parameter), scope if is_field else around, origin)
            self.define_type_parameters(child, around)
        scope.parameters = {name: origin for name, origin in around.names.items() if name in scope.names}
        # All classes except local ones are already defined.
        if place.scope.kind == "block":
            self.define(name, place.scope, LOCAL_TYPE, "<{}>")
        inner, outer = NodePlace(scope, False), NodePlace(around, place.argument)
        others = [child for child in children if child != name]
        for child in reversed(others):
            if child.child_count:
                # A delegation may contain the class body; see `delegation`.
                is_member = child.type in _BODIES or child.children[-1].type == "explicit_delegation"
                self._stack.append((child, REFERENCE, inner if is_member else outer))
        self.push([child for child in others if not child.child_count], REFERENCE, outer)

    @handle_nodes("explicit_delegation")
    def delegation(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit `A by a` in the scope of the class. The grammar parses the class body after `a` as a lambda."""
        *others, value = node.children
        outer = NodePlace(place.scope.parent or place.scope, place.argument)
        suffix = value.children[-1].children if value.type == "call_expression" else []
        if suffix and suffix[-1].type == "annotated_lambda":
            body = suffix[-1]
            statements = [part for lambda_ in body.children for child in lambda_.children for part in child.children]
            place.scope.names.update(self._declared_names(statements, static=False))
            self._stack.append((body, REFERENCE, NodePlace(place.scope, False)))
            self.push(suffix[:-1], REFERENCE, outer)
            self.push(value.children[:1], CALLED if len(suffix) > 1 else REFERENCE, outer)
        else:
            self.push([value], REFERENCE, outer)
        self.push(others, role, outer)

    @handle_nodes("function_declaration", "secondary_constructor", "anonymous_function", "setter", "getter")
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        # A function's body is not an argument, even if the function is one.
        inner = NodePlace(Scope("block", place.scope), False)
        name = self.find_name(node) if node.type == "function_declaration" else None
        for child in node.children:
            self.define_type_parameters(child, inner.scope)
            if child.type == "simple_identifier" and node.type == "setter":
                self.define(child, inner.scope)
        if place.scope.kind == "block":
            self.define(name, place.scope, key="{}()")
        self.in_order([child for child in node.children if child.type != "simple_identifier"], inner)

    @handle_nodes("parameter", "class_parameter", "parameter_with_optional_type")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        # `class_` has already defined the parameters of the class.
        if node.type != "class_parameter":
            self.define(self.find_name(node), place.scope)
        self.without_name(node, REFERENCE, place)

    @handle_nodes("property_declaration", "for_statement", "when_subject")
    def bindings(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define names after their values are visited. The names of a loop are known only in its body."""
        if node.type == "for_statement":
            place = NodePlace(Scope("block", place.scope), place.argument)
        names = self._bound_names(node) if place.scope.kind == "block" else []
        inner, place = place, self._initial(place)
        others: list[Node] = []
        for child in node.children:
            if child.type == "variable_declaration":
                others += [leaf for leaf in child.children if leaf.type != "simple_identifier"]
            elif child.type == "multi_variable_declaration":
                others += [leaf for variable in child.children for leaf in variable.children if leaf.child_count]
            else:
                others.append(child)
        last = [child for child in others if child.type in {"control_structure_body", "getter", "setter"}]
        self._stack += [(child, REFERENCE, inner) for child in reversed(last)]
        # Define the names after the value is visited and before the body is.
        self._stack += [(name, _BIND, place) for name in names]
        self.in_order([child for child in others if child not in last], place)

    @handle_nodes("anonymous_initializer")
    def initializer(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, self._initial(place))

    def _initial(self, place: NodePlace) -> NodePlace:
        """Return the place of initializers, in which the constructor's parameters are known."""
        if isinstance(place.scope, ClassScope) and place.scope.parameters:
            return NodePlace(Scope("block", place.scope, dict(place.scope.parameters)), place.argument)
        return place

    @handle_nodes("simple_identifier", "interpolated_identifier")
    def leaf(self, node: Node, role: str, place: NodePlace) -> None:
        if role == _BIND:
            self.define(node, place.scope)
        else:
            self.name(node, role, place)

    @handle_nodes("lambda_literal")
    def lambda_(self, node: Node, _role: str, place: NodePlace) -> None:
        # A lambda's body is not an argument, even if the lambda is one.
        inner = NodePlace(Scope("block", place.scope), False)
        for child in node.children:
            for name in self._bound_names(child) if child.type == "lambda_parameters" else ():
                self.define(name, inner.scope)
        self.in_order(node.children, inner)

    @handle_nodes("lambda_parameters", "variable_declaration", "multi_variable_declaration")
    def declaration(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push([child for child in node.children if child.type != "simple_identifier"], REFERENCE, place)

    @handle_nodes("catch_block")
    def catch(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), place.argument)
        self.define(self.find_name(node), inner.scope)
        self.without_name(node, REFERENCE, inner)

    @handle_nodes("this_expression", "super_expression", "jump_expression")
    def labelled(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `this@Foo` without its label, which is not a token."""
        others = [child for child in node.children if child.type not in {"type_identifier", "label"}]
        self.push(others, REFERENCE, place)


_BIND = "bind"


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    return read_package(text, path), frozenset(_TOP.findall(text))


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    return extract_tokens(KotlinWalk(text, path, declared), "kotlin", REPAIRS)


LANGUAGE: Language = Language(
    name="kotlin",
    title="Kotlin",
    dependencies="jvm",
    grammars={".kt": "kotlin", ".kts": "kotlin"},
    keywords=KEYWORDS,
    word=JVM_WORD,
    extract=extract,
    declare=declare,
    shape=Shape(
        lists=frozenset(["source_file", "class_body", "enum_class_body", "import_list"]),
        # The body of a secondary constructor has a single node, `statements`.
        bodies=frozenset(
            ["function_body", "lambda_literal", "anonymous_initializer", "secondary_constructor statements"]
        ),
        closers=frozenset([")", "]", "}", "type_arguments >", "type_parameters >"]),
        quoted=frozenset(["string_literal"]),
        # A `try` without `catch` is a syntax error; `finally {}` is the shortest valid end.
        stand_ins={"control_structure_body": "{}", "class_body": "{}", "catch_block": " finally {}"},
    ),
    imports=imports,
)
