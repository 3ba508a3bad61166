r"""The text of a document and its offsets: decoding, line ends, checksums, edits.

Offsets are in Unicode code points of the text with "\n" line ends. `code_points` converts byte offsets.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path, PurePosixPath

from ci_eval.core.base.files import read_own
from ci_eval.core.contracts import Edit
from ci_eval.core.model import Action, DeleteRange, MoveCaret, PrintText


class GapText:
    """A text where a change takes time in proportion to its distance from the last change, not to the text's length."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        # The text is `_before`, then `_after` in reverse order, then `_rest` from `_start` on.
        self._before: list[str] = []
        self._at = 0
        self._after: list[str] = []
        self._rest, self._start = text, 0

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        # The pieces before the last change are kept joined, so that the next call does not join them again.
        self._before = ["".join(self._before)]
        return "".join((*self._before, *reversed(self._after), self._rest[self._start :]))

    def replace(self, begin: int, end: int, text: str) -> str:
        """Replace a range, and return the replaced text. Raises ValueError if the range is outside the text."""
        if not 0 <= begin <= end <= self._length:
            raise ValueError(f"range {begin}-{end} is outside the text of {self._length} characters")
        if begin > self._at:
            self._before.append(self._pop_after(begin - self._at))
        while begin < self._at:
            last = self._before.pop()
            cut = max(len(last) - (self._at - begin), 0)
            self._after.append(last[cut:])
            if cut:
                self._before.append(last[:cut])
            self._at -= len(last) - cut
        removed = self._pop_after(end - begin) if end > begin else ""
        if text:
            self._before.append(text)
        self._at = begin + len(text)
        self._length += len(text) - len(removed)
        return removed

    def _pop_after(self, count: int) -> str:
        pieces = []
        while count and self._after:
            piece = self._after.pop()
            pieces.append(piece[:count])
            if len(piece) > count:
                self._after.append(piece[count:])
            count -= len(pieces[-1])
        self._start += count
        rest = self._rest[self._start - count : self._start]
        return "".join((*pieces, rest)) if pieces else rest


class NotText(Exception):
    """The error for bytes that are not source text; its message has the reason."""


class OtherEncoding(NotText):
    """The error for text in an unknown encoding."""


# Declarations of Python (PEP 263), Ruby and Emacs, in a comment on one of the first two lines.
_DECLARED = re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*(?:#|//|/\*|;)[^\n]*?coding[:=][ \t]*([-\w.]+)")
# Declarations of Maven, Ant, Gradle and sbt: `sourceEncoding>X<`, `encoding="X"`, `"-encoding", "X"`.
_BUILD_FILES = ("pom.xml", "build.xml", "build.gradle", "build.gradle.kts", "build.sbt")
_BUILD_ENCODING = re.compile(rb"encoding(?:>|[\"']?\s*[=,(]?\s*[\"'])\s*([A-Za-z][-\w.]*)", re.IGNORECASE)
_PROLOG = re.compile(rb"<\?xml[^>]*>")


def decode(data: bytes, otherwise: str = "") -> str:
    r"""Decode `data` as UTF-8 or, if that fails, in the encoding that the first lines declare, else in `otherwise`.
    The result has "\n" line ends and no byte order mark. Raises NotText for a NUL byte, or if no encoding fits."""
    if b"\0" in data:
        raise NotText(f"not a text file: NUL byte at offset {data.index(0)}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        declared = _DECLARED.match(data)
        encoding = declared[1].decode() if declared else otherwise
        try:
            text = data.decode(encoding or "utf-8")
        except (ValueError, LookupError) as other:
            why = f", nor {encoding}, the declared encoding ({other})" if encoding else ""
            raise OtherEncoding(f"not UTF-8: byte 0x{data[error.start]:02x} at offset {error.start}{why}") from other
    # CR LF must be replaced before CR, or it would become two line ends.
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_text(root: Path, path: str) -> str:
    """Return the text of a file. Raises NotText, or OSError if the path is not a regular file of the project."""
    return decode_file(root, path, read_own(root, path))


def decode_file(root: Path, path: str, data: bytes) -> str:
    """Decode a file, in the encoding that the nearest build file declares if the file's is unknown. Raises NotText."""
    try:
        return decode(data)
    except OtherEncoding:
        encoding = _build_encoding(root, PurePosixPath(path).parent)
        if not encoding:
            raise
        return decode(data, encoding)


@cache
def _build_encoding(root: Path, folder: PurePosixPath) -> str:
    """Return the encoding that the nearest build file declares, in this folder or above; "" if none does."""
    for above in (folder, *folder.parents):
        for name in _BUILD_FILES:
            with suppress(OSError):
                build = read_own(root, str(above / name))
                if match := _BUILD_ENCODING.search(_PROLOG.sub(b"", build)):
                    return match[1].decode()
    return ""


# Longer lines are generated, and tools need minutes for them. Unlike a time limit, a length limit is reproducible.
LONGEST_LINE = 100_000


def check_lines(text: str) -> None:
    """Raise NotText if the text has a line of more than LONGEST_LINE code points."""
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            raise NotText(f"line {number:,} has {len(line):,} characters; the limit is {LONGEST_LINE:,}")


def checksum(text: str) -> str:
    """Return the SHA-256 of the UTF-8 text, as hex."""
    return hashlib.sha256(text.encode()).hexdigest()


_BEGINS = bytes(byte & 0xC0 != 0x80 for byte in range(256))
"""A table of bytes: 1 if the byte begins a code point in UTF-8 (all but 0x80 to 0xBF), else 0."""


def code_points(data: bytes) -> Sequence[int]:
    """Return the offset in code points for each byte offset of UTF-8 text, including the end."""
    if data.isascii():
        return range(len(data) + 1)
    return list(accumulate(data.translate(_BEGINS), initial=0))


def line_ranges(text: str) -> list[tuple[int, int]]:
    return list(pairwise(accumulate(map(len, text.splitlines(keepends=True)), initial=0)))


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    return text.count("\n", 0, offset), offset - (text.rfind("\n", 0, offset) + 1)


MANY = 8
"""The maximum number of edits that are sent one by one; more edits are merged into one."""


def difference(old: str, new: str) -> Edit:
    """Return the single edit that turns `old` into `new`."""
    most = min(len(old), len(new))
    begin = _count_common(most, lambda known, length: old.startswith(new[known:length], known))
    # The common beginning and end must not overlap, as they would for `aa` and `aaa`.
    end = _count_common(
        most - begin,
        lambda known, length: old.endswith(new[len(new) - length : len(new) - known], 0, len(old) - known),
    )
    return begin, len(old) - begin - end, new[begin : len(new) - end]


def _count_common(most: int, agree: Callable[[int, int], bool]) -> int:
    """Return how many characters agree, up to `most`. `agree(a, b)`: whether the characters from a to b agree."""
    # A binary search over slices is faster than a loop over characters. Each character is compared only about twice.
    known = 0
    while known < most:
        length = (known + most + 1) // 2
        known, most = (length, most) if agree(known, length) else (known, length - 1)
    return known


WINDOW = 1_000
"""The largest number of characters at the place of the last changes that are kept apart from the rest of the text."""
CLOSED = (-1, "", "")
EDITS = frozenset({PrintText, DeleteRange, MoveCaret})
"""The types of actions that change a document."""


class Document:
    """A text with a caret. While all changes are at one place, and when that place gets its former text back, the text
    around it is not touched: most tokens of a sample are only typed, and not asked."""

    def __init__(self, text: str) -> None:
        self._gap = GapText(text)
        self._base: str | None = text
        """The whole text of `_gap`, if known. The document has `_now` at the offset `_at` in place of `_was`."""
        self._at, self._was, self._now = CLOSED
        self._length = len(text)
        self._text: str | None = text
        self.caret = 0
        self._taken = text
        self._edits: list[Edit] = []
        self._undone_by: tuple[int, str] | None = None

    @property
    def text(self) -> str:
        # The text is joined only on request, since most sessions of a sample are not asked and do not need the text.
        if self._text is None:
            if self._base is None:
                self._base = str(self._gap)
            at, base = self._at, self._base
            self._text = base if self._now == self._was else base[:at] + self._now + base[at + len(self._was) :]
        return self._text

    def move(self, offset: int) -> None:
        """Move the caret to an offset in code points. Raises ValueError if the offset is outside the text."""
        if not 0 <= offset <= self._length:
            raise ValueError(f"offset {offset} is outside the text of {self._length} characters")
        self.caret = offset

    def delete(self, begin: int, end: int) -> None:
        """Delete a range and put the caret at `begin`. Raises ValueError if the range is outside the text."""
        self._change(begin, end, "")

    def insert(self, text: str) -> None:
        self._change(self.caret, self.caret, text)

    def jump(self, text: str, caret: int) -> None:
        """Change the text to `text` by a single edit, and put the caret at the offset `caret`."""
        begin, deleted, inserted = difference(self.text, text)
        if deleted or inserted:
            self._change(begin, begin + deleted, inserted)
        self.caret = caret

    def apply(self, action: Action) -> None:
        """Apply one of EDITS; other actions change nothing."""
        # A test for another type than the action's takes long, so the most frequent type comes first.
        if isinstance(action, PrintText):
            self._change(self.caret, self.caret, action.text)
        elif isinstance(action, DeleteRange):
            self._change(action.begin, action.end, "")
        elif isinstance(action, MoveCaret):
            self.move(action.offset)

    def take_edits(self) -> list[Edit]:
        """Return the edits since the last call, without deletions that were reverted. More than MANY edits are
        merged into one; sessions that are not asked leave that many."""
        edits = self._edits if len(self._edits) <= MANY else [difference(self._taken, self.text)]
        self._edits, self._undone_by, self._taken = [], None, self.text
        return edits

    def _change(self, begin: int, end: int, text: str) -> None:
        at, now = self._at, self._now
        if at <= begin <= end <= at + len(now) and len(now) + len(text) <= WINDOW:
            removed = now[begin - at : end - at]
            self._now = now[: begin - at] + text + now[end - at :]
        else:
            removed = self._change_elsewhere(begin, end, text)
        self._text = None
        self._length += len(text) - len(removed)
        self.caret = begin + len(text)
        # Many edits are merged anyway, and even an edit that drops the last one leaves more than MANY.
        if len(self._edits) > MANY + 1:
            return
        # An edit that restores the text deleted by the last edit is dropped, and so is the last edit.
        if not removed and self._undone_by == (begin, text):
            self._edits.pop()
            self._undone_by = None
        else:
            self._edits.append((begin, end - begin, text))
            self._undone_by = None if text else (begin, removed)

    def _change_elsewhere(self, begin: int, end: int, text: str) -> str:
        """Leave the place of the last changes, and return the replaced text of another place."""
        if self._now != self._was:
            self._gap.replace(self._at, self._at + len(self._was), self._now)
            self._base = None
        self._at, self._was, self._now = CLOSED
        if self._base is None:
            return self._gap.replace(begin, end, text)
        if not 0 <= begin <= end <= self._length:
            raise ValueError(f"range {begin}-{end} is outside the text of {self._length} characters")
        self._at, self._was, self._now = begin, self._base[begin:end], text
        return self._was
