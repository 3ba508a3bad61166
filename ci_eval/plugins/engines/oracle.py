"""A control that is always right: every rank metric must be 1."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ci_eval.core.contracts import Answer, Engine, Query
from ci_eval.plugins.adapters.controls import Control, ControlEngine


class Oracle(Control):
    """A control that answers with the expected text."""

    def words(self, query: Query) -> Sequence[str]:
        return [query.expected]

    def complete(self, query: Query) -> Answer:
        answer = super().complete(query)
        if query.removed is None:
            return answer
        edits = ((query.removed.offset, 0, query.removed.text),)
        return replace(answer, suggestions=[replace(suggestion, edits=edits) for suggestion in answer.suggestions])


ENGINE: Engine = ControlEngine(
    "oracle", "control: always suggests the expected text first, any language", Oracle, takes_records=True
)
