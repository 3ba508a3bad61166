"""The results of one evaluation: its figures, gates and logs, the clusters of its misses, and the results of cases."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ci_eval.core.model.engine import Determinism, Footprint, MachineState, SentConfiguration, State
from ci_eval.core.model.records import QueryFigures
from ci_eval.core.model.sessions import FileError
from ci_eval.core.model.tokens import Number, Value


class GateResult(Value, frozen=True, kw_only=True):
    """The rule of a gate, and whether the new side keeps it."""

    rule: str
    passed: bool
    """True if the job goes on: an undecided gate may pass, by `--undecided`."""
    reason: str
    result: Literal["", "kept", "broken", "undecided"] = ""
    """The result of the check. It is undecided if the interval holds both values that keep the rule and values that
    break it, and "" only if it was stored before there were three results."""
    needed: Number | None = None
    """About how many sessions, of those the gate is about, would decide; None if no number of them would."""

    @property
    def word(self) -> str:
        return self.result or ("kept" if self.passed else "broken")


Figure = Annotated[float, Meta(ge=-1e12, le=1e12)]
"""A figure within bounds that no metric exceeds: stored data may come from an attacker."""


class OtherCode(Value, frozen=True, kw_only=True):
    """The interval of a figure for other code like this: files (of many merged projects: projects) are the sample."""

    low: Figure | None = None
    high: Figure | None = None
    """The 95 % interval; None if there are too few files for one."""
    effective: float = 0.0
    """The effective number of files: the number of files of equal size that would say as much."""


class Estimate(Value, frozen=True, kw_only=True):
    """A figure with its 95 % interval, and the number of observations (`n`) behind it."""

    value: Figure | None
    population: Literal["project"] = "project"
    """The subject of the interval: all sessions of this project under this strategy."""
    low: Figure | None = None
    high: Figure | None = None
    """The bounds of the interval: the value itself if all sessions were asked; None for times and counts."""
    state: State = "none"
    n: int = 0
    elsewhere: OtherCode = OtherCode()


class FileFigures(Value, frozen=True, kw_only=True):
    """The figures of one file under one filter."""

    sessions: int
    metrics: dict[str, float | None]


class FilterFigures(Value, frozen=True, kw_only=True):
    """The figures of all sessions that one filter lets through."""

    sessions: int
    planned: int
    undecided: int
    """The number of sessions left out because a property the filter asks for is not known."""
    statuses: dict[str, int]
    metrics: dict[str, Estimate]
    by_file: dict[str, float | None] = {}
    """The mean over files (macro average), which all weigh the same; `metrics` are over all sessions (micro)."""
    files: dict[str, FileFigures]
    folders: dict[str, FileFigures] = {}
    """The same below each folder (its path ends in a slash) that holds not all files, nor just one folder."""
    kinds: dict[str, dict[str, Estimate]]
    """The same metrics over the sessions of each kind of token."""
    ranks: dict[str, int]
    """The number of expected texts with a rank of "1", "2-5", "6-10", "11+", or that were "absent"."""


class EngineInfo(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The engine that answered; `packages` are the exact versions of the packages installed with it."""

    name: str
    version: str
    packages: dict[str, str] = {}
    baseline: bool = False
    """True for what comes with ci-eval to be beaten, and completes nobody's code."""

    @property
    def text(self) -> str:
        return f"{self.name} {self.version}{', a baseline' if self.baseline else ''}"


class ProjectInfo(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The project whose code was completed."""

    spec: str
    name: str
    revision: str
    checksum: str
    """The SHA-256 over the paths and contents of its files."""
    identity: str | None = None
    """The text from which the ids of its sessions are made; None = its name. "" = nothing, so that the same text below
    the same path has the same id in any folder."""

    @property
    def identity_name(self) -> str:
        """The name from which the ids of the project's sessions are made."""
        return self.name if self.identity is None else self.identity


class MetricInfo(Value, frozen=True, kw_only=True):
    """The description of a metric, displayed beside its figures."""

    name: str
    summary: str
    unit: str
    """The unit: share (0..1, displayed as percent), score (0..1, displayed as it is), rank, ms, nats (of
    log-probabilities), money or count."""
    better: str
    """The better direction: higher, lower or neither."""
    shown: bool = False
    """True if it is among the few metrics that are displayed if there is no room for all."""
    timed: bool = False
    """True if it depends on the times of lookups, whatever its unit."""
    bounds: tuple[float | None, float | None] | None = None
    """The lowest and the highest value of one session, None if there is no bound; by default those of the unit: 0 and 1
    of a share and a score."""

    @property
    def limits(self) -> tuple[float | None, float | None]:
        """Return `bounds`, or those of the unit."""
        return self.bounds or ((0.0, 1.0) if self.unit in {"share", "score"} else (None, None))

    @property
    def span(self) -> float | None:
        """Return how far two sessions can be apart; None unless both bounds are known."""
        low, high = self.limits
        return None if low is None or high is None else high - low

    @property
    def difference_limits(self) -> tuple[float | None, float | None]:
        """Return the limits of new - base: `span` to each side, or (None, None)."""
        return (None, None) if self.span is None else (-self.span, self.span)

    @property
    def is_time(self) -> bool:
        """Return whether the metric is among the times, apart from those of quality."""
        return self.timed or self.unit == "ms"


class Noise(Value, frozen=True, kw_only=True):
    """The difference of an engine from itself, if each session was asked several times."""

    rounds: int
    sessions: int
    differing: int
    """The number of these that were answered differently in a later round than in the first."""
    latencies: tuple[float | None, ...]
    """The mean latency (ms) of each round."""
    spread: float | None
    """The median over lookups of how much longer the slowest round took than the fastest, as a share of the fastest."""


class Responses(Value, frozen=True, kw_only=True):
    """The counts of the responses of language models."""

    finishes: dict[str, int]
    """The number of lookups by the reason why the language model stopped."""
    rules: dict[str, int]
    """The number of lookups by the rule that read suggestions from the response."""
    empty: dict[str, int]
    """The number of sessions whose response held no suggestion, by the reason why the language model stopped."""
    unreadable: int = 0
    example: str = ""


class PromptSpread(Value, frozen=True, kw_only=True):
    """The figures of one metric by prompt, and how far they lie apart."""

    values: dict[str, Figure]
    low: Figure
    high: Figure
    deviation: Figure
    by_chance: Figure | None
    """The standard deviation that they would have if all prompts were alike, since each has other samples; None if a
    prompt has a single session."""


class PromptFigures(Value, frozen=True, kw_only=True):
    """The figures of a dataset that has several prompts, by prompt."""

    sessions: dict[str, int]
    metrics: dict[str, PromptSpread]


class Evaluation(Value, frozen=True, kw_only=True):
    """The results of stage 3 for one workspace, for reporters to render."""

    title: str
    workspace: str
    engine: EngineInfo
    revision: str = ""
    project: ProjectInfo
    completion_type: str
    client: str
    language: str
    task: str = "completion"
    seed: int
    conditions: dict[str, str] = {}
    """The conditions, by name, that another evaluation must share to be a nightly run of the same trend."""
    started: str
    environment: dict[str, str]
    lacking: dict[str, int] = {}
    """The number of imports by package that an engine could not follow, since the package was not installed."""
    remedies: dict[str, str] = {}
    """What would help the engine to find these packages, by package."""
    unparsable: float = 0.0
    unparsable_files: dict[str, float] = {}
    """The unreadable share of each file of which most text could not be read."""
    noise: Noise | None = None
    repeats: Determinism | None = None
    """The sessions that were asked more than once, and those not answered alike; None: no session was."""
    is_function: bool = False
    """True if the lists are a function of the question by construction."""
    responses: Responses | None = None
    footprint: Footprint = Footprint()
    sent: SentConfiguration | None = None
    machine: MachineState = MachineState()
    population: int
    """The number of sessions that this project has under this strategy; those under ALL are a sample of them."""
    asked: float = 1.0
    """The share of them that was asked; of several projects, the smallest one; 0 if anything was `drawn`."""
    drawn: dict[str, str] = {}
    """What was drawn beyond the choice of sessions, by name: the seed."""
    clusters: str = "files"
    """The unit of the sample of other code: "files" or "projects"."""
    prompts: PromptFigures | None = None
    queries: QueryFigures | None = None
    filters: dict[str, FilterFigures]
    headline: str = "ALL"
    """The name of the filter that leads: reports, gates, comparisons and trends are about its sessions."""
    errors: tuple[FileError, ...]
    metrics: tuple[MetricInfo, ...]
    gates: tuple[GateResult, ...] = ()
    unfinished: int | None = None
    """The number of files that are not through, if the run did not come to its end; None if it did."""


class LogCounts(Value, frozen=True, kw_only=True):
    files: Number
    sessions: Number
    selected: Number
    """The number of sessions in which the user took the expected text."""
    queries: Number
    rows: Number
    expected: Number
    kinds: dict[str, tuple[Number, Number]]
    """The number of rows, and of those that are the expected text, by kind of candidate."""


class LogFile(Value, frozen=True, kw_only=True):
    path: str
    size: Annotated[int, Meta(ge=0)]
    sha256: str


class LogsRecord(Value, frozen=True, kw_only=True):
    """The manifest of the folder `logs/`."""

    schema: str
    formats: tuple[str, ...]
    split_by: str
    seed: int
    percent: Number
    """The percent of the files or projects that are for training."""
    train: LogCounts
    validation: LogCounts
    test_percent: Number = 0
    test: LogCounts | None = None
    files: tuple[LogFile, ...]

    @property
    def sides(self) -> dict[str, LogCounts]:
        test_side = {} if self.test is None else {"test": self.test}
        return {"train": self.train, "validation": self.validation, **test_side}


class MissExample(Value, frozen=True, kw_only=True):
    """A miss as a maintainer looks it up."""

    session: str
    file: str
    line: Number
    expected: str
    rank: Number | None
    """The rank of the expected text; None if absent."""
    ahead: tuple[str, ...]
    """The first suggestions that are ahead of the expected text."""


class Cluster(Value, frozen=True, kw_only=True):
    """The misses with one cause. Shares and gains are from 0 to 1."""

    cause: str
    kind: str
    """The kinds of the expected tokens, the most frequent first, joined by ", "."""
    first: str
    """The class of the suggestion that was first, most often; "nothing" if there was none."""
    share: float
    """The share of the lost points of RecallAt1."""
    gain: float
    """The points of RecallAt1 that would be gained at most if the cause was gone."""
    mrr_share: float
    mrr_gain: float
    certainty: float
    """The certainty that this is a fault rather than taste, by the rules of docs/causes.md."""
    sessions: Number
    defined: dict[str, Number]
    """The number of sessions by the place where the expected name is defined."""
    others: dict[str, Number] = {}
    """By title of another workspace, the number of sessions in which it has the expected text: first if that was
    offered here, at any rank if that was missing."""
    examples: tuple[MissExample, ...]


class Causes(Value, frozen=True, kw_only=True):
    """The clusters of an evaluation, or of what got worse since `base`, by share times certainty."""

    title: str
    base: str = ""
    headline: str
    """The name of the report filter that the sessions pass."""
    language: str
    sessions: Number
    lost: float
    """The lost points of RecallAt1."""
    mrr_lost: float
    judgeable: Number
    """The number of sessions that lost something although the engine offered something."""
    grammar_judged: Number
    """The number of these in which the grammar decided whether words may be at the caret; it is not known elsewhere."""
    scope_judged: Number
    """The number of these in which the scopes decided whether names may be at the caret; it is not known elsewhere."""
    others: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...]


class CaseResult(Value, frozen=True, kw_only=True):
    file: str
    line: Number
    caret: str
    """The line, with a bar at the caret."""
    directives: str
    reasons: tuple[str, ...]
    """The reasons why it is broken; none if it is kept."""
    first: tuple[str, ...]
    """The beginning of the list."""

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.directives}"


class ListChange(Value, frozen=True, kw_only=True):
    """A list that does not begin as in the snapshot; None on the side that does not have the case."""

    key: str
    base: tuple[str, ...] | None
    new: tuple[str, ...] | None


class Cases(Value, frozen=True, kw_only=True):
    title: str
    """The engines that were asked, with their versions."""
    left_out: tuple[str, ...] = ()
    """The languages whose cases the engine does not know."""
    cases: tuple[CaseResult, ...]
    base: str | None = None
    """The title of the snapshot that the lists are compared with; None if there is none."""
    changes: tuple[ListChange, ...] = ()

    @property
    def broken(self) -> int:
        return sum(bool(case.reasons) for case in self.cases)


class Snapshot(Value, frozen=True, kw_only=True):
    """The beginning of each list in an earlier run. `lists`: file and line of code → its first suggestions."""

    title: str
    lists: dict[str, tuple[str, ...]]
