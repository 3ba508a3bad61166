"""The composition of names from sub-tokens: the part that each plays, and the patterns that parts form.

The parts are parts of speech without a dictionary. Sub-tokens are told apart by their usual position in the project's
names (alone, first, inside, last), as verbs are mostly first and nouns last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ci_eval.core.base.subtokens import pieces, split
from ci_eval.plugins.learning.code import Class

Slot = tuple[str, str]
"""(how it is written, its part); of what stands between sub-tokens: (the text, "")."""
Pattern = tuple[Slot, ...]

SMALL, CAPITAL, UPPER = "small", "Capital", "UPPER"
PLACES = ("alone", "first", "inside", "last")


def units(token: str, kind: Class) -> list[str]:
    """Return the units of a token that get vectors: the sub-tokens of a name, any other token as it is."""
    return split(token) or [token] if kind == "name" else [token]


class Parts:
    """The part of each sub-token."""

    def __init__(self, tokens: Mapping[str, int], kinds: Mapping[str, Class]) -> None:
        """Learn the parts from `tokens`, each with its number of occurrences. `kinds` has the class of each."""
        where: dict[str, Counter[str]] = {}
        self._parts: dict[str, str] = {}
        for token, times in tokens.items():
            if kinds[token] != "name":
                self._parts[token] = kinds[token]
                continue
            name_units = units(token, "name")
            for place, unit in enumerate(name_units):
                where.setdefault(unit, Counter())[_place(place, len(name_units))] += times
        for unit, places in where.items():
            most = max(places.values())
            self._parts[unit] = (
                "number" if unit.isnumeric() else next(place for place in PLACES if places[place] == most)
            )

    def of(self, unit: str) -> str:
        """Return the part of a unit, or an empty string for one that was never seen."""
        return self._parts.get(unit, "")

    def pattern(self, token: str, kind: Class) -> Pattern:
        """Return how the token is written, and the parts of its sub-tokens."""
        if kind != "name" or not split(token):
            return ((token, "") if kind == "name" else ("", kind),)
        return tuple(_slot(piece, self) for piece in pieces(token))


def _place(place: int, of: int) -> str:
    if of == 1:
        return "alone"
    return "first" if place == 0 else "last" if place == of - 1 else "inside"


def _slot(piece: str, parts: Parts) -> Slot:
    unit = piece.casefold()
    if not split(piece):
        return piece, ""
    fill_pattern = UPPER if piece.isupper() and len(piece) > 1 else CAPITAL if piece[0].isupper() else SMALL
    return fill_pattern, parts.of(unit)


def fill_pattern(pattern: Pattern, chosen: Iterable[str]) -> str:
    """Return the token with these sub-tokens in the slots of the pattern."""
    remaining = iter(chosen)
    return "".join(text if not part else _apply_case(text, next(remaining)) for text, part in pattern)


def _apply_case(how: str, unit: str) -> str:
    match how:
        case "UPPER":
            return unit.upper()
        case "Capital":
            return unit[:1].upper() + unit[1:]
        case _:
            return unit


def slots(pattern: Pattern) -> Sequence[str]:
    """Return the parts of a pattern that are to be filled."""
    return [part for _, part in pattern if part]
