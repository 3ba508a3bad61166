"""The meaning of Python expressions and annotations, by local rules."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import replace

from ci_eval.core.grammar.syntax import Node, parser
from ci_eval.plugins.mining.trees import field, named_children, node_text
from ci_eval.plugins.mining.usages.languages.python.meaning import UNKNOWN, Meaning, Scope, instance, is_class_name

Library = Callable[[str], Meaning | None]
"""The qualified name of something of the standard library → its meaning, None if it is not known."""

DEEPEST = 30
"""Depth below which nested expressions are not evaluated: nobody's code has them."""
CONSTANTS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "list": "list",
    "list_comprehension": "list",
    "dictionary": "dict",
    "dictionary_comprehension": "dict",
    "set": "set",
    "set_comprehension": "set",
    "tuple": "tuple",
    "true": "bool",
    "false": "bool",
    "comparison_operator": "bool",
    "not_operator": "bool",
}
BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
WRAPPERS = {"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Union", "InitVar"}
"""Names of typing and dataclasses of which only the first argument in the brackets counts."""
ALIASES = {"List": "list", "Dict": "dict", "Set": "set", "FrozenSet": "frozenset", "Tuple": "tuple", "Text": "str"}
ALIASES |= {"LiteralString": "str", "AnyStr": "str"}
UNTYPED = {"typing.Any", "builtins.object", "typing.Never", "typing.NoReturn", "typing.Literal", "typing.TypeAlias"}
"""Annotations that name no type."""
TYPING = ("typing.", "typing_extensions.", "dataclasses.", "_typeshed.")
OPENING = {"builtins.open": 1, "io.open": 1, "pathlib.Path.open": 0}
"""Functions that open files → position of the argument with the mode. The stubs have an overload for each mode."""
PARAMETERS = {"TypeVar", "ParamSpec", "TypeVarTuple", "NewType"}
OF_STRINGS = frozenset(["builtins.str", "builtins.bytes"])
HOLDERS = {"list", "set", "frozenset", "tuple", "Iterable", "Iterator", "Sequence", "Collection", "Generator", "deque"}
HOLDERS |= {"MutableSequence", "AbstractSet", "Set", "Reversible", "AsyncIterator", "AsyncIterable", "type"}


class Expressions:
    def __init__(self, source: bytes, library: Library) -> None:
        self.source = source
        self.library = library

    def text(self, node: Node | None) -> str:
        return node_text(self.source, node)

    # ------------------------------------------------------------------------------------------------ expressions

    def of(self, node: Node | None, scope: Scope, depth: int = 0) -> Meaning:
        if node is None or depth > DEEPEST:
            return UNKNOWN
        if node.type in CONSTANTS:
            name = CONSTANTS[node.type]
            if node.type == "string" and "b" in self.text(node).partition("'")[0].partition('"')[0].lower():
                name = "bytes"
            element = ""
            if node.type in {"list", "set", "tuple"} and (first := named_children(node)[:1]):
                element = self.of(first[0], scope, depth + 1).name
            return instance(f"builtins.{name}", "CONSTANT", element=element)
        if node.type == "none":
            return UNKNOWN.with_definition("CONSTANT")
        handler = _HANDLERS.get(node.type)
        return handler(self, node, scope, depth + 1) if handler else UNKNOWN

    def _identifier(self, node: Node, scope: Scope, _: int) -> Meaning:
        name = self.text(node)
        if scope.is_this(name):
            return Meaning(sort="this", name=scope.enclosing.key, scope=scope.own_class())
        meaning = scope.find(name)
        if meaning is not None:
            return meaning
        return (self.library(f"builtins.{name}") if name in BUILTINS else None) or UNKNOWN

    def _attribute(self, node: Node, scope: Scope, depth: int) -> Meaning:
        holder = self.of(node.child_by_field_name("object"), scope, depth)
        name = self.text(node.child_by_field_name("attribute"))
        if holder.sort == "this":
            return self._member_of_self(holder.scope, name)
        if holder.sort in {"module", "imported"}:
            return self.resolve_name(f"{holder.name}.{name}")
        if holder.sort == "class":
            return self.member(holder, name) or Meaning(sort="function", name=f"{holder.name}.{name}")
        if holder.is_typed:
            meaning = self.member(self.resolve_name(holder.name), name) if holder.scope is None else None
            if meaning is None and holder.scope:
                meaning = self.member(holder, name)
            full = f"{holder.name}.{name}"
            if meaning and meaning.sort == "object":
                return meaning.with_definition("FIELD", full)
            return meaning or Meaning(sort="unknown", name=full).with_definition("FIELD", full)
        return UNKNOWN

    def _member_of_self(self, owner: Scope | None, name: str) -> Meaning:
        full = name
        meaning = None
        if owner:
            is_own = name in owner.attributes or name in owner.names
            full = f"{owner.qualified if is_own else owner.enclosing.class_}.{name}"
            meaning = owner.attributes.get(name) or owner.names.get(name)
            for base in () if meaning else owner.bases:
                meaning = meaning or self.member(self.resolve_name(base), name)
        if meaning is None:
            return UNKNOWN.with_definition("FIELD", full)
        return meaning.with_definition("FIELD", full) if meaning.sort in {"object", "unknown"} else meaning

    def resolve_name(self, full: str) -> Meaning:
        known = self.library(full)
        if known:
            return known
        return Meaning(sort="class" if is_class_name(full.rpartition(".")[2]) else "imported", name=full)

    def member(self, class_: Meaning, name: str, depth: int = 0) -> Meaning | None:
        """Return the member of a class whose text is known, or of what the class inherits from."""
        if class_.scope is None or depth > DEEPEST:
            return None
        meaning = class_.scope.names.get(name) or class_.scope.attributes.get(name)
        for base in () if meaning else class_.scope.bases:
            # `class Foo(Foo)` extends what the name meant before.
            if base != class_.name:
                meaning = meaning or self.member(self.resolve_name(base), name, depth + 1)
        return meaning

    def _call(self, node: Node, scope: Scope, depth: int) -> Meaning:
        called_node = node.child_by_field_name("function")
        called = self.of(called_node, scope, depth)
        name = called.name or self.text(called_node).rpartition(".")[2]
        last = name.rpartition(".")[2]
        if called.sort == "this" or name == "builtins.super":
            return Meaning(sort="this", scope=called.scope or scope.own_class())
        if last in PARAMETERS and name.startswith(TYPING):
            return Meaning(sort="type parameter")
        if last == "cast" and name.startswith(TYPING):
            arguments = named_children(node.child_by_field_name("arguments"))
            return self.annotation_object(arguments[0] if arguments else None, scope).with_definition("CAST")
        # By convention, a name with a capital letter is a class, so its call makes an object.
        if called.sort == "class" or (called.sort in {"imported", "unknown"} and last[:1].isupper() and called.name):
            return replace(instance(called.name, "NEW", called.name), scope=called.scope)
        returned = self._call_result(called, called_node, scope, depth)
        if name in OPENING and (mode := self._mode(node, OPENING[name])) and "b" in mode:
            returned = instance(
                f"io.Buffered{'Random' if '+' in mode else 'Reader' if 'r' in mode or mode == 'b' else 'Writer'}"
            )
        return returned.with_definition("RETURN", name)

    def _mode(self, call: Node, position: int) -> str:
        """Return the mode that a file is opened in, or an empty string if the call does not spell it."""
        arguments = named_children(call.child_by_field_name("arguments"))
        words = [argument for argument in arguments if self.text(argument.child_by_field_name("name")) == "mode"]
        value = words[0].child_by_field_name("value") if words else next(iter(arguments[position : position + 1]), None)
        return self.text(value).strip("\"'") if value and value.type == "string" else ""

    def _call_result(self, called: Meaning, node: Node | None, scope: Scope, depth: int) -> Meaning:
        """Return the result of a function. A method that returns Self gives an object of its own class."""
        if called.returns is None:
            return UNKNOWN
        if called.returns.sort == "this":
            holder = self.of(field(node, "object"), scope, depth) if node and node.type == "attribute" else UNKNOWN
            return instance(holder.name) if holder.sort in {"object", "class"} and holder.name else UNKNOWN
        if called.returns.scope is None and called.returns.name:
            known = self.resolve_name(called.returns.name)
            return replace(called.returns, name=known.name, scope=known.scope) if known.sort == "class" else UNKNOWN
        return called.returns

    def _first_known(self, node: Node, scope: Scope, depth: int) -> Meaning:
        """Return the first operand of `a or b` and `a if c else b` whose type is known."""
        parts = named_children(node)
        parts = [parts[0], *parts[2:]] if node.type == "conditional_expression" and len(parts) == 3 else parts
        meanings = [self.of(part, scope, depth) for part in parts]
        return next((meaning for meaning in meanings if meaning.is_typed), UNKNOWN)

    def _binary(self, node: Node, scope: Scope, depth: int) -> Meaning:
        left = self.of(node.child_by_field_name("left"), scope, depth)
        operator = self.text(node.child_by_field_name("operator"))
        if left.name in OF_STRINGS or (left.name == "builtins.list" and operator in {"+", "*"}):
            return instance(left.name)
        if left.name.startswith("pathlib.") and operator == "/":
            return instance(left.name)
        return UNKNOWN

    def _subscript(self, node: Node, scope: Scope, depth: int) -> Meaning:
        holder = self.of(node.child_by_field_name("value"), scope, depth)
        if holder.sort == "class":
            return holder  # Foo[int](…)
        index = node.child_by_field_name("subscript")
        if holder.name in OF_STRINGS or (index and index.type == "slice" and holder.is_typed):
            return instance(holder.name)
        return instance(holder.element) if holder.element else UNKNOWN

    def _inner(self, node: Node, scope: Scope, depth: int) -> Meaning:
        value = node.child_by_field_name("value") or next(iter(named_children(node)), None)
        return self.of(value, scope, depth)

    def element(self, node: Node | None, scope: Scope) -> Meaning:
        holder = self.of(node, scope)
        if holder.name in OF_STRINGS:
            return instance(holder.name if holder.name == "builtins.str" else "builtins.int")
        return instance(holder.element) if holder.element else UNKNOWN

    # ------------------------------------------------------------------------------------------------ annotations

    def annotation_object(self, node: Node | None, scope: Scope, depth: int = 0) -> Meaning:
        if node is None or depth > DEEPEST:
            return UNKNOWN
        if node.type == "type":
            return self.annotation_object(next(iter(named_children(node)), None), scope, depth + 1)
        if node.type == "string":
            return self._quoted_annotation(node, scope, depth + 1)
        if node.type in {"generic_type", "subscript"}:
            return self._generic(node, scope, depth + 1)
        if node.type in {"binary_operator", "union_type"}:
            meanings = [self.annotation_object(part, scope, depth + 1) for part in named_children(node)]
            return next((meaning for meaning in meanings if meaning.sort != "unknown"), UNKNOWN)
        if node.type in {"identifier", "attribute", "member_type"}:
            return self._plain(node, scope)
        return UNKNOWN

    def _plain(self, node: Node, scope: Scope) -> Meaning:
        meaning = self.of(node, scope)
        last = self.text(node).rpartition(".")[2]
        if last == "Self" and (meaning.name.startswith(TYPING) or not meaning.name):
            return Meaning(sort="this")
        if last in ALIASES and (meaning.name.startswith(TYPING) or last == "AnyStr"):
            return instance(f"builtins.{ALIASES[last]}")
        if meaning.sort == "type parameter" or meaning.name in UNTYPED or meaning.name.startswith("_typeshed."):
            return Meaning(sort="type parameter") if meaning.sort == "type parameter" else UNKNOWN
        if meaning.sort == "class" or (meaning.sort == "imported" and meaning.name):
            return replace(instance(meaning.name), scope=meaning.scope)
        return UNKNOWN

    def _generic(self, node: Node, scope: Scope, depth: int) -> Meaning:
        parts = named_children(node)
        type_arguments = parts[1:]
        if type_arguments and type_arguments[0].type == "type_parameter":
            type_arguments = named_children(type_arguments[0])
        last = self.text(parts[0]).rpartition(".")[2] if parts else ""
        if last in WRAPPERS:
            meanings = [self.annotation_object(argument, scope, depth) for argument in type_arguments]
            return next((meaning for meaning in meanings if meaning.sort != "unknown"), UNKNOWN)
        holder = self.annotation_object(parts[0] if parts else None, scope, depth)
        # `type[Foo]` is a class, and no object of Foo.
        if last in {"type", "Type"}:
            return UNKNOWN
        # The first argument of a dict is the type of its keys, but `d[k]` is a value.
        if type_arguments and (last in HOLDERS or last in ALIASES) and last.lower() != "dict":
            return replace(holder, element=self.annotation_object(type_arguments[0], scope, depth).name)
        return holder

    def _quoted_annotation(self, node: Node, scope: Scope, depth: int) -> Meaning:
        text = self.text(node).strip("\"'").strip().encode()
        inner = Expressions(text, self.library)
        statement = next(iter(named_children(parser("python").parse(text).root_node)), None)
        return inner.annotation_object(next(iter(named_children(statement)), None), scope, depth + 1)


_HANDLERS: dict[str, Callable[[Expressions, Node, Scope, int], Meaning]] = {
    "identifier": Expressions._identifier,
    "attribute": Expressions._attribute,
    "call": Expressions._call,
    "boolean_operator": Expressions._first_known,
    "conditional_expression": Expressions._first_known,
    "binary_operator": Expressions._binary,
    "subscript": Expressions._subscript,
    "parenthesized_expression": Expressions._inner,
    "await": Expressions._inner,
    "named_expression": Expressions._inner,
}
