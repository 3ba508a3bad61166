"""The result of a comparison, ready to be shown. A difference is always new - base."""

from __future__ import annotations

from enum import Enum
from typing import Literal

from ci_eval.model.detection import Detected
from ci_eval.model.engine.determinism import State
from ci_eval.model.engine.sent import Condition
from ci_eval.model.gates import GateResult
from ci_eval.model.report import EngineInfo, MetricInfo, Noise, ProjectInfo
from ci_eval.model.tokens import Value
from ci_eval.model.trend import Trend


class Verdict(str, Enum):
    """What may be concluded about one metric."""

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
    """The 95 % interval of the difference; None where there are too few files for one."""
    p: float | None = None
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    """The reason for the verdict."""
    effective: float = 0.0
    """The effective number of files: so many files of equal size would say as much."""
    detectable: float | None = None
    """The smallest true difference that data like these would show four times out of five."""


class Difference(Value, frozen=True, kw_only=True):
    """One metric on both sides, over the same sessions, with the verdict for this project."""

    base: float | None
    new: float | None
    difference: float | None
    population: Literal["project"] = "project"
    """What interval, p-value and verdict are about: all sessions of this project under this strategy."""
    low: float | None = None
    high: float | None = None
    """The 95 % interval of the difference; both ends are the difference itself where all sessions were asked. The
    intervals of declared metrics hold together."""
    p: float | None = None
    """Two-sided p-value; below 0.05 exactly where the interval excludes 0. None where all sessions were asked, so that
    nothing is uncertain."""
    verdict: Verdict = Verdict.NOT_COMPARABLE
    why: str = ""
    """The reason for the verdict."""
    detectable: float | None = None
    """The smallest true difference that data like these would show four times out of five."""
    state: State = "none"
    sign: float | None = None
    """The p-value of an exact sign test over the tokens whose figure moved, where all sessions were asked."""
    better: int | None = None
    """Tokens whose figure moved to the better; None where no session by itself has one."""
    worse: int | None = None
    needed: int | None = None
    """About how many sessions it takes to find one point (0.01) four times out of five; None of other units."""
    new_low: float | None = None
    new_high: float | None = None
    """The 95 % interval of new's own figure."""
    noise: float | None = None
    """Standard error due to the engine's own noise, where several rounds have measured it; the interval includes it."""
    n: int = 0
    """Number of observations, on the side that has fewer."""
    over: str = ""
    """The sessions it is over, where these are not all: "found by both"."""
    elsewhere: Elsewhere = Elsewhere()


class Subset(Value, frozen=True, kw_only=True):
    """A part: the sessions that share a property, with the first declared metric over them."""

    dimension: str
    value: str
    sessions: int
    files: int
    wins: int
    """Sessions that the first declared metric calls better in new."""
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
    """Sessions on which it failed in every round."""
    alone: int = 0
    """Sessions on which the other engine never failed."""
    statuses: dict[str, int] = {}
    """The status of the first round that failed → sessions."""
    example: str = ""
    """Id of one of them, to look at."""


class Side(Value, frozen=True, kw_only=True):
    """One of the two evaluations."""

    title: str
    workspace: str
    engine: EngineInfo
    project: ProjectInfo
    completion_type: str
    started: str
    sessions: int
    """Evaluated sessions."""
    failed: int
    """Paired sessions on which the engine failed."""
    failures: Failures | None = None
    """How it failed on these; None of a ranking's sides."""
    noise: Noise | None = None
    """How far the engine differs from itself, where each session was asked several times."""


class Change(Value, frozen=True, kw_only=True):
    """One session that went differently; a rank is None where the expected text is absent."""

    id: str
    file: str
    offset: int
    line: int
    """Line number, from 1."""
    expected: str
    prefix: str
    kind: str
    base_rank: int | None
    new_rank: int | None
    base_score: float
    new_score: float
    """How well it went, from 0 to 1, as the task has it."""
    base_status: str
    new_status: str


class FailureVerdict(Value, frozen=True, kw_only=True):
    """A verdict on which engine fails more often, by an exact sign test over the sessions on which one alone failed."""

    verdict: Verdict
    p: float


class Comparison(Value, frozen=True, kw_only=True):
    """A comparison of two evaluations, session by session."""

    task: str = "completion"
    """Its name."""
    base: Side
    new: Side
    paired: int
    population: int
    """Number of sessions that this project has under this strategy, on both sides; the paired ones are a sample of
    them."""
    only_base: int
    only_new: int
    changed_text: int
    """Sessions without a partner because their file has another text on the other side."""
    files: int
    """Number of files with at least one pair."""
    declared: tuple[str, ...]
    """The metrics whose verdicts count; their intervals and p-values are adjusted together."""
    filters: dict[str, dict[str, Difference]]
    headline: str = "ALL"
    """Name of the filter that leads: the verdict, the counts, the parts and the transitions are about its pairs."""
    counts: dict[str, PairCounts] = {}
    """By filter."""
    wins: int
    """Pairs of the headline that the first declared metric calls better in new."""
    losses: int
    parts: tuple[Subset, ...]
    transitions: dict[str, dict[str, int]]
    """Band of base's rank → band of new's → number of sessions."""
    latencies: dict[str, tuple[float, float]]
    """Quantile → its latency (ms) in base and in new."""
    regressions: tuple[Change, ...]
    """The largest losses, the worst first."""
    improvements: tuple[Change, ...]
    """The largest gains, the best first."""
    warnings: tuple[str, ...]
    conditions: tuple[Condition, ...] = ()
    """What the two engines were told differently."""
    only_told: bool = False
    """Whether the engines are one and the same, so that what they were told is all that differs."""
    gates: tuple[GateResult, ...]
    metrics: tuple[MetricInfo, ...]
    detection: Detected | None = None
    """The difference that was to be found, where only as many sessions were asked as that takes."""
    failures: FailureVerdict | None = None
    """None if neither engine failed."""
    trend: Trend | None = None
    """The trend of the new side, where its past is known."""
