"""The meaning of Java expressions and types, by the declarations of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ci_eval.core.grammar.syntax import Node
from ci_eval.core.model import Definition
from ci_eval.plugins.mining.trees import named_children, node_text
from ci_eval.plugins.mining.usages.contract import Receiver
from ci_eval.plugins.mining.usages.gathering import Enclosing
from ci_eval.plugins.mining.usages.languages.java.names import Names

DEEPEST = 30
"""Depth below which nested expressions are not evaluated: nobody's code has them."""
NOWHERE = Definition()
LITERALS = {
    "string_literal": "java.lang.String",
    "text_block": "java.lang.String",
    "class_literal": "java.lang.Class",
}


@dataclass(frozen=True, kw_only=True)
class Thing:
    sort: Receiver = "unknown"
    type: str = ""
    """Fully qualified name: the type of an object, the class itself, or the type of an array's elements."""
    element: str = ""
    """Type argument of a type that is generic in one type, such as Foo for List<Foo>."""
    definition: Definition = NOWHERE

    def with_definition(self, kind: str, member: str = "", argument: int | None = None) -> Thing:
        return replace(self, definition=Definition(kind=kind, member=member, argument=argument))


UNKNOWN = Thing()


@dataclass(kw_only=True)
class Scope:
    enclosing: Enclosing
    parent: Scope | None = None
    class_: str = ""
    """Qualified name, if the scope is that of a class."""
    names: dict[str, Thing] = field(default_factory=dict)
    returns: dict[str, Thing] = field(default_factory=dict)
    """Results of the methods, if the scope is that of a class."""
    parameters: frozenset[str] = frozenset()
    """Names of its type parameters."""

    def find(self, name: str) -> Thing | None:
        scope: Scope | None = self
        while scope:
            if name in scope.names:
                thing = scope.names[name]
                return thing.with_definition("FIELD", f"{scope.class_}.{name}") if scope.class_ else thing
            scope = scope.parent
        return None

    def own_class(self) -> Scope | None:
        scope: Scope | None = self
        while scope and not scope.class_:
            scope = scope.parent
        return scope

    def method_result(self, method: str) -> tuple[Thing, str]:
        """Return the result of a method of a class around, and the method's qualified name."""
        scope: Scope | None = self
        while scope:
            if method in scope.returns:
                return scope.returns[method], f"{scope.class_}.{method}"
            scope = scope.parent
        return UNKNOWN, method

    def is_parameter(self, name: str) -> bool:
        scope: Scope | None = self
        while scope:
            if name in scope.parameters:
                return True
            scope = scope.parent
        return False


class Expressions:
    def __init__(self, source: bytes, names: Names) -> None:
        self.source, self.names = source, names

    def text(self, node: Node | None) -> str:
        return node_text(self.source, node)

    # ------------------------------------------------------------------------------------------------ types

    def resolve_type(self, node: Node | None, scope: Scope) -> Thing:
        if node is None:
            return UNKNOWN
        if node.type == "array_type":
            return Thing(sort="array", type=self.resolve_type(node.child_by_field_name("element"), scope).type)
        if node.type == "generic_type":
            parts = named_children(node)
            type_arguments = named_children(parts[-1]) if len(parts) > 1 else []
            element = self.resolve_type(type_arguments[0], scope).type if len(type_arguments) == 1 else ""
            return replace(self.resolve_type(parts[0] if parts else None, scope), element=element)
        if node.type in {"type_identifier", "scoped_type_identifier", "identifier", "scoped_identifier"}:
            name = self.text(node)
            if scope.is_parameter(name):
                return Thing(sort="type parameter")
            full_name = self.names.find("".join(name.split()))
            return Thing(sort="object", type=full_name) if full_name else UNKNOWN
        if node.type in {"catch_type", "annotated_type", "wildcard"}:
            kinds = [child for child in named_children(node) if "type" in child.type]
            return self.resolve_type(kinds[0] if kinds else None, scope)
        return UNKNOWN

    # ------------------------------------------------------------------------------------------------ expressions

    def of(self, node: Node | None, scope: Scope, depth: int = 0) -> Thing:
        if node is None or depth > DEEPEST:
            return UNKNOWN
        if node.type in LITERALS:
            return Thing(sort="object", type=LITERALS[node.type]).with_definition("CONSTANT")
        if node.type == "null_literal":
            return UNKNOWN.with_definition("CONSTANT")
        if node.type in {"this", "super"}:
            return Thing(sort="this")
        handler = _HANDLERS.get(node.type)
        return handler(self, node, scope, depth + 1) if handler else UNKNOWN

    def _identifier(self, node: Node, scope: Scope, _: int) -> Thing:
        name = self.text(node)
        thing = scope.find(name)
        # By convention, an unknown name with a capital letter is a class.
        if thing is None and name[:1].isupper():
            return Thing(sort="class", type=self.names.find(name))
        return thing or UNKNOWN

    def _new(self, node: Node, scope: Scope, _: int) -> Thing:
        thing = self.resolve_type(node.child_by_field_name("type"), scope)
        return thing.with_definition("NEW", thing.type)

    def _array(self, node: Node, scope: Scope, _: int) -> Thing:
        return Thing(sort="array", type=self.resolve_type(node.child_by_field_name("type"), scope).type)

    def _cast(self, node: Node, scope: Scope, _: int) -> Thing:
        return self.resolve_type(node.child_by_field_name("type"), scope).with_definition("CAST")

    def _inner(self, node: Node, scope: Scope, depth: int) -> Thing:
        return self.of(next(iter(named_children(node)), None), scope, depth)

    def _first_known(self, node: Node, scope: Scope, depth: int) -> Thing:
        things = [self.of(part, scope, depth) for part in named_children(node)[1:]]
        return next((thing for thing in things if thing.sort == "object"), UNKNOWN)

    def _field(self, node: Node, scope: Scope, depth: int) -> Thing:
        holder = self.of(node.child_by_field_name("object"), scope, depth)
        name = self.text(node.child_by_field_name("field"))
        if holder.sort == "this":
            owner = scope.own_class()
            return (owner.find(name) if owner else None) or UNKNOWN.with_definition("FIELD", name)
        if name[:1].isupper() and not name.isupper():
            full = self.names.find("".join(self.text(node).split()))
            return Thing(sort="class", type=full)
        return UNKNOWN.with_definition("FIELD", f"{holder.type}.{name}".lstrip("."))

    def _call(self, node: Node, scope: Scope, depth: int) -> Thing:
        receiver = node.child_by_field_name("object")
        name = self.text(node.child_by_field_name("name"))
        holder = self.of(receiver, scope, depth) if receiver else Thing(sort="this")
        if holder.sort == "this":
            thing, full = scope.method_result(name)
            return thing.with_definition("RETURN", full)
        return UNKNOWN.with_definition("RETURN", f"{holder.type}.{name}".lstrip("."))

    def _element_of_array(self, node: Node, scope: Scope, depth: int) -> Thing:
        holder = self.of(node.child_by_field_name("array"), scope, depth)
        return Thing(sort="object", type=holder.type) if holder.sort == "array" and holder.type else UNKNOWN

    def element(self, node: Node | None, scope: Scope) -> Thing:
        holder = self.of(node, scope)
        type_ = holder.type if holder.sort == "array" else holder.element
        return Thing(sort="object", type=type_) if type_ else UNKNOWN


_HANDLERS: dict[str, Callable[[Expressions, Node, Scope, int], Thing]] = {
    "identifier": Expressions._identifier,
    "object_creation_expression": Expressions._new,
    "array_creation_expression": Expressions._array,
    "cast_expression": Expressions._cast,
    "parenthesized_expression": Expressions._inner,
    "ternary_expression": Expressions._first_known,
    "field_access": Expressions._field,
    "method_invocation": Expressions._call,
    "array_access": Expressions._element_of_array,
}
