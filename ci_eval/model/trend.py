"""The figures of one evaluation over time."""

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
    """What is not as in the night before: versions, the project, the machine."""
    gates: tuple[GateResult, ...] = ()
    """None where none was judged, or where the history is older than this field."""
    run: str = ""
    """Address of the CI's run, where the history knows it."""


class ChangePoint(Value, frozen=True, kw_only=True):
    """From one night on, a figure is another one."""

    night: int
    """Place of the first night after the change."""
    before: float
    """Mean since the change before this one."""
    after: float
    p: float
    good: bool | None
    """None where the metric has no direction."""


class Trend(Value, frozen=True, kw_only=True):
    """Nights in order of time, of one engine, project and completion type."""

    nights: tuple[TrendPoint, ...]
    metrics: tuple[MetricInfo, ...]
    changes: dict[str, tuple[ChangePoint, ...]]
    """By metric, in order of time."""
    left_out: int = 0
    """Evaluations that were there of something else."""


class Line(Value, frozen=True, kw_only=True):
    """One evaluation from night to night, as a site shows it."""

    name: str
    """Of its history, such as python-jedi-basic."""
    page: str
    """Its folder within the site."""
    language: str
    completion_type: str
    client: str
    trend: Trend
    """Its first metric is the one that the site shows first."""
