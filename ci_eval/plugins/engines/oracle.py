"""A control that is always right: every rank metric must be 1."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Engine, Query
from ci_eval.plugins.adapters.controls import Control, ControlEngine


class Oracle(Control):
    """A control that answers with the expected text."""

    def words(self, query: Query) -> Sequence[str]:
        return [query.expected]


ENGINE: Engine = ControlEngine(
    "oracle", "control: always suggests the expected text first, any language", Oracle, takes_records=True
)
