"""The manifest of a workspace, which records how its run was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta, field
from msgspec.structs import force_setattr

from ci_eval.core.model import (
    MASKED,
    Determinism,
    EngineInfo,
    Footprint,
    Histories,
    LogsRecord,
    Number,
    ProjectInfo,
    Sampling,
    Value,
    Vocabulary,
)
from ci_eval.core.model.comparison import Detection
from ci_eval.core.model.engine import CpuTimes, MachineState, SentConfiguration
from ci_eval.core.statistics.population import FILES, find_cluster
from ci_eval.core.user_model import decides_by_chance

QUERIES, RANKER, USER = "queries", "training of the ranker", "modelled user"
"""Names of random choices in `Manifest.drawn`."""
FORMAT, FORMER_FORMAT = 2, 1
"""The format numbers of workspaces: the one that is written, and the oldest one that is read."""


class StageRecord(Value, frozen=True, kw_only=True):
    started: str
    ended: str | None = None
    files: Number = 0
    cpu: CpuTimes | None = None

    @property
    def seconds(self) -> float | None:
        if self.ended is None:
            return None
        return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.started)).total_seconds()


class Manifest(Value, frozen=True, kw_only=True):
    format: int = FORMAT
    ci_eval: str
    title: str
    language: str
    completion_type: str
    model: str = ""
    client: str
    strategy: str
    filters: str = ""
    files: str = ""
    user: str = ""
    """The probabilities of the modelled user; "" = none."""
    task: str = ""
    judge: str = ""
    run: str = ""
    unit: str = "tokens"
    """The unit that one session types, such as tokens or lines."""
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    engine: EngineInfo
    revision: str = ""
    """The commit of the repository that the engine was built in, else of the current folder; "" = unknown."""
    project: ProjectInfo
    around: ProjectInfo | None = None
    """The project around the texts that completion engines are asked in about the records of a dataset."""
    projects: tuple[ProjectInfo, ...] = ()
    """The projects that were merged, if several were; each file's path then begins with its project."""
    clustered: str = ""
    """The field of a dataset that groups records into clusters, each of which is a folder; "" = no field."""
    rounds: Annotated[int, Meta(ge=1, le=1_000)] = 1
    turns: str = ""
    """The name of the run that asked several engines in turns, the same in all their workspaces; "" = no such run."""
    # Stored manifests have the field by its former name.
    sent: SentConfiguration | None = field(default=None, name="told")
    machine: MachineState = MachineState()
    given_up: str = ""
    trouble: str = ""
    dependencies: dict[str, str] = {}
    dependencies_left_out: bool = False
    """True if the project's dependencies could have been installed for the engine, but were not."""
    unresolved_imports: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The share of imports, in files with sessions, that are in neither the project, nor the language's library, nor
    the dependencies. None if that is not known, or nothing is imported."""
    unresolved_packages: dict[str, Number] = {}
    """The number of these imports by package, the most frequent first; at most 100 packages."""
    remedies: dict[str, str] = {}
    """Package → what would help the engine to find it; empty if the engine does not look at packages."""
    endpoint: str = ""
    settings_left_out: str = ""
    """The project's settings that the engine was not given, since they could do harm; "" = none."""
    confined: str = ""
    """The sandbox report measured inside the engine's processes; "" without a process."""
    footprint: Footprint = Footprint()
    plugins: dict[str, str] = {}
    state: Determinism | None = None
    """The sessions that were asked more than once, and those whose results differed; None if there are none."""
    is_function: bool = False
    """True if lists are a function of the question by construction, as those of a baseline or of `rerank`."""
    waited: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    """The seconds, over all starts, spent on waiting for work that the engine announced."""
    grammar: str
    python: str
    os: str
    cpu: CpuTimes | str | None = None
    """The CPU time of all stages; former versions stored the processor's name here, which is `processor` now."""
    processor: str = ""
    jobs: Number
    shard: str | None = None
    start: str
    end: str | None = None
    planned: Number = 0
    finished: Number = 0
    statuses: dict[str, Number] = {}
    reused: Number = 0
    precision: Annotated[float, Meta(gt=0, lt=1)] | None = None
    """The largest half width of the interval, if that decided the number of sessions."""
    sampling: Sampling | None = None
    """How stage 1 drew the sessions, if it parsed only some files; `generated` is an estimate then."""
    closures: dict[str, str] = {}
    """Source file → digest of all files that its results depend on, if the engine declares them; {} = the project."""
    detection: Detection | None = None
    """The difference to find, if that decided the number of sessions."""
    generated: Number = 0
    """The number of sessions in the actions, from which `sessionProbability` and `sessionsLimit` choose."""
    strata: dict[str, dict[str, Number]] = {}
    """The classes that a limited sample was drawn from: project ("" unless several were merged) → class → number of its
    sessions in this shard. A project that is missing has a simple sample."""
    unparsable: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """The share of the source text that the grammar could not read."""
    unparsable_files: dict[str, Annotated[float, Meta(ge=0, le=1)]] = {}
    """The share that could not be read, by file; the worst files first, ten at most."""
    left_out: dict[str, Number] = {}
    """The number of source files without sessions since nobody writes them: "generated" or "vendored" → number."""
    vocabulary: Vocabulary | None = None
    pairs: dict[str, Number] = {}
    """The outcomes of the pairs of states in the task method-calls: outcome → number of pairs."""
    drawn: dict[str, str] | None = None
    """Random choice that decides figures, besides that of sessions → seed. None in workspaces without this field."""
    histories: Histories | None = None
    stages: dict[str, StageRecord] = {}
    logs: LogsRecord | None = None
    digests: dict[str, str] = {}
    """Part of the workspace → SHA-256 over names and contents of its files, if all stages are complete."""

    def __post_init__(self) -> None:
        """Fill in task and processor of workspaces that stored them in other fields."""
        if isinstance(self.cpu, str):
            force_setattr(self, "processor", self.cpu)
            force_setattr(self, "cpu", None)
        if not self.task:
            # The struct is frozen.
            force_setattr(self, "task", "golf" if self.unit == "lines" else "completion")

    def check(self) -> None:
        """Check that counts and times do not contradict each other. Raises ValueError if they do."""
        if self.finished > self.planned or sum(self.statuses.values()) > self.planned:
            raise ValueError(f"more sessions are evaluated than the {self.planned:,} that are planned")
        # Former versions with `--precision` stored no files, and drew sessions by their expected answers.
        if self.sampling and not self.sampling.files:
            raise ValueError("its sessions were drawn by what a former version of --precision expected: evaluate again")
        for record in self.stages.values():
            _check_times(record.started, record.ended)
        _check_times(self.start, self.end)

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the classes of the sample; none if it is a simple sample."""
        return tuple(self.strata.get("", ()))

    @property
    def is_sample(self) -> bool:
        return self.planned < self.generated

    @property
    def figures(self) -> set[str]:
        """Return the units of the metrics that apply to this run (see `Metric.of`)."""
        # Masked tokens are tokens, so metrics of tokens apply to them as well.
        own = {self.unit, "tokens"} if self.unit == MASKED else {self.unit}
        return own | ({"either", "models"} if self.endpoint else {"either"})

    @property
    def complete(self) -> bool:
        """Return whether the run ended, so that all chosen sessions were asked."""
        return "interpret" in self.stages

    @property
    def draws(self) -> dict[str, str]:
        """Return the random choices that decide figures: name → seed. Another seed would change the figures."""
        if self.drawn is not None:
            return self.drawn
        # In older workspaces, each session is one random course of the modelled user.
        return {USER: str(self.seed)} if decides_by_chance(self.user) else {}

    def conditions(self) -> dict[str, str]:
        """Return everything that two runs must share for their figures to be comparable: name → value."""
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
        """Return everything that runs must share to be nightly runs of one trend: name → value."""
        return self.conditions() | {
            "engine": self.engine.name,
            "project": self.project.name,
            "completion type": self.completion_type,
        }

    def answering(self) -> dict[str, str]:
        """Return everything that runs must share to have the same results in the same sessions: name → value."""
        return self.conditions() | {
            "engine": f"{self.engine.name} {self.engine.version}",
            "completion type": self.completion_type,
            "ranking model": self.model,
            # Randomly drawn sessions lack lookups that figures need today.
            "draws of the user": self.draws.get(USER, ""),
        }

    @property
    def clusters(self) -> str:
        """Return the plural name of the sampling units of other code."""
        if self.clustered:
            return f"groups by {self.clustered}"
        return "projects" if len(self.projects) > 1 else FILES

    def cluster(self, path: str) -> str:
        """Return the sampling unit of a file (see `clusters`)."""
        return find_cluster(path, self.clusters)


def unlike(was: Mapping[str, object], now: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    return ((name, value, now[name]) for name, value in was.items() if value != now[name])


def commits_between(was: str, now: str) -> str:
    """Return the command that lists the commits from one revision to another; "" if they are equal or not known."""
    old, new = (revision.partition("+")[0][:12] for revision in (was, now))
    return f"git log --oneline {old}..{new}" if old and new and old != new else ""


def _check_times(*times: str | None) -> None:
    for time in filter(None, times):
        # Times with and without a zone cannot be subtracted.
        if datetime.fromisoformat(time).tzinfo is None:
            raise ValueError(f"{time} has no time zone")
