"""The result of a sweep: one evaluation for each choice of values, over the same sessions."""

from __future__ import annotations

from ci_eval.model.comparison import Difference
from ci_eval.model.report import Estimate, MetricInfo, ProjectInfo
from ci_eval.model.tokens import Value


class SweptRun(Value, frozen=True, kw_only=True):
    """One choice of values."""

    values: tuple[str, ...]
    """Of each key, as the user wrote it."""
    workspace: str
    """Relative to the sweep's folder."""
    sessions: int
    """Evaluated ones."""
    figures: dict[str, Estimate]
    """Declared metric → figure."""
    differences: dict[str, Difference] = {}
    """Declared metric → its difference from the first run, over the sessions of both."""
    comparison: str = ""
    """Folder of that comparison, relative to the sweep's."""
    why: str = ""
    """The reason, where it cannot be compared with the first."""


class Sweep(Value, frozen=True, kw_only=True):
    """Runs in the order of their values, the last key changing fastest."""

    title: str
    project: ProjectInfo
    keys: tuple[str, ...]
    runs: tuple[SweptRun, ...]
    metrics: tuple[MetricInfo, ...]
    """The declared ones."""
    remark: str = ""
    """How much better the best run looks than it is; "" if nothing is uncertain."""
    shard: str | None = None
    """Where these are figures of a part only: nothing is compared."""
