"""What came out of a comparison, ready to be shown. A difference is always new - base."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from ci_eval.model.gates import GateResult
from ci_eval.model.report import EngineInfo, MetricInfo, Noise, ProjectInfo
from ci_eval.model.tokens import Value
from ci_eval.model.trend import Trend


class Verdict(str, Enum):
    """What may be said of one metric."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    """The whole interval is inside the margin: a difference of that size is ruled out."""
    NOT_SHOWN = "no-difference-shown"
    """Neither a difference nor its absence: the data cannot tell."""
    NOT_COMPARABLE = "not-comparable"


class Elsewhere(Value, frozen=True, kw_only=True):
    """What the compared sessions say of other code like theirs: files (of many projects: projects) are the sample."""

    low: float | None = None
    high: float | None = None
    """The 95 % interval of the difference; None where there are too few files for one."""
    p: float | None = None
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    """What the verdict follows from."""
    effective: float = 0.0
    """So many files of equal size would say as much."""
    detectable: float | None = None
    """The smallest true difference that data like these would show four times out of five."""


class Difference(Value, frozen=True, kw_only=True):
    """One metric on both sides, over the same sessions. The verdict is that of this project's sessions."""

    base: float | None
    new: float | None
    difference: float | None
    population: Literal["project"] = "project"
    """Whose difference the interval, p and the verdict are of: all sessions of this project under this strategy."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the difference; as wide as nothing where all sessions were asked. Of the declared metrics,
    all intervals hold together."""
    p: float | None = None
    """Two-sided; below 0.05 exactly where the interval excludes 0. None where all were asked: nothing is uncertain."""
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    """What the verdict follows from."""
    detectable: float | None = None
    """The smallest true difference that data like these would show four times out of five."""
    noise: float | None = None
    """Standard error from the engine's own indeterminism, where repeats have measured it; part of the interval."""
    n: int = 0
    """Observations on the side that has fewer."""
    over: str = ""
    """Which of the sessions it is of, where these are not all: those found by both."""
    elsewhere: Elsewhere = Elsewhere()


class Subset(Value, frozen=True, kw_only=True):
    """The sessions that share a property, and the first declared metric over them."""

    dimension: str
    value: str
    sessions: int
    files: int
    wins: int
    """Sessions whose expected text stands higher in the new list."""
    losses: int
    difference: Difference


class Side(Value, frozen=True, kw_only=True):
    """One of the evaluations."""

    title: str
    workspace: str
    engine: EngineInfo
    project: ProjectInfo
    completion_type: str
    started: str
    sessions: int
    """Evaluated."""
    failed: int
    """Of the paired ones."""
    noise: Noise | None = None
    """How far it differs from itself, where each session was asked several times."""


class Change(Value, frozen=True, kw_only=True):
    """One session that went differently; a rank of None is an absent text."""

    id: str
    file: str
    offset: int
    line: int
    """1-based."""
    expected: str
    prefix: str
    kind: str
    base_rank: int | None
    new_rank: int | None
    base_status: str
    new_status: str


class Comparison(Value, frozen=True, kw_only=True):
    """Two evaluations, session by session."""

    task: str = "completion"
    """Its name."""
    base: Side
    new: Side
    paired: int
    population: int
    """Sessions this project has under this strategy, on both sides; the paired ones are a sample of them."""
    only_base: int
    only_new: int
    changed_text: int
    """Sessions without a partner because their file has another text on the other side."""
    files: int
    """With at least one pair."""
    declared: tuple[str, ...]
    """The metrics whose verdicts count; their intervals and p-values are adjusted together."""
    filters: dict[str, dict[str, Difference]]
    wins: int
    losses: int
    parts: tuple[Subset, ...]
    transitions: dict[str, dict[str, int]]
    """Band of the base's rank → band of the new one's → sessions."""
    latencies: dict[str, tuple[float, float]]
    """Share of the lookups → the time (ms) that so many took at most, base and new."""
    regressions: tuple[Change, ...]
    """The worst first."""
    improvements: tuple[Change, ...]
    """The best first."""
    warnings: tuple[str, ...]
    gates: tuple[GateResult, ...]
    metrics: tuple[MetricInfo, ...]
    trend: Trend | None = None
    """Of the new side, where its past is known."""
