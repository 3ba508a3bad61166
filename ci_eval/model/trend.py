"""The figures of one evaluation, night by night."""

from __future__ import annotations

from ci_eval.model.gates import GateResult
from ci_eval.model.report import EngineInfo, Estimate, MetricInfo, ProjectInfo
from ci_eval.model.tokens import Value


class TrendPoint(Value, frozen=True, kw_only=True):
    """One evaluation of the past, or the new one."""

    started: str
    title: str
    engine: EngineInfo
    project: ProjectInfo
    sessions: int
    metrics: dict[str, Estimate]
    differs: tuple[str, ...] = ()
    """What differs from the night before: versions, the project, the machine."""
    gates: tuple[GateResult, ...] = ()
    """Empty where none was judged, or where the history is older than this field."""
    run: str = ""
    """Address of the CI's run, where the history has it."""


class ChangePoint(Value, frozen=True, kw_only=True):
    """A change of level of a figure, from one night on."""

    night: int
    """Index of the first night after the change."""
    before: float
    """Mean of the nights since the previous change."""
    after: float
    p: float
    good: bool | None
    """Whether it is for the better; None where neither direction is."""


class Trend(Value, frozen=True, kw_only=True):
    """Nights in order of time, of one engine, project and completion type."""

    nights: tuple[TrendPoint, ...]
    headline: str = "ALL"
    """Name of the filter whose figures these are."""
    metrics: tuple[MetricInfo, ...]
    changes: dict[str, tuple[ChangePoint, ...]]
    """Metric → its changes of level, in order of time."""
    left_out: int = 0
    """Number of evaluations in the history that belong to other trends, or have no figures of the headline."""


class Line(Value, frozen=True, kw_only=True):
    """One evaluation over many nights, as a site shows it."""

    name: str
    """Name of its history, such as python-jedi-basic."""
    page: str
    """Its folder within the site."""
    language: str
    completion_type: str
    client: str
    trend: Trend
    """The trend; its first metric is the one that the site shows first."""
