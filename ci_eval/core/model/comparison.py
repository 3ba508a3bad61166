"""The results over several evaluations. A difference is always new - base."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal

from msgspec import Meta

from ci_eval.core.model.engine import Condition, State
from ci_eval.core.model.report import EngineInfo, Estimate, GateResult, MetricInfo, Noise, ProjectInfo
from ci_eval.core.model.tokens import Number, Value


class TrendPoint(Value, frozen=True, kw_only=True):
    started: str
    title: str
    engine: EngineInfo
    revision: str = ""
    project: ProjectInfo
    sessions: int
    metrics: dict[str, Estimate]
    differs: tuple[str, ...] = ()
    """What changed since the previous evaluation: versions, the project, the machine."""
    gates: tuple[GateResult, ...] = ()
    run: str = ""


class ChangePoint(Value, frozen=True, kw_only=True):
    """A change of a figure's level, between two evaluations."""

    night: int
    """The index of the first evaluation after the change."""
    before: float
    after: float
    p: float
    good: bool | None


class Trend(Value, frozen=True, kw_only=True):
    """The evaluations of one engine, project and completion type, in order of time."""

    nights: tuple[TrendPoint, ...]
    headline: str = "ALL"
    metrics: tuple[MetricInfo, ...]
    changes: dict[str, tuple[ChangePoint, ...]]
    left_out: int = 0
    """The number of evaluations in the history that belong to other trends, or have no figure of the headline."""


class Line(Value, frozen=True, kw_only=True):
    name: str
    page: str
    language: str
    completion_type: str
    client: str
    trend: Trend


class Lines(Value, frozen=True, kw_only=True):
    lines: tuple[Line, ...]


class Verdict(str, Enum):
    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    """The whole interval is inside the margin."""
    NOT_SHOWN = "no-difference-shown"
    """The data show neither a difference nor equivalence."""
    NOT_COMPARABLE = "not-comparable"


class Elsewhere(Value, frozen=True, kw_only=True):
    """The difference for other code like this, whose sampling units are files, or merged projects."""

    low: float | None = None
    high: float | None = None
    """The 95 % interval; None if there are too few files for one."""
    p: float | None = None
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    marked: bool = False
    """True if the verdict also holds among all verdicts of the page, which mark it by ▲ or ▼."""
    effective: float = 0.0
    """The number of files of equal size with the same information."""
    detectable: float | None = None
    """The smallest true difference that such data would show four times out of five."""


class Difference(Value, frozen=True, kw_only=True):
    """A metric's figures on both sides, over the same sessions, and the verdict for this project."""

    base: float | None
    new: float | None
    difference: float | None
    population: Literal["project"] = "project"
    low: float | None = None
    high: float | None = None
    """The 95 % interval; both ends are the difference if nothing is uncertain."""
    p: float | None = None
    """The two-sided p-value, below 0.05 exactly if the interval excludes 0; None if nothing is uncertain."""
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    detectable: float | None = None
    marked: bool = False
    state: State = "none"
    sign: float | None = None
    """The p-value of an exact sign test over the sessions whose figure changed, if all sessions were asked."""
    better: int | None = None
    """The number of sessions whose figure improved; None if single sessions have no figure."""
    worse: int | None = None
    needed: int | None = None
    """About how many sessions show a difference of one point (0.01) four times out of five; None for other units."""
    new_low: float | None = None
    new_high: float | None = None
    noise: float | None = None
    """The standard error by the engine's own noise, if measured; the interval includes it."""
    n: int = 0
    """The number of observations, on the side that has fewer."""
    over: str = ""
    elsewhere: Elsewhere = Elsewhere()


class Subset(Value, frozen=True, kw_only=True):
    """The sessions that share a property, with the difference of the first declared metric over them."""

    dimension: str
    value: str
    sessions: int
    files: int
    wins: int
    losses: int
    difference: Difference


class PairCounts(Value, frozen=True, kw_only=True):
    """The pairs that pass a filter; `wins`, `losses` are by the first declared metric."""

    sessions: int
    wins: int
    losses: int


class Failures(Value, frozen=True, kw_only=True):
    """Paired sessions on which one engine failed in at least one round."""

    sessions: int = 0
    rounds: int = 1
    always: int = 0
    alone: int = 0
    statuses: dict[str, int] = {}
    example: str = ""


class Side(Value, frozen=True, kw_only=True):
    """One of the two evaluations."""

    title: str
    workspace: str
    engine: EngineInfo
    revision: str = ""
    project: ProjectInfo
    completion_type: str
    started: str
    sessions: int
    failed: int
    failures: Failures | None = None
    noise: Noise | None = None


class Change(Value, frozen=True, kw_only=True):
    """A session whose results differ; a rank is None if the expected text is absent."""

    id: str
    file: str
    offset: int
    line: int
    expected: str
    prefix: str
    kind: str
    base_rank: int | None
    new_rank: int | None
    base_score: float
    new_score: float
    """A number from 0 to 1, as the task defines it."""
    base_status: str
    new_status: str


class FailureVerdict(Value, frozen=True, kw_only=True):
    """The verdict of an exact sign test over the sessions on which one engine alone failed."""

    verdict: Verdict
    p: float
    marked: bool = False


class Comparison(Value, frozen=True, kw_only=True):
    """A comparison of two evaluations, session by session."""

    task: str = "completion"
    base: Side
    new: Side
    paired: int
    population: int
    population_estimated: bool = False
    only_base: int
    only_new: int
    changed_text: int
    """Sessions without a partner because their file has another text on the other side."""
    files: int
    declared: tuple[str, ...]
    """The metrics whose verdicts count, adjusted together."""
    filters: dict[str, dict[str, Difference]]
    headline: str = "ALL"
    counts: dict[str, PairCounts] = {}
    wins: int
    losses: int
    parts: tuple[Subset, ...]
    transitions: dict[str, dict[str, int]]
    latencies: dict[str, tuple[float, float]]
    regressions: tuple[Change, ...]
    improvements: tuple[Change, ...]
    warnings: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    only_told: bool = False
    gates: tuple[GateResult, ...]
    metrics: tuple[MetricInfo, ...]
    unseen: float | None = None
    """The share of sessions that may differ although all rounds agreed; None unless differences are exact."""
    detection: Detected | None = None
    """The goal, if the comparison asked only as many sessions as it takes."""
    failures: FailureVerdict | None = None
    trend: Trend | None = None


class Ranking(Value, frozen=True, kw_only=True):
    """A ranking of several evaluations over the sessions that all of them have; the best first."""

    sides: tuple[Side, ...]
    order: tuple[int, ...] = ()
    """The position of each side in the given order, from 0."""
    sessions: int
    files: int
    headline: str = "ALL"
    declared: tuple[str, ...]
    figures: tuple[dict[str, Estimate], ...]
    times: tuple[dict[str, Estimate], ...] = ()
    """Times and memory of each side. Nothing is ranked by them, since the machine may have been busier for one side."""
    pairs: dict[str, tuple[tuple[Difference | None, ...], ...]]
    """Metric → table of the differences row - column, those of the pair's own comparison if there is one."""
    ahead: tuple[int, ...]
    """The number of sides than which each side is shown to be better, by the first declared metric."""
    behind: tuple[int, ...]
    metrics: tuple[MetricInfo, ...]
    warnings: tuple[str, ...] = ()


class Overview(Value, frozen=True, kw_only=True):
    """The first page over several comparisons, or over a history."""

    title: str
    ranking: Ranking | None = None
    trend: Trend | None = None
    trends: tuple[Trend, ...] = ()
    """The trend of each side, in the ranking's order; () without a history."""
    comparisons: dict[str, str] = {}
    workspaces: tuple[str, ...] = ()


class OverProjects(Value, frozen=True, kw_only=True):
    """A metric over the projects of a suite: the unweighted mean of their figures or differences (new - base)."""

    mean: float | None
    n: int
    population: Literal["other projects"] = "other projects"
    """What interval, p-value and verdict are about: projects like these."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval; the intervals of several metrics hold simultaneously. None if there are too few projects."""
    p: float | None = None
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""


class SuiteProject(Value, frozen=True, kw_only=True):
    project: ProjectInfo
    folder: str
    sessions: int
    figures: dict[str, Estimate] = {}
    differences: dict[str, Difference] = {}
    busy: bool = False
    """True if times measure the machine rather than the engine."""
    trouble: str = ""
    """Why this project fails the command, such as a broken gate; "" if it does not."""


class Suite(Value, frozen=True, kw_only=True):
    """A suite: projects in the order of the configuration, and each declared metric over all of them."""

    title: str
    about: str = ""
    projects: tuple[SuiteProject, ...]
    overall: dict[str, OverProjects]
    metrics: tuple[MetricInfo, ...]
    compared: bool


class SweptRun(Value, frozen=True, kw_only=True):
    values: tuple[str, ...]
    workspace: str
    sessions: int
    figures: dict[str, Estimate]
    differences: dict[str, Difference] = {}
    """Differences from the first run, over the sessions of both, by declared metric."""
    comparison: str = ""
    why: str = ""


class Sweep(Value, frozen=True, kw_only=True):
    title: str
    project: ProjectInfo
    keys: tuple[str, ...]
    runs: tuple[SweptRun, ...]
    metrics: tuple[MetricInfo, ...]
    remark: str = ""


class Detection(Value, frozen=True, kw_only=True):
    """The goal of a comparison: to call a true difference of `wanted` better or worse with the probability `power`."""

    metric: str
    wanted: Annotated[float, Meta(gt=0, lt=1)]
    power: Annotated[float, Meta(ge=0.5, lt=1)]
    most: Number | None = None
    """The most sessions that are asked; None = as many as it takes."""


class Detected(Detection, frozen=True, kw_only=True):
    """The goal of a comparison, and how much of it was reached."""

    reached: float | None = None
    """The true difference that the asked sessions find; 0 if nothing is uncertain, None if there is no figure."""


class ChangeCluster(Value, frozen=True, kw_only=True):
    version: str
    """The commit or release that changed the sessions, or the last of several `candidates`."""
    title: str
    candidates: tuple[str, ...]
    """The versions that may have changed them: several if versions in between cannot be asked."""
    sessions: Number
    worse: Number
    kinds: dict[str, Number]
    changes: dict[str, Number]
    """Sessions by the bands of their ranks before and after."""
    examples: tuple[str, ...]


class Bisection(Value, frozen=True, kw_only=True):
    good: str
    bad: str
    versions: Number
    sessions: Number
    unsteady: Number
    changed: Number
    questions: Number
    skipped: dict[str, str]
    """Versions that cannot be asked, with the reason."""
    clusters: tuple[ChangeCluster, ...]
