"""The meaning of names, expressions and annotations in Python, found by local rules."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath
from typing import Literal

import msgspec
from msgspec.structs import replace

from ci_eval.core.grammar.syntax import Node, parse_tree
from ci_eval.plugins.languages.python.origins import LITERALS, absolute_module
from ci_eval.plugins.mining.sources import field_text, named_children, node_text
from ci_eval.plugins.mining.usages.dialect import UNKNOWN, Meaning, NameScope, instance

Library = Callable[[str], Meaning | None]
"""Qualified name → its meaning, or None if the standard library does not define it."""

DEEPEST = 30
CONSTANTS = LITERALS | dict.fromkeys(["true", "false", "comparison_operator", "not_operator"], "bool")
BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))
WRAPPERS = {"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "Union", "InitVar"}
"""Types that stand for their first argument: `Optional[X]` counts as X."""
ALIASES = {"List": "list", "Dict": "dict", "Set": "set", "FrozenSet": "frozenset", "Tuple": "tuple", "Text": "str"}
ALIASES |= {"LiteralString": "str", "AnyStr": "str"}
UNTYPED = {"typing.Any", "builtins.object", "typing.Never", "typing.NoReturn", "typing.Literal", "typing.TypeAlias"}
TYPING = ("typing.", "typing_extensions.", "dataclasses.", "_typeshed.")
OPENING = {"builtins.open": 1, "io.open": 1, "pathlib.Path.open": 0}
"""Function that opens a file → position of the argument `mode`, by which the stubs' overloads differ."""
PARAMETERS = {"TypeVar", "ParamSpec", "TypeVarTuple", "NewType"}
OF_STRINGS = frozenset(["builtins.str", "builtins.bytes"])
HOLDERS = {"list", "set", "frozenset", "tuple", "Iterable", "Iterator", "Sequence", "Collection", "Generator", "deque"}
HOLDERS |= {"MutableSequence", "AbstractSet", "Set", "Reversible", "AsyncIterator", "AsyncIterable"}
ROOTS = ("src", "lib", "python")


class Scope(NameScope, kw_only=True):
    kind: Literal["module", "class", "function", "inner"]
    """`inner`: a lambda or a comprehension."""
    qualified: str
    attributes: dict[str, Meaning] = msgspec.field(default_factory=dict)
    bases: tuple[str, ...] = ()
    stars: list[str] = msgspec.field(default_factory=list)
    this: str = ""

    def own_class(self) -> Scope | None:
        return next((scope.parent for scope in self.around() if scope.this), None)

    def is_this(self, name: str) -> bool:
        return next((scope.this == name for scope in self.around() if name in scope.names), False)

    def find(self, name: str) -> Meaning | None:
        """Return the meaning of a name. Variables of an outer function or of the module have the definition GLOBAL."""
        outside = False
        for scope in self.around():
            # Methods do not see the names of their class.
            if name in scope.names and not (outside and scope.kind == "class"):
                meaning = scope.names[name]
                if outside and meaning.sort in {"object", "unknown"}:
                    return meaning.with_definition("GLOBAL", f"{scope.qualified}.{name}")
                return meaning
            outside = outside or scope.kind != "inner"
        return None


def qualify_module(path: str) -> str:
    # Recordings may have absolute paths and Windows paths.
    parts = list(PurePosixPath(path.replace("\\", "/").lstrip("/")).with_suffix("").parts)
    while len(parts) > 1 and parts[0] in ROOTS:
        parts.pop(0)
    if len(parts) > 1 and parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def modules(paths: Iterable[str]) -> frozenset[str]:
    """Return the names of the modules and of all packages that contain them."""
    parts = [qualify_module(path).split(".") for path in paths]
    return frozenset(".".join(names[:count]) for names in parts for count in range(1, len(names) + 1))


def import_bindings(source: bytes, node: Node, module: str, is_package: bool) -> Iterator[tuple[str, str, bool]]:
    """Yield each bound name, its qualified name, and whether it is certainly a module. `module`: the importer."""
    if node.type == "import_statement":
        for child in node.children[1:]:
            full = node_text(source, child.child_by_field_name("name") or child)
            alias = field_text(source, child, "alias")
            if child.is_named and full:
                top = full.partition(".")[0]
                yield (alias, full, True) if alias else (top, top, True)
        return
    origin = node.child_by_field_name("module_name")
    if origin is None:
        return
    start = absolute_module(node_text(source, origin).replace(" ", ""), module, is_package)
    for child in node.children:
        if child.type == "wildcard_import":
            yield "*", start, True
        elif child.start_byte >= origin.end_byte and child.type in {"dotted_name", "aliased_import", "identifier"}:
            name = node_text(source, child.child_by_field_name("name") or child)
            alias = field_text(source, child, "alias")
            yield alias or name, f"{start}.{name}".lstrip("."), False


class Expressions:
    def __init__(self, source: bytes, library: Library) -> None:
        self.source = source
        self.library = library

    def text(self, node: Node | None) -> str:
        return node_text(self.source, node)

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
        if meaning is None and name in BUILTINS:
            meaning = self.library(f"builtins.{name}")
        return meaning or UNKNOWN

    def _attribute(self, node: Node, scope: Scope, depth: int) -> Meaning:
        holder = self.of(node.child_by_field_name("object"), scope, depth)
        name = field_text(self.source, node, "attribute")
        full = f"{holder.name}.{name}"
        if holder.sort == "this":
            return self._member_of_self(holder.scope, name)
        if holder.sort in {"module", "imported"}:
            return self.resolve_name(full)
        if holder.sort == "class":
            return self.member(holder, name) or Meaning(sort="function", name=full)
        if not holder.is_typed:
            return UNKNOWN
        meaning = self.member(holder if holder.scope else self.resolve_name(holder.name), name)
        if meaning is None or meaning.sort == "object":
            return (meaning or Meaning(name=full)).with_definition("FIELD", full)
        return meaning

    def _member_of_self(self, owner: Scope | None, name: str) -> Meaning:
        full = name
        meaning = None
        if owner:
            is_own = name in owner.attributes or name in owner.names
            full = f"{owner.qualified if is_own else owner.enclosing.class_}.{name}"
            meaning = owner.attributes.get(name) or owner.names.get(name)
            for base in () if meaning else owner.bases:
                meaning = meaning or self.member(self.resolve_name(base), name)
        if meaning is None or meaning.sort in {"object", "unknown"}:
            return (meaning or UNKNOWN).with_definition("FIELD", full)
        return meaning

    def resolve_name(self, full: str) -> Meaning:
        bare = full.rpartition(".")[2].lstrip("_")
        # By convention, names that consist of capitals are constants, not classes.
        is_class = bare[:1].isupper() and (not bare.isupper() or len(bare) == 1)
        return self.library(full) or Meaning(sort="class" if is_class else "imported", name=full)

    def member(self, class_: Meaning, name: str, depth: int = 0) -> Meaning | None:
        if class_.scope is None or depth > DEEPEST:
            return None
        meaning: Meaning | None = class_.scope.names.get(name) or class_.scope.attributes.get(name)
        for base in () if meaning else class_.scope.bases:
            # In `class Foo(Foo)`, the base is another class, whose name now means the subclass.
            if base != class_.name:
                meaning = meaning or self.member(self.resolve_name(base), name, depth + 1)
        return meaning

    def _call(self, node: Node, scope: Scope, depth: int) -> Meaning:
        called_node = node.child_by_field_name("function")
        called = self.of(called_node, scope, depth)
        arguments = named_children(node.child_by_field_name("arguments"))
        name = called.name or self.text(called_node).rpartition(".")[2]
        last = name.rpartition(".")[2]
        if called.sort == "this" or name == "builtins.super":
            return Meaning(sort="this", scope=called.scope or scope.own_class())
        if last in PARAMETERS and name.startswith(TYPING):
            return Meaning(sort="type parameter")
        if last == "cast" and name.startswith(TYPING):
            return self.annotation_object(arguments[0] if arguments else None, scope).with_definition("CAST")
        # By convention, a name with an initial capital is a class, so a call of it returns an instance.
        if called.sort == "class" or (called.sort in {"imported", "unknown"} and last[:1].isupper() and called.name):
            return replace(instance(called.name, "NEW", called.name), scope=called.scope)
        returned = self._call_result(called, called_node, scope, depth)
        if name in OPENING:
            at = OPENING[name]
            words = [argument for argument in arguments if field_text(self.source, argument, "name") == "mode"]
            value = words[0].child_by_field_name("value") if words else next(iter(arguments[at : at + 1]), None)
            mode = self.text(value).strip("\"'") if value and value.type == "string" else ""
            if "b" in mode:
                kind = "Random" if "+" in mode else "Reader" if "r" in mode or mode == "b" else "Writer"
                returned = instance(f"io.Buffered{kind}")
        return returned.with_definition("RETURN", name)

    def _call_result(self, called: Meaning, node: Node | None, scope: Scope, depth: int) -> Meaning:
        """Return the meaning of a call's result. Self stands for an instance of the receiver's class."""
        if called.returns is None:
            return UNKNOWN
        if called.returns.sort == "this":
            is_method = node is not None and node.type == "attribute"
            holder = self.of(node.child_by_field_name("object"), scope, depth) if node and is_method else UNKNOWN
            return instance(holder.name) if holder.sort in {"object", "class"} and holder.name else UNKNOWN
        if called.returns.scope is None and called.returns.name:
            known = self.resolve_name(called.returns.name)
            return replace(called.returns, name=known.name, scope=known.scope) if known.sort == "class" else UNKNOWN
        return called.returns

    def _first_known(self, node: Node, scope: Scope, depth: int) -> Meaning:
        """Return the meaning of the first operand of `a or b` or `a if c else b` whose type is known."""
        parts = named_children(node)
        parts = [parts[0], *parts[2:]] if node.type == "conditional_expression" and len(parts) == 3 else parts
        meanings = [self.of(part, scope, depth) for part in parts]
        return next((meaning for meaning in meanings if meaning.is_typed), UNKNOWN)

    def _binary(self, node: Node, scope: Scope, depth: int) -> Meaning:
        left = self.of(node.child_by_field_name("left"), scope, depth).name
        operator = field_text(self.source, node, "operator")
        is_list = left == "builtins.list" and operator in {"+", "*"}
        is_path = left.startswith("pathlib.") and operator == "/"
        return instance(left) if left in OF_STRINGS or is_list or is_path else UNKNOWN

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

    def annotation_object(self, node: Node | None, scope: Scope, depth: int = 0) -> Meaning:
        if node is None or depth > DEEPEST:
            return UNKNOWN
        if node.type == "type":
            return self.annotation_object(next(iter(named_children(node)), None), scope, depth + 1)
        if node.type == "string":
            text = self.text(node).strip("\"'").strip().encode()
            statement = next(iter(named_children(parse_tree(text, "python").root_node)), None)
            quoted = next(iter(named_children(statement)), None)
            return Expressions(text, self.library).annotation_object(quoted, scope, depth + 2)
        if node.type in {"generic_type", "subscript"}:
            return self._generic(node, scope, depth + 1)
        if node.type in {"binary_operator", "union_type"}:
            return self._first_annotation(named_children(node), scope, depth + 1)
        if node.type in {"identifier", "attribute", "member_type"}:
            return self._plain(node, scope)
        return UNKNOWN

    def _first_annotation(self, nodes: Iterable[Node], scope: Scope, depth: int) -> Meaning:
        meanings = [self.annotation_object(node, scope, depth) for node in nodes]
        return next((meaning for meaning in meanings if meaning.sort != "unknown"), UNKNOWN)

    def _plain(self, node: Node, scope: Scope) -> Meaning:
        meaning = self.of(node, scope)
        last = self.text(node).rpartition(".")[2]
        if last == "Self" and (meaning.name.startswith(TYPING) or not meaning.name):
            return Meaning(sort="this")
        if last in ALIASES and (meaning.name.startswith(TYPING) or last == "AnyStr"):
            return instance(f"builtins.{ALIASES[last]}")
        if meaning.sort == "type parameter":
            return Meaning(sort="type parameter")
        if meaning.name in UNTYPED or meaning.name.startswith("_typeshed."):
            return UNKNOWN
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
            return self._first_annotation(type_arguments, scope, depth)
        # `type[Foo]` is a class, not an instance of Foo.
        if last in {"type", "Type"}:
            return UNKNOWN
        holder = self.annotation_object(parts[0] if parts else None, scope, depth)
        # For a dict, the first argument is the type of the keys, but `d[k]` is a value.
        if type_arguments and (last in HOLDERS or last in ALIASES) and last.lower() != "dict":
            return replace(holder, element=self.annotation_object(type_arguments[0], scope, depth).name)
        return holder


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
