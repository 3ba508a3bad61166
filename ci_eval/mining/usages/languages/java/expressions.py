"""What Java expressions and types stand for, by what the file declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ci_eval.grammar.syntax import Node
from ci_eval.mining.trees import named, text_of
from ci_eval.mining.usages.contract import Receiver
from ci_eval.mining.usages.gathering import Enclosing
from ci_eval.mining.usages.languages.java.names import Names
from ci_eval.model import Definition

DEEPEST = 30
"""Expressions nested deeper are not looked into: nobody's code has them."""
NOWHERE = Definition()
LITERALS = {
    "string_literal": "java.lang.String",
    "text_block": "java.lang.String",
    "class_literal": "java.lang.Class",
}


@dataclass(frozen=True, kw_only=True)
class Thing:
    """What a name or an expression stands for."""

    sort: Receiver = "unknown"
    type: str = ""
    """Fully qualified: of an object; of a class, itself; of an array, that of its elements."""
    element: str = ""
    """Of what is generic in one type, such as List<Foo>: that type."""
    definition: Definition = NOWHERE

    def defined(self, kind: str, member: str = "", argument: int | None = None) -> Thing:
        """The same, come from elsewhere."""
        return replace(self, definition=Definition(kind=kind, member=member, argument=argument))


UNKNOWN = Thing()


@dataclass(kw_only=True)
class Scope:
    """The variables of a method, or the fields and methods of a class."""

    enclosing: Enclosing
    parent: Scope | None = None
    class_: str = ""
    """Of a class: its qualified name."""
    names: dict[str, Thing] = field(default_factory=dict)
    returns: dict[str, Thing] = field(default_factory=dict)
    """Of a class: what its methods give back."""
    parameters: frozenset[str] = frozenset()
    """Names of its type parameters."""

    def find(self, name: str) -> Thing | None:
        """What a variable or field stands for."""
        scope: Scope | None = self
        while scope:
            if name in scope.names:
                found = scope.names[name]
                return found.defined("FIELD", f"{scope.class_}.{name}") if scope.class_ else found
            scope = scope.parent
        return None

    def own_class(self) -> Scope | None:
        """The class around."""
        scope: Scope | None = self
        while scope and not scope.class_:
            scope = scope.parent
        return scope

    def returned(self, method: str) -> tuple[Thing, str]:
        """What a method of a class around gives back, and its qualified name."""
        scope: Scope | None = self
        while scope:
            if method in scope.returns:
                return scope.returns[method], f"{scope.class_}.{method}"
            scope = scope.parent
        return UNKNOWN, method

    def is_parameter(self, name: str) -> bool:
        """Whether it is a type parameter of a method or class around."""
        scope: Scope | None = self
        while scope:
            if name in scope.parameters:
                return True
            scope = scope.parent
        return False


class Expressions:
    """Tells what the expressions of one file stand for."""

    def __init__(self, source: bytes, names: Names) -> None:
        self.source, self.names = source, names

    def text(self, node: Node | None) -> str:
        """Of a node."""
        return text_of(self.source, node)

    # ------------------------------------------------------------------------------------------------ types

    def type_of(self, node: Node | None, scope: Scope) -> Thing:
        """What has the type that a node names."""
        if node is None:
            return UNKNOWN
        if node.type == "array_type":
            return Thing(sort="array", type=self.type_of(node.child_by_field_name("element"), scope).type)
        if node.type == "generic_type":
            parts = named(node)
            given = named(parts[-1]) if len(parts) > 1 else []
            element = self.type_of(given[0], scope).type if len(given) == 1 else ""
            return replace(self.type_of(parts[0] if parts else None, scope), element=element)
        if node.type in {"type_identifier", "scoped_type_identifier", "identifier", "scoped_identifier"}:
            name = self.text(node)
            if scope.is_parameter(name):
                return Thing(sort="type parameter")
            found = self.names.find("".join(name.split()))
            return Thing(sort="object", type=found) if found else UNKNOWN
        if node.type in {"catch_type", "annotated_type", "wildcard"}:
            kinds = [child for child in named(node) if "type" in child.type]
            return self.type_of(kinds[0] if kinds else None, scope)
        return UNKNOWN

    # ------------------------------------------------------------------------------------------------ expressions

    def of(self, node: Node | None, scope: Scope, depth: int = 0) -> Thing:
        """What an expression stands for."""
        if node is None or depth > DEEPEST:
            return UNKNOWN
        if node.type in LITERALS:
            return Thing(sort="object", type=LITERALS[node.type]).defined("CONSTANT")
        if node.type == "null_literal":
            return UNKNOWN.defined("CONSTANT")
        if node.type in {"this", "super"}:
            return Thing(sort="this")
        found = _HANDLERS.get(node.type)
        return found(self, node, scope, depth + 1) if found else UNKNOWN

    def _identifier(self, node: Node, scope: Scope, _: int) -> Thing:
        name = self.text(node)
        found = scope.find(name)
        if found is None and name[:1].isupper():
            return Thing(sort="class", type=self.names.find(name))
        return found or UNKNOWN

    def _new(self, node: Node, scope: Scope, _: int) -> Thing:
        found = self.type_of(node.child_by_field_name("type"), scope)
        return found.defined("NEW", found.type)

    def _array(self, node: Node, scope: Scope, _: int) -> Thing:
        return Thing(sort="array", type=self.type_of(node.child_by_field_name("type"), scope).type)

    def _cast(self, node: Node, scope: Scope, _: int) -> Thing:
        return self.type_of(node.child_by_field_name("type"), scope).defined("CAST")

    def _inner(self, node: Node, scope: Scope, depth: int) -> Thing:
        return self.of(next(iter(named(node)), None), scope, depth)

    def _first_known(self, node: Node, scope: Scope, depth: int) -> Thing:
        found = [self.of(part, scope, depth) for part in named(node)[1:]]
        return next((each for each in found if each.sort == "object"), UNKNOWN)

    def _field(self, node: Node, scope: Scope, depth: int) -> Thing:
        holder = self.of(node.child_by_field_name("object"), scope, depth)
        name = self.text(node.child_by_field_name("field"))
        if holder.sort == "this":
            owner = scope.own_class()
            return (owner.find(name) if owner else None) or UNKNOWN.defined("FIELD", name)
        if name[:1].isupper() and not name.isupper():
            full = self.names.find("".join(self.text(node).split()))
            return Thing(sort="class", type=full)
        return UNKNOWN.defined("FIELD", f"{holder.type}.{name}".lstrip("."))

    def _call(self, node: Node, scope: Scope, depth: int) -> Thing:
        receiver = node.child_by_field_name("object")
        name = self.text(node.child_by_field_name("name"))
        holder = self.of(receiver, scope, depth) if receiver else Thing(sort="this")
        if holder.sort == "this":
            found, full = scope.returned(name)
            return found.defined("RETURN", full)
        return UNKNOWN.defined("RETURN", f"{holder.type}.{name}".lstrip("."))

    def _element_of_array(self, node: Node, scope: Scope, depth: int) -> Thing:
        holder = self.of(node.child_by_field_name("array"), scope, depth)
        return Thing(sort="object", type=holder.type) if holder.sort == "array" and holder.type else UNKNOWN

    def element(self, node: Node | None, scope: Scope) -> Thing:
        """What a loop over an expression gives."""
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
