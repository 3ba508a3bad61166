"""Puts the calls on objects of one type in one method together: a usage each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ci_eval.mining.usages.contract import MinedText, MinedUsage, Receiver
from ci_eval.model import Definition, ObjectUsage

PRIORITY = {
    kind: rank
    for rank, kinds in enumerate(
        ("UNKNOWN", "THIS", "FIELD GLOBAL", "PARAM LOOP EXCEPT CAST", "CONSTANT", "UNPACK WITH RETURN NEW")
    )
    for kind in kinds.split()
}
"""Of the definitions of several objects of one type in one method, the one of the highest rank is kept. The order is
that of the original (science.md 1.7), where it has UNKNOWN < THIS < FIELD < PARAM < CONSTANT < RETURN = NEW."""


@dataclass(frozen=True, kw_only=True)
class Enclosing:
    """The method around a piece of code."""

    key: str
    """Its qualified name in its file."""
    class_: str = ""
    """What its class inherits from, where that is a type of a library; else the class itself."""
    method: str = ""
    """The method of a library that it overrides, which has the same name in every project; else its own name."""


@dataclass
class _Gathered:
    enclosing: Enclosing
    own: bool
    definitions: dict[str, Definition] = field(default_factory=dict)
    """Object (the variable's name) → where it comes from; the last assignment counts."""
    calls: list[tuple[int, str]] = field(default_factory=list)


class Gathering:
    """The usages of one text, while it is read."""

    def __init__(self) -> None:
        self.receivers: Counter[Receiver] = Counter()
        self._found: dict[tuple[str, str], _Gathered] = {}

    def define(self, enclosing: Enclosing, type_: str, definition: Definition, thing: str, *, own: bool) -> None:
        """There is an object of this type, which `thing` names."""
        self._at(enclosing, type_, own).definitions[thing] = definition

    def call(
        self, enclosing: Enclosing, type_: str, definition: Definition, thing: str, name: str, at: int, *, own: bool
    ) -> None:
        """The method `name` is called on an object of this type; `at`: where in the text."""
        gathered = self._at(enclosing, type_, own)
        if definition.kind == "FIELD":
            # What this very method has assigned to the field says more.
            gathered.definitions.setdefault(thing, definition)
        else:
            gathered.definitions[thing] = definition
        gathered.calls.append((at, name))

    def _at(self, enclosing: Enclosing, type_: str, own: bool) -> _Gathered:
        return self._found.setdefault((enclosing.key, type_), _Gathered(enclosing, own))

    def mined(self, *, broken: bool) -> MinedText:
        """All of it."""
        return MinedText(usages=tuple(self._usages()), receivers=self.receivers, broken=broken)

    def _usages(self) -> Iterator[MinedUsage]:
        for (key, type_), each in self._found.items():
            usage = ObjectUsage(
                type=type_,
                class_=each.enclosing.class_,
                method=each.enclosing.method,
                definition=max(each.definitions.values(), key=lambda definition: PRIORITY[definition.kind]),
                calls=tuple(dict.fromkeys(name for _, name in sorted(each.calls))),
            )
            yield MinedUsage(method=key, usage=usage, own=each.own)
