"""Text and offsets: decoding, line ends, checksums, edits.

Offsets count Unicode code points of the text with "\\n" line ends. Other counts exist only here and in
`adapters/lsp/places.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import accumulate

from ci_eval.contracts import Edit
from ci_eval.grammar.gap import GapText
from ci_eval.model import DeleteRange, MoveCaret, PrintText


class NotText(Exception):
    """The bytes are no source text; the message says why."""


def decode(data: bytes) -> str:
    """UTF-8 bytes → text with "\\n" line ends and without byte order mark. Raises NotText."""
    if b"\0" in data:
        raise NotText(f"not a text file: NUL byte at offset {data.index(0)}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NotText(f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}") from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


LONGEST_LINE = 100_000
"""Code points of a line. Nobody types into longer ones, which programs wrote, and what reads them takes minutes. The
bound is a length and no time, so that the same files pass on every machine."""


def check_lines(text: str) -> None:
    """Raise NotText for a text with a line that is too long."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise NotText(
                f"line {number:,} has {len(line):,} characters; lines of more than {LONGEST_LINE:,} are not read"
            )


def checksum(text: str) -> str:
    """SHA-256 of the UTF-8 text, as hex."""
    return hashlib.sha256(text.encode()).hexdigest()


_BEGINS = bytes(byte & 0xC0 != 0x80 for byte in range(256))
"""Of each byte, whether a code point of UTF-8 text begins with it (all but 0x80 to 0xBF)."""


def code_points(data: bytes) -> list[int] | None:
    """Maps each byte offset of UTF-8 text, its end included, to an offset in code points; None if they are equal
    (ASCII)."""
    if data.isascii():
        return None
    return list(accumulate(data.translate(_BEGINS), initial=0))


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Line and column of an offset, both 0-based; the column in code points."""
    return text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)


MANY = 8
"""Up to so many edits are passed on one by one; more of them become a single one."""


def difference(old: str, new: str) -> Edit:
    """The shortest single edit that turns `old` into `new`."""
    most = min(len(old), len(new))
    begin = _longest(most, lambda length: old.startswith(new[:length]))
    end = _longest(most - begin, lambda length: old.endswith(new[len(new) - length :]))
    return begin, len(old) - begin - end, new[begin : len(new) - end]


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The greatest length up to `most` that fits; every shorter one must fit as well. Compares slices, which is
    fast."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


class Document:
    """A text with a caret, and the edits made since they were last taken."""

    def __init__(self, text: str) -> None:
        self._gap = GapText(text)
        self._text: str | None = text
        self.caret = 0
        self._taken = text
        self._edits: list[Edit] = []
        self._undone_by: tuple[int, str] | None = None

    @property
    def text(self) -> str:
        """The whole; put together only when it is asked for, since most sessions of a sample are not."""
        if self._text is None:
            self._text = str(self._gap)
        return self._text

    def move(self, offset: int) -> None:
        """Put the caret at `offset`."""
        if not 0 <= offset <= len(self._gap):
            raise ValueError(f"offset {offset} is outside the text of {len(self._gap)} characters")
        self.caret = offset

    def delete(self, begin: int, end: int) -> None:
        """Remove a range; the caret goes where it was. Raises ValueError where there is none."""
        self._change(begin, end, "")

    def insert(self, text: str) -> None:
        """Type `text` at the caret."""
        self._change(self.caret, self.caret, text)

    def apply(self, action: MoveCaret | DeleteRange | PrintText) -> None:
        """Move, delete or type, as the action says."""
        match action:
            case MoveCaret():
                self.move(action.offset)
            case DeleteRange():
                self.delete(action.begin, action.end)
            case PrintText():
                self.insert(action.text)

    def take_edits(self) -> list[Edit]:
        """The edits since the last call, in order; what was deleted and put back in between is left out.

        Many edits (those of sessions that were not chosen) become a single one, of the part of the text that differs.
        """
        edits = self._edits if len(self._edits) <= MANY else [difference(self._taken, self.text)]
        self._edits, self._undone_by, self._taken = [], None, self.text
        return edits

    def _change(self, begin: int, end: int, text: str) -> None:
        removed = self._gap.replace(begin, end, text)
        self._text = None
        self.caret = begin + len(text)
        if not removed and self._undone_by == (begin, text):
            self._edits.pop()
            self._undone_by = None
        else:
            self._edits.append((begin, end - begin, text))
            self._undone_by = None if text else (begin, removed)
