"""The names that KaVE writes: `0M:[Return, Assembly] [Type, Assembly].Name([Type, Assembly] argument)`."""

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
    """A type: its full name without its arguments; "" if it is unknown, a type parameter or an array."""

    name: str = ""
    own: bool = False
    """True if it is of the project that was edited, whose assembly has no version."""


@dataclass(frozen=True, kw_only=True)
class MethodName:
    name: str = ""
    declared_in: TypeName = TypeName()
    parameters: tuple[tuple[TypeName, str], ...] = ()
    """Type and name of each parameter."""
    is_static: bool = False

    @property
    def full(self) -> str:
        return f"{self.declared_in.name}.{self.name}".lstrip(".")

    @property
    def key(self) -> str:
        """Return the name with the types of its parameters, which tells overloads apart."""
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
    # Assemblies of libraries have a version behind a comma, those of the edited project have none.
    return TypeName(plain, own="," not in assembly)


def method_name(text: str) -> MethodName | None:
    """Return the method name that a text spells, None if it spells none."""
    text = text[:LONGEST].strip()
    if not PREFIX.match(text):
        return None
    text = PREFIX.sub("", text, count=1)
    modifiers, _, remainder = text.partition("[")
    returned, remainder = _split_brackets(f"[{remainder}")
    declared, remainder = _split_brackets(remainder.lstrip())
    name, _, parameter_texts = remainder.partition("(")
    if not returned or not declared or not name.startswith(".") or not parameter_texts:
        return None
    bare = re.sub(r"`\d+.*", "", name[1:])
    return MethodName(
        name=bare,
        declared_in=type_name(declared),
        parameters=tuple(_parameters(parameter_texts.rpartition(")")[0])),
        is_static="static" in modifiers.split(),
    )


def member_name(text: str) -> str:
    """Return the full name of a field or property, or an empty string if the text spells none."""
    text = PREFIX.sub("", text[:LONGEST].strip(), count=1)
    _, _, remainder = text.partition("[")
    returned, remainder = _split_brackets(f"[{remainder}")
    declared, remainder = _split_brackets(remainder.lstrip())
    name = remainder.lstrip(".").partition("(")[0]
    return f"{type_name(declared).name}.{name}".lstrip(".") if returned and name else ""


def parameter(text: str) -> tuple[TypeName, str]:
    """Return type and name for `out [Type, Assembly] name`."""
    _, _, remainder = PREFIX.sub("", text, count=1).partition("[")
    type_, name = _split_brackets(f"[{remainder}")
    return type_name(type_), name.strip()


def _parameters(text: str) -> list[tuple[TypeName, str]]:
    parameters = []
    while text.strip():
        first, _, text = _partition(text, ",")
        parameters.append(parameter(first))
    return parameters


def _split_brackets(text: str) -> tuple[str, str]:
    """Return the text in the brackets that a text begins with, and the text behind them. The first is empty if it
    begins with none."""
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if not depth:
            return (text[1:i], text[i + 1 :]) if char == "]" else ("", text)
    return "", text


def _partition(text: str, at: str) -> tuple[str, str, str]:
    """Split at the first `at` outside of brackets, like str.partition."""
    depth = 0
    for i, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == at and not depth:
            return text[:i], at, text[i + 1 :]
    return text, "", ""
