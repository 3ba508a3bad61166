"""The part of a text that fits into a window: whole lines, counted in characters or in tokens."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ci_eval.core.model.endpoints import WindowConfig

_END = re.compile("\n")

Measure = Callable[[str], int]
"""A function that returns the size of a text, in the unit of the window."""
USUAL = 4
"""The number of characters in a unit of the window, as the first guess; only the number of measurements depends on
it."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """The part of the open file that is shown."""

    prefix: str
    suffix: str
    left_out: int
    """The number of characters of the file that did not fit; a suffix that is not asked for does not count."""


def compute_budget(wanted: WindowConfig) -> int:
    """Return the size of the whole window: in tokens if these are counted, else in characters."""
    if wanted.tokens is None:
        return wanted.characters
    return wanted.tokens if wanted.characters_per_token is None else int(wanted.tokens * wanted.characters_per_token)


def window(text: str, offset: int, wanted: WindowConfig, measure: Measure = len) -> Window:
    """Return the part of the file before and behind the caret that is shown: whole lines, and no more than fits.

    A line that alone is too long is shown in part, never less than a code point. One side gets the space that the other
    does not need. The share of other files is reserved.
    """
    whole = compute_budget(wanted)
    size = whole - int(whole * wanted.other_files)
    before, after = text[:offset], text[offset:] if wanted.suffix else ""
    prefix = tail(before, size, measure)
    spare = size - measure(prefix) if prefix == before else 0
    suffix = head(after, max(int(size * wanted.suffix), spare), measure)
    if suffix:
        # The suffix may have taken less than its share: the prefix gets the difference.
        prefix = tail(before, size - measure(suffix), measure)
    return Window(prefix=prefix, suffix=suffix, left_out=len(before) + len(after) - len(prefix) - len(suffix))


def head(text: str, most: int, measure: Measure = len) -> str:
    """Return the longest beginning of whole lines that fits. If the first line does not fit, the beginning of it is
    returned."""
    ends = [*_begins(text), len(text)]

    def fits(length: int) -> bool:
        return measure(text[:length]) <= most

    return text[: _longest(ends, fits, most) or _longest(range(1, len(text) + 1), fits, most)]


def tail(text: str, most: int, measure: Measure = len) -> str:
    """Return the longest end of whole lines that fits. If the last line does not fit, the end of it is returned."""
    lengths = [*(len(text) - begin for begin in reversed(_begins(text)) if begin < len(text)), len(text)]

    def fits(length: int) -> bool:
        return measure(text[len(text) - length :]) <= most

    length = _longest(lengths, fits, most) or _longest(range(1, len(text) + 1), fits, most)
    return text[len(text) - length :]


def _begins(text: str) -> list[int]:
    """Return the offsets of all lines but the first."""
    return [end.end() for end in _END.finditer(text)]


def _longest(lengths: Sequence[int], fits: Callable[[int], bool], most: int) -> int:
    """Return the longest of these rising lengths that fits, by halving; 0 = none does."""
    # The search begins near the usual length, so that little text is counted.
    low, high = 0, bisect_left(lengths, most * USUAL) + 1
    while high < len(lengths) and fits(lengths[high - 1]):
        low, high = high, high * 2
    # If a length fits, shorter ones are taken to fit as well.
    index = bisect_left(lengths, True, low, min(high, len(lengths)), key=lambda length: not fits(length))
    return lengths[index - 1] if index else 0
