"""The manifest of a workspace: the run, its parts and its machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta, field
from msgspec.structs import force_setattr

from ci_eval.core.model import (
    FORMER_LANGUAGES,
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
from ci_eval.core.statistics.population import cluster_unit, find_cluster
from ci_eval.core.user_model import decides_by_chance

QUERIES, RANKER, USER = "queries", "training of the ranker", "modelled user"
"""The names in `Manifest.drawn` of a record's queries, of a ranker's training, and of what a user did."""
FORMAT, FORMER_FORMAT = 2, 1
"""The format numbers of workspaces: the one that is written, and the oldest one that is read."""


class StageRecord(Value, frozen=True, kw_only=True):
    started: str
    ended: str | None = None
    files: Number = 0
    cpu: CpuTimes | None = None
    """The CPU time; None = unknown."""

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
    """The field of a dataset that groups records into clusters: those in one folder; "" = there is none."""
    rounds: Annotated[int, Meta(ge=1, le=1_000)] = 1
    turns: str = ""
    """A name for the run in which several engines were asked in turns, the same in all of their workspaces; "" = no
    such run."""
    # Stored manifests have the field by its former name.
    sent: SentConfiguration | None = field(default=None, name="told")
    machine: MachineState = MachineState()
    given_up: str = ""
    trouble: str = ""
    dependencies: dict[str, str] = {}
    dependencies_left_out: bool = False
    """True if the project's dependencies could have been installed for the engine, and were not."""
    unresolved_imports: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The share of the imports in files with sessions that are neither in the project, nor in the language's library,
    nor among the dependencies. None if the language cannot tell, or nothing is imported."""
    unresolved_packages: dict[str, Number] = {}
    """The number of these imports by package, the most frequent first; at most 100 packages."""
    remedies: dict[str, str] = {}
    """What would help the engine to find these packages, by package; empty if no engine looks at them."""
    endpoint: str = ""
    settings_left_out: str = ""
    """The project's settings that the engine was not given, since they could do harm; "" = none."""
    confined: str = ""
    """The sandbox report measured inside the engine's processes; "" without a process."""
    footprint: Footprint = Footprint()
    plugins: dict[str, str] = {}
    state: Determinism | None = None
    """The sessions that were asked more than once, and those whose results differed; None if there are none, as in
    older workspaces."""
    is_function: bool = False
    """True if its lists are a function of the question by construction: a baseline's, or another order of stored
    lists."""
    deletion: Determinism = Determinism()
    """The sessions that were asked again with their text reached by a deletion, and those whose results then differed.
    """
    waited: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    """Seconds, in all starts, of waiting for work that the engine had announced."""
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
    """The largest half width that the interval of one metric may have; None = the number of sessions does not depend on
    a precision."""
    sampling: Sampling | None = None
    """How stage 1 drew the sessions, if it parsed only some files; `generated` is an estimate then."""
    closures: dict[str, str] = {}
    """The digest of all files that results in a source file depend on, by source file, if the engine declares these;
    empty = results depend on the whole project."""
    detection: Detection | None = None
    """The difference that a comparison is to find if only as many sessions are asked as that takes; None = their number
    does not depend on a difference."""
    generated: Number = 0
    """The number of sessions in the actions, of which `sessionProbability` and `sessionsLimit` choose some."""
    strata: dict[str, dict[str, Number]] = {}
    """The classes that a limited sample was drawn from one by one, with the number of the sessions of each: project
    ("", unless several were merged) → class → sessions of this shard. A project without any is a simple sample."""
    unparsable: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """The share of the source text that the grammar could not read, by its syntax trees."""
    unparsable_files: dict[str, Annotated[float, Meta(ge=0, le=1)]] = {}
    """The share that could not be read, by file; the worst files first, ten at most."""
    left_out: dict[str, Number] = {}
    """The number of source files without sessions since nobody writes them: "generated" or "vendored" → number."""
    vocabulary: Vocabulary | None = None
    pairs: dict[str, Number] = {}
    """The outcomes of the pairs of states in the task method-calls: outcome → number of pairs."""
    drawn: dict[str, str] | None = None
    """The random choices that decide figures, besides the choice of sessions: name → seed. None in workspaces that are
    older than this field, or that another program made."""
    histories: Histories | None = None
    stages: dict[str, StageRecord] = {}
    logs: LogsRecord | None = None
    digests: dict[str, str] = {}
    """The SHA-256 over the names and contents of the files of each part of the workspace; written once all stages are
    complete."""

    def __post_init__(self) -> None:
        """Replace former names of task, language and processor by those of today."""
        if isinstance(self.cpu, str):
            force_setattr(self, "processor", self.cpu)
            force_setattr(self, "cpu", None)
        if not self.task:
            # The struct is frozen.
            force_setattr(self, "task", "golf" if self.unit == "lines" else "completion")
        force_setattr(self, "language", FORMER_LANGUAGES.get(self.language, self.language))

    def check(self) -> None:
        """Check that counts and times do not contradict each other. Raises ValueError if they do."""
        if self.finished > self.planned or sum(self.statuses.values()) > self.planned:
            raise ValueError(f"more sessions are evaluated than the {self.planned:,} that are planned")
        # A run with `--precision` by a former version, which drew sessions by their expected answers, has no files.
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
        """Return the units of the metrics that this run can have figures of: see `Metric.of`."""
        # Masked tokens are tokens, so metrics of tokens apply to them as well.
        own = {self.unit, "tokens"} if self.unit == MASKED else {self.unit}
        return own | ({"either", "models"} if self.endpoint else {"either"})

    @property
    def complete(self) -> bool:
        """Return whether the run came to its end: all chosen sessions were asked, and all their files are complete."""
        return "interpret" in self.stages

    @property
    def draws(self) -> dict[str, str]:
        """Return the random choices that decide figures: name → seed. Another seed would change the figures."""
        if self.drawn is not None:
            return self.drawn
        # Each of these sessions is one draw of the modelled user, and has no other possible course.
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
            # Sessions that were drawn have not all lookups that figures need today.
            "draws of the user": self.draws.get(USER, ""),
        }

    @property
    def clusters(self) -> str:
        """Return the plural name of the units in a sample of other code."""
        return f"groups by {self.clustered}" if self.clustered else cluster_unit(len(self.projects))

    def cluster(self, path: str) -> str:
        """Return the cluster that a file is sampled with: its folder in a dataset that names a field for that, its
        project if there are many projects, else the file itself."""
        return find_cluster(path, self.clusters)


def unlike(was: Mapping[str, object], now: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """Yield the name, the former and the present value of each difference."""
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
