"""The tokens on both sides of a caret, counted on from where the caret was before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ci_eval.core.logs.names import START_OF_LINE
from ci_eval.plugins.learning.code import Lexer
from ci_eval.plugins.learning.ngrams import Cache


class _Line(NamedTuple):
    """A line behind the caret's."""

    width: int
    """Number of its tokens in `after`."""
    opened: str | None
    """State of the lexer (see Lexer.opened) at its beginning."""


class Surrounding:
    """The two sequences of tokens that end at the caret: `before` as it is read, `after` read backwards.

    While the caret moves forward in a file, tokens are added to the one and taken from the other. See Cache for `order`
    and `predicted`.
    """

    def __init__(self, language: str, order: int, predicted: Callable[[str], bool], capacity: int = 10**9) -> None:
        """Start without text. `capacity` is the most tokens before the caret's line that count."""
        self._language, self._capacity = language, capacity
        self.before, self.after = Cache(order, predicted), Cache(order, predicted)
        self.forget()

    def forget(self) -> None:
        """Remove all tokens, for another file."""
        self.before.forget()
        self.after.forget()
        self._lexer = Lexer(self._language)
        self._read, self._rest = "", ""
        self._lines: list[_Line] = []
        """Lines behind the caret's line, the nearest last."""
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
                # The first of these lines was the caret's line, whose beginning is in the cache already.
                _replace_end(self.before, self._begun, [START_OF_LINE, *tokens] if tokens else [])
                self._begun = []
            self.before.keep(self._capacity)
            self._read = before[:end]
        begun_in = self._lexer.copy()
        begun = [START_OF_LINE, *begun_in.line(before[end:])]
        _replace_end(self.before, self._begun, begun)
        self._begun = begun
        self._read_back(after, begun_in)

    def _read_back(self, after: str, lexer: Lexer) -> None:
        """Read the text behind the caret. `lexer` has read up to the caret."""
        line, _, further_lines = after.partition("\n")
        ending = [START_OF_LINE, *reversed(lexer.line(line))] if after else []
        if further_lines != self._rest or (self._lines and self._lines[-1].opened != lexer.opened):
            _replace_end(self.after, self._ending, [])
            self._ending = []
            self._move(further_lines, lexer)
        _replace_end(self.after, self._ending, ending)
        self._ending = ending

    def _move(self, further_lines: str, lexer: Lexer) -> None:
        """Fill `after` with the given lines. `lexer` has read up to them."""
        passed = self._rest[: len(self._rest) - len(further_lines)]
        # Only whole lines can be taken back.
        known = bool(further_lines) and self._rest.endswith(further_lines) and passed.endswith("\n")
        if known:
            for _ in range(passed.count("\n")):
                self.after.take_back(self._lines.pop().width)
        # A text or comment that opens or closes above changes the tokens of all these lines.
        if not known or self._lines[-1].opened != lexer.opened:
            self.after.forget()
            self._lines = []
            read = []
            for line in further_lines.split("\n") if further_lines else []:
                opened, tokens = lexer.opened, lexer.line(line)
                read.append((opened, [START_OF_LINE, *reversed(tokens)] if tokens else []))
            for opened, tokens in reversed(read):
                self.after.add(tokens)
                self._lines.append(_Line(len(tokens), opened))
        self._rest = further_lines


def _replace_end(cache: Cache, old: Sequence[str], new: Sequence[str]) -> None:
    """Replace `old` at the end of the cache by `new`."""
    same, most = 0, min(len(old), len(new))
    while same < most and old[same] == new[same]:
        same += 1
    cache.take_back(len(old) - same)
    cache.add(new[same:])
