"""The assignments for workers, and the results that workers return."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from ci_eval.core.base.chance import draw
from ci_eval.core.config import InterpretConfig
from ci_eval.core.contracts import Engine, Installation, Ranker, RunSettings, Surroundings, Task
from ci_eval.core.grammar.document import NotText, checksum, read_text
from ci_eval.core.model.engine import UNKNOWN, CpuTimes, Determinism, Footprint
from ci_eval.core.model.records import Record
from ci_eval.core.model.sessions import Action, CallCompletion, FileError, PlayItem, Session, Status
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.model.tokens import pick
from ci_eval.core.user_model import UserModel


class Logging(msgspec.Struct, frozen=True, kw_only=True):
    parts: Path
    formats: tuple[str, ...]
    project: str
    completion_type: str
    began: int
    """The start of the run, in milliseconds since 1970."""
    context: int = 0
    """The number of characters of the file that are logged on each side of the token."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    engine: Engine
    installation: Installation
    surroundings: Surroundings
    ranker: Ranker
    task: Task
    settings: InterpretConfig
    user: UserModel | None = None
    judge: EndpointConfig | None = None
    run: RunSettings | None = None
    names: Path | None = None
    logging: Logging | None = None
    is_paid: bool = False
    files: Path | None = None
    """The folder with the source files (or records) of the actions; None if it is the root of the surroundings."""
    texts: Path | None = None
    """The folder with the texts around the carets of records, each under its digest."""

    @property
    def asks_ahead(self) -> bool:
        """Return whether a paid engine's questions are asked ahead. Tests and judges prevent it, since processes share
        their work, and so does a trace, which needs the messages of the process that asks."""
        return self.is_paid and not (self.run or self.judge or self.settings.trace)

    @property
    def root(self) -> Path:
        return self.files or self.surroundings.root


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """The work on one file. Sessions in `among` (None = all) with a random draw less than `below` are evaluated."""

    setup: Setup
    actions: Path
    path: str
    sessions: int
    below: float
    among: frozenset[str] | None = None
    journal: Path | None = None
    given_up: Mapping[str, tuple[Status, str]] = msgspec.field(default_factory=dict)
    side: int = 0
    """The number of the engine, if several engines are asked in turns."""
    round: int = 0
    """The number of the round, from 0. Each round starts the engine again."""
    twice: int = 0
    """The number of sessions that are asked a second time, to see whether the answers differ."""
    earlier: Path | None = None
    """The workspace whose sessions of this file are reused, except those in `among`."""

    def chooses(self, session: str) -> bool:
        return (self.among is None or session in self.among) and draw(self.setup.settings.seed, session) < self.below


GROWTH = 2
"""If answers differ in a file, the number of its sessions that are asked twice is multiplied by this."""


Turn = tuple[Assignment, ...]
"""The work on one file in one round: an assignment for each engine."""


class Played(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    statuses: Counter[Status]
    packed: bytes
    engine_time: float
    time: float
    confined: str = ""
    footprint: Footprint = UNKNOWN
    state: Determinism = msgspec.field(default_factory=Determinism)
    cpu: CpuTimes = msgspec.field(default_factory=CpuTimes)
    error: FileError | None = None


def make_session(assignment: Assignment, call: CallCompletion | PlayItem, status: Status, message: str) -> Session:
    askable = assignment.setup.task.askable
    return Session(
        id=call.session,
        file=assignment.path,
        **pick(call, "offset", "expected_text", "properties"),
        status=status,
        message=message,
        typed=len(call.prefix) if isinstance(call, CallCompletion) else 0,
        askable=askable(call) if askable and isinstance(call, PlayItem) else 0,
        record=find_record(call),
        at_caret=completes(assignment.setup, find_record(call)),
    )


def completes(setup: Setup, record: Record | None) -> bool:
    splitting = setup.task.splitting
    return bool(record and splitting and splitting.named and not setup.engine.takes_records)


def find_record(call: CallCompletion | PlayItem) -> Record | None:
    return call.record if isinstance(call, PlayItem) else None


def record_of_lookup(task: Task, record: Record | None, number: int) -> Record | None:
    return task.splitting.lookup(record, number) if task.splitting and record else record


def first_calls(actions: Iterable[Action]) -> Iterator[CallCompletion | PlayItem]:
    last = ""
    for action in actions:
        if isinstance(action, CallCompletion | PlayItem) and action.session != last:
            last = action.session
            yield action


def chosen(assignment: Assignment, actions: Iterable[Action]) -> Iterator[CallCompletion | PlayItem]:
    return (call for call in first_calls(actions) if assignment.chooses(call.session))


def sample_twice(assignment: Assignment, actions: Iterable[Action]) -> list[str]:
    """Return the sessions to ask twice, followed by as many more that are asked twice only if answers differ."""
    # The draw of `chooses` is not used, since in a sample all chosen sessions have low draws.
    if not assignment.twice:
        return []
    among = assignment.among
    calls = (call.session for call in first_calls(actions)) if among is None else sorted(among)
    sessions = [*filter(assignment.chooses, calls)]
    sessions.sort(key=lambda session: draw(assignment.setup.settings.seed, f"{session} twice"))
    return sessions[: GROWTH * assignment.twice]


def read_source_text(root: Path, path: str, wanted: str) -> str | None:
    try:
        text = read_text(root, path)
    except (NotText, OSError):
        return None  # the sessions of this file are skipped, with the reason
    return text if checksum(text) == wanted else None
