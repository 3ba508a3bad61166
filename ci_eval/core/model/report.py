"""The results of one evaluation: figures, gates, logs, clusters of misses, and results of cases."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ci_eval.core.model.engine import Determinism, Footprint, MachineState, SentConfiguration, State
from ci_eval.core.model.records import QueryFigures
from ci_eval.core.model.sessions import FileError
from ci_eval.core.model.tokens import Number, Value


class GateResult(Value, frozen=True, kw_only=True):
    """A gate, and whether it passes."""

    rule: str
    passed: bool
    """True if the job goes on: an undecided gate may pass, by `--undecided`."""
    reason: str
    result: Literal["", "kept", "broken", "undecided"] = ""
    """Undecided if some values in the interval pass, and others do not; "" in older data."""
    needed: Number | None = None

    @property
    def word(self) -> str:
        return self.result or ("kept" if self.passed else "broken")


Figure = Annotated[float, Meta(ge=-1e12, le=1e12)]
"""A number within the bounds of all metrics, since stored data may come from an attacker."""


class OtherCode(Value, frozen=True, kw_only=True):
    """The interval of a figure for other code like this, whose sampling units are files, or merged projects."""

    low: Figure | None = None
    high: Figure | None = None
    """The 95 % interval; None if there are too few files for one."""
    effective: float = 0.0


class Estimate(Value, frozen=True, kw_only=True):
    """A figure with its 95 % interval, and the number of its observations (`n`)."""

    value: Figure | None
    population: Literal["project"] = "project"
    low: Figure | None = None
    high: Figure | None = None
    """Equal to the value if all sessions were asked; None for times and counts."""
    state: State = "none"
    n: int = 0
    elsewhere: OtherCode = OtherCode()


class FileFigures(Value, frozen=True, kw_only=True):
    """The figures of one file under one filter."""

    sessions: int
    metrics: dict[str, float | None]


class FilterFigures(Value, frozen=True, kw_only=True):
    """The figures of all sessions that pass one filter."""

    sessions: int
    planned: int
    undecided: int
    """Sessions left out because a property that the filter asks for is not known."""
    statuses: dict[str, int]
    metrics: dict[str, Estimate]
    by_file: dict[str, float | None] = {}
    """The macro average over files; `metrics` are over all sessions (micro)."""
    files: dict[str, FileFigures]
    folders: dict[str, FileFigures] = {}
    """The figures by folder (with a final slash), without folders that hold all files, or just one folder."""
    kinds: dict[str, dict[str, Estimate]]
    ranks: dict[str, int]
    """Band of ranks ("1", "2-5", "6-10", "11+", "absent") → number of expected texts."""


class EngineInfo(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The engine that answered; `packages` are the exact versions of the packages installed with it."""

    name: str
    version: str
    packages: dict[str, str] = {}
    baseline: bool = False
    """True for the simple completers of ci-eval, which engines should beat."""

    @property
    def text(self) -> str:
        return f"{self.name} {self.version}{', a baseline' if self.baseline else ''}"


class ProjectInfo(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The project whose code was completed."""

    spec: str
    name: str
    revision: str
    checksum: str
    """SHA-256 over the paths and contents of its files."""
    identity: str | None = None
    """The text that session ids depend on; None = the name, "" = only a file's path and text."""

    @property
    def identity_name(self) -> str:
        return self.name if self.identity is None else self.identity


class MetricInfo(Value, frozen=True, kw_only=True):
    """The description of a metric, displayed next to its figures."""

    name: str
    summary: str
    unit: str
    """share (0..1, as percent), score (0..1, as it is), rank, ms, nats (of log-probabilities), money or count."""
    better: str
    """higher, lower or neither."""
    shown: bool = False
    """True if displayed when there is no room for all metrics."""
    timed: bool = False
    """True if it depends on the times of lookups, whatever its unit."""
    bounds: tuple[float | None, float | None] | None = None
    """The bounds of one session, None for a missing bound; by default those of the unit."""

    @property
    def limits(self) -> tuple[float | None, float | None]:
        return self.bounds or ((0.0, 1.0) if self.unit in {"share", "score"} else (None, None))

    @property
    def span(self) -> float | None:
        """Return the largest distance of two sessions; None unless both bounds are known."""
        low, high = self.limits
        return None if low is None or high is None else high - low

    @property
    def difference_limits(self) -> tuple[float | None, float | None]:
        """The limits of a difference: `span` in both directions, or (None, None)."""
        return (None, None) if self.span is None else (-self.span, self.span)

    @property
    def is_time(self) -> bool:
        return self.timed or self.unit == "ms"


class Noise(Value, frozen=True, kw_only=True):
    """The difference of an engine from itself in several rounds."""

    rounds: int
    sessions: int
    differing: int
    """Sessions answered differently in a later round than in the first."""
    latencies: tuple[float | None, ...]
    """The mean (ms) of each round."""


class Responses(Value, frozen=True, kw_only=True):
    """Counts of responses of language models."""

    finishes: dict[str, int]
    rules: dict[str, int]
    empty: dict[str, int]
    unreadable: int = 0
    example: str = ""


class PromptSpread(Value, frozen=True, kw_only=True):
    """The figures of one metric by prompt, and their spread."""

    values: dict[str, Figure]
    low: Figure
    high: Figure
    deviation: Figure
    by_chance: Figure | None
    """The standard deviation to expect if all prompts were equally good; None if a prompt has a single session."""


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
    started: str
    environment: dict[str, str]
    lacking: dict[str, int] = {}
    """Package that was not installed → number of imports that an engine could not follow."""
    remedies: dict[str, str] = {}
    unparsable: float = 0.0
    unparsable_files: dict[str, float] = {}
    noise: Noise | None = None
    repeats: Determinism | None = None
    is_function: bool = False
    """True if lists are a function of the question by construction."""
    responses: Responses | None = None
    footprint: Footprint = Footprint()
    sent: SentConfiguration | None = None
    machine: MachineState = MachineState()
    population: int
    """The sessions of this project under this strategy, asked or not."""
    population_estimated: bool = False
    """True if stage 1 parsed only some files."""
    asked: float = 1.0
    """The asked share, the smallest one of several projects; 0 if anything was `drawn`."""
    drawn: dict[str, str] = {}
    """Random choice besides that of sessions → seed."""
    clusters: str = "files"
    prompts: PromptFigures | None = None
    queries: QueryFigures | None = None
    filters: dict[str, FilterFigures]
    headline: str = "ALL"
    """The filter that reports, gates, comparisons and trends are about."""
    errors: tuple[FileError, ...]
    metrics: tuple[MetricInfo, ...]
    gates: tuple[GateResult, ...] = ()
    unfinished: int | None = None
    """The number of unfinished files; None if the run ended."""


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
    """The manifest of the folder `logs/`."""

    schema: str
    formats: tuple[str, ...]
    split_by: str
    seed: int
    percent: Number
    """The share of files or projects for training."""
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
    """The misses with one cause. Shares and gains are from 0 to 1."""

    cause: str
    kind: str
    first: str
    share: float
    gain: float
    """The most points of RecallAt1 that a fix can gain."""
    mrr_share: float
    mrr_gain: float
    certainty: float
    """The certainty that this is a fault, not a taste (docs/misses.md)."""
    sessions: Number
    defined: dict[str, Number]
    """Sessions by where the expected name is defined."""
    others: dict[str, Number] = {}
    """Title of another run → the sessions in which it does better: the text is first, or it is there at all."""
    examples: tuple[MissExample, ...]


class Causes(Value, frozen=True, kw_only=True):
    """The clusters of an evaluation, or of what got worse since `base`, by share times certainty."""

    title: str
    base: str = ""
    headline: str
    language: str
    sessions: Number
    lost: float
    mrr_lost: float
    judgeable: Number
    grammar_judged: Number
    """The part whose words were judged by the grammar."""
    scope_judged: Number
    """The part whose names were judged by scopes."""
    valid_at5: float | None = None
    """The mean share of the first five suggestions that are not known to be impossible, over `valid_lists` lists."""
    valid_lists: Number = 0
    """The number of lists at carets at which grammar and scopes are known."""
    others: tuple[str, ...] = ()
    clusters: tuple[Cluster, ...]


class CaseResult(Value, frozen=True, kw_only=True):
    file: str
    line: Number
    caret: str
    """The line, with a bar at the caret."""
    directives: str
    reasons: tuple[str, ...]
    first: tuple[str, ...]

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
    left_out: tuple[str, ...] = ()
    """Languages whose cases the engine does not know."""
    cases: tuple[CaseResult, ...]
    base: str | None = None
    changes: tuple[ListChange, ...] = ()

    @property
    def broken(self) -> int:
        return sum(bool(case.reasons) for case in self.cases)


class Snapshot(Value, frozen=True, kw_only=True):
    """The beginning of each list in an earlier run. `lists`: file and line of code → its first suggestions."""

    title: str
    lists: dict[str, tuple[str, ...]]
