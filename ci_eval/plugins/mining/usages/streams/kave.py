"""The format of KaVE, which records events in Visual Studio: zips of JSON with syntax trees of C# code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

import msgspec

from ci_eval.core.model import Definition
from ci_eval.plugins.mining.usages import histories
from ci_eval.plugins.mining.usages.dialect import Enclosing, UsageCollection

# ----------------------------------------------------------------------------------------------------------- names
# KaVE writes `0M:[Return, Assembly] [Type, Assembly].Name([Type, Assembly] argument)`.

PREFIX = re.compile(r"(?:\d+\w+|CSharp\.\w+):")
PREDEFINED = {
    "bool": "Boolean", "byte": "Byte", "char": "Char", "decimal": "Decimal", "double": "Double", "float": "Single",
    "int": "Int32", "long": "Int64", "object": "Object", "sbyte": "SByte", "short": "Int16", "string": "String",
    "uint": "UInt32", "ulong": "UInt64", "ushort": "UInt16", "void": "Void",
}  # fmt: skip
LONGEST = 10_000
"""The number of characters of a name that are read."""


class TypeName(NamedTuple):
    """The full name of a type without type arguments. It is empty for unknown types, type parameters and arrays."""

    name: str = ""
    own: bool = False
    """True if the type belongs to the edited project: its assembly has no version."""


class MethodName(msgspec.Struct, frozen=True, kw_only=True):
    name: str = ""
    declared_in: TypeName = TypeName()
    parameters: tuple[tuple[TypeName, str], ...] = ()
    is_static: bool = False

    @property
    def full(self) -> str:
        return f"{self.declared_in.name}.{self.name}".lstrip(".")

    @property
    def key(self) -> str:
        return f"{self.full}({','.join(type_.name.rpartition('.')[2] for type_, _ in self.parameters)})"


def type_name(text: str) -> TypeName:
    text = text.strip()
    if text.startswith("p:"):
        known = PREDEFINED.get(text[2:], "")
        return TypeName(f"System.{known}" if known else "")
    text = PREFIX.sub("", text, count=1)
    for kind in ("i:", "s:", "e:", "d:", "n:"):  # interface, struct, enum, delegate, nested
        text = text.removeprefix(kind)
    name, _, assembly = (part.strip() for part in _partition(text, ","))
    is_array = text.startswith("arr(") or (name.endswith("]") and "`" not in name)
    if not assembly or is_array or name in {"", "?"}:
        return TypeName()
    plain = re.sub(r"`\d+", "", name.partition("[")[0]).replace("+", ".")
    # Only assemblies of libraries have a version, after a comma.
    return TypeName(plain, own="," not in assembly)


def method_name(text: str) -> MethodName | None:
    """Parse the name of a method. Return None if the text is not such a name."""
    text = text[:LONGEST].strip()
    if not PREFIX.match(text):
        return None
    modifiers, returned, declared, remainder = _split_member(text)
    name, _, parameter_texts = remainder.partition("(")
    if not returned or not declared or not name.startswith(".") or not parameter_texts:
        return None
    parameters = []
    texts = parameter_texts.rpartition(")")[0]
    while texts.strip():
        first, _, texts = _partition(texts, ",")
        parameters.append(parameter(first))
    return MethodName(
        name=re.sub(r"`\d+.*", "", name[1:]),
        declared_in=type_name(declared),
        parameters=tuple(parameters),
        is_static="static" in modifiers.split(),
    )


def _split_member(text: str) -> tuple[str, str, str, str]:
    """Return the modifiers, the returned type, the type that declares the member, and the rest: `.name(…)`."""
    modifiers, _, remainder = PREFIX.sub("", text, count=1).partition("[")
    returned, remainder = _split_brackets(f"[{remainder}")
    return modifiers, returned, *_split_brackets(remainder.lstrip())


def member_name(text: str) -> str:
    """Return the full name of a member, or "" if the text is not the name of a member."""
    _, returned, declared, remainder = _split_member(text[:LONGEST].strip())
    name = remainder.lstrip(".").partition("(")[0]
    return f"{type_name(declared).name}.{name}".lstrip(".") if returned and name else ""


def parameter(text: str) -> tuple[TypeName, str]:
    """Parse `out [Type, Assembly] name`."""
    _, _, remainder = PREFIX.sub("", text, count=1).partition("[")
    type_, name = _split_brackets(f"[{remainder}")
    return type_name(type_), name.strip()


def _split_brackets(text: str) -> tuple[str, str]:
    """Return the text in the brackets at the beginning ("" without brackets), and the text after the brackets."""
    inner, bracket, after = _partition(text[1:], "]")
    return (inner, after) if text[:1] == "[" and bracket else ("", text)


def _partition(text: str, at: str) -> tuple[str, str, str]:
    """Split like str.partition, but ignore separators in brackets."""
    depth = 0
    for i, char in enumerate(text):
        if char == at and not depth:
            return text[:i], at, text[i + 1 :]
        depth += (char == "[") - (char == "]")
    return text, "", ""


THIS = {"this", "base", ""}
NO_VARIABLE = TypeName(), Definition()


class _Method(NamedTuple):
    enclosing: Enclosing
    variables: dict[str, tuple[TypeName, Definition]]


class SstWalk:
    """A walk that finds the usages in a simplified syntax tree (SST). KaVE stores SSTs instead of texts."""

    def __init__(self, tree: Mapping[str, object]) -> None:
        self.collection = UsageCollection()
        self.completed: histories.Key | None = None
        self._position = 0
        methods = tree.get("Methods")
        for method in methods if isinstance(methods, list) else ():
            name = method_name(_text(method, "Name"))
            if name and isinstance(method, dict):
                self._method(name, method.get("Body"), type_name(_text(tree, "EnclosingType")).name)

    def _method(self, name: MethodName, body: object, class_: str) -> None:
        owner = class_ or name.declared_in.name
        method = _Method(Enclosing(key=name.key, class_=owner, method=name.key), {})
        for number, (type_, variable) in enumerate(name.parameters):
            self._bind(method, variable, type_, Definition(kind="PARAM", member=name.full, argument=number))
        # The walk uses a stack, so deep nesting cannot exceed the recursion limit.
        stack: list[object] = [body]
        while stack:
            node = stack.pop()
            if isinstance(node, list):
                stack += reversed(node)
            elif isinstance(node, dict):
                self._position += 1
                stack += reversed(self._read(node, method))

    def _read(self, node: Mapping[str, object], method: _Method) -> Sequence[object]:
        kind = _text(node, "$type").rpartition(".")[2].rstrip("]")
        if kind == "VariableDeclaration":
            self._bind(method, _identifier(node.get("Reference")), type_name(_text(node, "Type")), Definition())
        elif kind == "ForEachLoop" and isinstance(declared := node.get("Declaration"), dict):
            type_ = type_name(_text(declared, "Type"))
            self._bind(method, _identifier(declared.get("Reference")), type_, Definition(kind="LOOP"))
            return [node.get("Body")]
        elif kind == "CatchBlock":
            type_, name = parameter(_text(node, "Parameter"))
            self._bind(method, name, type_, Definition(kind="EXCEPT"))
        elif kind == "Assignment":
            name = _identifier(node.get("Reference"))
            if name in method.variables:
                self._bind(method, name, method.variables[name][0], _definition(node.get("Expression"), method))
        elif kind == "InvocationExpression":
            self._invocation(node, method)
        elif kind == "CompletionExpression":
            type_, _ = method.variables.get(_identifier(node.get("VariableReference")), NO_VARIABLE)
            if type_.name:
                self.completed = method.enclosing.key, type_.name
        return list(node.values())

    def _bind(self, method: _Method, name: str, type_: TypeName, definition: Definition) -> None:
        method.variables[name] = type_, definition
        if type_.name and definition != Definition():
            self.collection.of(method.enclosing, type_.name, own=type_.own).definitions[name] = definition

    def _invocation(self, node: Mapping[str, object], method: _Method) -> None:
        called = method_name(_text(node, "MethodName"))
        name = _identifier(node.get("Reference"))
        # Calls on classes or `this`, and calls of constructors, are not usages of an object.
        if called is None or called.is_static or name in THIS or called.name in {".ctor", "ctor"}:
            return
        type_, definition = method.variables.get(name, NO_VARIABLE)
        type_ = type_ if type_.name else called.declared_in
        if type_.name:
            draft = self.collection.of(method.enclosing, type_.name, own=type_.own)
            draft.call(definition, name, called.name, self._position)


def _definition(expression: object, method: _Method) -> Definition:
    if not isinstance(expression, dict):
        return Definition()
    kind = _text(expression, "$type").rpartition(".")[2].rstrip("]")
    if kind == "InvocationExpression" and (called := method_name(_text(expression, "MethodName"))):
        if called.name in {".ctor", "ctor"}:
            return Definition(kind="NEW", member=called.declared_in.name)
        return Definition(kind="RETURN", member=called.full)
    if kind in {"ConstantValueExpression", "NullExpression"}:
        return Definition(kind="CONSTANT")
    if kind == "CastExpression":
        return Definition(kind="CAST")
    if kind == "ReferenceExpression" and isinstance(to := expression.get("Reference"), dict):
        full = member_name(_text(to, "FieldName") or _text(to, "PropertyName"))
        if full:
            return Definition(kind="FIELD", member=full)
        return method.variables.get(_identifier(to), NO_VARIABLE)[1]
    return Definition()


def _text(node: object, name: str) -> str:
    value = node.get(name) if isinstance(node, dict) else None
    return value if isinstance(value, str) else ""


def _identifier(reference: object) -> str:
    return _text(reference, "Identifier")


COMPLETION = "CompletionEvent"
APPLIED = 0


class Proposal(msgspec.Struct, rename="pascal"):
    name: str = ""


class Selected(msgspec.Struct, rename="pascal"):
    proposal: Proposal = msgspec.field(default_factory=Proposal)


class Context(msgspec.Struct):
    tree: dict[str, object] = msgspec.field(name="SST", default_factory=dict)


class Kind(msgspec.Struct):
    type: str = msgspec.field(name="$type", default="")


class Event(msgspec.Struct, rename="pascal", kw_only=True):
    context: Context = msgspec.field(name="Context2", default_factory=Context)
    proposal_collection: list[Proposal] = []
    selections: list[Selected] = []
    terminated_state: int = 3
    triggered_at: datetime
    """The time of the call, in UTC if no time zone is recorded."""

    def selected(self) -> str:
        """Return the selected method or "". If no selection is recorded, the first proposal counts as selected."""
        if self.terminated_state != APPLIED:
            return ""
        shown = [selection.proposal for selection in self.selections[-1:]] or self.proposal_collection
        name = method_name(shown[0].name) if shown else None
        return name.name if name else ""


def read(path: Path, recording: histories.Recording) -> Iterator[histories.Snapshot]:
    zips = sorted(path.rglob("*.zip")) if path.is_dir() else []
    for source in zips or [path]:
        user = source.relative_to(path).with_suffix("").as_posix() if zips else path.stem
        with histories.unpack_files(source, (".json",), recording) as files:
            for file in files:
                yield from _snapshot(file, user, recording)


def _snapshot(file: Path, user: str, recording: histories.Recording) -> Iterator[histories.Snapshot]:
    if file.stat().st_size > histories.LARGEST_FILE:
        recording.skipped[f"file of more than {histories.LARGEST_FILE >> 20} MiB"] += 1
        return
    data = file.read_bytes()
    try:
        if COMPLETION not in msgspec.json.decode(data, type=Kind).type:
            recording.skipped["event other than a completion"] += 1
            return
        event = msgspec.json.decode(data, type=Event)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        recording.skipped["file that is not an event of KaVE"] += 1
        return
    time = event.triggered_at if event.triggered_at.tzinfo else event.triggered_at.replace(tzinfo=timezone.utc)
    walk = SstWalk(event.context.tree)
    item = event.selected()
    yield histories.Snapshot(
        user=user,
        file=type_name(_text(event.context.tree, "EnclosingType")).name,
        time=time.timestamp(),
        usages=walk.collection.usages(),
        selection=histories.Selection(item=item, key=walk.completed) if item and walk.completed else None,
        is_trigger=True,
    )


STREAM = histories.Stream(
    summary="KaVE's events from Visual Studio: zips of JSON, C# only", read=read, languages=frozenset(["csharp"])
)
