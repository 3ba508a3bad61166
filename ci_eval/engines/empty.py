"""A control that never answers: every rank metric must be 0."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.adapters.controls import Control, ControlEngine
from ci_eval.contracts import Engine, Query


class Empty(Control):
    """A control without any suggestions."""

    def words(self, query: Query) -> Sequence[str]:  # noqa: ARG002
        return []


ENGINE: Engine = ControlEngine("empty", "control: never suggests anything, any language", Empty, takes_records=True)
