"""How a source looks beside its sessions, for a script that paints it: a tag for each of them would double a page."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Stretch = tuple[int, int, str]
"""Begin and end in code points, and a capital letter for what it is."""

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Paint:
    """The stretches of one file, each in order of their begins, and none of them over another."""

    colours: Sequence[Stretch] = ()
    """K: a keyword, S: a string, C: a comment."""
    unasked: Sequence[Stretch] = ()
    """U: a place where there is a session, but none was drawn."""


def unasked(places: Mapping[int, int], asked: Container[int]) -> list[Stretch]:
    """The places (begin → end) of which none of those `asked` begins there."""
    return [(begin, end, "U") for begin, end in sorted(places.items()) if begin not in asked]


def spelled(stretches: Iterable[Stretch], text: str, begin: int, end: int) -> str:
    """Those between `begin` and `end` as a script reads them: the letter, how far it is from the end of the one before,
    a dot, its length; in UTF-16 units, with the digits of 36."""
    return "".join(_spelled(stretches, text, begin, end))


def _spelled(stretches: Iterable[Stretch], text: str, begin: int, end: int) -> Iterator[str]:
    is_ascii, at = text.isascii(), begin

    def units(first: int, last: int) -> int:
        return last - first if is_ascii else len(text[first:last].encode("utf-16-le", "surrogatepass")) // 2

    for own_first, own_last, letter in stretches:
        first, last = max(own_first, at), min(own_last, end)
        if first < last:
            yield f"{letter}{_number(units(at, first))}.{_number(units(first, last))}"
            at = last


def _number(value: int) -> str:
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = DIGITS[digit] + digits
    return digits
