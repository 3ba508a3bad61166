"""How much of a text fits: whole lines of it, counted in characters or in tokens."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ci_eval.model.endpoints import WindowConfig

_END = re.compile("\n")

Measure = Callable[[str], int]
"""The size of a text, in whatever unit the window is given in."""
USUAL = 4
"""Units of a window are at most so many characters at the first guess; only how often is counted depends on it."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """What is shown of the open file."""

    prefix: str
    suffix: str
    left_out: int
    """Characters of the file that did not fit; a suffix that nobody wants is none of them."""


def budget_of(wanted: WindowConfig) -> int:
    """The size of the whole window: in tokens where these are counted, else in characters."""
    if wanted.tokens is None:
        return wanted.characters
    return wanted.tokens if wanted.characters_per_token is None else int(wanted.tokens * wanted.characters_per_token)


def window(text: str, offset: int, wanted: WindowConfig, measure: Measure = len) -> Window:
    """What is shown of the file before and behind the caret: whole lines, and no more than fits.

    A line that alone is too long is shown in part, never less than a code point. What one side does not need, the other
    gets. The share of other files is not theirs.
    """
    whole = budget_of(wanted)
    most = whole - int(whole * wanted.other_files)
    before, after = text[:offset], text[offset:] if wanted.suffix else ""
    prefix = tail(before, most, measure)
    spare = most - measure(prefix) if prefix == before else 0
    suffix = head(after, max(int(most * wanted.suffix), spare), measure)
    if suffix:
        prefix = tail(before, most - measure(suffix), measure)
    return Window(prefix=prefix, suffix=suffix, left_out=len(before) + len(after) - len(prefix) - len(suffix))


def head(text: str, most: int, measure: Measure = len) -> str:
    """The longest beginning of whole lines that fits; of a first line that does not, what fits of it."""
    ends = [*_begins(text), len(text)]

    def fits(length: int) -> bool:
        return measure(text[:length]) <= most

    return text[: _longest(ends, fits, most) or _longest(range(1, len(text) + 1), fits, most)]


def tail(text: str, most: int, measure: Measure = len) -> str:
    """The longest end of whole lines that fits; of a last line that does not, what fits of it."""
    lengths = [*(len(text) - begin for begin in reversed(_begins(text)) if begin < len(text)), len(text)]

    def fits(length: int) -> bool:
        return measure(text[len(text) - length :]) <= most

    found = _longest(lengths, fits, most) or _longest(range(1, len(text) + 1), fits, most)
    return text[len(text) - found :]


def _begins(text: str) -> list[int]:
    """Offsets of all lines but the first."""
    return [end.end() for end in _END.finditer(text)]


def _longest(lengths: Sequence[int], fits: Callable[[int], bool], most: int) -> int:
    """The longest of these rising lengths that fits, by halving; 0 = none does.

    Where a length fits, shorter ones are taken to fit as well. To count little text, it begins near what is usual.
    """
    low, high = 0, bisect_left(lengths, most * USUAL) + 1
    while high < len(lengths) and fits(lengths[high - 1]):
        low, high = high, high * 2
    place = bisect_left(lengths, True, low, min(high, len(lengths)), key=lambda length: not fits(length))
    return lengths[place - 1] if place else 0
