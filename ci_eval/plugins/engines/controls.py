"""The controls `empty` and `oracle`, which bound the results of all engines, and the baseline `words`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from ci_eval.core.contracts import Answer, Engine, Query
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


class Words(Control):
    """A control that suggests the words before the caret, nearest first, then the words after it, then keywords."""

    def words(self, query: Query) -> Sequence[str]:
        begin = query.offset - len(query.prefix)
        pattern = self.surroundings.word
        before = [match[0] for match in pattern.finditer(self.text, 0, begin)]
        after = [match[0] for match in pattern.finditer(self.text, query.offset)]
        words = [text for text in (*reversed(before), *after) if not text[0].isdigit()]
        # Sort the keywords: the order of a set differs between processes.
        return list(dict.fromkeys([*words, *sorted(self.surroundings.keywords)]))


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
