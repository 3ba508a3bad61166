"""What a workspace says of the run that made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta
from msgspec.structs import force_setattr

from ci_eval.model import FORMAT, FORMER_LANGUAGES, EngineInfo, LogsRecord, Number, ProjectInfo, Value
from ci_eval.statistics.population import clusters_of


class StageRecord(Value, frozen=True, kw_only=True):
    """How far a stage came."""

    started: str
    ended: str | None = None
    files: Number = 0

    @property
    def seconds(self) -> float | None:
        """How long it took; None where it has not ended."""
        if self.ended is None:
            return None
        return (datetime.fromisoformat(self.ended) - datetime.fromisoformat(self.started)).total_seconds()


class Manifest(Value, frozen=True, kw_only=True):
    """What ran: enough to repeat it, and to tell whether two runs may be compared."""

    format: int = FORMAT
    ci_eval: str
    title: str
    language: str
    completion_type: str
    model: str = ""
    """SHA-256 of the file that ML ranked by."""
    client: str
    strategy: str
    filters: str = ""
    """Which tokens were asked for, where not all were."""
    files: str = ""
    """Which of the project's files were taken, where not all were."""
    user: str = ""
    """The modelled user's tables, where there is one."""
    task: str = ""
    """Its name; empty only in what was stored before there were several: see `unit`."""
    unit: str = "tokens"
    """What one session types."""
    seed: Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
    engine: EngineInfo
    project: ProjectInfo
    projects: tuple[ProjectInfo, ...] = ()
    """Where several were merged: each; the first part of a file's path is then its project."""
    rounds: Annotated[int, Meta(ge=1, le=1_000)] = 1
    """How often each session was asked."""
    turns: str = ""
    """Names the run in which several engines were asked in turns: the same in the workspaces of all of them."""
    dependencies: dict[str, str] = {}
    """Name → version of what was installed for the engine to see."""
    unresolved_imports: Annotated[float, Meta(ge=0, le=1)] | None = None
    """Share of the imports, in files that were asked about, of what is neither in the project, nor in the language's
    library, nor among the dependencies; None where the language cannot tell, or nothing is imported."""
    confined: str = ""
    """How well the engine's processes were confined, by what they could do from inside; "" without a process."""
    grammar: str
    python: str
    os: str
    cpu: str
    jobs: Number
    shard: str | None = None
    start: str
    end: str | None = None
    planned: Number = 0
    """Sessions chosen for evaluation."""
    finished: Number = 0
    """Sessions with a status other than skipped."""
    statuses: dict[str, Number] = {}
    generated: Number = 0
    """Sessions in the actions, before probability and limit chose some."""
    unparsable: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """Share of the source text the grammar could not read."""
    stages: dict[str, StageRecord] = {}
    logs: LogsRecord | None = None
    digests: dict[str, str] = {}
    """Part of the workspace → SHA-256 over its files' names and contents, once the stages are through."""

    def __post_init__(self) -> None:
        """Task and language have the names of today, also in workspaces of before."""
        if not self.task:
            force_setattr(self, "task", "golf" if self.unit == "lines" else "completion")
        force_setattr(self, "language", FORMER_LANGUAGES.get(self.language, self.language))

    def check(self) -> None:
        """Raises ValueError where its figures or times cannot be."""
        if self.finished > self.planned or sum(self.statuses.values()) > self.planned:
            raise ValueError(f"more sessions are evaluated than the {self.planned:,} that are planned")
        for record in self.stages.values():
            _check_times(record.started, record.ended)
        _check_times(self.start, self.end)

    def conditions(self) -> dict[str, str]:
        """What must be equal for figures of two runs to stand side by side, each by its name."""
        return {
            "language": self.language,
            "client": self.client,
            "strategy": self.strategy,
            "token filter": self.filters,
            "file filter": self.files,
            "user model": self.user,
            "unit": self.unit,
        }

    def series(self) -> dict[str, str]:
        """What must be equal for one run to be an earlier night of the other."""
        return self.conditions() | {
            "engine": self.engine.name,
            "project": self.project.name,
            "completion type": self.completion_type,
        }

    def answering(self) -> dict[str, str]:
        """What must be equal for the same questions to be answered by the same."""
        return self.conditions() | {
            "engine": f"{self.engine.name} {self.engine.version}",
            "completion type": self.completion_type,
            "ranking model": self.model,
        }

    def cluster(self, path: str) -> str:
        """What is sampled together: a file's project where there are many, else the file itself."""
        return path.partition("/")[0] if clusters_of(len(self.projects)) == "projects" else path


def unlike(was: Mapping[str, object], now: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """Of each condition that is not the same now: its name, and both values."""
    return ((what, value, now[what]) for what, value in was.items() if value != now[what])


def _check_times(*times: str | None) -> None:
    for each in filter(None, times):
        if datetime.fromisoformat(each).tzinfo is None:
            raise ValueError(f"{each} has no time zone")
