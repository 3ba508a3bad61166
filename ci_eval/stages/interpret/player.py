"""Plays the actions of one file, and asks the engine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from ci_eval.contracts import Answer, Query, Running
from ci_eval.errors import EngineCrash, EngineFailure, EngineRaised, EngineTimeout
from ci_eval.model import (
    CallCompletion,
    DeleteRange,
    FileActions,
    FinishSession,
    Lookup,
    MoveCaret,
    OpenFile,
    PrintText,
    Session,
    Status,
)
from ci_eval.stages.interpret.client import shown_by, with_positions
from ci_eval.stages.interpret.tasks import Task, session_of
from ci_eval.support.document import Document

PATIENCE = 5
"""Sessions in a row that may fail in one file before the rest of the file is given up."""


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
        return self._engine.complete(Query(offset=self.document.caret, prefix=call.prefix, expected=call.expected_text))

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
        session = session_of(self._task.path, ended.offset, ended.call, status, message)
        return replace(session, lookups=tuple(ended.lookups))


def _status(last: Lookup) -> Status:
    if last.rank is not None:
        return Status.OK
    return Status.NO_MATCH if last.total else Status.EMPTY


def _status_of(error: EngineFailure) -> Status:
    if isinstance(error, EngineTimeout):
        return Status.TIMEOUT
    return Status.ENGINE_CRASH if isinstance(error, EngineCrash) else Status.ERROR
