"""The colours of a source beside its sessions, for a script that paints it: a tag for each of them would double a
page."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Stretch = tuple[int, int, str]
"""The begin and end in code points, and a capital letter for the kind of the stretch."""

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Paint:
    """The stretches of one file, each sequence in order of begins, and without overlaps."""

    colours: Sequence[Stretch] = ()
    """The stretches of syntax. K: a keyword, S: a string, C: a comment."""
    unasked: Sequence[Stretch] = ()
    """The stretches that have a session which was not sampled, with the letter U."""


def unasked_stretches(places: Mapping[int, int], asked: Container[int]) -> list[Stretch]:
    """Return the stretches of those `places` (begin → end) at which none of the sessions `asked` begins."""
    return [(begin, end, "U") for begin, end in sorted(places.items()) if begin not in asked]


def encode_stretches(stretches: Iterable[Stretch], text: str, begin: int, end: int) -> str:
    """Return the stretches between `begin` and `end` as a script reads them: the letter, how far it is from the end of
    the one before, a dot, its length; in UTF-16 units, in base 36."""
    return "".join(_encode(stretches, text, begin, end))


def _encode(stretches: Iterable[Stretch], text: str, begin: int, end: int) -> Iterator[str]:
    is_ascii, at = text.isascii(), begin

    # JavaScript counts UTF-16 units; in ASCII these are the code points.
    def units(first: int, last: int) -> int:
        return last - first if is_ascii else len(text[first:last].encode("utf-16-le", "surrogatepass")) // 2

    for own_first, own_last, letter in stretches:
        first, last = max(own_first, at), min(own_last, end)
        if first < last:
            yield f"{letter}{_number(units(at, first))}.{_number(units(first, last))}"
            at = last


def _number(value: int) -> str:
    # The script reads an empty number as 0, which is frequent.
    digits = ""
    while value:
        value, digit = divmod(value, 36)
        digits = DIGITS[digit] + digits
    return digits
