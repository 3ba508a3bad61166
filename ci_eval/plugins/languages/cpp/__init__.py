"""The language C++: finds the references in a file and their kinds."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.scopes import LOCAL_TYPE, Origin, Scope
from ci_eval.core.grammar.syntax import Node, leaves
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.cpp.imports import imports
from ci_eval.plugins.languages.cpp.references import (
    CLASS,
    EITHER,
    KEYWORDS,
    LEAVES,
    MEMBER,
    SIGNATURE,
    STATIC,
    VALUE,
    CppReferences,
    CppScope,
    declare,
    declaring_scope,
    enclosing_namespace,
    inside,
)
from ci_eval.plugins.languages.cpp.repairs import REPAIRS

_BODIES = frozenset(["compound_statement", "field_initializer_list", "try_statement"])
_DECLARATORS = frozenset(
    "init_declarator pointer_declarator reference_declarator array_declarator function_declarator "
    "parenthesized_declarator structured_binding_declarator attributed_declarator variadic_declarator "
    "pointer_type_declarator".split()
)
_DECLARATIONS = (
    "declaration field_declaration parameter_declaration optional_parameter_declaration variadic_parameter_declaration"
).split()
_TYPE_DECLARATORS = _DECLARATORS | {"abstract_pointer_declarator"}
_NAME_FIRST = frozenset(["init_declarator", "array_declarator", "function_declarator", "attributed_declarator"])
_NAMED_TYPES = frozenset(["type_identifier", "qualified_identifier", "template_type"])


def _find_name(declarator: Node) -> int:
    """Return the index of the child with a declarator's name: the last named child, or 0 if the name is first."""
    children = declarator.children
    if declarator.type in _NAME_FIRST:
        return 0
    return max(i for i in range(len(children)) if i == 0 or children[i].is_named)


class CppWalk(CppReferences):
    roles = {TYPE: "friend_declaration"}

    def _define_type(self, name: Node, scope: Scope) -> None:
        scope = declaring_scope(scope)
        local = scope.kind not in {"namespace", "class"}
        scope.names[self.text(name)] = LOCAL_TYPE if local else Origin(True, enclosing_namespace(scope), CLASS)

    @handle_nodes(*_DECLARATIONS)
    def declaration(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define a and b of `T a = x, *b` and visit x."""
        children = node.children
        if len(children) == 2 and node.type == "field_declaration":  # no declarator, or only a class
            self.push(children, REFERENCE, place)
            return
        kinds = [child.type for child in children]
        role = STATIC if "storage_class_specifier" in kinds and self._is_static(children) else BOUND
        if "=" in kinds:
            begin = kinds.index("=")
            after = kinds.index(",", begin) if "," in kinds[begin:] else len(kinds)
            self.push(children[after:], role, place)
            self.push(children[begin:after], REFERENCE, place)
            children = children[:begin]
        self.push(children, role, place)

    def _is_static(self, nodes: Sequence[Node]) -> bool:
        return any(child.type == "storage_class_specifier" and self.text(child) == "static" for child in nodes)

    @handle_nodes(*_DECLARATORS)
    def declarator(self, node: Node, role: str, place: NodePlace) -> None:
        self._declare(node, role if role == STATIC else BOUND, place, None)

    def _declare(self, node: Node, role: str, place: NodePlace, inner: NodePlace | None) -> None:
        """Define the name in a declarator and visit its other parts. `inner` is the place of a function's parameters;
        if `inner` is None, a new place is made."""
        while node.type in _DECLARATORS and node.child_count:
            children, kind = node.children, node.type
            if kind == "structured_binding_declarator":
                self.push(children, BOUND, place)
                return
            at = _find_name(node)
            parameter_place = place
            if kind == "function_declarator":
                inner = inner or inside("function", place)
                # Only statements construct objects as in `T x(a, b());`. Elsewhere, this is a function with parameters.
                is_inside = declaring_scope(place.scope).kind == "block" and role == BOUND
                if is_inside and children[-1].type == "parameter_list":
                    values = self._values(children[-1], place.scope)
                    children = children[:-1] if values else children
                    for value, value_role in values:
                        self.push([value], value_role, NodePlace(place.scope, True))
                parameter_place = inner
            self.push(children[:at] + children[at + 1 :], REFERENCE, parameter_place)
            node = children[at]
            if kind == "pointer_type_declarator" and node.type == "type_identifier":
                # This is a pointer to a member: `void (T::*name)()`.
                self._define(self.text(node), role, place.scope)
                return
        if node.type in {"operator_name", "operator_cast"}:
            # The identifier in `operator""_x` is the defined name, so it is not a reference.
            self.push([child for child in node.children if child.type != "identifier"], REFERENCE, inner or place)
            return
        if node.type == "qualified_identifier" and inner:
            self._enter(node, inner.scope, place.scope)
        self.push([node], role, place)

    def _values(self, parameters: Node, scope: Scope) -> list[tuple[Node, str]]:
        """Return the values that the grammar parses as parameter types, with their roles. Return an empty list if any
        parameter is not a value."""
        values: list[tuple[Node, str]] = []
        for child in parameters.children:
            if not child.is_named:
                continue
            name, *rest = child.children or [child]
            is_value = name.type == "qualified_identifier" or (
                name.type == "type_identifier" and scope.find(self.text(name)).holder != CLASS
            )
            if child.type != "parameter_declaration" or not is_value or len(rest) > 1:
                return []
            kind = rest[0].type if rest else ""
            if kind == "abstract_function_declarator":
                arguments = rest[0].children[0]
                inner = self._values(arguments, scope)
                has_none = not any(argument.is_named for argument in arguments.children)
                if rest[0].child_count > 1 or not (inner or has_none):
                    return []
                values += [(name, CALLED), *inner]
            elif kind in {"", "abstract_array_declarator"}:
                values += [(name, VALUE), *((node, REFERENCE) for node in rest)]
            else:
                return []
        return values

    def _enter(self, name: Node, function: Scope, around: Scope) -> None:
        """Make the members of A visible in the body of `A::f`."""
        # `A::B::f` is nested to the right, so the innermost node has the name of the class that declares f.
        while name.children[-1].type == "qualified_identifier":
            name = name.children[-1]
        head = name.children[0]
        head = head.children[0] if head.child_count else head
        # Only classes of this file have known members.
        class_ = self.spaces.types.get(self.text(head))
        if class_:
            # The class replaces the template as the parent scope, so copy the template's parameters.
            if around.kind == "template":
                function.names.update(around.names)
            function.parent = class_

    @handle_nodes("function_definition")
    def function(self, node: Node, role: str, place: NodePlace) -> None:
        children = node.children
        if role == SIGNATURE:
            # `_members` passes the scope of the body; the signature belongs to the scope around it.
            self._signature(children, NodePlace(place.scope.parent or place.scope, False), place)
        else:
            self._signature(children, place, self._body(children, place))

    def _body(self, children: Sequence[Node], place: NodePlace) -> NodePlace:
        """Schedule the visit of a function's body, and return the place of the body."""
        inner = inside("function", place)
        self._stack += [(child, REFERENCE, inner) for child in reversed(children) if child.type in _BODIES]
        return inner

    def _signature(self, children: Sequence[Node], place: NodePlace, inner: NodePlace) -> None:
        role = STATIC if self._is_static(children) else BOUND
        head = children[0]
        if declaring_scope(place.scope).kind == "namespace" and head.type == "function_declarator":
            # Outside of a class, a function without a type and without `::` is a macro: `TEST(a, b) {…}`.
            name = head.children[0]
            role = CALLED if name.type == "identifier" and self.text(name) != "main" else role
        declares = _DECLARATORS | {"operator_cast"}
        types = [child for child in children if child.type not in declares and child.type not in _BODIES]
        for child in children:
            if child.type in declares:
                self._declare(child, role, place, inner)
        self.push(types, TYPE, place)

    @handle_nodes("template_declaration")
    def template(self, node: Node, role: str, place: NodePlace) -> None:
        self.push(node.children, role, inside("template", place))

    @handle_nodes("template_parameter_list")
    def template_parameters(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define the parameters of a template. They are not members of the enclosing class or namespace."""
        scope = place.scope
        # `declaring_scope` skips template scopes and would define the parameters in the enclosing class.
        parameter_place = NodePlace(
            CppScope("parameters", scope.parent, scope.names, package=enclosing_namespace(scope)), False
        )
        for child in reversed(node.children):
            parts = child.children if child.type == "parameter_declaration" else []
            # In `template <Concept T>`, T is a type; in `template <Enum N>`, N is a value. Both look the same.
            if parts and parts[0].type in _NAMED_TYPES and parts[-1].type == "identifier":
                scope.names[self.text(parts[-1])] = Origin(False, None, EITHER)
                self.push(parts[:-1], REFERENCE, parameter_place)
            else:
                self.push([child], REFERENCE, parameter_place)

    @handle_nodes(
        "type_parameter_declaration",
        "optional_type_parameter_declaration",
        "variadic_type_parameter_declaration",
        "concept_definition",
        "alias_declaration",
    )
    def type_name(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define the first name of `typename T` or `using T = …`."""
        children = node.children
        own = next((i for i, child in enumerate(children) if child.type in LEAVES), None)
        if own is not None:
            name = self.text(children[own])
            if node.type.endswith("parameter_declaration"):
                place.scope.names[name] = LOCAL_TYPE
            else:
                self._define_type(children[own], place.scope)
            children = children[:own] + children[own + 1 :]
        self.push(children, TYPE, place)

    @handle_nodes("type_definition")
    def typedef(self, node: Node, _role: str, place: NodePlace) -> None:
        type_ = node.child_by_field_name("type")
        begin = type_.end_byte if type_ else 0
        children = node.children
        self.push([child for child in children if child.start_byte < begin], TYPE, place)
        for child in children:
            if child.start_byte >= begin and child.is_named:
                while child.child_count and child.type in _TYPE_DECLARATORS:
                    inner = child.children
                    at = _find_name(child)
                    self.push(inner[:at] + inner[at + 1 :], REFERENCE, inside("function", place))
                    child = inner[at]
                if child.type == "type_identifier":
                    self._define_type(child, place.scope)

    @handle_nodes("class_specifier", "struct_specifier", "union_specifier", "enum_specifier")
    def class_(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit a class definition, a forward declaration, or a mention `struct T` of a type."""
        children = node.children
        name = next((child for child in children if child.type in {"type_identifier", "qualified_identifier"}), None)
        body = children[-1] if children[-1].type in {"field_declaration_list", "enumerator_list"} else None
        # A mention of a type defines nothing, so visit its parts as types.
        if not body and (role != REFERENCE or not name):
            self.push(children, TYPE, place)
            return
        inner = inside("class", NodePlace(place.scope, False))
        if name:
            self._class_name(name, body is not None, inner, place)
        for child in children:
            if child.type == "template_type":
                # The constructors of a template specialisation have the name of the template.
                text = self.text(child.children[0])
                inner.scope.names[text] = place.scope.find(text)._replace(holder=CLASS)
        if body and body.type == "field_declaration_list":
            self._members(body.children, inner)
        elif body:
            # The constants of an unscoped enum are also visible in the enclosing scope.
            plain = not any(child.type in {"class", "struct"} for child in children)
            origin = Origin(True, enclosing_namespace(place.scope), MEMBER)
            for parts in [
                child.children for child in body.children if child.type == "enumerator" and child.child_count
            ]:
                for scope in (inner.scope, declaring_scope(place.scope)) if plain else (inner.scope,):
                    self.define(parts[0], scope, origin)
                self.push(parts[1:], REFERENCE, inner)
        for child in reversed(children):
            # Bases are types. Most are declared in headers, which are not read, so define them here.
            for base in child.children if child.type == "base_class_clause" else ():
                named = base.children[0] if base.type == "template_type" else base
                if named.type == "type_identifier" and not place.scope.find(self.text(named)).holder:
                    self.define(named, inner.scope, Origin(None, None, CLASS))
            if child not in (name, body):
                self.push(child.children if child.type == "base_class_clause" else [child], TYPE, place)

    def _class_name(self, name: Node, defined: bool, inner: NodePlace, place: NodePlace) -> None:
        """Define the name of a class in the enclosing scope and in the class itself."""
        if name.type == "qualified_identifier":
            self.push([name], SIGNATURE, place)
            self._enter(name, inner.scope, place.scope)
            *_, name = leaves(name)
            self._define_type(name, inner.scope)
        # `struct T` declares nothing if T is already known.
        elif defined or place.scope.find(self.text(name)).holder != CLASS:
            self._define_type(name, place.scope)
            inner.scope.names[self.text(name)] = place.scope.find(self.text(name))
        if defined and isinstance(inner.scope, CppScope):
            self.spaces.types[self.text(name)] = inner.scope

    def _members(self, children: Sequence[Node], place: NodePlace) -> None:
        """Visit the members of a class. The bodies of methods come last."""
        methods, heads, others = [], [], []
        for child in children:
            around = place
            if child.type == "template_declaration" and child.children[-1].type == "function_definition":
                around = inside("template", place)
                *head, child = child.children
                heads.append((head, around))
            if child.type == "function_definition":
                # A method's body sees all members, including later ones.
                methods.append((child, SIGNATURE, self._body(child.children, around)))
            else:
                others.append(child)
        # The visit order is: template parameters, other members, signatures, bodies.
        self._stack += methods[::-1]
        self.push(others, REFERENCE, place)
        for head, around in heads:
            self.push(head, REFERENCE, around)

    @handle_nodes("field_initializer")
    def initializer(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit an initializer: `field(x)`, or a base's constructor `Base<T>(x)`."""
        first, *siblings = node.children
        self.push(siblings, REFERENCE, place)
        if first.type == "field_identifier":
            name = self.text(first)
            class_ = place.scope.enclosing("class")
            known = class_.names.get(name) if class_ else None
            origin = known or place.scope.find(name)
            # Only fields and bases can be initialized, so an unknown name is a field of the instance.
            if not known and origin.holder != CLASS:
                origin = Origin(False)
            kind = Kind.TYPE_REFERENCE if origin.holder == CLASS else Kind.FIELD
            self.emit(first, kind, place, origin, name)
            return
        # The grammar parses a base such as `B<T>` as a method here.
        if first.type == "template_method" and first.child_count:
            self.push(first.children[1:], REFERENCE, place)
            first = first.children[0]
            self.emit(first, Kind.TYPE_REFERENCE, place, place.scope.find(self.text(first)))
        else:
            self.push([first], TYPE, place)


def extract(text: str, _path: str, declared: Declarations) -> Extraction:
    return extract_tokens(CppWalk(text.encode(), declared), "cpp", REPAIRS)


_HEADS = ("if_statement", "else_clause", "while_statement", "for_statement", "for_range_loop")
_STATEMENTS = (
    "expression_statement return_statement continue_statement break_statement for_statement while_statement "
    "if_statement"
).split()

LANGUAGE: Language = Language(
    name="cpp",
    title="C++",
    # A `.h` file may be C or C++; all are parsed as C++.
    grammars=dict.fromkeys([".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".h", ".ipp", ".inl"], "cpp"),
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    shape=Shape(
        lists=frozenset(
            # An include guard (`#ifndef`) contains the whole header.
            ["translation_unit", "declaration_list", "field_declaration_list", "enumerator_list", "preproc_ifdef"]
        ),
        bodies=frozenset(["function_definition compound_statement", "lambda_expression compound_statement"]),
        closers=frozenset(
            [")", "]", "}", ";", "template_argument_list >", "template_parameter_list >", "case_statement :", "#endif"]
        ),
        stand_ins={
            "compound_statement": "{}",
            "field_declaration_list": "{}",
            "field_initializer argument_list": "()",
            "function_definition default_method_clause": "{}",
            # A head such as `if (x)` needs a statement; `;` is the shortest.
            **{f"{head} {statement}": ";" for head in _HEADS for statement in _STATEMENTS},
        },
    ),
    imports=imports,
)
