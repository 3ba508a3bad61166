"""A control that never answers: every rank metric must be 0."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Engine, Query
from ci_eval.plugins.adapters.controls import Control, ControlEngine


class Empty(Control):
    """A control without any suggestions."""

    def words(self, query: Query) -> Sequence[str]:  # noqa: ARG002
        return []


ENGINE: Engine = ControlEngine("empty", "control: never suggests anything, any language", Empty, takes_records=True)
