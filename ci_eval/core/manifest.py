"""The manifest of a workspace. It records how the run was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta, field

from ci_eval.core.model.comparison import Detection
from ci_eval.core.model.engine import CpuTimes, Determinism, Footprint, MachineState, SentConfiguration
from ci_eval.core.model.records import Histories
from ci_eval.core.model.report import EngineInfo, LogsRecord, ProjectInfo
from ci_eval.core.model.tokens import MASKED, Number, Sampling, Value, Vocabulary
from ci_eval.core.statistics.population import FILES, find_cluster
from ci_eval.core.user_model import decides_by_chance

QUERIES, RANKER, USER = "queries", "training of the ranker", "modelled user"
"""The names of random choices, which are the keys of `Manifest.drawn`."""
FORMAT = 2
"""The format number of workspaces."""


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
    """The probabilities of the modelled user, as JSON; "" = no user is modelled."""
    task: str = "completion"
    judge: str = ""
    run: str = ""
    unit: str = "tokens"
    """The plural name of the text that a session types, such as tokens or lines."""
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    engine: EngineInfo
    revision: str = ""
    """The commit of the repository in which the engine was built, or else of the current folder; "" if unknown."""
    project: ProjectInfo
    around: ProjectInfo | None = None
    """The project in which completion engines see the texts of a dataset's records."""
    projects: tuple[ProjectInfo, ...] = ()
    """The merged projects; empty for a single project. If set, the path of each file begins with its project."""
    clustered: str = ""
    """The field of a dataset that groups records into clusters; "" = none. Each cluster is a folder of the project."""
    rounds: Annotated[int, Meta(ge=1, le=1_000)] = 1
    turns: str = ""
    """The name of the run that asked several engines in turns. It is the same in all their workspaces; "" = none."""
    # Stored manifests use the field's former name.
    sent: SentConfiguration | None = field(default=None, name="told")
    machine: MachineState = MachineState()
    given_up: str = ""
    trouble: str = ""
    dependencies: dict[str, str] = {}
    dependencies_left_out: bool = False
    """True if the project's dependencies could have been installed for the engine but were not."""
    unresolved_imports: Annotated[float, Meta(ge=0, le=1)] | None = None
    """The share of imports that are found neither in the project, nor in the standard library, nor in the dependencies.
    Only files with sessions count. None if the share is unknown or nothing is imported."""
    imports: dict[str, tuple[Number, Number]] = {}
    """Checksum of the project → numbers of imports and of unresolved imports. In a shard, the keys are source files,
    since shards may share a file."""
    unresolved_packages: dict[str, Number] = {}
    """Package → number of its unresolved imports, the most frequent first; at most 100 packages."""
    unresolved_in_pieces: dict[str, dict[str, Number]] = {}
    """In a shard: source file that is cut over several shards → package → number of its unresolved imports."""
    remedies: dict[str, str] = {}
    """Package → advice how the engine could find it; empty if the engine does not use packages."""
    endpoint: str = ""
    settings_left_out: str = ""
    """The project's settings that were withheld from the engine because they could do harm; "" = none."""
    confined: str = ""
    """A report on the sandbox, measured inside the engine's processes; "" without such a process."""
    footprint: Footprint = Footprint()
    plugins: dict[str, str] = {}
    state: Determinism | None = None
    """How many sessions were asked again, and how many of these had different results; None if none was asked again."""
    is_function: bool = False
    """True if equal questions always have equal lists by construction, as with a baseline or `rerank`."""
    waited: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    """The seconds that ci-eval waited, over all starts, for work that the engine announced."""
    grammar: str
    python: str
    os: str
    cpu: CpuTimes | None = None
    """The CPU time of all stages."""
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
    """The wanted half width of the interval, if it decided the number of sessions; None otherwise."""
    sampling: Sampling | None = None
    """The sample that stage 1 drew, if it parsed only some files. `generated` is an estimate in this case."""
    closures: dict[str, str] = {}
    """Source file → digest of the files that its results depend on; {} if the engine does not declare these files."""
    detection: Detection | None = None
    """The difference to detect, if it decided the number of sessions; None otherwise."""
    generated: Number = 0
    """The number of sessions in the actions. `sessionProbability` and `sessionsLimit` select from these sessions."""
    strata: dict[str, dict[str, Number]] = {}
    """Project ("" for a single project) → class from which a limited sample was drawn → number of the class's sessions
    in this shard. A project without an entry has a simple sample."""
    unparsable: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """The share of the source text that the grammar could not parse."""
    unparsable_files: dict[str, Annotated[float, Meta(ge=0, le=1)]] = {}
    """File → share of its text that could not be parsed, for the (at most ten) files with the largest shares."""
    left_out: dict[str, Number] = {}
    """Reason ("generated" or "vendored") → number of source files that have no sessions since nobody writes them."""
    vocabulary: Vocabulary | None = None
    pairs: dict[str, Number] = {}
    """Outcome → number of pairs of states of an object usage, in the task method-calls."""
    drawn: dict[str, str] | None = None
    """Random choice → seed, for choices that affect figures, except the choice of sessions. None in old workspaces."""
    histories: Histories | None = None
    stages: dict[str, StageRecord] = {}
    logs: LogsRecord | None = None
    digests: dict[str, str] = {}
    """Part of the workspace → SHA-256 over the names and contents of its files. Empty until all stages are complete."""

    def check(self) -> None:
        """Raise ValueError if counts or times contradict each other."""
        if self.finished > self.planned or sum(self.statuses.values()) > self.planned:
            raise ValueError(f"more sessions are evaluated than the {self.planned:,} that are planned")
        # Former versions of `--precision` did not store `files`, and drew sessions by their expected answers.
        if self.sampling and not self.sampling.files:
            raise ValueError(
                "a former version of --precision drew its sessions by their expected answers: evaluate again"
            )
        for record in self.stages.values():
            _check_times(record.started, record.ended)
        _check_times(self.start, self.end)

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the classes from which the sample was drawn; () for a simple sample."""
        return tuple(self.strata.get("", ()))

    @property
    def is_sample(self) -> bool:
        return self.planned < self.generated

    @property
    def figures(self) -> set[str]:
        """Return the units of the metrics that apply to this run (see `Metric.of`)."""
        # Metrics of tokens also apply to masked tokens.
        own = {self.unit, "tokens"} if self.unit == MASKED else {self.unit}
        return own | ({"either", "models"} if self.endpoint else {"either"})

    @property
    def complete(self) -> bool:
        """Return whether stage 2 is complete, so that all selected sessions were asked."""
        return "interpret" in self.stages

    @property
    def draws(self) -> dict[str, str]:
        """Return random choice → seed, for the choices whose seed affects the figures."""
        if self.drawn is not None:
            return self.drawn
        # Older workspaces store one random course of the modelled user for each session.
        return {USER: str(self.seed)} if decides_by_chance(self.user) else {}

    def conditions(self) -> dict[str, str]:
        """Return name → value of everything that must be equal in two runs with comparable figures."""
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
        """Return name → value of everything that must be equal in the nightly runs of one trend."""
        return self.conditions() | {
            "engine": self.engine.name,
            "project": self.project.name,
            "completion type": self.completion_type,
        }

    def answering(self) -> dict[str, str]:
        """Return name → value of everything that must be equal so that equal sessions have equal results."""
        return self.conditions() | {
            "engine": f"{self.engine.name} {self.engine.version}",
            "completion type": self.completion_type,
            "ranking model": self.model,
            # Sessions with a random course, as in older workspaces, lack lookups that today's figures need.
            "draws of the user": self.draws.get(USER, ""),
        }

    @property
    def clusters(self) -> str:
        """Return the plural name of the sampling units behind the intervals for other code, such as "files"."""
        if self.clustered:
            return f"groups by {self.clustered}"
        return "projects" if len(self.projects) > 1 else FILES

    def cluster(self, path: str) -> str:
        """Return the sampling unit (see `clusters`) that a file belongs to."""
        return find_cluster(path, self.clusters)


def unlike(was: Mapping[str, object], now: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    return ((name, value, now[name]) for name, value in was.items() if value != now[name])


def commits_between(was: str, now: str) -> str:
    """Return the git command that lists the commits between two revisions; "" if the revisions are equal or unknown."""
    old, new = (revision.partition("+")[0][:12] for revision in (was, now))
    return f"git log --oneline {old}..{new}" if old and new and old != new else ""


def _check_times(*times: str | None) -> None:
    for time in filter(None, times):
        # Python cannot subtract a time with a zone and a time without one.
        if datetime.fromisoformat(time).tzinfo is None:
            raise ValueError(f"{time} has no time zone")
