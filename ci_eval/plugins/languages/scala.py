"""The language Scala: which names in a file are references, and what kind each is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.jvm.names import JVM_WORD, Known, is_type_name, package_part, read_package
from ci_eval.core.grammar.jvm.walk import LOCAL, JvmWalk
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind

KEYWORDS = frozenset(
    "abstract case catch class def derives do else end enum export extends extension false final finally for "
    "forSome given if implicit import infix inline lazy macro match new null object opaque open override "
    "package private protected return sealed super then this throw trait transparent true try type using val "
    "var while with yield".split()
)
_USUAL = (
    dict.fromkeys(
        "Any AnyRef AnyVal App Array BigDecimal BigInt Boolean Byte Char Double Either Equiv Float Fractional "
        "Function0 Function1 Function2 Int Integral Left Long None Nothing Null Numeric Option Ordered Ordering "
        "PartialFunction Predef Product Right Serializable Short Some StringContext Symbol Tuple1 Tuple2 Tuple3 "
        "Unit".split(),
        "scala",
    )
    | dict.fromkeys("List Map Nil Seq Set Vector Stream".split(), "scala.collection.immutable")
    | dict.fromkeys("IndexedSeq Iterable Iterator Traversable".split(), "scala.collection")
    | dict.fromkeys(
        "Class Comparable Error Exception IllegalArgumentException IllegalStateException IndexOutOfBoundsException "
        "Integer NullPointerException Object Runnable RuntimeException String StringBuilder System Thread Throwable "
        "UnsupportedOperationException".split(),
        "java.lang",
    )
)
# The number of annotations and modifiers is limited, since a hostile file may have nothing else, and would take long.
_TOP = re.compile(
    r"^(?:@\S+\s+){0,20}(?:[a-z]+(?:\[\w+\])?\s+){0,20}"
    r"(?:class|trait|object|def|val|var|type|enum|given)\s+(\w+)",
    re.MULTILINE,
)
LOCAL_TYPE = Origin(False, None, "class")
_CLASSES = frozenset(["class_definition", "trait_definition", "object_definition", "enum_definition"])
_VALUES = frozenset(["val_definition", "var_definition", "val_declaration", "var_declaration"])
_FUNCTIONS = frozenset(["function_definition", "function_declaration"])
_TYPES = ("type_identifier", "generic_type", "stable_type_identifier", "tuple_type", "function_type", "compound_type")


class ScalaWalk(JvmWalk):
    """The handlers for Scala's nodes."""

    names = frozenset(["identifier", "type_identifier"])
    keywords = KEYWORDS | {"null_literal"}
    ignored = frozenset(
        "( ) [ ] { } , . ; : = < > @ => <- <: >: _ # | $ * operator_identifier comment block_comment integer_literal "
        "floating_point_literal character_literal symbol_literal package_clause wildcard namespace_wildcard unit ?=> "
        'string_literal string escape_sequence " """ \''.split()
    )

    paths = frozenset(["field_expression", "stable_identifier"])

    def __init__(self, text: str, path: str, declared: Declarations) -> None:
        super().__init__(text.encode(), read_package(text, path, nested=True), declared)
        self.known = Known(self.package, declared, _USUAL, text)

    def outermost(self, root: Node) -> Scope:
        scope = Scope("file")
        scope.names.update(self._declared_names(root.children, static=True))
        return scope

    def _declared_names(self, nodes: Sequence[Node], *, static: bool) -> dict[str, Origin]:
        """Return the origins of what the file, or the body of a class, declares, by name. A name is known in all of it,
        also before its declaration."""
        origins: dict[str, Origin] = {}
        for child in nodes:
            kind = child.type
            if kind in _FUNCTIONS:
                # A function without parameters is called without brackets, so both keys may find it.
                keys: tuple[str, ...] = ("{}", "{}()")
            elif kind in _CLASSES:
                # Case classes are made without `new`, so the name of a class may be called.
                keys = ("{}", "{}()", "<{}>")
            elif kind == "type_definition":
                keys = ("<{}>",)
            elif kind == "given_definition":
                origins.update({self.text(name): Origin(static, self.package) for name in self._given_names(child)})
                continue
            elif kind in _VALUES:
                origins.update({self.text(name): Origin(static, self.package) for name in self._pattern_names(child)})
                continue
            else:
                continue
            name = child.child_by_field_name("name")
            if name is not None:
                holder = "class" if kind in _CLASSES else ""
                origin = Origin(static or (None if holder else False), self.package, holder)
                origins.update({key.format(self.text(name)): origin for key in keys})
        return origins

    def _given_names(self, node: Node) -> list[Node]:
        """Return the name of a given, if it has one: an instance without one begins with its type."""
        return [child for child in node.children[1:2] if child.type == "identifier"]

    def _pattern_names(self, node: Node) -> list[Node]:
        """Return the names directly in the pattern of a `val`."""
        pattern = node.child_by_field_name("pattern") or node.child_by_field_name("name")
        if pattern is None:
            return []
        return [leaf for leaf in (pattern.children or [pattern]) if leaf.type == "identifier"]

    # ------------------------------------------------------------------------------------------------------ names

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        if node.type == "type_identifier" or role == TYPE:
            self.emit(node, Kind.TYPE_REFERENCE, place, self.known.find(f"<{name}>", place.scope), name)
        # The grammars take `this` and `super` for names.
        elif name in KEYWORDS:
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
        elif role == CALLED:
            called = self.known.find(f"{name}()", place.scope)
            origin = called if called is not UNKNOWN else place.scope.find(name)
            self.emit(node, Kind.METHOD_CALL, place, Origin(origin.static, origin.package), name)
        # In a pattern, only names that begin with a small letter are new.
        elif role == BOUND and (name[:1].islower() or name[:1] == "_"):
            place.scope.names[name] = LOCAL
        else:
            self.variable(node, name.strip("`"), place)

    def variable(self, node: Node, name: str, place: NodePlace) -> None:
        owner = place.scope.owner(name)
        origin = owner.names[name] if owner else self.known.find(name, place.scope)
        if origin.holder == "class" or (owner is None and self.known.is_type(name)):
            kind = Kind.TYPE_REFERENCE
        else:
            kind = Kind.FIELD if owner and owner.kind == "class" else Kind.VARIABLE
        # Names in backquotes are typed without them.
        self.emit(node, kind, place, origin, name, skip=int(self.source[node.start_byte : node.start_byte + 1] == b"`"))

    @handle_nodes("call_expression", "generic_function")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        callee, *siblings = node.children
        self.push(siblings, REFERENCE, place)
        if callee.child_count:
            self._stack.append((callee, CALLED, place))
        else:
            self.push([callee], CALLED, place)

    @handle_nodes("arguments")
    def arguments(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(place.scope, True)
        for child in node.children:
            children = child.children if child.type == "assignment_expression" else []
            if children and children[0].type == "identifier":
                self.emit(children[0], Kind.ARGUMENT_NAME, inner)
                self.push(children[1:], REFERENCE, inner)
            else:
                self.push([child], REFERENCE, inner)

    @handle_nodes("field_expression", "stable_identifier")
    def field(self, node: Node, role: str, place: NodePlace) -> None:
        receiver, *siblings = node.children
        if receiver.type == "identifier":
            origin = self.receiver(receiver, place)
        else:
            origin = self.path_origin(receiver, place)
            self.push([receiver], REFERENCE, place)
        for member in siblings:
            if member.type == "identifier":
                self._member(member, role, origin, receiver, place)
            else:
                self.push([member], REFERENCE, place)

    def receiver(self, node: Node, place: NodePlace) -> Origin:
        name = self.text(node)
        if name in KEYWORDS:
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
            return LOCAL if name == "this" else UNKNOWN
        return super().receiver(node, place)

    def _member(self, node: Node, role: str, origin: Origin, receiver: Node, place: NodePlace) -> None:
        name = self.text(node)
        known = Origin(origin.static, origin.package)
        if receiver.type == "identifier" and self.text(receiver) == "this":
            owner = place.scope.enclosing("class")
            known = (owner.names.get(f"{name}()" if role == CALLED else name) if owner else None) or LOCAL
        if role == CALLED:
            # Whatever it is called on, it may be an extension method.
            static = None if known == LOCAL else known.static
            self.emit(node, Kind.METHOD_CALL, place, Origin(static, known.package), name)
        elif origin.holder == "module":
            self.emit(
                node,
                Kind.TYPE_REFERENCE if self.known.is_type(name) else Kind.IMPORT,
                place,
                Origin(True, known.package),
            )
        elif origin.static and is_type_name(name):
            self.emit(node, Kind.TYPE_REFERENCE, place, known, name)
        else:
            self.emit(node, Kind.FIELD, place, known, name)

    @handle_nodes("stable_type_identifier", "projected_type")
    def qualified_type(self, node: Node, _role: str, place: NodePlace) -> None:
        first, *siblings = node.children
        origin = UNKNOWN
        if first.child_count:
            origin = self.path_origin(first, place)
            self.push([first], REFERENCE, place)
        elif first.type == "identifier":
            origin = self.receiver(first, place)
        else:
            self.push([first], TYPE, place)
        for child in siblings:
            if child.type == "type_identifier":
                self.emit(child, Kind.TYPE_REFERENCE, place, Origin(True if origin.package else None, origin.package))
            else:
                self.push([child], TYPE, place)

    @handle_nodes("infix_expression", "postfix_expression")
    def infix(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the name in the middle of `a to b`, which is called, and visit its operands."""
        left, *siblings = node.children
        if siblings and siblings[0].type == "identifier":
            self.emit(siblings.pop(0), Kind.METHOD_CALL, place)
        self.push([left, *siblings], REFERENCE, place)

    @handle_nodes("interpolated_string_expression")
    def interpolation(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit the code in a string. In a pattern, its names are new."""
        # The `s` before the quote is part of the literal.
        if role != BOUND:
            self.push(node.children[1:], REFERENCE, place)
            return
        for text in node.children[1:]:
            for hole in text.children:
                for child in hole.children:
                    self.push(child.children or [child], BOUND, place)

    @handle_nodes("import_declaration", "export_declaration")
    def import_(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the names of `import a.b.{C, D => E, _}`. An import is known from here on, in this scope."""
        path: list[str] = []
        for child in node.children:
            kind = child.type
            if kind in self.names:
                name = self.text(child)
                self._import(child, path, place)
                path.append(name)
            elif kind == "namespace_selectors":
                self._selectors(child, path, place)
                path = []
            elif kind == "namespace_wildcard":
                self.known.wildcards.append(".".join(path))
                path = []
            elif kind == ",":
                self._bring(path, path[-1:], place)
                path = []
            else:
                self.push([child], REFERENCE, place)
        self._bring(path, path[-1:], place)

    def _import(self, node: Node, path: Sequence[str], place: NodePlace) -> None:
        name = self.text(node)
        if not path:
            self.known.roots.add(name)
        package = package_part(".".join(path)) if path else name
        self.emit(node, Kind.IMPORT, place, Origin(True, package or None), name)

    def _bring(self, path: Sequence[str], names: Sequence[str], place: NodePlace) -> None:
        for name in names:
            place.scope.names.update(self.known.imported(".".join(path), name))

    def _selectors(self, node: Node, path: list[str], place: NodePlace) -> None:
        for child in node.children:
            if child.type == "namespace_wildcard":
                self.known.wildcards.append(".".join(path))
                continue
            parts = [leaf for leaf in (child.children or [child]) if leaf.type in self.names]
            for leaf in parts[:1]:
                self._import(leaf, path, place)
            for leaf in parts[-1:]:
                self._bring([*path, self.text(parts[0])], [self.text(leaf)], place)

    # ------------------------------------------------------------------------------------------------ definitions

    @handle_nodes("class_definition", "trait_definition", "object_definition", "enum_definition")
    def class_(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a class. Its parameters are known in its body; with `val`, `var` or `case class` they are fields."""
        children = node.children
        around = Scope("block", place.scope)
        scope = Scope("class", around)
        is_case = any(child.type == "case" for child in children)
        for child in children:
            if child.type == "template_body":
                scope.names.update(self._declared_names(child.children, static=node.type == "object_definition"))
                self._self_type(child, around)
            elif child.type == "type_parameters":
                self._type_parameters(child, around)
            elif child.type == "class_parameters":
                self._class_parameters(child, around, scope, every=is_case)
        inner, outer = NodePlace(scope, False), NodePlace(around, False)
        name = node.child_by_field_name("name")
        others = [child for child in children if name is None or child.start_byte != name.start_byte]
        for child in reversed(others):
            if child.child_count:
                self._stack.append((child, REFERENCE, inner if child.type == "template_body" else outer))
        self.push([child for child in others if not child.child_count], REFERENCE, outer)

    def _self_type(self, body: Node, scope: Scope) -> None:
        """Define the name in `self =>`."""
        for child in body.children:
            if child.type == "self_type":
                scope.names.update({self.text(leaf): LOCAL for leaf in child.children if leaf.type == "identifier"})

    def _class_parameters(self, node: Node, around: Scope, fields: Scope, *, every: bool) -> None:
        for parameter in node.children:
            name = parameter.child_by_field_name("name") if parameter.type == "class_parameter" else None
            if name is None:
                continue
            around.names[self.text(name)] = LOCAL
            if every or any(child.type in {"val", "var"} for child in parameter.children):
                fields.names[self.text(name)] = Origin(False, self.package)

    def _type_parameters(self, node: Node, scope: Scope) -> None:
        for child in node.children:
            if child.type in self.names:
                scope.names[f"<{self.text(child)}>"] = LOCAL_TYPE

    @handle_nodes("type_parameters", "self_type")
    def type_parameters(self, node: Node, _role: str, place: NodePlace) -> None:
        others = [child for child in node.children if child.type not in self.names]
        self.push(others, TYPE, place)

    @handle_nodes("type_lambda")
    def type_lambda(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), place.argument)
        self._type_parameters(node, inner.scope)
        # The parameters are plain identifiers here, their uses are type identifiers.
        self.push([child for child in node.children if child.type != "identifier"], TYPE, inner)

    @handle_nodes("template_body", "with_template_body")
    def template_body(self, node: Node, _role: str, place: NodePlace) -> None:
        if place.scope.kind != "class":
            # Of an anonymous class.
            place = NodePlace(Scope("class", place.scope, self._declared_names(node.children, static=False)), False)
        self.in_order(node.children, place)

    @handle_nodes("function_definition", "function_declaration", "given_definition")
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), False)
        is_given = node.type == "given_definition"
        name = next(iter(self._given_names(node)), None) if is_given else node.child_by_field_name("name")
        begin = name.start_byte if name is not None else -1
        for child in node.children:
            if child.type == "type_parameters":
                self._type_parameters(child, inner.scope)
        if name is not None and place.scope.kind == "block":
            place.scope.names.update({self.text(name): LOCAL, f"{self.text(name)}()": LOCAL})
        self.in_order([child for child in node.children if child.start_byte != begin or child.child_count], inner)

    @handle_nodes("parameter", "class_parameter", "binding")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name")
        if name is not None and node.type != "class_parameter":
            place.scope.names[self.text(name)] = LOCAL
        self._push_siblings(node, name, place)

    @handle_nodes("type_definition", "simple_enum_case", "full_enum_case")
    def named(self, node: Node, _role: str, place: NodePlace) -> None:
        self._push_siblings(node, node.child_by_field_name("name"), place)

    def _push_siblings(self, node: Node, name: Node | None, place: NodePlace) -> None:
        begin = name.start_byte if name is not None else -1
        self.push(
            [child for child in node.children if child.start_byte != begin or child.child_count], REFERENCE, place
        )

    @handle_nodes("val_definition", "var_definition", "val_declaration", "var_declaration")
    def value(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define a variable, which is known behind its value; members of a class are known everywhere in it."""
        pattern = node.child_by_field_name("pattern") or node.child_by_field_name("name")
        # Members are known already, so a pattern of members is bound in a scope that is thrown away.
        begin = pattern.start_byte if pattern is not None else -1
        others = [child for child in node.children if child.start_byte != begin]
        if pattern is not None and (place.scope.kind == "block" or pattern.child_count):
            self._stack.append((pattern, BOUND, place if place.scope.kind == "block" else _nowhere(place)))
        self.in_order(others, place)

    @handle_nodes("enumerator")
    def enumerator(self, node: Node, _role: str, place: NodePlace) -> None:
        pattern, *siblings = node.children
        # A guard sees the names of the pattern, the source of the values does not.
        guards = [child for child in siblings if child.type == "guard"]
        self.push(guards, REFERENCE, place)
        self._stack.append((pattern, BOUND, place))
        self.in_order([child for child in siblings if child.type != "guard"], place)

    @handle_nodes("for_expression", "block", "case_clause", "lambda_expression", "colon_argument", "indented_block")
    def block(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a scope, in which a lambda's parameter or the pattern of a case is bound."""
        children = node.children
        is_lambda = node.type == "lambda_expression" or any(child.type == "=>" for child in children[1:2])
        inner = NodePlace(Scope("block", place.scope), place.argument and not is_lambda)
        bound = 1 if node.type == "case_clause" else 0 if is_lambda else -1
        if 0 <= bound < len(children):
            self.in_order(children[bound + 1 :], inner)
            self._stack.append((children[bound], BOUND, inner))
            self.push(children[:bound], REFERENCE, inner)
        else:
            self.in_order(children, inner)

    @handle_nodes(
        *"tuple_pattern case_class_pattern typed_pattern alternative_pattern repeat_pattern infix_pattern".split()
    )
    def pattern(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, BOUND, place)

    @handle_nodes("bindings")
    def bindings(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, BOUND, place)

    @handle_nodes("capture_pattern")
    def capture(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, BOUND, place)


def _nowhere(place: NodePlace) -> NodePlace:
    """Return a throw-away place for the names in a pattern that are members: they are known already."""
    return NodePlace(Scope("block", place.scope), place.argument)


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    """Return the package, and what is declared without indentation."""
    return read_package(text, path, nested=True), frozenset(_TOP.findall(text))


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    """Return the completable tokens of one file."""
    # The grammar takes as long for comments as for code, so they are blanked out. Where that was wrong, the text no
    # longer parses, which shows.
    extraction = extract_tokens(ScalaWalk(_LITERAL_OR_COMMENT.sub(_blank_comment, text), path, declared), "scala")
    return extraction if not extraction.unparsable else extract_tokens(ScalaWalk(text, path, declared), "scala")


_LITERAL_OR_COMMENT = re.compile(
    r"""'(?:\\.|[^'\\\n])'|\"{3}[\s\S]*?\"{3}|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*[\s\S]*?\*/"""
)


def _blank_comment(match: re.Match[str]) -> str:
    """Return a comment as blanks with the same line ends. Literals, and comments that contain others, stay."""
    text = match[0]
    if text[0] != "/" or "/*" in text[2:]:
        return text
    return "\n".join([" " * len(line) for line in text.split("\n")])


LANGUAGE: Language = Language(
    name="scala",
    title="Scala",
    dependencies="jvm",
    grammars={".scala": "scala", ".sc": "scala"},
    keywords=KEYWORDS,
    word=JVM_WORD,
    extract=extract,
    declare=declare,
    shape=Shape(
        lists=frozenset(["compilation_unit", "template_body"]),
        bodies=frozenset(["function_definition block", "function_definition case_block"]),
        closers=frozenset([")", "]", "}", 'interpolated_string "', 'interpolated_string """', "case_clause =>"]),
        quoted=frozenset(["interpolated_string"]),
        stand_ins={
            "template_body": "{}",
            "catch_clause": " finally {}",
            # The grammar cannot read a function that has neither a type nor a body.
            **{f"{function} {type_}": ": Any" for function in sorted(_FUNCTIONS) for type_ in _TYPES},
        },
    ),
)
