"""The figures of one evaluation, one nightly run after the other."""

from __future__ import annotations

from ci_eval.core.model.gates import GateResult
from ci_eval.core.model.report import EngineInfo, Estimate, MetricInfo, ProjectInfo
from ci_eval.core.model.tokens import Value


class TrendPoint(Value, frozen=True, kw_only=True):
    """An evaluation of the past, or the new one."""

    started: str
    title: str
    engine: EngineInfo
    revision: str = ""
    project: ProjectInfo
    sessions: int
    metrics: dict[str, Estimate]
    differs: tuple[str, ...] = ()
    """The differences from the nightly run before: versions, the project, the machine."""
    gates: tuple[GateResult, ...] = ()
    """The results of the gates; empty if none was checked, or if the history is older than this field."""
    run: str = ""
    """The address of the CI's run, if the history has it."""


class ChangePoint(Value, frozen=True, kw_only=True):
    """A change of level of a figure, from one nightly run on."""

    night: int
    """The index of the first nightly run after the change."""
    before: float
    """The mean of the nightly runs since the previous change."""
    after: float
    p: float
    good: bool | None
    """True if the change is for the better; None if neither direction is."""


class Trend(Value, frozen=True, kw_only=True):
    """The nightly runs in order of time, of one engine, project and completion type."""

    nights: tuple[TrendPoint, ...]
    headline: str = "ALL"
    """The name of the filter whose figures these are."""
    metrics: tuple[MetricInfo, ...]
    changes: dict[str, tuple[ChangePoint, ...]]
    """The changes of level by metric, in order of time."""
    left_out: int = 0
    """The number of evaluations in the history that belong to other trends, or have no figures of the headline."""


class Line(Value, frozen=True, kw_only=True):
    """An evaluation over many nightly runs, as a trend site displays it."""

    name: str
    """The name of its history, such as python-jedi-basic."""
    page: str
    """The folder of its page within the site."""
    language: str
    completion_type: str
    client: str
    trend: Trend
    """The trend; its first metric is the one that the site displays first."""


class Lines(Value, frozen=True, kw_only=True):
    """The evaluations that a site of trends displays."""

    lines: tuple[Line, ...]
