"""The language Go: which names in a file are references, and what kind each is."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.importing.go import SYNTAX
from ci_eval.core.grammar.imports.go import imports
from ci_eval.core.grammar.scopes import Origin, Scope
from ci_eval.core.grammar.syntax import Node, leaves
from ci_eval.core.grammar.walk import BOUND, REFERENCE, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.go.names import declare, receiver_type
from ci_eval.plugins.languages.go.references import DEFINED, KEYWORDS, LOCAL, LOCAL_TYPE, RECEIVER, GoReferences


class GoWalk(GoReferences):
    @handle_nodes("function_declaration", "func_literal", "function_type", "method_elem")
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a function, whose name is no token. Its parameters and results share the scope of the body."""
        inner = NodePlace(Scope("function", place.scope), False)
        self._function(node.children, inner)

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
                inner.scope.names[self.text(leaf)] = Origin(False, None, RECEIVER + name)
            elif leaf.type == "type_identifier" and leaf.start_byte > type_.start_byte:
                inner.scope.names[self.text(leaf)] = LOCAL_TYPE

    def _function(self, nodes: Sequence[Node], inner: NodePlace) -> None:
        names = {"identifier", "field_identifier"}
        for child in reversed(nodes):
            if child.type == "block":
                self.push(child.children, REFERENCE, inner)
            elif child.type not in names:
                self.push([child], TYPE, inner)

    @handle_nodes("parameter_declaration", "variadic_parameter_declaration", "field_declaration")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define the names of `a, b T`, apart from those of fields."""
        types = []
        for child in node.children:
            if child.type == "identifier":
                place.scope.names[self.text(child)] = LOCAL
            # The name of a field is found through its type only; that of an embedded one is its type.
            elif child.type != "field_identifier":
                types.append(child)
        self.push(types, TYPE, place)

    @handle_nodes("type_parameter_list")
    def type_parameters(self, node: Node, _role: str, place: NodePlace) -> None:
        bounds: list[Node] = []
        for declaration in node.children:
            for child in declaration.children:
                if child.type == "identifier":
                    place.scope.names[self.text(child)] = LOCAL_TYPE
                else:
                    bounds.append(child)
        self.push(bounds, TYPE, place)

    @handle_nodes("type_spec", "type_alias")
    def type_spec(self, node: Node, _role: str, place: NodePlace) -> None:
        name, *siblings = node.children
        if place.scope.kind != "file":
            # Types at the top of a file were read before, whatever their order.
            place.scope.names[self.text(name)] = LOCAL_TYPE
        # Type parameters are known in their own declaration only.
        generic = any(child.type == "type_parameter_list" for child in siblings)
        self.push(siblings, TYPE, NodePlace(Scope("type", place.scope), False) if generic else place)

    @handle_nodes("var_spec", "const_spec")
    def variable(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the values, then define the names, which are known behind their values."""
        children = node.children
        # Names at the top of a file were read before, whatever their order.
        if place.scope.kind != "file":
            self._stack += [(child, DEFINED, place) for child in children if child.type == "identifier"]
        self.push([child for child in children if child.type != "identifier"], REFERENCE, place)

    # ------------------------------------------------------------------------------------------------- statements

    @handle_nodes("short_var_declaration", "range_clause", "receive_statement")
    def bind(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `x := …`, `x := range …`, `x = <-…` or `range …`; the right side is read first."""
        left, *siblings = node.children
        if left.type == "range":
            self.push(node.children, REFERENCE, place)
            return
        binds = any(child.type == ":=" for child in siblings[:1])
        self._stack.append((left, BOUND if binds else REFERENCE, place))
        self.push(siblings, REFERENCE, place)

    @handle_nodes("expression_list")
    def list_(self, node: Node, role: str, place: NodePlace) -> None:
        self.push(node.children, role, place)

    @handle_nodes("block", "expression_case", "default_case")
    def block(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, NodePlace(Scope("block", place.scope), place.argument))

    @handle_nodes(*"if_statement for_statement expression_switch_statement select_statement communication_case".split())
    def header(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a statement. What is declared between its keyword and its block is known in the block as well."""
        self.in_order(node.children, NodePlace(Scope("block", place.scope), place.argument))

    @handle_nodes("for_clause")
    def for_clause(self, node: Node, _role: str, place: NodePlace) -> None:
        self.in_order(node.children, place)

    @handle_nodes("type_switch_statement")
    def type_switch(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `switch x := y.(type)`, in which y is read first, and x is known in the cases."""
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

    @handle_nodes("labeled_statement")
    def labeled(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children[1:], REFERENCE, place)


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    # The older grammar does not read a last line that does not end.
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
