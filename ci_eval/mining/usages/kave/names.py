"""Names as KaVE writes them: `0M:[Return, Assembly] [Type, Assembly].Name([Type, Assembly] argument)`."""

from __future__ import annotations

import re
from dataclasses import dataclass

PREFIX = re.compile(r"(?:\d+\w+|CSharp\.\w+):")
PREDEFINED = {
    "bool": "Boolean", "byte": "Byte", "char": "Char", "decimal": "Decimal", "double": "Double", "float": "Single",
    "int": "Int32", "long": "Int64", "object": "Object", "sbyte": "SByte", "short": "Int16", "string": "String",
    "uint": "UInt32", "ulong": "UInt64", "ushort": "UInt16", "void": "Void",
}  # fmt: skip
LONGEST = 10_000
"""Characters of the longest name that is read."""


@dataclass(frozen=True)
class TypeName:
    """A type: its full name without its arguments; "" where it is unknown, a type parameter or an array."""

    name: str = ""
    own: bool = False
    """Of the project that was edited: its assembly has no version."""


@dataclass(frozen=True, kw_only=True)
class MethodName:
    """A method."""

    name: str = ""
    declared_in: TypeName = TypeName()
    parameters: tuple[tuple[TypeName, str], ...] = ()
    """Type and name of each."""
    is_static: bool = False

    @property
    def full(self) -> str:
        """With its type."""
        return f"{self.declared_in.name}.{self.name}".lstrip(".")

    @property
    def key(self) -> str:
        """With the types of its parameters: overloads are different methods."""
        return f"{self.full}({','.join(type_.name.rpartition('.')[2] for type_, _ in self.parameters)})"


def type_name(text: str) -> TypeName:
    """Of what stands in a field for types, or in brackets."""
    text = text.strip()
    if text.startswith("p:"):
        known = PREDEFINED.get(text[2:], "")
        return TypeName(f"System.{known}" if known else "")
    text = PREFIX.sub("", text, count=1)
    for kind in ("i:", "s:", "e:", "d:", "n:"):  # interface, struct, enum, delegate, nested
        text = text.removeprefix(kind)
    name, _, assembly = (part.strip() for part in _cut(text, ","))
    is_array = text.startswith("arr(") or (name.endswith("]") and "`" not in name)
    if not assembly or is_array or name in {"", "?"}:
        return TypeName()
    plain = re.sub(r"`\d+", "", name.partition("[")[0]).replace("+", ".")
    return TypeName(plain, own="," not in assembly)


def method_name(text: str) -> MethodName | None:
    """None where it is none."""
    text = text[:LONGEST].strip()
    if not PREFIX.match(text):
        return None
    text = PREFIX.sub("", text, count=1)
    modifiers, _, rest = text.partition("[")
    returned, rest = _bracketed(f"[{rest}")
    declared, rest = _bracketed(rest.lstrip())
    name, _, given = rest.partition("(")
    if not returned or not declared or not name.startswith(".") or not given:
        return None
    bare = re.sub(r"`\d+.*", "", name[1:])
    return MethodName(
        name=bare,
        declared_in=type_name(declared),
        parameters=tuple(_parameters(given.rpartition(")")[0])),
        is_static="static" in modifiers.split(),
    )


def member_name(text: str) -> str:
    """Of a field or property: its full name; "" where it is none."""
    text = PREFIX.sub("", text[:LONGEST].strip(), count=1)
    _, _, rest = text.partition("[")
    returned, rest = _bracketed(f"[{rest}")
    declared, rest = _bracketed(rest.lstrip())
    name = rest.lstrip(".").partition("(")[0]
    return f"{type_name(declared).name}.{name}".lstrip(".") if returned and name else ""


def parameter(text: str) -> tuple[TypeName, str]:
    """`out [Type, Assembly] name` → type and name."""
    _, _, rest = PREFIX.sub("", text, count=1).partition("[")
    type_, name = _bracketed(f"[{rest}")
    return type_name(type_), name.strip()


def _parameters(text: str) -> list[tuple[TypeName, str]]:
    found = []
    while text.strip():
        one, _, text = _cut(text, ",")
        found.append(parameter(one))
    return found


def _bracketed(text: str) -> tuple[str, str]:
    """What stands in the brackets that a text begins with, and what comes behind; "" where it begins with none."""
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if not depth:
            return (text[1:i], text[i + 1 :]) if char == "]" else ("", text)
    return "", text


def _cut(text: str, at: str) -> tuple[str, str, str]:
    """At the first `at` outside of brackets, like str.partition."""
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == at and not depth:
            return text[:i], at, text[i + 1 :]
    return text, "", ""
