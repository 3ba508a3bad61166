"""A gap buffer: a text that is changed near one place, again and again."""

from __future__ import annotations


class GapText:
    """A text in which a change costs what lies between it and the one before, not the length of the text."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        # The text is `_before`, `_after` from its end to its beginning, and `_rest` from `_start` on.
        self._before: list[str] = []
        self._at = 0
        self._after: list[str] = []
        self._rest, self._start = text, 0

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        # The joined text replaces its pieces, so that the next call does not join them again.
        self._before = ["".join(self._before)]
        return "".join((*self._before, *reversed(self._after), self._rest[self._start :]))

    def replace(self, begin: int, end: int, text: str) -> str:
        """Replace the range between two offsets with `text` and return what was there. Raises ValueError if the range
        is outside the text."""
        if not 0 <= begin <= end <= self._length:
            raise ValueError(f"range {begin}-{end} is outside the text of {self._length} characters")
        self._move(begin)
        removed = self._pop_after(end - begin)
        self._before.append(text)
        self._at += len(text)
        self._length += len(text) - len(removed)
        return removed

    def _move(self, offset: int) -> None:
        if offset > self._at:
            self._before.append(self._pop_after(offset - self._at))
        while offset < self._at:
            last = self._before.pop()
            cut = max(len(last) - (self._at - offset), 0)
            self._after.append(last[cut:])
            if cut:
                self._before.append(last[:cut])
            self._at -= len(last) - cut
        self._at = offset

    def _pop_after(self, count: int) -> str:
        """Remove `count` characters from behind the gap and return them."""
        pieces = []
        while count and self._after:
            piece = self._after.pop()
            pieces.append(piece[:count])
            if len(piece) > count:
                self._after.append(piece[count:])
            count -= len(pieces[-1])
        pieces.append(self._rest[self._start : self._start + count])
        self._start += count
        return "".join(pieces)
