"""The controls `empty` and `oracle`, which bound the results of all engines, and the baseline `words`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from itertools import chain

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


STRETCH, STRETCHES = 1 << 16, 400
"""The fewest characters of a stretch of whole lines, and the number of stretches whose words are cached."""


class Words(Control):
    """A control that suggests the words before the caret, nearest first, then the words after it, then keywords."""

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__(surroundings)
        self._in_stretch = lru_cache(STRETCHES)(self._read)

    def words(self, query: Query) -> Sequence[str]:
        # Stretches are counted from both ends of the file, so that an edit near the caret leaves them as they are.
        text, begin, end, known = self.text, 0, len(self.text), self._in_stretch
        before, after, until = list[str](), list[str](), query.offset - len(query.prefix)
        while cut := text.find("\n", begin + STRETCH, until) + 1:
            before.append(text[begin:cut])
            begin = cut
        while cut := text.rfind("\n", query.offset, max(end - STRETCH, 0)) + 1:
            after.append(text[cut:end])
            end = cut
        nearest = (self._read(text[begin:until], -1), *(known(stretch, -1) for stretch in reversed(before)))
        further = (self._read(text[query.offset : end], 1), *(known(stretch, 1) for stretch in reversed(after)))
        # Sort the keywords: the order of a set differs between processes.
        return list(dict.fromkeys(chain(*nearest, *further, sorted(self.surroundings.keywords))))

    def _read(self, text: str, step: int) -> Sequence[str]:
        words = [match[0] for match in self.surroundings.word.finditer(text)]
        return [word for word in dict.fromkeys(words[::step]) if not word[0].isdigit()]


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
