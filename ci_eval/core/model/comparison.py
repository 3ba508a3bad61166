"""The results over several evaluations. A difference is always new - base."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal

from msgspec import Meta

from ci_eval.core.model.engine import Condition, State
from ci_eval.core.model.report import EngineInfo, Estimate, GateResult, MetricInfo, Noise, ProjectInfo
from ci_eval.core.model.tokens import Number, Value


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
    """Changes since the night before: versions, the project, the machine."""
    gates: tuple[GateResult, ...] = ()
    """Empty if none was checked, or in histories older than this field."""
    run: str = ""


class ChangePoint(Value, frozen=True, kw_only=True):
    """A nightly run on which the level of a figure changed."""

    night: int
    """The index of the first night after the change."""
    before: float
    after: float
    p: float
    good: bool | None


class Trend(Value, frozen=True, kw_only=True):
    """The nights in order of time, of one engine, project and completion type."""

    nights: tuple[TrendPoint, ...]
    headline: str = "ALL"
    metrics: tuple[MetricInfo, ...]
    changes: dict[str, tuple[ChangePoint, ...]]
    left_out: int = 0
    """Evaluations in the history that belong to other trends, or lack figures of the headline."""


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
    """The difference for other code like this: files (of many merged projects: projects) are the sample."""

    low: float | None = None
    high: float | None = None
    """The 95 % interval; None if there are too few files for one."""
    p: float | None = None
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    marked: bool = False
    """True if the verdict also holds among all verdicts of the page; pages mark it by ▲ or ▼."""
    effective: float = 0.0
    """The number of files of equal size with the same information."""
    detectable: float | None = None
    """The smallest true difference that such data would show four times out of five."""


class Difference(Value, frozen=True, kw_only=True):
    """A metric on both sides, over the same sessions, with the verdict for this project."""

    base: float | None
    new: float | None
    difference: float | None
    population: Literal["project"] = "project"
    low: float | None = None
    high: float | None = None
    """The 95 % interval, which holds by itself; of no width if nothing is uncertain."""
    p: float | None = None
    """Two-sided; below 0.05 exactly if the interval excludes 0. None if nothing is uncertain."""
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    detectable: float | None = None
    marked: bool = False
    state: State = "none"
    sign: float | None = None
    """An exact sign test over the tokens whose figure moved, if all sessions were asked."""
    better: int | None = None
    """The number of tokens whose figure improved; None if single sessions have no figure."""
    worse: int | None = None
    needed: int | None = None
    """About how many sessions show one point (0.01) four times out of five; None for other units."""
    new_low: float | None = None
    new_high: float | None = None
    noise: float | None = None
    """The standard error by the engine's own noise, if measured; the interval includes it."""
    n: int = 0
    """Observations, on the side that has fewer."""
    over: str = ""
    elsewhere: Elsewhere = Elsewhere()


class Subset(Value, frozen=True, kw_only=True):
    """A part: the sessions that share a property, with the first declared metric over them."""

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
    """A session that went differently; a rank is None if the expected text is absent."""

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
    """A verdict on which engine fails more often, by an exact sign test over the sessions on which one alone failed."""

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
    """The share of sessions that may be answered otherwise although all rounds agreed; None without exact
    differences."""
    detection: Detected | None = None
    """Set if the comparison asked only as many sessions as the goal takes."""
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
    """Times or memory of each side, by metric. Nothing is ranked by them: one side may have met a busier machine."""
    pairs: dict[str, tuple[tuple[Difference | None, ...], ...]]
    """row - column by declared metric, from the pair's comparison if any; adjusted for the declared metrics alone."""
    ahead: tuple[int, ...]
    """The number of sides that each is shown to be better than, by the first declared metric."""
    behind: tuple[int, ...]
    metrics: tuple[MetricInfo, ...]
    warnings: tuple[str, ...] = ()


class Overview(Value, frozen=True, kw_only=True):
    """The first page over several comparisons, or over a history."""

    title: str
    ranking: Ranking | None = None
    trend: Trend | None = None
    trends: tuple[Trend, ...] = ()
    """The ranking's order; empty without a history."""
    comparisons: dict[str, str] = {}
    workspaces: tuple[str, ...] = ()


class OverProjects(Value, frozen=True, kw_only=True):
    """A metric over the projects of a suite: the unweighted mean of their figures or differences (new - base)."""

    mean: float | None
    n: int
    population: Literal["other projects"] = "other projects"
    """The subject of interval, p-value and verdict: projects like these."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval; the intervals of several metrics hold simultaneously. None if there are too few projects."""
    p: float | None = None
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""


class SuiteProject(Value, frozen=True, kw_only=True):
    """A project of a suite with its figures."""

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
    """A run of a sweep with one choice of values."""

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
    """The overestimate of the best run; "" if nothing is uncertain."""


class Detection(Value, frozen=True, kw_only=True):
    """The goal of a comparison: to find a true difference of that size with that probability."""

    metric: str
    wanted: Annotated[float, Meta(gt=0, lt=1)]
    """The true difference of the metric to find, as a share."""
    power: Annotated[float, Meta(ge=0.5, lt=1)]
    """The probability that the difference is called better or worse."""
    most: Number | None = None
    """The most sessions that are asked; None = as many as it takes."""


class Detected(Detection, frozen=True, kw_only=True):
    """The goal of a comparison, and how much of it was reached."""

    reached: float | None = None
    """The true difference that the asked sessions find; 0 if nothing is uncertain, None without a figure."""


class ChangeCluster(Value, frozen=True, kw_only=True):
    version: str
    """The commit or release that changed the sessions; the last of several `candidates`."""
    title: str
    candidates: tuple[str, ...]
    """One version, unless some in between cannot be asked."""
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
