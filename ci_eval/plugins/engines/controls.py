"""The controls `empty` and `oracle`, which bound the results of all engines, and the baseline `words`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

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
        text, begin, end, stretches = self.text, 0, len(self.text), list[Sequence[str]]()
        until = query.offset - len(query.prefix)
        while cut := text.find("\n", begin + STRETCH, until) + 1:
            stretches.append(self._in_stretch(text[begin:cut], backwards=True))
            begin = cut
        words = dict.fromkeys(self._read(text, begin, until, backwards=True))
        for stretch in reversed(stretches):
            words |= dict.fromkeys(stretch)
        stretches = []
        while cut := text.rfind("\n", query.offset, max(end - STRETCH, 0)) + 1:
            stretches.append(self._in_stretch(text[cut:end]))
            end = cut
        for stretch in (self._read(text, query.offset, end), *reversed(stretches)):
            words |= dict.fromkeys(stretch)
        # Sort the keywords: the order of a set differs between processes.
        return list(words | dict.fromkeys(sorted(self.surroundings.keywords)))

    def _read(self, text: str, begin: int = 0, end: int | None = None, *, backwards: bool = False) -> Sequence[str]:
        """Return each word once; without `backwards`, in the order of the text."""
        words = [match[0] for match in self.surroundings.word.finditer(text, begin, len(text) if end is None else end)]
        return [word for word in dict.fromkeys(words[:: -1 if backwards else 1]) if not word[0].isdigit()]


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
