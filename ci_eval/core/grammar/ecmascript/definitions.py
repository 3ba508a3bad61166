"""The definitions of JavaScript and TypeScript: imports, functions, classes, variables, patterns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ci_eval.core.grammar.ecmascript.names import LOCAL, EcmaScope, This, guess_holder
from ci_eval.core.grammar.ecmascript.walk import ASSIGNED, FROM, EcmaWalk, ecma_scope
from ci_eval.core.grammar.scopes import Origin
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BOUND, REFERENCE, TYPE, NodePlace, handle_nodes
from ci_eval.core.model import Kind

_FUNCTIONS = frozenset(
    "function_declaration generator_function_declaration function_signature function_expression function "
    "generator_function arrow_function method_definition".split()
)
_NAMED = {
    "function_declaration": "",
    "generator_function_declaration": "",
    "function_signature": "",
    "class_declaration": "class",
    "abstract_class_declaration": "class",
    "enum_declaration": "class",
    "internal_module": "module",
    "module": "module",
    "interface_declaration": "class",
    "type_alias_declaration": "class",
}
"""The type of a declaration → what its name is a holder of, see Origin.holder."""
_PATTERNS = frozenset(["object_pattern", "array_pattern"])
_FIELDS = frozenset(["field_definition", "public_field_definition", "method_definition", "abstract_method_signature"])


class EcmaDefinitions(EcmaWalk):
    """The handlers of the nodes that define names. A declaration is known in all of its scope, also before it."""

    ignored = EcmaWalk.ignored - {"import_statement"}

    @handle_nodes("program", "statement_block", "class_static_block", "switch_body")
    def block(self, node: Node, _role: str, place: NodePlace) -> None:
        scope = ecma_scope(place)
        if node.type != "program":
            scope = scope.below("block")
        children = node.children
        self._hoist(children, scope)
        self.in_order(children, NodePlace(scope, place.argument))

    def in_order(self, nodes: Sequence[Node], place: NodePlace) -> None:
        """Visit nodes in order, names included; see BlockWalk.in_order."""
        waiting = [(node, REFERENCE, place) for node in nodes if node.child_count or node.type in self.names]
        waiting.reverse()
        self._stack += waiting
        self.push([node for node in nodes if not (node.child_count or node.type in self.names)], REFERENCE, place)

    # ------------------------------------------------------------------------------------------- what is declared

    def _hoist(self, nodes: Sequence[Node], scope: EcmaScope) -> None:
        stack = list(reversed(nodes))
        while stack:
            node = stack.pop()
            kind = node.type
            # The grammars have TypeScript's `namespace X {…}` as an expression.
            if kind in {"export_statement", "ambient_declaration", "expression_statement"}:
                stack += [
                    child for child in node.children if child.type in _NAMED or child.type.endswith("_declaration")
                ]
            elif kind == "import_statement":
                self._hoist_import(node, scope)
            elif kind in {"lexical_declaration", "variable_declaration"}:
                self._hoist_variables(node, scope)
            elif kind in _NAMED:
                name = node.child_by_field_name("name")
                if name is not None and not name.child_count:
                    origin = scope.plain
                    holder = _NAMED[kind]
                    scope.names[self.text(name)] = Origin(origin.static or None, origin.package, holder)

    def _hoist_variables(self, node: Node, scope: EcmaScope) -> None:
        for declarator in node.children:
            if declarator.type != "variable_declarator":
                continue
            name = declarator.child_by_field_name("name")
            if name is not None and name.type == "identifier":
                package = self._declarator_module(declarator)
                holder = "module" if package else ""
                scope.names[self.text(name)] = Origin(True, package, holder) if package else scope.plain

    @handle_nodes("lexical_declaration")
    def lexical(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define the names of a `let` or `const` in the header of a loop."""
        # Those in blocks were hoisted already.
        self._hoist_variables(node, ecma_scope(place))
        self.push(node.children, REFERENCE, place)

    def _declarator_module(self, declarator: Node) -> str | None:
        """Return the module in `x = require("module")`, else None."""
        value = declarator.child_by_field_name("value")
        return self._required_module(value) if value is not None and value.type == "call_expression" else None

    def _source(self, node: Node) -> str | None:
        strings = [child for child in node.children if child.type == "string"]
        return self._resolve_module(strings[-1]) if strings else None

    def _hoist_import(self, node: Node, scope: EcmaScope) -> None:
        package = self._source(node)
        for clause in node.children:
            if clause.type == "import_clause":
                for local, holder in self._imported_names(clause):
                    name = self.text(local)
                    scope.names[name] = Origin(True, package, holder or guess_holder(name))
            elif clause.type == "import_require_clause":
                scope.names[self.text(clause.children[0])] = Origin(True, self._source(clause), "module")

    def _imported_names(self, clause: Node) -> Iterator[tuple[Node, str]]:
        """Yield the names that an import defines, each with "module" if it stands for the whole module, else ""."""
        for child in clause.children:
            if child.type == "identifier":
                yield child, ""
            elif child.type == "namespace_import":
                yield child.children[-1], "module"
            elif child.type == "named_imports":
                for specifier in child.children:
                    if specifier.type == "import_specifier":
                        yield specifier.children[-1], ""

    @handle_nodes("import_statement")
    def import_(self, node: Node, _role: str, place: NodePlace) -> None:
        origin = Origin(True, self._source(node))
        for child in node.children:
            if child.type == "import_clause":
                for part in child.children:
                    self._import_part(part, origin, place)
            elif child.type in {"import_attribute", "import_require_clause"}:
                self.push([leaf for leaf in child.children if leaf.type in self.keywords], REFERENCE, place)
            elif child.type in self.keywords:
                self.emit(child, Kind.KEYWORD, place)

    def _import_part(self, node: Node, origin: Origin, place: NodePlace) -> None:
        if node.type == "named_imports":
            for specifier in node.children:
                self._specifier(specifier, origin, place)
        elif node.type == "namespace_import":
            for child in node.children:
                if child.type in self.keywords:
                    self.emit(child, Kind.KEYWORD, place)

    def _specifier(self, node: Node, origin: Origin | None, place: NodePlace) -> None:
        """Emit the first name of `a as b`, which is a name of the module; `b` is new, so no token."""
        # Either name may be a string.
        is_first = True
        for child in node.children:
            # The older grammar takes `default` for a name here.
            if child.type in self.keywords or self.text(child) == "default":
                self.emit(child, Kind.KEYWORD, place)
            elif child.type in {"identifier", "type_identifier"} and is_first:
                if origin is not None:
                    self.emit(child, Kind.IMPORT, place, origin)
                else:
                    self.name(child, REFERENCE, place)
            is_first = is_first and child.type not in {"identifier", "type_identifier", "string", "default"}

    @handle_nodes("export_statement")
    def export(self, node: Node, _role: str, place: NodePlace) -> None:
        package = self._source(node) if not node.child_by_field_name("declaration") else None
        # `export as namespace X` defines X.
        defines = any(child.type == "namespace" for child in node.children)
        for child in reversed(node.children):
            if child.type == "export_clause":
                for specifier in child.children:
                    self._specifier(specifier, Origin(True, package) if package else None, place)
            elif child.type == "namespace_export":
                self.push([leaf for leaf in child.children if leaf.type in self.keywords], REFERENCE, place)
            elif child.type != "identifier" or not defines:
                self.push([child], REFERENCE, place)

    # -------------------------------------------------------------------------------------------------- functions

    @handle_nodes(*_FUNCTIONS)
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        scope = ecma_scope(place)
        is_static = node.type == "method_definition" and any(child.type == "static" for child in node.children)
        inner = scope.below("function")
        inner.static = scope.static or is_static
        inner.plain = LOCAL
        name = node.child_by_field_name("name")
        if name is not None and node.type in {"function_expression", "function", "generator_function"}:
            # The name of a function expression is known only in the function.
            inner.names[self.text(name)] = LOCAL
        self._signature(node.children, name, NodePlace(inner, False))

    def _signature(self, nodes: Sequence[Node], name: Node | None, inner: NodePlace) -> None:
        begin = name.start_byte if name is not None else -1
        for index, child in reversed(list(enumerate(nodes))):
            if child.start_byte == begin:
                if child.child_count and child.type == "computed_property_name":
                    self._stack.append((child, REFERENCE, inner))
            # The single parameter of an arrow function may stand without brackets.
            elif child.type == "formal_parameters" or (
                child.type == "identifier" and index + 1 < len(nodes) and nodes[index + 1].type == "=>"
            ):
                self._stack.append((child, BOUND, inner))
            elif child.child_count or child.type in self.names:
                self._stack.append((child, REFERENCE, inner))
            else:
                self.push([child], REFERENCE, inner)

    # -------------------------------------------------------------------------------------------- variables, patterns

    @handle_nodes("variable_declarator")
    def variable(self, node: Node, _role: str, place: NodePlace) -> None:
        name, *siblings = node.children
        package = self._declarator_module(node)
        self.push(siblings, REFERENCE, place)
        if name.type in _PATTERNS:
            self._stack.append((name, FROM + package if package else BOUND, place))
        elif name.type == "identifier" and self.text(name) not in place.scope.names:
            scope = ecma_scope(place).find_var_scope()
            scope.names[self.text(name)] = Origin(True, package, "module") if package else scope.plain

    @handle_nodes("assignment_pattern", "object_assignment_pattern")
    def default(self, node: Node, role: str, place: NodePlace) -> None:
        target, *value = node.children
        self.push(value, REFERENCE, place)
        self.push([target], role, place)

    @handle_nodes("pair_pattern")
    def pair_pattern(self, node: Node, role: str, place: NodePlace) -> None:
        key, *value = node.children
        if key.type == "property_identifier":
            package = role.removeprefix(FROM) if role.startswith(FROM) else None
            self.emit(key, Kind.FIELD, place, Origin(True if package else None, package))
        elif key.child_count:
            self.push([key], REFERENCE, place)
        self.push(value, role, place)

    @handle_nodes("pair")
    def pair(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, place)

    @handle_nodes("assignment_expression", "augmented_assignment_expression")
    def assignment(self, node: Node, _role: str, place: NodePlace) -> None:
        left, *siblings = node.children
        self.push(siblings, REFERENCE, place)
        self.push([left], ASSIGNED if node.type == "assignment_expression" else REFERENCE, place)

    @handle_nodes("for_in_statement", "for_statement", "catch_clause")
    def loop(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(ecma_scope(place).below("block"), place.argument)
        children = node.children
        binds = node.type == "catch_clause" or any(child.type in {"const", "let", "var"} for child in children)
        left = node.child_by_field_name("left" if node.type == "for_in_statement" else "parameter")
        begin = left.start_byte if left is not None and binds else -1
        for child in reversed(children):
            if child.start_byte == begin and child.type != "(":
                self._stack.append((child, BOUND, inner))
            elif child.child_count or child.type in self.names:
                self._stack.append((child, REFERENCE, inner))
            else:
                self.push([child], REFERENCE, inner)

    # ---------------------------------------------------------------------------------------------------- classes

    @handle_nodes("class_declaration", "class", "abstract_class_declaration")
    def class_(self, node: Node, _role: str, place: NodePlace) -> None:
        scope = ecma_scope(place)
        name = node.child_by_field_name("name")
        if name is not None and self.text(name) not in scope.names and node.type != "class":
            scope.names[self.text(name)] = Origin(scope.plain.static or None, scope.plain.package, "class")
        around = scope.below("class")
        # The name of a class expression is known in the class only.
        if name is not None and node.type == "class":
            around.names[self.text(name)] = Origin(None, scope.plain.package, "class")
        begin = name.start_byte if name is not None else -1
        for child in reversed(node.children):
            if child.type == "class_body":
                self._stack.append((child, REFERENCE, NodePlace(self._members(child, around), False)))
            elif child.type == "class_heritage":
                self._stack.append((child, TYPE, NodePlace(around, place.argument)))
            elif child.start_byte != begin:
                self.push([child], REFERENCE, NodePlace(around, place.argument))

    def _members(self, body: Node, around: EcmaScope) -> EcmaScope:
        this = This(grows=self.this_grows)
        scope = around.below("class", this)
        # Members are known in all of the class, so they are collected before its body is read.
        for member in body.children:
            if member.type in _FIELDS:
                name = member.child_by_field_name("name") or member.child_by_field_name("property")
                if name is not None and not name.child_count:
                    text = self.text(name)
                    this.members.add(text)
                    # Private names are found by scope, since no code outside the class can use them.
                    if text.startswith("#"):
                        static = any(child.type == "static" for child in member.children)
                        scope.names[text] = Origin(static, self.package)
        return scope

    @handle_nodes("class_heritage", "extends_clause")
    def heritage(self, node: Node, _role: str, place: NodePlace) -> None:
        # What a class extends is a type, even if it is a variable.
        self.push(node.children, TYPE, place)

    @handle_nodes("field_definition", "public_field_definition")
    def field(self, node: Node, _role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        begin = name.start_byte if name is not None and not name.child_count else -1
        scope = ecma_scope(place).below("function")
        scope.static = scope.static or any(child.type == "static" for child in node.children)
        others = [child for child in node.children if child.start_byte != begin or child.child_count]
        self.in_order(others, NodePlace(scope, False))
