"""The controls `empty` and `oracle`, which bound the results of all engines, and the baseline `words`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from sys import intern

from msgspec.structs import replace

from ci_eval.core.contracts import Answer, Engine, Query, Surroundings
from ci_eval.plugins.adapters.controls import Control, ControlEngine
from ci_eval.plugins.adapters.engine import Closure


class Empty(Control):
    """A control without any suggestions: every rank metric must be 0."""

    def words(self, query: Query) -> Sequence[str]:  # noqa: ARG002
        return []


class Oracle(Control):
    """A control that answers with the expected text: every rank metric must be 1."""

    def words(self, query: Query) -> Sequence[str]:
        return [query.expected]

    def complete(self, query: Query) -> Answer:
        answer = super().complete(query)
        if query.removed is None:
            return answer
        edits = ((query.removed.offset, 0, query.removed.text),)
        return replace(answer, suggestions=[replace(suggestion, edits=edits) for suggestion in answer.suggestions])


STRETCH = 1 << 16
"""The fewest characters of a stretch of whole lines."""
Stretches = list[tuple[str, Sequence[str]]]
"""The stretches from one end of a file on, each with its words."""


class Words(Control):
    """A control that suggests the words before the caret, nearest first, then the words after it, then keywords."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self._from_begin: Stretches = []
        self._from_end: Stretches = []

    def words(self, query: Query) -> Sequence[str]:
        # Stretches are counted from both ends of the file, so that an edit near the caret leaves them as they are.
        text, begin, end = self.text, 0, len(self.text)
        before, after, until = list[Sequence[str]](), list[Sequence[str]](), query.offset - len(query.prefix)
        while cut := text.find("\n", begin + STRETCH, until) + 1:
            before.append(self._of_stretch(self._from_begin, len(before), range(begin, cut), -1))
            begin = cut
        while cut := text.rfind("\n", query.offset, max(end - STRETCH, 0)) + 1:
            after.append(self._of_stretch(self._from_end, len(after), range(cut, end), 1))
            end = cut
        nearest = (self._read(text[begin:until], -1), *reversed(before))
        further = (self._read(text[query.offset : end], 1), *reversed(after))
        # Sort the keywords: the order of a set differs between processes.
        return list(dict.fromkeys(chain(*nearest, *further, sorted(self.surroundings.keywords))))

    def _of_stretch(self, known: Stretches, number: int, places: range, step: int) -> Sequence[str]:
        """Return the words of a stretch, which is read only if it differs from the last one with this number."""
        if number < len(known) and len(known[number][0]) == len(places):
            stretch, words = known[number]
            if self.text.startswith(stretch, places.start):
                return words
        stretch = self.text[places.start : places.stop]
        # The stretches behind it have probably changed, too.
        known[number:] = [(stretch, self._read(stretch, step))]
        return known[number][1]

    def _read(self, text: str, step: int) -> Sequence[str]:
        words = [match[0] for match in self.surroundings.word.finditer(text)]
        # Equal words of several stretches are one object, so that they are told apart faster.
        return [intern(word) for word in dict.fromkeys(words[::step]) if not word[0].isdigit()]


_control = partial(ControlEngine, is_function=True)
EMPTY = _control("empty", "control: never suggests anything, any language", Empty, takes_records=True)
ORACLE = _control(
    "oracle", "control: always suggests the expected text first, any language", Oracle, takes_records=True
)
WORDS = _control(
    "words",
    "baseline: words of the open file, nearest first, then keywords; any language; for nightly runs of PHP, Ruby",
    Words,
    closure=Closure.FILE,
)
ENGINES: dict[str, Engine] = {engine.name: engine for engine in (EMPTY, ORACLE, WORDS)}
