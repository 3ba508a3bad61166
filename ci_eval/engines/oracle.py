"""A control that is always right: every rank metric must be 1."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.adapters.controls import Control, ControlEngine
from ci_eval.contracts import Engine, Query


class Oracle(Control):
    """A control that answers with the expected text."""

    def words(self, query: Query) -> Sequence[str]:
        return [query.expected]


ENGINE: Engine = ControlEngine(
    "oracle", "control: always suggests the expected text first, any language", Oracle, takes_records=True
)
