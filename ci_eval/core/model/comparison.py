"""The results of comparing several evaluations. A difference is always new - base."""

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
    """Descriptions of what changed since the previous evaluation, such as versions, the project or the machine."""
    gates: tuple[GateResult, ...] = ()
    run: str = ""


class ChangePoint(Value, frozen=True, kw_only=True):
    """A lasting change of a figure between two consecutive evaluations."""

    night: int
    """The index of the first evaluation after the change."""
    before: float
    after: float
    p: float
    good: bool | None


class Trend(Value, frozen=True, kw_only=True):
    """The evaluations of one engine, project and completion type in chronological order."""

    nights: tuple[TrendPoint, ...]
    headline: str = "ALL"
    metrics: tuple[MetricInfo, ...]
    changes: dict[str, tuple[ChangePoint, ...]]
    left_out: int = 0
    """The number of evaluations in the history that belong to other trends or have no figure for the headline."""


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
    """The difference for other code like this, with the files (or merged projects) as the sample."""

    low: float | None = None
    high: float | None = None
    """The 95 % interval is from `low` to `high`; None if there are too few files."""
    p: float | None = None
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    marked: bool = False
    """True if the verdict also holds after adjustment for all verdicts of the page, which then shows ▲ or ▼."""
    effective: float = 0.0
    """The number of equally large files that would give the same information."""
    detectable: float | None = None
    """The smallest true difference that such data would show with a probability of 80 %."""


class Difference(Value, frozen=True, kw_only=True):
    """The figures of a metric on both sides over the same sessions, and the verdict for this project."""

    base: float | None
    new: float | None
    difference: float | None
    population: Literal["project"] = "project"
    low: float | None = None
    high: float | None = None
    """The 95 % interval is from `low` to `high`; both are the difference if nothing is uncertain."""
    p: float | None = None
    """The two-sided p-value. It is below 0.05 if and only if the interval excludes 0; None if nothing is uncertain."""
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    detectable: float | None = None
    marked: bool = False
    state: State = "none"
    sign: float | None = None
    """The p-value of an exact sign test over the sessions whose figure changed; None unless all sessions were asked."""
    better: int | None = None
    """The number of sessions whose figure improved; None if single sessions have no figure."""
    worse: int | None = None
    needed: int | None = None
    """About how many sessions show a difference of 0.01 with a probability of 80 %; None if values are unbounded."""
    new_low: float | None = None
    new_high: float | None = None
    noise: float | None = None
    """The standard error due to the engine's own noise, if it was measured. The interval includes this error."""
    n: int = 0
    """The number of observations; if the sides differ, the smaller number."""
    over: str = ""
    elsewhere: Elsewhere = Elsewhere()


class Subset(Value, frozen=True, kw_only=True):
    """The sessions with the same value of a property, and the difference of the first declared metric over them."""

    dimension: str
    value: str
    sessions: int
    files: int
    wins: int
    losses: int
    difference: Difference


class PairCounts(Value, frozen=True, kw_only=True):
    """The number of pairs that pass a filter. The first declared metric decides `wins` and `losses`."""

    sessions: int
    wins: int
    losses: int


class Failures(Value, frozen=True, kw_only=True):
    """The paired sessions in which one engine failed in at least one round."""

    sessions: int = 0
    rounds: int = 1
    always: int = 0
    alone: int = 0
    statuses: dict[str, int] = {}
    example: str = ""


class Side(Value, frozen=True, kw_only=True):
    """An evaluation that is compared with others."""

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
    """A session whose results differ. A rank is None if the expected text is absent."""

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
    """The session's score in new, from 0 to 1 (see `Task.score`); `base_score` is the session's score in base."""
    base_status: str
    new_status: str


class FailureVerdict(Value, frozen=True, kw_only=True):
    """The verdict of an exact sign test over the sessions in which only one of the engines failed."""

    verdict: Verdict
    p: float
    marked: bool = False


class Comparison(Value, frozen=True, kw_only=True):
    """A comparison of two evaluations over their common sessions."""

    task: str = "completion"
    base: Side
    new: Side
    paired: int
    population: int
    population_estimated: bool = False
    only_base: int
    only_new: int
    changed_text: int
    """The number of sessions without a partner, since their file has another text on the other side."""
    files: int
    declared: tuple[str, ...]
    """The metrics whose verdicts count. The verdicts are adjusted for the number of these metrics."""
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
    """The largest share of sessions that may differ although all rounds agreed; None unless differences are exact."""
    detection: Detected | None = None
    """The goal of a comparison that asked only as many sessions as the goal needs; None for other comparisons."""
    failures: FailureVerdict | None = None
    trend: Trend | None = None


class Ranking(Value, frozen=True, kw_only=True):
    """A ranking of several evaluations, the best first, over the sessions that all of them have."""

    sides: tuple[Side, ...]
    order: tuple[int, ...] = ()
    """The index (from 0) of each side in the order of the command line."""
    sessions: int
    files: int
    headline: str = "ALL"
    declared: tuple[str, ...]
    figures: tuple[dict[str, Estimate], ...]
    times: tuple[dict[str, Estimate], ...] = ()
    """The times and memory of each side. They are not ranked, since the machine may have been busier for one side."""
    pairs: dict[str, tuple[tuple[Difference | None, ...], ...]]
    """Metric → table of the differences row - column, from the pair's own comparison if there is one."""
    ahead: tuple[int, ...]
    """The number of sides that each side is shown to beat in the first declared metric."""
    behind: tuple[int, ...]
    metrics: tuple[MetricInfo, ...]
    warnings: tuple[str, ...] = ()


class Overview(Value, frozen=True, kw_only=True):
    """The start page of several comparisons or of a history."""

    title: str
    ranking: Ranking | None = None
    trend: Trend | None = None
    trends: tuple[Trend, ...] = ()
    """The trend of each side in the ranking's order; () without a history."""
    comparisons: dict[str, str] = {}
    workspaces: tuple[str, ...] = ()


class OverProjects(Value, frozen=True, kw_only=True):
    """A metric over the projects of a suite: the unweighted mean of the projects' figures or differences."""

    mean: float | None
    n: int
    population: Literal["other projects"] = "other projects"
    """The interval, the p-value and the verdict are about other projects like these."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval is from `low` to `high`, simultaneously for all metrics; None if there are too few projects."""
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
    """True if the machine was so busy that latencies say more about the machine than about the engine."""
    trouble: str = ""
    """The reason why this project makes the command fail, such as a broken gate; "" if there is none."""


class Suite(Value, frozen=True, kw_only=True):
    """The results of several projects, in the order of the configuration, and each declared metric over all of them."""

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
    """Declared metric → difference from the first run, over the sessions that both runs have."""
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
    """The goal of a comparison: to detect a true difference of size `wanted` with the probability `power`."""

    metric: str
    wanted: Annotated[float, Meta(gt=0, lt=1)]
    power: Annotated[float, Meta(ge=0.5, lt=1)]
    most: Number | None = None
    """The largest number of sessions to ask; None = no limit."""


class Detected(Detection, frozen=True, kw_only=True):
    """The goal of a comparison, and the difference that the comparison can detect."""

    reached: float | None = None
    """The true difference that the asked sessions can detect; 0 if nothing is uncertain, None without a figure."""


class ChangeCluster(Value, frozen=True, kw_only=True):
    version: str
    """The commit or release that changed the results of the sessions, or the last of several `candidates`."""
    title: str
    candidates: tuple[str, ...]
    """The versions that may have changed the results. There are several if versions in between cannot be asked."""
    sessions: Number
    worse: Number
    kinds: dict[str, Number]
    changes: dict[str, Number]
    """Bands of ranks before and after → number of sessions."""
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
    """Version that cannot be asked → reason."""
    clusters: tuple[ChangeCluster, ...]
