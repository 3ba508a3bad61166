"""What a worker is given, and what it gives back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ci_eval.chance import draw
from ci_eval.contracts import Engine, Installation, Ranker, RunSettings, Surroundings, Task
from ci_eval.learning.usermodel import UserModel
from ci_eval.model import (
    CallCompletion,
    Determinism,
    FileActions,
    FileError,
    Footprint,
    PlayItem,
    Record,
    Session,
    Status,
)
from ci_eval.model.endpoints import EndpointConfig
from ci_eval.model.footprint import UNKNOWN
from ci_eval.tasks.completion import TASK as COMPLETION


@dataclass(frozen=True, kw_only=True)
class Logging:
    """What is logged of every file, and where the parts go."""

    parts: Path
    formats: tuple[str, ...]
    project: str
    completion_type: str
    began: int
    """Milliseconds since 1970 at which the run began."""
    context: int = 0
    """Characters of the file on each side of the token."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a worker needs beside the file."""

    engine: Engine
    installation: Installation
    surroundings: Surroundings
    ranker: Ranker
    task: Task = COMPLETION
    client: str
    """Name of a client."""
    max_suggestions: int
    seed: int
    user: UserModel | None = None
    judge: EndpointConfig | None = None
    run: RunSettings | None = None
    names: Path | None = None
    """The names of the project, where the ranker or the logs need them."""
    logging: Logging | None = None
    trace: bool = False
    """Whether the messages to and from the engine are kept."""
    files: Path | None = None
    """The folder with the files of the actions, where that is not the root of the project: records have one."""
    texts: Path | None = None
    """The folder with the texts that the carets of records are in, each under its digest."""

    @property
    def root(self) -> Path:
        """The folder that the paths of actions are below."""
        return self.files or self.surroundings.root


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """One file, or a piece of it; `below`: sessions whose draw is below it are evaluated; `only`: that one session
    is."""

    setup: Setup
    actions: Path
    path: str
    sessions: int
    below: float
    only: str = ""
    among: frozenset[str] | None = None
    """The sessions of a shard that evaluates only a piece of the file; None: all of them."""
    journal: Path | None = None
    """Where its sessions stand as they finish."""
    given_up: Mapping[str, tuple[Status, str]] = field(default_factory=dict)
    """Sessions that are not asked: status and why."""
    side: int = 0
    """The number of its engine, among those that are asked in turns."""
    round: int = 0
    """In a later one the engine is a fresh process."""
    twice: float = 0.0
    """Share of the sessions that are asked a second time, to see whether the answers differ."""

    def chooses(self, session: str) -> bool:
        """Whether the session is evaluated."""
        if self.only:
            return session == self.only
        return (self.among is None or session in self.among) and draw(self.setup.seed, session) < self.below

    def asks_twice(self, session: str) -> bool:
        """Return whether the session is in the sample that is asked a second time."""
        return draw(self.setup.seed, f"{session} twice") < self.twice


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One file in one round: what each engine is asked, one engine after the other in this order."""

    assignments: tuple[Assignment, ...]

    @property
    def path(self) -> str:
        """Of the file."""
        return self.assignments[0].path

    @property
    def round(self) -> int:
        """Its number."""
        return self.assignments[0].round

    def with_assignment(self, assignment: Assignment) -> Turn:
        """The same with another assignment for one of the engines."""
        return Turn(
            assignments=tuple(assignment if each.side == assignment.side else each for each in self.assignments)
        )


@dataclass(frozen=True, kw_only=True)
class Played:
    """What became of it."""

    path: str
    statuses: Counter[Status]
    packed: bytes
    engine_time: float
    """Seconds spent waiting for the engine."""
    time: float
    """Seconds in all."""
    confined: str = ""
    """As in Running."""
    footprint: Footprint = UNKNOWN
    """Of the engine, since the last file."""
    state: Determinism = field(default_factory=Determinism)
    """Of the sessions that were asked twice."""
    error: FileError | None = None


def session_of(assignment: Assignment, call: CallCompletion | PlayItem, status: Status, message: str) -> Session:
    """A session without its lookups."""
    askable = assignment.setup.task.askable
    return Session(
        id=call.session,
        file=assignment.path,
        offset=call.offset,
        expected_text=call.expected_text,
        properties=call.properties,
        status=status,
        message=message,
        typed=len(call.prefix) if isinstance(call, CallCompletion) else 0,
        askable=askable(call) if askable and isinstance(call, PlayItem) else 0,
        record=record_of(call),
        at_caret=completes(assignment.setup, record_of(call)),
    )


def completes(setup: Setup, record: Record | None) -> bool:
    """Whether the engine is asked at a caret in place of the record."""
    splitting = setup.task.splitting
    return bool(record and splitting and splitting.named and not setup.engine.takes_records)


def record_of(call: CallCompletion | PlayItem) -> Record | None:
    """What is asked, where the item comes from a dataset."""
    return call.record if isinstance(call, PlayItem) else None


def record_of_lookup(task: Task, record: Record | None, number: int) -> Record | None:
    """What the lookup of that number (from 0) asks of the session's record."""
    return task.splitting.lookup(record, number) if task.splitting and record else record


def first_calls(actions: FileActions) -> Iterator[CallCompletion | PlayItem]:
    """The first call of each session in the actions."""
    last = ""
    for action in actions.actions:
        if isinstance(action, CallCompletion | PlayItem) and action.session != last:
            last = action.session
            yield action


def chosen(assignment: Assignment, actions: FileActions) -> Iterator[CallCompletion | PlayItem]:
    """The first call of each session that is evaluated."""
    return (call for call in first_calls(actions) if assignment.chooses(call.session))
