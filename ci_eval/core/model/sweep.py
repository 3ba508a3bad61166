"""The result of a sweep: one evaluation for each choice of values, over the same sessions."""

from __future__ import annotations

from ci_eval.core.model.comparison import Difference
from ci_eval.core.model.report import Estimate, MetricInfo, ProjectInfo
from ci_eval.core.model.tokens import Value


class SweptRun(Value, frozen=True, kw_only=True):
    """A run of a sweep with one choice of values."""

    values: tuple[str, ...]
    """The value of each key, as the user wrote it."""
    workspace: str
    """The folder of its workspace, relative to the sweep's."""
    sessions: int
    """The number of evaluated sessions."""
    figures: dict[str, Estimate]
    """The figures by declared metric."""
    differences: dict[str, Difference] = {}
    """The differences from the first run, over the sessions of both, by declared metric."""
    comparison: str = ""
    """The folder of that comparison, relative to the sweep's."""
    why: str = ""
    """The reason, if it cannot be compared with the first."""


class HeldOut(Value, frozen=True, kw_only=True):
    """The run that is best in one half of the files, with its figures in the other half: these have no selection
    bias."""

    metric: str
    """The metric that chose."""
    winner: int
    """The index of the chosen run."""
    choosing: tuple[float | None, ...]
    """The metric's figure of each run in the files that chose."""
    choosing_files: int
    files: int
    """The number of the held-out files."""
    sessions: int
    """The number of sessions in these files."""
    figures: dict[str, Estimate]
    """The figures of the chosen run in the held-out files, by declared metric."""
    first: dict[str, Estimate]
    """The figures of the first run there."""


class Sweep(Value, frozen=True, kw_only=True):
    """A sweep: runs in the order of their values, the last key changing fastest."""

    title: str
    project: ProjectInfo
    keys: tuple[str, ...]
    runs: tuple[SweptRun, ...]
    metrics: tuple[MetricInfo, ...]
    """The declared metrics, in order."""
    remark: str = ""
    """The overestimate of the best run in words; "" if nothing is uncertain, or files were held out."""
    held_out: HeldOut | None = None
    """The figures of the best run in files that did not choose it, if files were held out."""
    shard: str | None = None
    """The shard, if these are figures of a part only: nothing is compared."""
