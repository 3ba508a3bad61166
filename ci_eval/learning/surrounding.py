"""The tokens on both sides of a caret, counted on from where the caret was before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ci_eval.learning.code import Lexer
from ci_eval.learning.names import START_OF_LINE
from ci_eval.learning.ngrams import Cache

Split = Callable[[Sequence[str]], Sequence[str]]
"""The tokens of a line → what is counted of them."""


def whole_tokens(line: Sequence[str]) -> Sequence[str]:
    """All of them, as they are."""
    return line


class _Line(NamedTuple):
    """A line behind the caret's."""

    width: int
    """How many tokens it has in `after`."""
    opened: str | None
    """See Lexer; where the line begins."""


class Surrounding:
    """Two sequences of tokens that both end at the caret: `before` as it is read, `after` read backwards.

    While the caret moves forward in a file, tokens are added to the one and taken from the other. `order` and
    `predicted`: see Cache.
    """

    def __init__(
        self,
        language: str,
        order: int,
        predicted: Callable[[str], bool],
        capacity: int = 10**9,
        split: Split = whole_tokens,
    ) -> None:
        """`capacity`: the most tokens before the caret's line that are counted."""
        self._split = split
        self._language, self._capacity = language, capacity
        self.before, self.after = Cache(order, predicted), Cache(order, predicted)
        self.forget()

    def forget(self) -> None:
        """Begin anew, with another file."""
        self.before.forget()
        self.after.forget()
        self._lexer = Lexer(self._language)
        self._read, self._rest = "", ""
        self._lines: list[_Line] = []
        """Those behind the caret's line, the nearest last."""
        self._begun: list[str] = []
        self._ending: list[str] = []

    def read(self, before: str, after: str) -> None:
        """Move the caret between these texts."""
        end = before.rfind("\n") + 1
        if end < len(self._read) or not before.startswith(self._read):
            self.forget()
        if end > len(self._read):
            for line in before[len(self._read) : end].split("\n")[:-1]:
                tokens = self._lexer.line(line)
                # The first of these lines was begun already.
                _exchange(self.before, self._begun, [START_OF_LINE, *self._split(tokens)] if tokens else [])
                self._begun = []
            self.before.keep(self._capacity)
            self._read = before[:end]
        begun_in = self._lexer.copy()
        begun = [START_OF_LINE, *self._split(begun_in.line(before[end:]))]
        _exchange(self.before, self._begun, begun)
        self._begun = begun
        self._read_back(after, begun_in)

    def _read_back(self, after: str, lexer: Lexer) -> None:
        """`lexer`: it has read up to the caret."""
        line, _, rest = after.partition("\n")
        ending = [START_OF_LINE, *reversed(self._split(lexer.line(line)))] if after else []
        if rest != self._rest or (self._lines and self._lines[-1].opened != lexer.opened):
            _exchange(self.after, self._ending, [])
            self._ending = []
            self._move_to(rest, lexer)
        _exchange(self.after, self._ending, ending)
        self._ending = ending

    def _move_to(self, rest: str, lexer: Lexer) -> None:
        """Have the lines of `rest` in `after`; `lexer`: it has read up to there."""
        passed = self._rest[: len(self._rest) - len(rest)]
        known = bool(rest) and self._rest.endswith(rest) and passed.endswith("\n")
        if known:
            for _ in range(passed.count("\n")):
                self.after.take_back(self._lines.pop().width)
        if not known or self._lines[-1].opened != lexer.opened:
            self.after.forget()
            self._lines = []
            read = []
            for line in rest.split("\n") if rest else []:
                opened, tokens = lexer.opened, lexer.line(line)
                read.append((opened, [START_OF_LINE, *reversed(self._split(tokens))] if tokens else []))
            for opened, tokens in reversed(read):
                self.after.add(tokens)
                self._lines.append(_Line(len(tokens), opened))
        self._rest = rest


def _exchange(cache: Cache, old: Sequence[str], new: Sequence[str]) -> None:
    """Have `new` at the end in place of `old`."""
    same, most = 0, min(len(old), len(new))
    while same < most and old[same] == new[same]:
        same += 1
    cache.take_back(len(old) - same)
    cache.add(new[same:])
