"""Simulate unfinished code: while a token is typed, some of the code after the token is missing or different."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ci_eval.core.actions.files import Source
from ci_eval.core.base.chance import draw
from ci_eval.core.grammar import unwritten
from ci_eval.core.model import Action, DeleteRange, EvolutionConfig, Kind, MoveCaret, PrintText, Token


class _Part(msgspec.Struct):
    begin: int
    end: int
    now: str
    then: str
    is_then: bool = False


class Evolution:
    """A file with hidden parts. A part stays hidden until a token in or after the part is to be typed. Imports differ,
    since users add imports later: an import is hidden except while its own tokens are typed."""

    def __init__(self, source: Source, config: EvolutionConfig, tokens: Sequence[Token]) -> None:
        self._imports = config.what == "imports"
        self._parts: list[_Part] = []
        candidates = _parts(source, config, tokens) if config.share else []
        lines_by_depth: dict[int, list[str]] = {}
        # The lines are sorted, since the random choice must not depend on the order of a set, which is not fixed.
        for line in sorted({source.text[begin:end] for begin, end in candidates} if config.how == "different" else ()):
            # The last line of the file may have no line end. In another place, it would be joined with the next line.
            if line.endswith("\n"):
                lines_by_depth.setdefault(_depth(line), []).append(line)
        for begin, end in candidates:
            chance = draw(source.seed, f"{source.project}\0{source.path}\0{begin}")
            if chance < config.share:
                now = source.text[begin:end]
                # `chance` is uniform in [0, share), so `chance / share` is uniform in [0, 1).
                fitting = lines_by_depth.get(_depth(now)) if config.how != "missing" else None
                then = fitting[int(chance / config.share * len(fitting))] if fitting else ""
                # A line of the same indentation replaces the part. If the part itself is drawn, it is missing.
                self._parts.append(_Part(begin, end, now, "" if then == now else then))
        self.happens = bool(self._parts)
        self._next = -1
        """The index of the first part that is still hidden; -1 before the first token."""

    def at(self, offset: int) -> int:
        """Return the present offset of the text that is at `offset` in the complete file, outside hidden parts.

        Example: if an import of 20 characters above is hidden, offset 100 becomes 80. Only imports move text, since all
        other parts before a token are restored before the token is typed.
        """
        if not self._imports:
            return offset
        return offset + sum(len(p.then) - len(p.now) for p in self._parts if p.is_then and p.end <= offset)

    def before(self, begin: int, limit: int) -> list[Action]:
        """Return the edits that put the file up to `limit` in the state in which the text at `begin` is typed."""
        if self._imports:
            wrong = [part for part in self._parts if part.is_then == (part.begin < limit and begin < part.end)]
            return [action for part in wrong for action in self._turn(part)]
        actions: list[Action] = []
        # Parts before the first token would be restored at once, so they are never hidden.
        if self._next < 0:
            self._next = sum(part.begin <= limit for part in self._parts)
            # From the end, so that the offsets of earlier parts stay right.
            for part in reversed(self._parts[self._next :]):
                actions += self._turn(part)
        while self._next < len(self._parts) and self._parts[self._next].begin <= limit:
            actions += self._turn(self._parts[self._next])
            self._next += 1
        return actions

    def finish(self) -> list[Action]:
        return [action for part in self._parts if part.is_then for action in self._turn(part)]

    def _turn(self, part: _Part) -> list[Action]:
        begin = self.at(part.begin)
        present, replacement = (part.then, part.now) if part.is_then else (part.now, part.then)
        part.is_then = not part.is_then
        actions: list[Action] = [DeleteRange(begin=begin, end=begin + len(present))] if present else []
        return [*actions, MoveCaret(offset=begin), PrintText(text=replacement)] if replacement else actions


def _parts(source: Source, config: EvolutionConfig, tokens: Sequence[Token]) -> list[unwritten.Part]:
    shape = source.language.shape
    if shape is None:
        return unwritten.lines(source.text) if config.what == "lines" else []
    if config.what == "lines":
        return unwritten.statements_on_a_line(source.text, source.grammar)
    if config.what == "definitions":
        return unwritten.definitions(source.text, source.grammar, shape)
    offsets = [token.offset for token in tokens if token.properties.kind == Kind.IMPORT]
    return unwritten.select_statements(source.text, source.grammar, shape, offsets)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())
