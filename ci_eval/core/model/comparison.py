"""The results over several evaluations: comparison, trend, ranking, suite, sweep. A difference is always new - base."""

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
    """The whole interval is inside the margin: a difference as large as that is ruled out."""
    NOT_SHOWN = "no-difference-shown"
    """The data show neither a difference nor that there is none."""
    NOT_COMPARABLE = "not-comparable"


class Elsewhere(Value, frozen=True, kw_only=True):
    """The difference for other code like this: files (of many merged projects: projects) are the sample."""

    low: float | None = None
    high: float | None = None
    """The 95 % interval of the difference; None if there are too few files for one."""
    p: float | None = None
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    marked: bool = False
    """True if the verdict is better or worse also among all verdicts of the page, which gets it a ▲ or ▼."""
    effective: float = 0.0
    """The effective number of files: the number of files of equal size that would say as much."""
    detectable: float | None = None
    """The smallest true difference that data like these would show four times out of five."""


class Difference(Value, frozen=True, kw_only=True):
    """A metric on both sides, over the same sessions, with the verdict for this project."""

    base: float | None
    new: float | None
    difference: float | None
    population: Literal["project"] = "project"
    """The subject of interval, p-value and verdict: all sessions of this project under this strategy."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the difference, which holds by itself; both ends are the difference if nothing is uncertain,
    as of all sessions of baselines."""
    p: float | None = None
    """The two-sided p-value, below 0.05 exactly if the interval excludes 0. None if all sessions were asked, so that
    nothing is uncertain."""
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    detectable: float | None = None
    marked: bool = False
    state: State = "none"
    sign: float | None = None
    """The p-value of an exact sign test over the tokens whose figure moved, if all sessions were asked."""
    better: int | None = None
    """The number of tokens whose figure moved to the better; None if no session has a figure by itself."""
    worse: int | None = None
    needed: int | None = None
    """About how many sessions it takes to find one point (0.01) four times out of five; None for other units."""
    new_low: float | None = None
    new_high: float | None = None
    noise: float | None = None
    """The standard error due to the engine's own noise, if measured in several rounds; the interval includes it."""
    n: int = 0
    """The number of observations, on the side that has fewer."""
    over: str = ""
    """The sessions that the difference is of, if these are not all: "found by both"."""
    elsewhere: Elsewhere = Elsewhere()


class Subset(Value, frozen=True, kw_only=True):
    """A part: the sessions that share a property, with the first declared metric over them."""

    dimension: str
    value: str
    sessions: int
    files: int
    wins: int
    """The number of sessions that the first declared metric calls better in new."""
    losses: int
    difference: Difference


class PairCounts(Value, frozen=True, kw_only=True):
    """The pairs that a filter lets through, with the number that the first declared metric calls better or worse."""

    sessions: int
    wins: int
    losses: int


class Failures(Value, frozen=True, kw_only=True):
    """The paired sessions on which one engine failed in at least one round."""

    sessions: int = 0
    rounds: int = 1
    always: int = 0
    """The number of sessions on which the engine failed in every round."""
    alone: int = 0
    """The number of sessions on which the other engine never failed."""
    statuses: dict[str, int] = {}
    """The number of sessions by the status of the first round that failed."""
    example: str = ""


class Side(Value, frozen=True, kw_only=True):
    """A side of the comparison: one of the two evaluations."""

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
    """The failures on these sessions; None for the sides of a ranking."""
    noise: Noise | None = None
    """The difference of the engine from itself, if each session was asked several times."""


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
    """The score of the session, from 0 to 1, as the task defines it."""
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
    """The number of sessions that this project has under this strategy; the paired ones are a sample of them."""
    only_base: int
    only_new: int
    changed_text: int
    """The number of sessions without a partner because their file has another text on the other side."""
    files: int
    declared: tuple[str, ...]
    """The metrics whose verdicts count; their intervals and p-values are adjusted together."""
    filters: dict[str, dict[str, Difference]]
    headline: str = "ALL"
    """The name of the filter that leads: the verdict, the counts, the parts and the transitions are about its pairs."""
    counts: dict[str, PairCounts] = {}
    wins: int
    """The pairs of the headline that the first declared metric calls better in new."""
    losses: int
    parts: tuple[Subset, ...]
    transitions: dict[str, dict[str, int]]
    """The number of sessions by the band of base's rank, then by the band of new's."""
    latencies: dict[str, tuple[float, float]]
    """The latency (ms) in base and in new, by quantile."""
    regressions: tuple[Change, ...]
    """The largest losses, the worst first."""
    improvements: tuple[Change, ...]
    """The largest gains, the best first."""
    warnings: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    """The differences between the configurations sent to the two engines."""
    only_told: bool = False
    """True if the engines are one and the same, so that only the configurations sent to them differ."""
    gates: tuple[GateResult, ...]
    metrics: tuple[MetricInfo, ...]
    unseen: float | None = None
    """The share of the sessions that may be answered otherwise although all rounds agreed, if differences are exact;
    None if they are not."""
    detection: Detected | None = None
    """The difference that was to be found, if the comparison asked only as many sessions as that takes."""
    failures: FailureVerdict | None = None
    trend: Trend | None = None


class Ranking(Value, frozen=True, kw_only=True):
    """A ranking of several evaluations over the sessions that all of them have; the best first."""

    sides: tuple[Side, ...]
    order: tuple[int, ...] = ()
    """The position of each side among the evaluations in their given order, from 0."""
    sessions: int
    files: int
    headline: str = "ALL"
    declared: tuple[str, ...]
    figures: tuple[dict[str, Estimate], ...]
    times: tuple[dict[str, Estimate], ...] = ()
    """The figures of time, or of memory, of each side, by metric. Nothing is ranked by them: the machine may have been
    busier with one side than with another."""
    pairs: dict[str, tuple[tuple[Difference | None, ...], ...]]
    """The table of differences by declared metric, row's side - column's side: those of the pair's comparison, if it
    has one; adjusted for the number of declared metrics alone."""
    ahead: tuple[int, ...]
    """The number of other sides that each side is shown to be better than, by the first declared metric."""
    behind: tuple[int, ...]
    metrics: tuple[MetricInfo, ...]
    warnings: tuple[str, ...] = ()


class Overview(Value, frozen=True, kw_only=True):
    """The first page over several comparisons, or over a history without one."""

    title: str
    ranking: Ranking | None = None
    trend: Trend | None = None
    trends: tuple[Trend, ...] = ()
    """The trend of each side of the ranking, in its order; empty if no history is known."""
    comparisons: dict[str, str] = {}
    """The folder of each comparison by its title, relative to the overview's."""
    workspaces: tuple[str, ...] = ()
    """The folder of each side of the ranking, relative to the overview's."""


class OverProjects(Value, frozen=True, kw_only=True):
    """A metric over the projects of a suite, each of which weighs the same: the mean of their figures, or of their
    differences (new - base)."""

    mean: float | None
    n: int
    """The number of projects that have a figure."""
    population: Literal["other projects"] = "other projects"
    """The subject of interval, p-value and verdict: projects like these, of which these are the sample."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the mean; those of several metrics hold together. None if there are too few projects."""
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
    """The differences (new - base) by declared metric, in a suite of comparisons."""
    busy: bool = False
    """True if the machine was busy, so that times say more about it than about the engine."""
    trouble: str = ""
    """The reason why this project fails the command, such as a broken gate; "" if it does not."""


class Suite(Value, frozen=True, kw_only=True):
    """A suite: projects in the order of the configuration, and each declared metric over all of them."""

    title: str
    about: str = ""
    projects: tuple[SuiteProject, ...]
    overall: dict[str, OverProjects]
    metrics: tuple[MetricInfo, ...]
    compared: bool
    pairs: int = 1
    """The number of pairs of sides, each with a table like this one; verdicts over all projects are adjusted for it."""


class SweptRun(Value, frozen=True, kw_only=True):
    """A run of a sweep with one choice of values."""

    values: tuple[str, ...]
    """The value of each key, as the user wrote it."""
    workspace: str
    sessions: int
    figures: dict[str, Estimate]
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
    winner: int
    choosing: tuple[float | None, ...]
    choosing_files: int
    files: int
    sessions: int
    figures: dict[str, Estimate]
    first: dict[str, Estimate]


class Sweep(Value, frozen=True, kw_only=True):
    title: str
    project: ProjectInfo
    keys: tuple[str, ...]
    runs: tuple[SweptRun, ...]
    metrics: tuple[MetricInfo, ...]
    remark: str = ""
    """The overestimate of the best run in words; "" if nothing is uncertain, or files were held out."""
    held_out: HeldOut | None = None
    """The figures of the best run in files that did not choose it, if files were held out."""
    shard: str | None = None
    """The shard, if these are figures of a part only: nothing is compared."""


class Detection(Value, frozen=True, kw_only=True):
    """The goal of a comparison: to find a true difference of that size with that probability."""

    metric: str
    wanted: Annotated[float, Meta(gt=0, lt=1)]
    """The true difference of the metric that is to be found, as a share."""
    power: Annotated[float, Meta(ge=0.5, lt=1)]
    """The probability that such a difference is found: called better or worse."""
    most: Number | None = None
    """The most sessions that are asked for that; None = as many as it takes."""


class Detected(Detection, frozen=True, kw_only=True):
    """The goal of a comparison, and how much of it was reached."""

    reached: float | None = None
    """The true difference that the sessions asked find with that power; 0 if all were asked and nothing is uncertain,
    None if the metric has no figure."""


class ChangeCluster(Value, frozen=True, kw_only=True):
    version: str
    """The commit or release in which the sessions changed; the last of `candidates`, if there are several."""
    title: str
    candidates: tuple[str, ...]
    """The versions in which they may have changed: one, unless some in between cannot be asked."""
    sessions: Number
    worse: Number
    """The number of sessions that are worse since then; the others are better."""
    kinds: dict[str, Number]
    changes: dict[str, Number]
    """The number of sessions by the bands of their ranks before and after."""
    examples: tuple[str, ...]


class Bisection(Value, frozen=True, kw_only=True):
    good: str
    bad: str
    versions: Number
    sessions: Number
    """The number of sessions that both ends were asked."""
    unsteady: Number
    """The number of sessions left out, since one end answered them differently when asked again."""
    changed: Number
    questions: Number
    """The number of sessions asked between the ends, by all versions together."""
    skipped: dict[str, str]
    """The versions that cannot be asked, with the reason."""
    clusters: tuple[ChangeCluster, ...]
