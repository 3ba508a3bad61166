"""Stage 3: the figures of an evaluation, ready to be shown."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ci_eval.model.engine.determinism import Determinism, State
from ci_eval.model.engine.sent import MachineState, SentConfiguration
from ci_eval.model.footprint import Footprint
from ci_eval.model.gates import GateResult
from ci_eval.model.queries import QueryFigures
from ci_eval.model.sampling import Sampling
from ci_eval.model.sessions import FileError
from ci_eval.model.tokens import Value

Figure = Annotated[float, Meta(ge=-1e12, le=1e12)]
"""A figure within bounds that no metric exceeds: what is stored may come from somebody who means harm."""


class OtherCode(Value, frozen=True, kw_only=True):
    """The interval of a figure for other code like this: files (of many merged projects: projects) are the sample."""

    low: Figure | None = None
    high: Figure | None = None
    """The 95 % interval; None where there are too few files for one."""
    effective: float = 0.0
    """The effective number of files: so many files of equal size would say as much."""


class Estimate(Value, frozen=True, kw_only=True):
    """A figure with its 95 % interval, and the number of observations (`n`) behind it."""

    value: Figure | None
    population: Literal["project"] = "project"
    """What the interval is about: all sessions of this project under this strategy."""
    low: Figure | None = None
    high: Figure | None = None
    """Both ends are the value itself where all sessions were asked; None for times and counts."""
    state: State = "none"
    n: int = 0
    elsewhere: OtherCode = OtherCode()


class FileFigures(Value, frozen=True, kw_only=True):
    """The figures of one file under one filter."""

    sessions: int
    metrics: dict[str, float | None]


class FilterFigures(Value, frozen=True, kw_only=True):
    """The figures of all sessions one filter lets through."""

    sessions: int
    """Evaluated sessions: planned ones that were not skipped."""
    planned: int
    undecided: int
    """Sessions left out because a property the filter asks for is not known."""
    statuses: dict[str, int]
    metrics: dict[str, Estimate]
    by_file: dict[str, float | None] = {}
    """Mean of the files' figures (macro average), in which all files weigh the same; `metrics` are over all sessions
    (micro)."""
    files: dict[str, FileFigures]
    folders: dict[str, FileFigures] = {}
    """The same over all files below a folder, whose path ends in a slash; without those that hold all files, or nothing
    but one folder."""
    kinds: dict[str, dict[str, Estimate]]
    """Kind of token → the same metrics over its sessions."""
    ranks: dict[str, int]
    """How many expected texts had a rank of "1", "2-5", "6-10", "11+", or were "absent"."""


class EngineInfo(Value, frozen=True, kw_only=True, omit_defaults=True):
    """Which engine answered; `packages` are the exact versions of what was installed with it."""

    name: str
    version: str
    packages: dict[str, str] = {}


class ProjectInfo(Value, frozen=True, kw_only=True, omit_defaults=True):
    """Whose code was completed."""

    spec: str
    name: str
    revision: str
    checksum: str
    """SHA-256 over the paths and contents of its files."""
    identity: str | None = None
    """What the ids of its sessions are made with; None = its name. "" = nothing, so that the same text below the same
    path has the same id in any folder."""

    @property
    def identified(self) -> str:
        """The name from which the ids of the project's sessions are made."""
        return self.name if self.identity is None else self.identity


class MetricInfo(Value, frozen=True, kw_only=True):
    """How to read a metric: shown beside its figures."""

    name: str
    summary: str
    unit: str
    """share (0..1, shown as percent), score (0..1, shown as it is), rank, ms, nats (of log-probabilities), money or
    count."""
    better: str
    """higher, lower or neither."""
    shown: bool = False
    """Whether it is among the few that are shown where there is no room for all."""
    timed: bool = False
    """Whether it depends on the times of lookups, whatever its unit."""

    @property
    def is_time(self) -> bool:
        """Return whether the metric stands among the times, apart from those of quality."""
        return self.timed or self.unit == "ms"


class Noise(Value, frozen=True, kw_only=True):
    """How far one engine differs from itself, where each session was asked several times."""

    rounds: int
    sessions: int
    """Evaluated sessions."""
    differing: int
    """Of these, the ones that were answered differently in a later round than in the first."""
    latencies: tuple[float | None, ...]
    """Mean latency (ms) of each round."""
    spread: float | None
    """Median over lookups of how much longer the slowest round took than the fastest, as a share of the fastest."""


class Responses(Value, frozen=True, kw_only=True):
    """The counts of what language models answered."""

    finishes: dict[str, int]
    """Why the model stopped → lookups."""
    rules: dict[str, int]
    """Rule by which suggestions were read from what it wrote → lookups."""
    empty: dict[str, int]
    """Why it stopped → sessions in which it wrote nothing that is a suggestion."""


class Evaluation(Value, frozen=True, kw_only=True):
    """Everything that stage 3 found in one workspace, for reporters to render."""

    title: str
    workspace: str
    engine: EngineInfo
    project: ProjectInfo
    completion_type: str
    client: str
    language: str
    task: str = "completion"
    """Its name."""
    seed: int
    conditions: dict[str, str] = {}
    """Name → value of everything that another evaluation must share to be a night of the same trend."""
    started: str
    environment: dict[str, str]
    lacking: dict[str, int] = {}
    """Package → number of its imports, where an engine could not follow them, since what the project needs was not
    installed."""
    unparsable: float = 0.0
    """Share of the source text that the grammar could not read: there are no sessions of it."""
    unparsable_files: dict[str, float] = {}
    """The files of which most text could not be read → which share."""
    noise: Noise | None = None
    """None where each session was asked once."""
    repeats: Determinism | None = None
    """How many sessions were asked more than once, and how many of these were not answered alike; None: nothing was."""
    responses: Responses | None = None
    """None where no language model was asked."""
    footprint: Footprint = Footprint()
    """What the engine took of the machine."""
    sent: SentConfiguration | None = None
    """What the engine was told; None where that is not recorded."""
    machine: MachineState = MachineState()
    """How busy the machine was."""
    population: int
    """Number of sessions that this project has under this strategy; those under ALL are a sample of them."""
    sampling: Sampling | None = None
    """How they were drawn, where they stand for different numbers of others: figures weight them, and quantiles (which
    cannot be weighted) are left out."""
    clusters: str = "files"
    """What the sample of other code consists of: "files" or "projects"."""
    queries: QueryFigures | None = None
    """Of the task method-calls, what queries say; None of others."""
    filters: dict[str, FilterFigures]
    headline: str = "ALL"
    """Name of the filter that leads: reports, gates, comparisons and trends are about its sessions."""
    errors: tuple[FileError, ...]
    metrics: tuple[MetricInfo, ...]
    gates: tuple[GateResult, ...] = ()
    """The rules that its figures were judged by."""
    edition: int = 0
    """The number of this report among those that are made while the run goes on, from 1; 0 = it is made once, or the
    last of these."""
    unfinished: int | None = None
    """Where the run did not come to its end: the number of files that are not through; None where it did."""
