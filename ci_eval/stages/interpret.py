"""Stage 2: actions + engine → sessions: what the engine answered, and how each session ended."""

from __future__ import annotations

import gzip
import io
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from ci_eval.contracts import Answer, Engine, Installation, Query, Ranker, Running, Surroundings
from ci_eval.errors import CiEvalError, EngineCrash, EngineFailure, EngineRaised, EngineTimeout
from ci_eval.model import (
    FAILED,
    CallCompletion,
    DeleteRange,
    FileActions,
    FileError,
    FinishSession,
    Lookup,
    MoveCaret,
    OpenFile,
    PrintText,
    Session,
    SourceFile,
    Status,
    Suggestion,
)
from ci_eval.support.chance import draw, threshold
from ci_eval.support.document import Document, NotText, checksum, decode
from ci_eval.support.workers import Outcome, Workers, count
from ci_eval.workspace import COMPRESSION, Workspace, read_actions

PATIENCE = 5
"""Sessions in a row that may fail in one file before the rest of the file is given up."""
HOPELESS = 50
"""Failed sessions after which a run in which most sessions fail is given up."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a worker needs beside the file."""

    engine: Engine
    installation: Installation
    surroundings: Surroundings
    ranker: Ranker
    client: Literal["editor", "raw"]
    max_suggestions: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Task:
    """One file; `below`: sessions whose draw is below it are evaluated; `only`: that one session is."""

    setup: Setup
    actions: Path
    path: str
    sessions: int
    below: float
    only: str = ""

    def chooses(self, session: str) -> bool:
        """Whether the session is evaluated."""
        return session == self.only if self.only else draw(self.setup.seed, session) < self.below


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
    error: FileError | None = None


@dataclass
class Progress:
    """The sum so far."""

    planned: int = 0
    files: int = 0
    statuses: Counter[Status] = field(default_factory=Counter)
    engine_time: float = 0.0
    time: float = 0.0
    given_up: str = ""
    """Why the run ended early, if it did."""

    @property
    def finished(self) -> int:
        """Sessions that were evaluated."""
        return self.statuses.total() - self.statuses[Status.SKIPPED]

    @property
    def failed(self) -> int:
        """Sessions the engine failed on."""
        return sum(self.statuses[status] for status in FAILED)


def interpret(
    workspace: Workspace,
    setup: Setup,
    *,
    probability: float,
    limit: int | None,
    jobs: int,
    advance: Callable[[int, Progress], None],
) -> Progress:
    """Write the sessions of every file that has none yet; calls `advance(sessions_done, so_far)` as they come.

    Results do not depend on the number of `jobs`, nor on which files were done by an earlier, interrupted call.
    """
    tasks = list(plan(workspace, setup, probability=probability, limit=limit))
    so_far = Progress(planned=sum(task.sessions for task in tasks))
    waiting = []
    for task in tasks:
        if workspace.has_sessions(task.path):
            so_far.statuses += _statuses_of(workspace, task.path)
            so_far.files += 1
        else:
            waiting.append(task)
    # The longest first, so that no worker is left alone with one at the end.
    waiting.sort(key=lambda task: -task.sessions)
    with Workers(play, jobs=max(min(jobs, len(waiting)), 1), timeout=None) as workers:
        before = so_far.statuses.total()
        for outcome in workers.map(waiting):
            if outcome is not None:
                _keep(outcome, workspace, so_far)
            advance(max(before + workers.counted, so_far.statuses.total()), so_far)
            if so_far.failed >= HOPELESS and so_far.failed * 2 > so_far.statuses.total():
                so_far.given_up = f"the engine failed on {so_far.failed} of the first {so_far.statuses.total()} sessions"
                workers.stop()
                break
    if so_far.given_up:
        _give_up([task for task in waiting if not workspace.has_sessions(task.path)], workspace, so_far)
    return so_far


def plan(workspace: Workspace, setup: Setup, *, probability: float, limit: int | None) -> Iterator[Task]:
    """The files with at least one chosen session."""
    files = workspace.action_files()
    everything = (call.session for path in files for call in _calls(read_actions(path)))
    below = threshold(everything, seed=setup.seed, probability=probability, limit=limit)
    for path in files:
        actions = read_actions(path)
        sessions = sum(1 for call in _calls(actions) if draw(setup.seed, call.session) < below)
        if sessions:
            yield Task(setup=setup, actions=path, path=actions.path, sessions=sessions, below=below)


def _calls(actions: FileActions) -> Iterator[CallCompletion]:
    """The first call of each session."""
    last = ""
    for action in actions.actions:
        if isinstance(action, CallCompletion) and action.session != last:
            last = action.session
            yield action


class _Ended(msgspec.Struct):
    status: Status


def _statuses_of(workspace: Workspace, path: str) -> Counter[Status]:
    return Counter(session.status for session in workspace.sessions_in(path, _Ended))


def _keep(outcome: Outcome[Task, Played], workspace: Workspace, so_far: Progress) -> None:
    played = outcome.result or unanswered(outcome.task, Status.ERROR, outcome.trouble)
    workspace.write_sessions(played.path, played.packed)
    if played.error:
        workspace.write_error(played.error)
    so_far.files += 1
    so_far.statuses += played.statuses
    so_far.engine_time += played.engine_time
    so_far.time += played.time


def _give_up(tasks: Sequence[Task], workspace: Workspace, so_far: Progress) -> None:
    for task in tasks:
        played = unanswered(task, Status.SKIPPED, so_far.given_up)
        workspace.write_sessions(task.path, played.packed)
        so_far.statuses += played.statuses


# ----------------------------------------------------------------------------------------------------- in a worker


class _Engines:
    """The engine of this worker process: started for its first file, kept for the next ones."""

    running: Running | None = None
    setup: Setup | None = None

    @classmethod
    def of(cls, setup: Setup) -> Running:
        if cls.running is None or cls.setup != setup:
            if cls.running:
                cls.running.close()
            cls.running = setup.engine.start(setup.installation, setup.surroundings)
            cls.setup = setup
        return cls.running


def play(task: Task) -> Played:
    """Evaluate the chosen sessions of one file."""
    started = time.perf_counter()
    actions = read_actions(task.actions)
    try:
        text = decode((task.setup.surroundings.root / task.path).read_bytes())
    except (NotText, OSError) as error:
        return unanswered(task, Status.SKIPPED, f"the file can no longer be read: {error}")
    if checksum(text) != actions.checksum:
        return unanswered(task, Status.SKIPPED, "the file has changed since its actions were made")
    pack = Pack(SourceFile(path=task.path, checksum=actions.checksum, text=text))
    try:
        engine = _Engines.of(task.setup)
    except CiEvalError as error:
        return unanswered(task, Status.ENGINE_CRASH, f"the engine could not be started: {error}")
    player = Player(task, Document(text), engine)
    for session in player.play(actions):
        pack.add(session)
        count()
    error = None
    if player.document.text != text:
        error = FileError(path=task.path, stage="interpret", message="the actions did not give the text back")
    return Played(
        path=task.path,
        statuses=pack.statuses,
        packed=pack.close(),
        engine_time=player.engine_time,
        time=time.perf_counter() - started,
        error=error,
    )


def replay(task: Task) -> Session | None:
    """The task's one session, asked now; None if the actions do not hold it."""
    setup = task.setup
    actions = read_actions(task.actions)
    text = decode((setup.surroundings.root / task.path).read_bytes())
    engine = setup.engine.start(setup.installation, setup.surroundings)
    try:
        return next(Player(task, Document(text), engine).play(actions), None)
    finally:
        engine.close()


def unanswered(task: Task, status: Status, message: str) -> Played:
    """Every chosen session of a file with one status, for one reason."""
    actions = read_actions(task.actions)
    pack = Pack(SourceFile(path=task.path, checksum=actions.checksum, text=""))
    caret = 0
    for action in actions.actions:
        if isinstance(action, MoveCaret):
            caret = action.offset
        elif isinstance(action, CallCompletion) and task.chooses(action.session):
            pack.add_once(_session(task.path, caret, action, status, message))
    return Played(
        path=task.path,
        statuses=pack.statuses,
        packed=pack.close(),
        engine_time=0.0,
        time=0.0,
        error=FileError(path=task.path, stage="interpret", message=message, sessions=pack.statuses.total()),
    )


def _session(path: str, offset: int, call: CallCompletion, status: Status, message: str) -> Session:
    return Session(
        id=call.session,
        file=path,
        offset=offset,
        expected_text=call.expected_text,
        properties=call.properties,
        status=status,
        message=message,
    )


class Pack:
    """The sessions of a file on their way to disk: packed one by one, since all together may be too many."""

    def __init__(self, source: SourceFile) -> None:
        self.statuses: Counter[Status] = Counter()
        self._bytes = io.BytesIO()
        self._file = gzip.GzipFile(fileobj=self._bytes, mode="wb", compresslevel=COMPRESSION, mtime=0)
        self._write(source)
        self._last = ""

    def add(self, session: Session) -> None:
        """Append it."""
        self._write(session)
        self.statuses[session.status] += 1
        self._last = session.id

    def add_once(self, session: Session) -> None:
        """Append it unless it was the last one."""
        if session.id != self._last:
            self.add(session)

    def close(self) -> bytes:
        """The whole."""
        self._file.close()
        return self._bytes.getvalue()

    def _write(self, value: SourceFile | Session) -> None:
        self._file.write(msgspec.json.encode(value) + b"\n")


@dataclass
class Open:
    """A session that is not finished."""

    call: CallCompletion
    offset: int
    lookups: list[Lookup] = field(default_factory=list)
    failure: tuple[Status, str] | None = None


class Player:
    """Applies the actions of one file to a document, and asks the engine about it."""

    def __init__(self, task: Task, document: Document, engine: Running) -> None:
        self.document = document
        self.engine_time = 0.0
        self._task = task
        self._setup = task.setup
        self._engine = engine
        self._opened = False
        self._open: Open | None = None
        self._failures = 0
        self._last_failure: tuple[Status, str] = (Status.ERROR, "")

    def play(self, actions: FileActions) -> Iterator[Session]:
        """The chosen sessions, as they finish."""
        for action in actions.actions:
            match action:
                case OpenFile():
                    self._opened = False
                case MoveCaret():
                    self.document.move(action.offset)
                case DeleteRange():
                    self.document.delete(action.begin, action.end)
                case PrintText():
                    self.document.insert(action.text)
                case CallCompletion():
                    self._call(action)
                case FinishSession():
                    if self._open:
                        yield self._finish(self._open)
                    self._open = None

    def _call(self, call: CallCompletion) -> None:
        if self._open is None:
            if not self._task.chooses(call.session):
                return
            self._open = Open(call, self.document.caret - len(call.prefix))
        if self._failures >= PATIENCE:
            status, why = self._last_failure
            self._open.failure = (status, f"not asked: {PATIENCE} sessions in a row had failed; the last one: {why}")
        elif self._open.failure is None:
            self._ask(call, self._open)

    def _ask(self, call: CallCompletion, session: Open) -> None:
        started = time.perf_counter()
        try:
            answer = self._answer(call)
        except EngineFailure as error:
            session.failure = self._last_failure = (_status_of(error), str(error))
            if isinstance(error, EngineTimeout):
                session.lookups.append(self._timed_out(call))
            if not isinstance(error, EngineRaised):
                self._restart()
        else:
            session.lookups.append(self._lookup(call, answer))
        finally:
            self.engine_time += time.perf_counter() - started

    def _answer(self, call: CallCompletion) -> Answer:
        edits = self.document.take_edits()
        if self._opened:
            self._engine.edit(edits)
        else:
            self._engine.open(self._task.path, self.document.text)
            self._opened = True
        return self._engine.complete(
            Query(offset=self.document.caret, prefix=call.prefix, expected=call.expected_text)
        )

    def _restart(self) -> None:
        self._opened = False
        try:
            self._engine.restart()
        except EngineFailure as error:
            # The next question fails on the process that is not there, and is counted.
            self._last_failure = (Status.ENGINE_CRASH, str(error))

    def _timed_out(self, call: CallCompletion) -> Lookup:
        """The wait counts among the latencies, censored at the limit."""
        limit = self._setup.surroundings.timeout * 1000
        return Lookup(prefix=call.prefix, suggestions=(), total=0, rank=None, latency=limit)

    def _lookup(self, call: CallCompletion, answer: Answer) -> Lookup:
        shown = shown_by(self._setup.client, answer.suggestions, call.prefix)
        started = time.perf_counter()
        ordered = self._setup.ranker.order(shown)
        ranking = (time.perf_counter() - started) * 1000
        rank = next((i for i, found in enumerate(ordered, 1) if found.text == call.expected_text), None)
        stored = ordered[: self._setup.max_suggestions]
        return Lookup(
            prefix=call.prefix,
            suggestions=tuple(stored) if ordered is shown else with_positions(stored, shown),
            total=len(shown),
            rank=rank,
            latency=round(answer.latency + ranking, 3),
            # A person takes what costs fewer keys than typing on: rank - 1 steps down and Enter.
            selected=rank is not None and len(call.prefix) + rank < len(call.expected_text),
        )

    def _finish(self, ended: Open) -> Session:
        if ended.failure:
            self._failures += 1
            status, message = ended.failure
        else:
            self._failures = 0
            status, message = _status(ended.lookups[-1]), ""
        session = _session(self._task.path, ended.offset, ended.call, status, message)
        return replace(session, lookups=tuple(ended.lookups))


def _status(last: Lookup) -> Status:
    if last.rank is not None:
        return Status.OK
    return Status.NO_MATCH if last.total else Status.EMPTY


def _status_of(error: EngineFailure) -> Status:
    if isinstance(error, EngineTimeout):
        return Status.TIMEOUT
    return Status.ENGINE_CRASH if isinstance(error, EngineCrash) else Status.ERROR


# ------------------------------------------------------------------------------------------------------ the client


def shown_by(client: Literal["editor", "raw"], answered: Sequence[Suggestion], prefix: str) -> list[Suggestion]:
    """What a person sees of the answer; of equal texts the first.

    `editor` sorts by sortText and leaves out what does not contain the typed characters in their order, whatever their
    case; `raw` shows everything as it came.
    """
    shown = list({found.text: found for found in reversed(answered)}.values())[::-1]
    if client == "raw":
        return shown
    if any(found.sort_text is not None for found in shown):
        shown.sort(key=_sort_text)
    if prefix:
        shown = [found for found in shown if _is_typed(prefix.casefold(), (found.filter_text or found.text).casefold())]
    return shown


def _sort_text(found: Suggestion) -> str:
    return found.text if found.sort_text is None else found.sort_text


def _is_typed(prefix: str, text: str) -> bool:
    rest = iter(text)
    return all(character in rest for character in prefix)


def with_positions(ordered: Sequence[Suggestion], shown: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Remember where the engine had put what the completion type moved."""
    place = {found.text: i for i, found in enumerate(shown, 1)}
    return tuple([replace(found, position=place[found.text]) for found in ordered])
