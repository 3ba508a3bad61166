"""The language Java: finds the references in a file and their kinds."""

from __future__ import annotations

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.parsing import Repair, outside, replace_groups, spaces
from ci_eval.core.grammar.scopes import LOCAL, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, read_keywords
from ci_eval.core.grammar.walk import REFERENCE, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.java.declarations import SYNTAX, TYPES, JavaNames, declare
from ci_eval.plugins.languages.jvm import JVM_WORD, JvmWalk, imports, read_package

KEYWORDS = read_keywords("java").union("boolean false non-sealed null super this true var void".split())


class JavaWalk(JvmWalk):
    # A class scope has keys of three forms: `name` for fields, `name()` for methods and `<name>` for types.
    names = frozenset(["identifier", "type_identifier"])
    keywords = KEYWORDS | {"void_type", "boolean_type", "this", "super", "null_literal", "true", "false"}
    ignored = "package_declaration string_literal"
    blocks = "block constructor_body switch_block for_statement try_with_resources_statement catch_clause"
    # Names bound in a condition are known in its branches.
    sequences = "ternary_expression"
    unnamed = "enum_constant labeled_statement break_statement continue_statement"

    def __init__(self, text: str, path: str, declared: Declarations) -> None:
        source = text.encode()
        super().__init__(source, read_package(text, path), declared)
        self.known: JavaNames = JavaNames(source, self.package, declared)

    def outermost(self, root: Node) -> Scope:
        return Scope("file", names=self.known.top_level_names(root))

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        if (name == "var" and node.type == "type_identifier") or name == "default":
            # The grammars parse the `default` in `case null, default` as a name.
            self.emit(node, Kind.KEYWORD, place)
            return
        if node.type == "type_identifier" or role == TYPE:
            self.emit(node, Kind.TYPE_REFERENCE, place, self.known.find(f"<{name}>", place.scope), name)
            return
        owner = place.scope.owner(name)
        if owner is None:
            # Java has no global variables, so the name is inherited or imported with an asterisk.
            self.emit(node, Kind.FIELD, place, UNKNOWN, name)
        else:
            kind = Kind.VARIABLE if owner.kind == "block" else Kind.FIELD
            self.emit(node, kind, place, owner.names[name], name)

    def receiver(self, node: Node, place: NodePlace) -> Origin:
        """Visit the expression before a dot. Return the origin of the members after the dot."""
        if node.type == "field_access":
            self.push([node], REFERENCE, place)
            path = self.text(node)
            origin = self.origin_of_members(path, place)
            # By convention, package names are lower-case.
            return origin if origin.holder != "module" or path.islower() else LOCAL
        if node.type != "identifier":
            self.push([node], REFERENCE, place)
            return LOCAL
        name = self.text(node)
        if place.scope.owner(name) is None:
            origin = self.known.find(f"<{name}>", place.scope)
            if origin is not UNKNOWN or self.known.is_type(name):
                self.emit(node, Kind.TYPE_REFERENCE, place, origin, name)
                return Origin(True, origin.package)
            if name in self.known.roots:
                # The start of a qualified name such as `java.util.List.of()`.
                self.emit(node, Kind.IMPORT, place, Origin(True, name), name)
                return Origin(None, name, "module")
        self.name(node, REFERENCE, place)
        return LOCAL

    @handle_nodes("field_access")
    def field_access(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        origin = self.receiver(children[0], place)
        member = children[-1]
        if member.type != "identifier":
            # The member is a keyword: `Foo.this`, `a.super`.
            self.push(children[1:], REFERENCE, place)
            return
        self.push(children[1:-1], REFERENCE, place)
        name = self.text(member)
        if children[0].type == "this":
            owner = place.scope.enclosing("class")
            known = owner.names.get(name, UNKNOWN) if owner else UNKNOWN
            self.emit(member, Kind.FIELD, place, known if known is not UNKNOWN else LOCAL, name)
        else:
            self.plain_member(member, name, origin, place)

    @handle_nodes("method_invocation")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        arguments = children[-1]
        # Type arguments and receivers precede the name, so the last identifier is the name of the method.
        named = next((i for i in range(len(children) - 1, -1, -1) if children[i].type == "identifier"), -1)
        self.push([arguments], REFERENCE, NodePlace(place.scope, True))
        before, origin = children[: max(named, 0)], UNKNOWN
        if before:
            # Visit the nodes between receiver and name, as in `Foo.super.bar()` and `foo.<T>bar()`.
            self.push(before[1:], REFERENCE, place)
            origin = self.receiver(before[0], place)
        if named < 0:
            return
        name = self.text(children[named])
        if not before or before[0].type == "this":
            origin = place.scope.find(name + "()")
        elif before[-1].type == "super" or before[0].type == "super" or (before[-2:-1] and before[-2].type == "super"):
            # Members of a superclass are usually declared in another file.
            origin = UNKNOWN
        self.emit(children[named], Kind.METHOD_CALL, place, Origin(origin.static, origin.package), name)

    @handle_nodes("argument_list")
    def arguments(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, NodePlace(place.scope, True))

    @handle_nodes("method_reference")
    def method_reference(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        origin = self.receiver(children[0], place)
        *between, member = children[1:]
        self.push(between, REFERENCE, place)
        if member.type == "identifier":
            # `Type::method` may refer to an instance method or a static one.
            static = False if origin.static is False else None
            self.emit(member, Kind.METHOD_CALL, place, Origin(static, origin.package))
        else:
            self.push([member], REFERENCE, place)

    @handle_nodes("scoped_type_identifier", "scoped_identifier")
    def scoped_type(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the parts of `java.util.Map.Entry`, or `@java.lang.Override`."""
        # The parts are nested nodes; handle all of them at once.
        parts, others = self._parts(node)
        # The grammar parses the `super` in `Outer.super::f` as a name.
        if self.text(parts[-1]) == "super":
            self.emit(parts.pop(), Kind.KEYWORD, place)
        self.emit_qualified(parts, place)
        self.push(others, TYPE, place)

    def _parts(self, node: Node) -> tuple[list[Node], list[Node]]:
        """Return the parts of a qualified name from left to right, and the other nodes in it."""
        parts: list[Node] = []
        others: list[Node] = []
        while True:
            children = node.children
            inner = [child for child in children if child.type in {"scoped_type_identifier", "scoped_identifier"}]
            parts += reversed([child for child in children if child.type in self.names])
            others += [child for child in children if child not in inner and child.type not in self.names]
            if not inner:
                return parts[::-1], others
            node = inner[0]

    @handle_nodes("import_declaration")
    def import_(self, node: Node, _role: str, place: NodePlace) -> None:
        for child in node.children:
            if child.type in {"scoped_identifier", "identifier"}:
                self.import_path(self._parts(child)[0] if child.child_count else [child], place)
            elif child.type in self.keywords:
                self.emit(child, Kind.KEYWORD, place)

    @handle_nodes("annotation", "marker_annotation")
    def annotation(self, node: Node, _role: str, place: NodePlace) -> None:
        for child in node.children:
            if child.type == "identifier":
                self.name(child, TYPE, place)
            elif child.child_count:
                self.push([child], REFERENCE, NodePlace(place.scope, True))

    @handle_nodes("element_value_pair")
    def element(self, node: Node, _role: str, place: NodePlace) -> None:
        key, *value = node.children
        self.emit(key, Kind.ARGUMENT_NAME, place)
        self.push(value, REFERENCE, place)

    @handle_nodes(*TYPES)
    def type_declaration(self, node: Node, _role: str, place: NodePlace) -> None:
        outer = NodePlace(Scope("type", place.scope), False)
        # All types except local ones are already defined.
        if place.scope.kind == "block":
            self.define(node.child_by_field_name("name"), place.scope, Origin(None, self.package, "class"), "<{}>")
        components: dict[str, Origin] = {}
        waiting: list[tuple[Node, str, NodePlace]] = []
        for child in node.children:
            if child.type == "identifier":
                continue
            if child.type == "@interface":
                self.emit(child, Kind.KEYWORD, place, text="interface", skip=1)
            if child.type == "formal_parameters":
                # A component of a record is a field and a method of the same name.
                for parameter in child.children:
                    name = parameter.child_by_field_name("name") if parameter.type == "formal_parameter" else None
                    if name is not None:
                        known = self.text(name)
                        components |= dict.fromkeys([known, f"{known}()"], Origin(False, self.package))
            if child.type.endswith("_body"):
                waiting += self._body(child, outer, components)
                continue
            self.define_type_parameters(child, outer.scope)
            waiting.append((child, REFERENCE, outer))
        self.each(waiting)

    def _body(self, body: Node, place: NodePlace, components: dict[str, Origin]) -> list[tuple[Node, str, NodePlace]]:
        members = self.known.members(body.children, body.type)
        inner = NodePlace(Scope("class", place.scope, components | members), False)
        return [(child, REFERENCE, inner) for child in body.children]

    @handle_nodes("type_parameter")
    def type_parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        name = self.find_name(node)
        self.push([child for child in node.children if child != name], TYPE, place)

    @handle_nodes("class_body")
    def anonymous_body(self, node: Node, _role: str, place: NodePlace) -> None:
        self.each(self._body(node, place, {}))

    @handle_nodes(*"method_declaration constructor_declaration compact_constructor_declaration".split())
    def method(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), False)
        if node.type == "compact_constructor_declaration":
            # The parameters of a compact constructor are the components of the record.
            names = place.scope.names
            inner.scope.names.update({name: LOCAL for name in names if f"{name}()" in names})
        for child in node.children:
            self.define_type_parameters(child, inner.scope)
        self.each([(child, REFERENCE, inner) for child in node.children if child.type != "identifier"])

    @handle_nodes(
        "formal_parameter", "catch_formal_parameter", "enhanced_for_statement", "resource", "record_pattern_component"
    )
    def binding(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define the name after a type for the rest of the scope. The name in a loop is known only in the loop."""
        if node.type == "enhanced_for_statement":
            place = NodePlace(Scope("block", place.scope), place.argument)
        name = node.child_by_field_name("name")
        # The node of a record pattern has no field for the name.
        if name is None and node.type == "record_pattern_component":
            named = [child for child in node.children if child.type == "identifier"]
            name = named[-1] if named else None
        if name is None:
            self.in_order(node.children, place)
            return
        self.each([(child, REFERENCE, place) for child in node.children if child != name])
        self.define(name, place.scope)

    @handle_nodes("type_pattern")
    def type_pattern(self, node: Node, _role: str, place: NodePlace) -> None:
        name = next((child for child in reversed(node.children) if child.type == "identifier"), None)
        self.define(name, place.scope)
        self.push([child for child in node.children if child != name], TYPE, place)

    @handle_nodes("variable_declarator")
    def variable(self, node: Node, _role: str, place: NodePlace) -> None:
        name, *siblings = node.children
        if place.scope.kind == "block":
            self.define(name, place.scope)
        self.push(siblings, REFERENCE, place)

    @handle_nodes("instanceof_expression", "annotation_type_element_declaration")
    def instanceof(self, node: Node, _role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name")
        # The name in a pattern may be in scope after the statement: `if (!(o instanceof T t)) return;`.
        if node.type == "instanceof_expression":
            self.define(name, place.scope)
        self.push([child for child in node.children if child != name], REFERENCE, place)

    @handle_nodes("lambda_expression")
    def lambda_(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), False)
        parameters, *siblings = node.children
        if parameters.type in {"identifier", "inferred_parameters"}:
            for child in parameters.children if parameters.child_count else [parameters]:
                self.define(child if child.type == "identifier" else None, inner.scope)
        else:
            siblings = [parameters, *siblings]
        self.in_order(siblings, inner)

    @handle_nodes("record_pattern")
    def record_pattern(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children[:1], TYPE, place)
        self.push(node.children[1:], REFERENCE, place)


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    return extract_tokens(JavaWalk(text, path, declared), "java", REPAIRS)


LANGUAGE: Language = Language(
    name="java",
    title="Java",
    dependencies="jvm",
    grammars={".java": "java"},
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    word=JVM_WORD,
    shape=Shape(
        lists=frozenset(
            "program class_body interface_body enum_body enum_body_declarations annotation_type_body".split()
        ),
        bodies=frozenset(
            ["method_declaration block", "constructor_body", "lambda_expression block", "static_initializer block"]
        )
        | {"class_body block", "compact_constructor_declaration block"},
        closers=frozenset([")", "]", "}", ";", "type_arguments >", "type_parameters >", "switch_label :"]),
        stand_ins={
            **dict.fromkeys("block class_body interface_body enum_body switch_block constructor_body".split(), "{}"),
            # A `try` without `catch` is a syntax error; `finally {}` is the shortest valid end.
            "try_statement catch_clause": " finally {}",
            **{
                f"{head} {statement}": ";"
                for head in ("if_statement", "for_statement", "while_statement", "enhanced_for_statement")
                for statement in ("expression_statement", "return_statement", "throw_statement", "if_statement")
            },
        },
    ),
    imports=imports,
    import_syntax=SYNTAX,
)


REPAIRS = (
    # The grammars do not support module imports (Java 25).
    Repair(outside(rb"^[ \t]*import\s+(?P<k>module)(?=\s+[\w.]+\s*;)")),
    # The grammars support `super(…)` and `this(…)` only before other statements, so these become method calls.
    Repair(outside(rb"(?<=[;}])\s*(?P<k>super|this)(?=\s*\()"), lambda m: replace_groups(m, k=b"x" * len(m["k"]))),
    # The grammars do not support an annotation right before the dots of `String @A ... x`.
    Repair(outside(rb"@(?:\w+\.)*(?P<t>[A-Z]\w*)(?=\s*\.\.\.)"), spaces),
)
