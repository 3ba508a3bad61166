"""The language Go: finds the references in a file and their kinds."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.scopes import LOCAL, LOCAL_TYPE, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, leaves, read_keywords
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, Walk, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.go.packages import (
    SYNTAX,
    UNIVERSE,
    TopLevel,
    declare,
    derive_package,
    imports,
    receiver_type,
)

KEYWORDS = read_keywords("go") | {"false", "iota", "nil", "true"}
RECEIVER = "of "
"""The prefix of `Origin.holder` for a method's receiver. The name of the receiver's type follows."""
DEFINED = "defined"
"""The role of a name that is new even if its scope already has that name: in `var x`, or a parameter."""
OTHERS, FIELDS = "[", "{"
"""The roles of the braces of a composite literal, one character per level of nesting. At the level `{`, keys are field
names."""
_COLLECTIONS = frozenset(["slice_type", "array_type", "implicit_length_array_type", "map_type"])


class GoWalk(Walk):
    names = frozenset(["identifier", "type_identifier", "field_identifier", "package_identifier", "label_name"])
    keywords = KEYWORDS
    ignored = "import_spec import_spec_list interpreted_string_literal package_clause raw_string_literal"

    roles = {
        # The length of an array is an expression.
        REFERENCE: "array_type",
    }
    transparent = "parenthesized_expression expression_list"
    # Names declared in the header of a statement are also known in its block.
    blocks = (
        "if_statement for_statement expression_switch_statement select_statement communication_case block "
        "expression_case default_case"
    )
    sequences = "for_clause"
    unnamed = "labeled_statement"

    def __init__(self, source: bytes, text: str, path: str, declared: Declarations) -> None:
        super().__init__(source, derive_package(text, path), declared)
        self.top = TopLevel(source, self.package, declared)

    def outermost(self, root: Node) -> Scope:
        return Scope("file", Scope("universe", names=UNIVERSE), self.top.read(root))

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        kind = node.type
        if kind == "type_identifier" and role != DEFINED:
            if name in KEYWORDS:  # `case nil` in a type switch
                self.emit(node, Kind.KEYWORD, place)
            else:
                self.emit(node, Kind.TYPE_REFERENCE, place, place.scope.find(name), name)
        elif role == DEFINED or (role == BOUND and name not in place.scope.names):
            place.scope.names[name] = LOCAL
        elif kind == "identifier":
            self._plain(node, name, role, place)
        elif kind == "label_name":
            self.emit(node, Kind.VARIABLE, place, LOCAL, name)

    def _plain(self, node: Node, name: str, role: str, place: NodePlace) -> Origin:
        """Emit an unqualified name and return its origin."""
        origin = place.scope.find(name)
        if name == "_":
            return origin
        kind = Kind.VARIABLE
        if origin.holder == "class" or (role == TYPE and origin.static is not False):
            kind = Kind.TYPE_REFERENCE
        # `(*f)(x)` is a call if f is local, although f has the role of a type.
        elif role in {CALLED, TYPE}:
            kind = Kind.METHOD_CALL
        self.emit(node, kind, place, origin, name)
        return origin

    @handle_nodes("selector_expression", "qualified_type")
    def member(self, node: Node, role: str, place: NodePlace) -> None:
        receiver, *_, member = node.children
        origin = UNKNOWN
        if receiver.child_count or receiver.type not in self.names:
            self._stack.append((receiver, REFERENCE, place))
        else:
            origin = self._plain(receiver, self.text(receiver), REFERENCE, place)
        kind = Kind.METHOD_CALL if role == CALLED else Kind.FIELD
        # The grammar parses some fields as types of packages, so the receiver's origin decides.
        if member.type == "type_identifier" and role != CALLED and origin.static is not False:
            kind = Kind.TYPE_REFERENCE
        text, known = self.text(member), UNKNOWN
        if origin.holder in {"module", "class"}:
            known = Origin(True, origin.package)
        elif origin.holder.startswith(RECEIVER):
            members = self.top.members.get(origin.holder.removeprefix(RECEIVER), ())
            known = Origin(False, self.package if text in members else None)
        self.emit(member, kind, place, known, text)

    @handle_nodes("call_expression")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        function, *arguments = node.children
        self.push(arguments[-1:], REFERENCE, NodePlace(place.scope, True))
        if len(arguments) > 1:
            self._instantiate(function, arguments[0], place)
        else:
            self.push([function], CALLED, place)

    @handle_nodes("type_conversion_expression")
    def conversion(self, node: Node, _role: str, place: NodePlace) -> None:
        type_, *value = node.children
        self.push(value, REFERENCE, NodePlace(place.scope, True))
        # The grammar parses `f[int](x)` as a conversion.
        if type_.type == "generic_type":
            parts = type_.children
            self._instantiate(parts[0], parts[-1], place)
        else:
            self.push([type_], TYPE, place)

    def _instantiate(self, called: Node, arguments: Node, place: NodePlace) -> None:
        """Visit `called[arguments](…)`: a call of a generic function or of a function in a collection."""
        # Each type argument is wrapped in its own node.
        wrapped = [child.children if child.type == "type_elem" else [child] for child in arguments.children]
        inner = [node for nodes in wrapped for node in nodes]
        head = called if called.type in self.names else called.children[0] if called.child_count else called
        origin = place.scope.find(self.text(head)) if head.type in self.names else LOCAL
        # If `called` is a local variable or an argument is a value, the brackets are an index.
        by_value = origin.static is False and origin.holder != "class"
        for child in inner:
            if child.type in {"type_identifier", "qualified_type"}:
                known = place.scope.find(self.text(child.children[0] if child.child_count else child))
                is_value = known.static is not None and known.holder not in {"class", "module"}
                by_value |= is_value and known.package != "builtin"
        if not by_value:
            self.push(inner, TYPE, place)
        for child in [called, *inner] if by_value else [called]:
            role = REFERENCE if by_value else CALLED
            if child.type == "type_identifier":
                self._plain(child, self.text(child), role, place)
            else:
                self.push([child], role, place)

    @handle_nodes("unary_expression")
    def unary(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit an operator and its operand. `(*T)(x)` is a conversion."""
        self.push(node.children, TYPE if role == CALLED else REFERENCE, place)

    @handle_nodes("composite_literal")
    def composite(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children[:1], TYPE, place)
        type_, *body = node.children
        # The roles of the braces of a literal of this type, outermost first; see `OTHERS` and `FIELDS`.
        levels = ""
        for _ in range(8):  # the limit is needed because a type may refer to itself
            kind = type_.type
            if kind == "type_identifier":
                stands_for = self.top.types.get(self.text(type_))
                if not stands_for or stands_for.type not in _COLLECTIONS:
                    break
                type_ = stands_for
            elif kind in _COLLECTIONS or kind == "pointer_type":
                levels += OTHERS if kind in _COLLECTIONS else ""
                type_ = type_.children[-1]
            else:
                break
        while type_.child_count and type_.type in {"generic_type", "qualified_type"}:
            type_ = type_.children[0]
        package = place.scope.find(self.text(type_)).package if type_.type in self.names else None
        self.push(body, levels + FIELDS + (self.package if type_.type == "struct_type" else package or ""), place)

    @handle_nodes("literal_value")
    def literal_value(self, node: Node, role: str, place: NodePlace) -> None:
        self.push(node.children, role if role[0] in "[{" else FIELDS, place)

    @handle_nodes("literal_element")
    def literal_element(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit an element of a literal. Braces without a type are a literal of the collection's element type."""
        children = node.children
        braces = children and children[0].type == "literal_value"
        self.push(children, (role if role[0] == FIELDS else role[1:]) if braces else REFERENCE, place)

    @handle_nodes("keyed_element")
    def key_value_pair(self, node: Node, role: str, place: NodePlace) -> None:
        children = node.children
        key = children[0].children[:1] if children[0].type == "literal_element" else children[:1]
        self.push(children[1:], role, place)
        if role[0] == FIELDS and key and key[0].type in self.names:
            self.emit(key[0], Kind.FIELD, place, Origin(False, role[1:] or None))
        else:
            self.push(children[:1], role, place)

    @handle_nodes("function_declaration", "func_literal", "function_type", "method_elem")
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a function. Its name is not a token. Parameters and results are in the scope of its body."""
        self._function(node.children, NodePlace(Scope("function", place.scope), False))

    @handle_nodes("method_declaration")
    def method(self, node: Node, _role: str, place: NodePlace) -> None:
        keyword, receiver, *siblings = node.children
        inner = NodePlace(Scope("function", place.scope), False)
        self.emit(keyword, Kind.KEYWORD, place)
        self._function(siblings, inner)
        type_ = receiver_type(receiver)
        if receiver.type != "parameter_list" or not type_:
            return
        name = self.text(type_)
        self.emit(type_, Kind.TYPE_REFERENCE, place, place.scope.find(name), name)
        for leaf in leaves(receiver):
            if leaf.type == "identifier":
                self.define(leaf, inner.scope, Origin(False, None, RECEIVER + name))
            elif leaf.type == "type_identifier" and leaf.start_byte > type_.start_byte:
                self.define(leaf, inner.scope, LOCAL_TYPE)

    def _function(self, nodes: Sequence[Node], inner: NodePlace) -> None:
        names = {"identifier", "field_identifier"}
        for child in reversed(nodes):
            if child.type == "block":
                self.push(child.children, REFERENCE, inner)
            elif child.type not in names:
                self.push([child], TYPE, inner)

    @handle_nodes("parameter_declaration", "variadic_parameter_declaration", "field_declaration")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define the names in `a, b T` unless they are fields, which are found through their type."""
        for child in node.children:
            self.define(child if child.type == "identifier" else None, place.scope)
        # An embedded field has no name, only a type.
        names = {"identifier", "field_identifier"}
        self.push([child for child in node.children if child.type not in names], TYPE, place)

    @handle_nodes("type_parameter_list")
    def type_parameters(self, node: Node, _role: str, place: NodePlace) -> None:
        bounds: list[Node] = []
        for declaration in node.children:
            for child in declaration.children:
                if child.type == "identifier":
                    self.define(child, place.scope, LOCAL_TYPE)
                else:
                    bounds.append(child)
        self.push(bounds, TYPE, place)

    @handle_nodes("type_spec", "type_alias")
    def type_spec(self, node: Node, _role: str, place: NodePlace) -> None:
        name, *siblings = node.children
        if place.scope.kind != "file":
            # Types at the top level are already defined.
            self.define(name, place.scope, LOCAL_TYPE)
        # Type parameters are known only in their declaration.
        generic = any(child.type == "type_parameter_list" for child in siblings)
        self.push(siblings, TYPE, NodePlace(Scope("type", place.scope), False) if generic else place)

    @handle_nodes("var_spec", "const_spec")
    def variable(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the values first: the names are not known in them."""
        children = node.children
        # Names at the top level are already defined.
        if place.scope.kind != "file":
            self._stack += [(child, DEFINED, place) for child in children if child.type == "identifier"]
        self.push([child for child in children if child.type != "identifier"], REFERENCE, place)

    @handle_nodes("short_var_declaration", "range_clause", "receive_statement")
    def bind(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `x := …`, `x := range …`, `x = <-…` or `range …`. The right side is visited first."""
        left, *siblings = node.children
        if left.type == "range":
            self.push(node.children, REFERENCE, place)
            return
        binds = any(child.type == ":=" for child in siblings[:1])
        self._stack.append((left, BOUND if binds else REFERENCE, place))
        self.push(siblings, REFERENCE, place)

    @handle_nodes("type_switch_statement")
    def type_switch(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `switch x := y.(type)`. y is visited first; x is known in the cases."""
        inner = NodePlace(Scope("block", place.scope), place.argument)
        children = node.children
        bound = next((i for i, child in enumerate(children) if child.type == ":="), 0) - 1
        cases = [child for child in children if child.type.endswith("_case")]
        self.push(cases, REFERENCE, inner)
        if bound > 0:
            self._stack.append((children[bound], BOUND, inner))
        others = [child for i, child in enumerate(children) if i != bound and not child.type.endswith("_case")]
        self.in_order(others, inner)

    @handle_nodes("type_case")
    def type_case(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), place.argument)
        children = node.children
        colon = next((i for i, child in enumerate(children) if child.type == ":"), 0)
        self.push(children[colon:], REFERENCE, inner)
        self.push(children[:colon], TYPE, inner)


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    # The grammar needs a line end after a package clause or import.
    source = text.encode() if text.endswith("\n") else f"{text}\n".encode()
    return extract_tokens(GoWalk(source, text, path, declared), "go")


LANGUAGE: Language = Language(
    name="go",
    title="Go",
    dependencies="go",
    grammars={".go": "go"},
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    shape=Shape(
        lists=frozenset(["source_file", "field_declaration_list", "literal_value"]),
        bodies=frozenset(["function_declaration block", "method_declaration block", "func_literal block"]),
        closers=frozenset(
            [")", "]", "}", "expression_case :", "type_case :", "default_case :", "communication_case :"]
        ),
        stand_ins={"block": "{}", "literal_value": "{}"},
    ),
    imports=imports,
    import_syntax=SYNTAX,
)
