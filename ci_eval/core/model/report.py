"""The results of one evaluation: figures, gates, logs, clusters of misses, and test cases."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ci_eval.core.model.engine import Determinism, Footprint, MachineState, SentConfiguration, State
from ci_eval.core.model.records import QueryFigures
from ci_eval.core.model.sessions import FileError
from ci_eval.core.model.tokens import Number, Value


class GateResult(Value, frozen=True, kw_only=True):
    """The result of a gate."""

    rule: str
    passed: bool
    """True if the gate does not fail the job. The option `--undecided` decides this for undecided gates."""
    reason: str
    result: Literal["", "kept", "broken", "undecided"] = ""
    """The gate is undecided if some values in the interval satisfy the rule and others do not; "" in older data."""
    needed: Number | None = None

    @property
    def word(self) -> str:
        return self.result or ("kept" if self.passed else "broken")


Figure = Annotated[float, Meta(ge=-1e12, le=1e12)]
"""The figure of a metric. It is bounded, since stored data may come from an attacker."""


class OtherCode(Value, frozen=True, kw_only=True):
    """The interval of a figure for other code like this, with the files (or merged projects) as the sample."""

    low: Figure | None = None
    high: Figure | None = None
    """The 95 % interval is from `low` to `high`; None if there are too few files."""
    effective: float = 0.0


class Estimate(Value, frozen=True, kw_only=True):
    """A figure, its 95 % interval, and the number `n` of its observations."""

    value: Figure | None
    population: Literal["project"] = "project"
    low: Figure | None = None
    high: Figure | None = None
    """The interval is from `low` to `high`: both are `value` if all sessions were asked, None for times and counts."""
    state: State = "none"
    n: int = 0
    elsewhere: OtherCode = OtherCode()


class FileFigures(Value, frozen=True, kw_only=True):
    """The figures of one file or folder, over the sessions that pass one filter."""

    sessions: int
    metrics: dict[str, float | None]


class FilterFigures(Value, frozen=True, kw_only=True):
    """The figures of all sessions that pass one filter."""

    sessions: int
    planned: int
    undecided: int
    """The number of sessions that are excluded because a property that the filter needs is not known."""
    statuses: dict[str, int]
    metrics: dict[str, Estimate]
    by_file: dict[str, float | None] = {}
    """Metric → unweighted mean of the files' figures (macro average). `metrics` are over all sessions (micro)."""
    files: dict[str, FileFigures]
    folders: dict[str, FileFigures] = {}
    """Folder, with a final slash → its figures. Folders that contain all files or only one folder are missing."""
    kinds: dict[str, dict[str, Estimate]]
    ranks: dict[str, int]
    """Band of ranks ("1", "2-5", "6-10", "11+", "absent") → number of sessions."""


class EngineInfo(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The evaluated engine. `packages`: package that was installed with the engine → exact version."""

    name: str
    version: str
    packages: dict[str, str] = {}
    baseline: bool = False
    """True for ci-eval's own simple engines, which other engines should beat."""

    @property
    def text(self) -> str:
        return f"{self.name} {self.version}{', a baseline' if self.baseline else ''}"


class ProjectInfo(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The project whose code was completed."""

    spec: str
    name: str
    revision: str
    checksum: str
    """The SHA-256 over the paths and contents of the project's files."""
    identity: str | None = None
    """The text from which session ids are made, besides a file's path and text; "" = nothing else, None = `name`."""

    @property
    def identity_name(self) -> str:
        return self.name if self.identity is None else self.identity


class MetricInfo(Value, frozen=True, kw_only=True):
    """The description of a metric, which reports display next to the figures."""

    name: str
    summary: str
    unit: str
    """share (0 to 1, displayed as percent), score (0 to 1), rank, ms, nats (of log-probabilities), money or count."""
    better: str
    """higher, lower or neither."""
    shown: bool = False
    """True if the metric is displayed even where there is not enough room for all metrics."""
    timed: bool = False
    """True if the metric depends on the times of lookups, whatever its unit."""
    bounds: tuple[float | None, float | None] | None = None
    """The smallest and the largest value of one session (None = unbounded); by default, those of the unit."""

    @property
    def limits(self) -> tuple[float | None, float | None]:
        return self.bounds or ((0.0, 1.0) if self.unit in {"share", "score"} else (None, None))

    @property
    def span(self) -> float | None:
        """Return the largest difference between two sessions; None unless both bounds are known."""
        low, high = self.limits
        return None if low is None or high is None else high - low

    @property
    def difference_limits(self) -> tuple[float | None, float | None]:
        """Return the smallest and the largest possible difference; (None, None) if they are not known."""
        return (None, None) if self.span is None else (-self.span, self.span)

    @property
    def is_time(self) -> bool:
        return self.timed or self.unit == "ms"


class Noise(Value, frozen=True, kw_only=True):
    """The differences between several rounds of one engine."""

    rounds: int
    sessions: int
    differing: int
    """The number of sessions with an answer that differs from the first round's."""
    latencies: tuple[float | None, ...]
    """The mean latency of each round, in milliseconds."""


class Responses(Value, frozen=True, kw_only=True):
    """Counts of a language model's responses, by the reason why they ended, and by the rules that read them."""

    finishes: dict[str, int]
    rules: dict[str, int]
    empty: dict[str, int]
    unreadable: int = 0
    example: str = ""


class PromptSpread(Value, frozen=True, kw_only=True):
    """The figures of one metric for each prompt, and their spread."""

    values: dict[str, Figure]
    low: Figure
    high: Figure
    deviation: Figure
    by_chance: Figure | None
    """The expected standard deviation if all prompts were equally good; None if a prompt has a single session."""


class PromptFigures(Value, frozen=True, kw_only=True):
    """The figures for each prompt of a dataset that has several prompts."""

    sessions: dict[str, int]
    metrics: dict[str, PromptSpread]


class Evaluation(Value, frozen=True, kw_only=True):
    """The results of stage 3 for one workspace, which reporters render."""

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
    started: str
    environment: dict[str, str]
    lacking: dict[str, int] = {}
    """Package that is not installed → number of imports that an engine cannot follow."""
    remedies: dict[str, str] = {}
    unparsable: float = 0.0
    unparsable_files: dict[str, float] = {}
    noise: Noise | None = None
    repeats: Determinism | None = None
    is_function: bool = False
    """True if equal questions always have equal lists by construction."""
    responses: Responses | None = None
    footprint: Footprint = Footprint()
    sent: SentConfiguration | None = None
    machine: MachineState = MachineState()
    population: int
    """The number of sessions that the strategy makes from the project, asked or not."""
    population_estimated: bool = False
    """True if `population` is an estimate, since stage 1 parsed only some files."""
    asked: float = 1.0
    """The share of sessions that were asked; the smallest share if there are several projects; 0 if `drawn` is set."""
    drawn: dict[str, str] = {}
    """Random choice → seed, for choices that affect figures, except the choice of sessions."""
    clusters: str = "files"
    prompts: PromptFigures | None = None
    queries: QueryFigures | None = None
    filters: dict[str, FilterFigures]
    headline: str = "ALL"
    """The filter whose sessions headlines, gates, comparisons and trends use."""
    errors: tuple[FileError, ...]
    metrics: tuple[MetricInfo, ...]
    gates: tuple[GateResult, ...] = ()
    unfinished: int | None = None
    """The number of files that were not finished; None if the run is complete."""


class LogCounts(Value, frozen=True, kw_only=True):
    files: Number
    sessions: Number
    selected: Number
    queries: Number
    rows: Number
    expected: Number
    kinds: dict[str, tuple[Number, Number]]


class LogFile(Value, frozen=True, kw_only=True):
    path: str
    size: Annotated[int, Meta(ge=0)]
    sha256: str


class LogsRecord(Value, frozen=True, kw_only=True):
    """The content of the folder `logs/`."""

    schema: str
    formats: tuple[str, ...]
    split_by: str
    seed: int
    percent: Number
    """The percentage of files or projects that are logged for training."""
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
    session: str
    file: str
    line: Number
    expected: str
    rank: Number | None
    ahead: tuple[str, ...]


class Cluster(Value, frozen=True, kw_only=True):
    """Misses with the same cause. Shares and gains are from 0 to 1."""

    cause: str
    kind: str
    first: str
    share: float
    gain: float
    """The largest increase of RecallAt1 that a fix of this cause can have."""
    mrr_share: float
    mrr_gain: float
    certainty: float
    """The certainty that this is a fault of the engine rather than a matter of taste (see docs/misses.md)."""
    sessions: Number
    defined: dict[str, Number]
    """Where the expected name is defined → number of sessions."""
    others: dict[str, Number] = {}
    """Title of another run → number of sessions in which that run ranks the text first, or lists it at all."""
    examples: tuple[MissExample, ...]


class Causes(Value, frozen=True, kw_only=True):
    """The misses of an evaluation, or only those worse than in `base`, in clusters sorted by share times certainty."""

    title: str
    base: str = ""
    headline: str
    language: str
    sessions: Number
    lost: float
    mrr_lost: float
    judgeable: Number
    grammar_judged: Number
    """How many of the `judgeable` sessions have a caret at which the grammar could be determined."""
    scope_judged: Number
    """How many of the `judgeable` sessions have a caret at which the visible names could be determined."""
    valid_at5: float | None = None
    """The share of the first five suggestions that are not known to be impossible; a mean over `valid_lists` lists."""
    valid_lists: Number = 0
    """The number of lists at carets at which both the grammar and the visible names are known."""
    others: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...]


class CaseResult(Value, frozen=True, kw_only=True):
    file: str
    line: Number
    caret: str
    """The text of the line, with a bar at the caret."""
    directives: str
    reasons: tuple[str, ...]
    first: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line} {self.directives}"


class ListChange(Value, frozen=True, kw_only=True):
    """A list whose beginning differs from the snapshot. `base` or `new` is None if that side does not have the case."""

    key: str
    base: tuple[str, ...] | None
    new: tuple[str, ...] | None


class Cases(Value, frozen=True, kw_only=True):
    title: str
    left_out: tuple[str, ...] = ()
    """The languages whose cases were skipped, since the engine does not support them."""
    cases: tuple[CaseResult, ...]
    base: str | None = None
    changes: tuple[ListChange, ...] = ()

    @property
    def broken(self) -> int:
        return sum(bool(case.reasons) for case in self.cases)


class Snapshot(Value, frozen=True, kw_only=True):
    """The beginning of each list in an earlier run. `lists`: file and line of code → the first suggestions."""

    title: str
    lists: dict[str, tuple[str, ...]]
