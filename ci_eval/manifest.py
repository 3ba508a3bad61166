"""The manifest of a workspace: what ran, with what, on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta, field
from msgspec.structs import force_setattr

from ci_eval.model import (
    FORMER_LANGUAGES,
    MASKED,
    Determinism,
    EngineInfo,
    Footprint,
    LogsRecord,
    Number,
    ProjectInfo,
    Value,
    Vocabulary,
)
from ci_eval.model.detection import Detection
from ci_eval.model.engine.sent import MachineState, SentConfiguration
from ci_eval.model.sampling import Sampling
from ci_eval.statistics.population import clusters_of

FORMAT, FORMER_FORMAT = 2, 1
"""Format numbers of workspaces: the one that is written, and the oldest one that is read."""


class StageRecord(Value, frozen=True, kw_only=True):
    """When a stage began and ended."""

    started: str
    ended: str | None = None
    files: Number = 0

    @property
    def seconds(self) -> float | None:
        """Seconds that the stage took; None while it has not ended."""
        if self.ended is None:
            return None
        return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.started)).total_seconds()


class Manifest(Value, frozen=True, kw_only=True):
    """What ran: enough to repeat it, and to tell whether two runs can be compared."""

    format: int = FORMAT
    ci_eval: str
    title: str
    language: str
    completion_type: str
    model: str = ""
    """SHA-256 of the model that the completion type ordered by."""
    client: str
    strategy: str
    filters: str = ""
    """The filter that tokens had to pass; "" = none."""
    files: str = ""
    """The filter that files had to pass; "" = none."""
    user: str = ""
    """The probabilities of the modelled user; "" = none."""
    task: str = ""
    """Name of the task; "" only in workspaces stored before there were several: see `unit`."""
    judge: str = ""
    """The model that judged the answers, and the version of the question; "" = none."""
    run: str = ""
    """How the tests in answers were run; "" = they were not."""
    unit: str = "tokens"
    """What one session types, such as tokens or lines."""
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    engine: EngineInfo
    project: ProjectInfo
    around: ProjectInfo | None = None
    """The project around the texts that completion engines are asked in about the records of a dataset."""
    projects: tuple[ProjectInfo, ...] = ()
    """The projects that were merged, if several were; each file's path then begins with its project."""
    clustered: str = ""
    """Name of the field of a dataset by which records are sampled together: those in one folder; "" = there is none."""
    rounds: Annotated[int, Meta(ge=1, le=1_000)] = 1
    """How often each session was asked."""
    turns: str = ""
    """A name for the run in which several engines were asked in turns, the same in all of their workspaces; "" = no
    such run."""
    sent: SentConfiguration | None = field(default=None, name="told")
    """What the engine was told; None in workspaces of before this was written down."""
    machine: MachineState = MachineState()
    """How busy the machine was while the engine was asked."""
    given_up: str = ""
    """Why the engine was not asked to the end; "" = it was."""
    trouble: str = ""
    """What went wrong in the first session that failed."""
    dependencies: dict[str, str] = {}
    """Name → version of what was installed for the engine to see."""
    dependencies_left_out: bool = False
    """Whether what the project needs could have been installed for the engine to see, and was not."""
    unresolved_imports: Annotated[float, Meta(ge=0, le=1)] | None = None
    """Of the imports in files with sessions: the share that is neither in the project, nor in the language's library,
    nor among the dependencies. None where the language cannot tell, or nothing is imported."""
    unresolved_packages: dict[str, Number] = {}
    """Package → number of these imports, the most frequent first; at most 100 packages."""
    endpoint: str = ""
    """The address of the language model that answered; "" of other engines."""
    settings_left_out: str = ""
    """What of the project's settings the engine was not given, since it could do harm; "" = nothing."""
    confined: str = ""
    """How well the engine's processes were confined, as found out from inside; "" without a process."""
    footprint: Footprint = Footprint()
    """What the engine took of the machine, as far as known."""
    plugins: dict[str, str] = {}
    """Name → version of the installed packages that extend ci-eval."""
    state: Determinism | None = None
    """How many sessions were asked more than once, and how many of them were not answered alike each time; None where
    none was, as in workspaces stored before that was done."""
    waited: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    """Seconds spent, in all starts, on waiting for work that the engine had announced."""
    grammar: str
    python: str
    os: str
    cpu: str
    jobs: Number
    shard: str | None = None
    own_actions: bool = False
    """Whether the shard has the actions of its own files alone, and these as wholes: an IDE made them."""
    start: str
    end: str | None = None
    planned: Number = 0
    """Sessions that were chosen to be evaluated."""
    finished: Number = 0
    """Sessions that were asked about."""
    statuses: dict[str, Number] = {}
    reused: Number = 0
    """Sessions whose answers are those of an earlier run."""
    precision: Annotated[float, Meta(gt=0, lt=1)] | None = None
    """Half the width that the interval of one metric is to have at most; None = the number of sessions does not depend
    on that."""
    expects: str = ""
    """Digest of the manifest of the earlier run by which sessions were drawn for the precision; "" = there was none."""
    sampling: Sampling | None = None
    """How sessions were drawn, where only as many were asked as a precision took; None = all had the same chance."""
    closures: dict[str, str] = {}
    """Source file → digest of all files that answers in it depend on, where the engine declares these; empty = answers
    depend on the whole project."""
    detection: Detection | None = None
    """The difference that a comparison is to find, where only as many sessions are asked as that takes; None = their
    number does not depend on that."""
    generated: Number = 0
    """Sessions in the actions, of which `sessionProbability` and `sessionsLimit` choose some."""
    unparsable: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """Share of the source text that the grammar could not read, by its syntax trees."""
    unparsable_files: dict[str, Annotated[float, Meta(ge=0, le=1)]] = {}
    """The files of which most text could not be read → which share; the worst first, ten at most."""
    vocabulary: Vocabulary | None = None
    """Of the tokens that pass the filter, in the task `tokens`."""
    pairs: dict[str, Number] = {}
    """What became of the pairs of states in the task method-calls: fate → how many."""
    stages: dict[str, StageRecord] = {}
    logs: LogsRecord | None = None
    digests: dict[str, str] = {}
    """Part of the workspace → SHA-256 over the names and contents of its files, written once all stages are
    complete."""

    def __post_init__(self) -> None:
        """Task and language have the names of today, also in workspaces of before."""
        if not self.task:
            force_setattr(self, "task", "golf" if self.unit == "lines" else "completion")
        force_setattr(self, "language", FORMER_LANGUAGES.get(self.language, self.language))

    def check(self) -> None:
        """Raises ValueError if counts or times contradict each other."""
        if self.finished > self.planned or sum(self.statuses.values()) > self.planned:
            raise ValueError(f"more sessions are evaluated than the {self.planned:,} that are planned")
        if self.sampling:
            self.sampling.check()
        for record in self.stages.values():
            _check_times(record.started, record.ended)
        _check_times(self.start, self.end)

    @property
    def is_sample(self) -> bool:
        """Whether there are sessions in the actions that were not chosen."""
        return self.planned < self.generated

    @property
    def figures(self) -> set[str]:
        """What metrics of it may be figures of: see `Metric.of`."""
        of_tokens = {"tokens"} if self.unit == MASKED else set()
        return {self.unit, "either"} | of_tokens | ({"models"} if self.endpoint else set())

    @property
    def complete(self) -> bool:
        """Whether the run came to its end: all chosen sessions were asked, in files that are through."""
        return "interpret" in self.stages

    def conditions(self) -> dict[str, str]:
        """Name → value of everything that two runs must share for their figures to be comparable."""
        return {
            "language": self.language,
            "client": self.client,
            "strategy": self.strategy,
            "token filter": self.filters,
            "file filter": self.files,
            "user model": self.user,
            "unit": self.unit,
            "judge": self.judge,
            "running of tests": self.run,
        }

    def series(self) -> dict[str, str]:
        """Name → value of everything that runs must share to be nights of one trend."""
        return self.conditions() | {
            "engine": self.engine.name,
            "project": self.project.name,
            "completion type": self.completion_type,
        }

    def answering(self) -> dict[str, str]:
        """Name → value of everything that runs must share to give the same answers in the same sessions."""
        return self.conditions() | {
            "engine": f"{self.engine.name} {self.engine.version}",
            "completion type": self.completion_type,
            "ranking model": self.model,
        }

    @property
    def dealt(self) -> str | None:
        """Return the shard to which sessions were dealt; None if all that are in the actions are its own."""
        return None if self.own_actions else self.shard

    @property
    def clusters(self) -> str:
        """What the sample of other code consists of, in the plural."""
        return f"groups by {self.clustered}" if self.clustered else clusters_of(len(self.projects))

    def cluster(self, path: str) -> str:
        """Return the cluster that a file is sampled with: its folder in a dataset that names a field for that, its
        project where there are many of them, else the file itself."""
        if self.clustered:
            return path.rpartition("/")[0]
        return path.partition("/")[0] if self.clusters == "projects" else path


def unlike(was: Mapping[str, object], now: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """Of each condition that has changed: its name, its former and its present value."""
    return ((what, value, now[what]) for what, value in was.items() if value != now[what])


def _check_times(*times: str | None) -> None:
    for each in filter(None, times):
        if datetime.fromisoformat(each).tzinfo is None:
            raise ValueError(f"{each} has no time zone")
