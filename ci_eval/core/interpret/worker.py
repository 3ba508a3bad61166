"""The work of a worker process, which plays one file after the other."""

from __future__ import annotations

import pickle
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from copy import copy
from itertools import chain, dropwhile, islice, repeat
from typing import Protocol, runtime_checkable

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import EngineFailure
from ci_eval.core.contracts import Query, Running
from ci_eval.core.grammar.document import Document, NotText, checksum, read_text
from ci_eval.core.interpret.assignments import (
    Assignment,
    Played,
    Setup,
    Turn,
    chosen,
    make_session,
    read_source_text,
    sample_twice,
)
from ci_eval.core.interpret.engines import KeptEngine
from ci_eval.core.interpret.pack import Journal, Pack, SessionEnd, add_second_result, encode_line, read_journal
from ci_eval.core.interpret.player import OpenSession, Player, Question
from ci_eval.core.logs import Log, LogOrigin
from ci_eval.core.model import FAILED, UNASKED, CpuTimes, FileError, Lookup, Session, SourceFile, Status
from ci_eval.core.model.tokens import pick
from ci_eval.core.text_spans import Lines
from ci_eval.core.workers import count
from ci_eval.core.workspace import Workspace, iterate_actions, make_file_name, read_head

_engines: dict[int, tuple[int, KeptEngine]] = {}
"""Number of an engine (`Assignment.side`) → the round for which the engine was started, and the engine."""
_counted_cpu = [0.0]
"""The CPU seconds of this process already counted for earlier files. The process's start counts for the first file."""
_scouts: dict[int, Scout] = {}


def _engine(assignment: Assignment) -> KeptEngine:
    started, engine = _engines.get(assignment.side, (-1, None))
    if engine is None or started != assignment.round or not is_same(engine.setup, assignment.setup):
        if engine:
            engine.close()
        engine = KeptEngine(assignment.setup)
        _engines[assignment.side] = assignment.round, engine
    return engine


def is_same(one: Setup, other: Setup) -> bool:
    # Each assignment has a copy of the setup. Copies of a `partial` in it are never equal, but their pickles are.
    return one == other or pickle.dumps(one) == pickle.dumps(other)


def play_in_turn(turns: Sequence[Turn], turn: Turn) -> tuple[Played, ...]:
    """Play the turn's assignments. `turns`: all turns of this process in order, if engines are asked ahead; else ()."""
    return tuple(map(play, turn, repeat(turns)))


def play(assignment: Assignment, turns: Sequence[Turn] = ()) -> Played:
    """Play an assignment. Sessions in its journal, which a worker that died has finished, are not asked again."""
    assert assignment.journal
    started = time.perf_counter()
    head = read_head(assignment.actions)
    try:
        text = read_text(assignment.setup.root, assignment.path)
    except (NotText, OSError) as error:
        return finish_file(assignment, Status.SKIPPED, f"the file can no longer be read: {error}")
    if checksum(text) != head.checksum:
        return finish_file(assignment, Status.SKIPPED, "the file has changed since its actions were made")
    pack = Pack(SourceFile(path=assignment.path, checksum=head.checksum, text=text))
    engine = _engine(assignment)
    log = _log(assignment, text)
    began = engine.count_cpu(), _counted_cpu[0]
    sample = sample_twice(assignment, iterate_actions(assignment.actions))
    player = Player(assignment, Document(text), engine, log, frozenset(sample))
    journal = Journal(assignment.journal)
    for line in read_journal(assignment.journal):
        player.take_over(msgspec.json.decode(line, type=SessionEnd))
    scout = _scouts.get(assignment.side)
    if scout is None or scout.engine is not engine:
        scout = _scouts[assignment.side] = Scout(turns, engine)
    for session in player.play(iterate_actions(assignment.actions)):
        scout.follow(session, assignment)
        journal.add(encode_line(session))
        # The parent gets the results when the whole file is done; until then, this call moves the progress bar.
        count()
    journal.close()
    asked = engine.count_cpu(), time.process_time()
    is_restored = player.document.text == text
    twice = _ask_twice(assignment, player, sample)
    checked = engine.count_cpu(), time.process_time()
    # Second answers are stored with their sessions, so nothing is packed before they are known.
    for line in _add_reused(assignment, read_journal(assignment.journal)):
        pack.take_over(line, twice)
    if log:
        log.close()
    trouble = pack.trouble
    if not is_restored:
        trouble = FileError(
            path=assignment.path, stage="interpret", message="the actions did not restore the text of the file"
        )
    packed = pack.close()
    ended = engine.count_cpu(), time.process_time()
    _counted_cpu[0] = ended[1]
    of_engine, own = (last - checked[at] + asked[at] - began[at] for at, last in enumerate(ended))
    return Played(
        path=assignment.path,
        statuses=pack.statuses,
        packed=packed,
        engine_time=player.engine_time,
        time=time.perf_counter() - started,
        confined=engine.confined,
        footprint=engine.footprint(alone=len(_engines) == 1),
        state=pack.state,
        cpu=CpuTimes(engine=of_engine, checks=sum(checked) - sum(asked), own=own),
        error=trouble,
    )


def _add_reused(assignment: Assignment, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield `lines`, which are encoded sessions, and the lines of reused sessions, in the order of the file."""
    if assignment.earlier is None:
        yield from lines
        return
    asked = {msgspec.json.decode(line, type=SessionEnd).id: line for line in lines}
    for session in Workspace(assignment.earlier).decode_sessions(assignment.path, Session):
        yield asked.get(session.id) or encode_line(replace(session, reused=True))


def _ask_twice(assignment: Assignment, player: Player, sample: Sequence[str]) -> dict[str, Session]:
    assert assignment.journal
    twice: dict[str, Session] = {}
    for part in (sample[: assignment.twice], sample[assignment.twice :]):
        if part and (not twice or any(session.differing for session in twice.values())):
            # First answers are read from the journal, since keeping them all would take too much memory.
            of_sample = (
                msgspec.json.decode(line, type=Session)
                for line in read_journal(assignment.journal)
                if msgspec.json.decode(line, type=SessionEnd).id in part
            )
            first = {session.id: session for session in of_sample if session.status not in FAILED | UNASKED}
            twice |= first
            for second in player.play_again(frozenset(first)):
                twice[second.id] = add_second_result(first[second.id], second)
    return twice


def _log(assignment: Assignment, text: str) -> Log | None:
    setup, logging = assignment.setup, assignment.setup.logging
    # Later rounds ask the same sessions again, so only the first round is logged.
    if logging is None or assignment.round:
        return None
    if assignment.journal:
        # The journal of a worker that died has no log entries, so all sessions are asked again.
        assignment.journal.unlink(missing_ok=True)
    origin = LogOrigin(
        **pick(logging, "project", "completion_type", "began", "context"),
        file=assignment.path,
        language=setup.surroundings.language,
        engine=setup.installation.info,
        seed=setup.settings.seed,
        text=text,
        lines=Lines(text),
    )
    return Log(logging.parts, make_file_name(assignment.path), origin, logging.formats)


def replay(assignment: Assignment) -> Session | None:
    """Play the session that the assignment chooses again; return None if the actions have no such session."""
    with closing(ask_sessions([assignment])) as sessions:
        return next(sessions, None)


def ask_sessions(assignments: Sequence[Assignment]) -> Generator[Session, None, None]:
    """Yield the sessions of assignments that share a setup. Raises NotText or OSError if a file cannot be read."""
    engine = KeptEngine(assignments[0].setup)
    try:
        for assignment in assignments:
            text = read_text(assignment.setup.root, assignment.path)
            yield from Player(assignment, Document(text), engine).play(iterate_actions(assignment.actions))
    finally:
        engine.close()


def finish_file(assignment: Assignment, status: Status, message: str) -> Played:
    head = read_head(assignment.actions)
    text = read_source_text(assignment.setup.root, assignment.path, head.checksum)
    pack = Pack(SourceFile(path=assignment.path, checksum=head.checksum, text=text or ""))
    known = list(read_journal(assignment.journal)) if assignment.journal else []
    # Sessions finish in the order of their actions, so the sessions after the journal's last session are unfinished.
    others = (
        encode_line(make_session(assignment, call, *assignment.given_up.get(call.session, (status, message))))
        for call in islice(chosen(assignment, iterate_actions(assignment.actions)), len(known), None)
    )
    for line in _add_reused(assignment, chain(known, others)):
        pack.take_over(line)
    return Played(
        path=assignment.path,
        statuses=pack.statuses,
        packed=pack.close(),
        state=pack.state,
        engine_time=0.0,
        time=0.0,
        error=pack.trouble,
    )


ALONE = 2
"""This many sessions end before any is asked ahead. The second session shows if the account has no money left."""


@runtime_checkable
class AsksAhead(Protocol):
    """A running engine whose answers depend only on the text and the query. Copies of the engine share answers."""

    ahead: int
    """The maximum number of questions that are asked ahead."""

    def expect(self, query: Query) -> None:
        """Send a question before its turn, without waiting for the answer."""


class _Scout(Player):
    """A player that asks only the first question of each session ahead, since later questions depend on answers."""

    running: Running

    def ask(self, question: Question, session: OpenSession) -> Lookup | None:
        # An error here occurs again when the player asks, and is reported then.
        with suppress(Exception):
            record = self._record_of_next(session)
            if not (session.failure or self._carets.caret(record)) and isinstance(self.running, AsksAhead):
                self.running.expect(self._make_query(self.running, question, record))
        session.failure = session.failure or (Status.SKIPPED, "")
        return None


class Scout:
    """Asks one engine's questions ahead, in the order in which the worker gets the files."""

    def __init__(self, turns: Sequence[Turn], engine: KeptEngine) -> None:
        self._turns = turns
        self.engine = engine
        self._ahead: Iterator[Session] | None = None
        self._played, self._scouted = 0, 0

    def follow(self, session: Session, assignment: Assignment) -> None:
        self._played += 1
        # If the engine does not start, nothing is asked ahead.
        with suppress(EngineFailure):
            if self._turns and self._played >= ALONE:
                running = self.engine.running()
                if self._ahead is None:
                    self._scouted = self._played
                    self._ahead = self._sessions(assignment, session.id, copy(running))
                ahead = running.ahead if isinstance(running, AsksAhead) else 0
                while self._scouted < self._played + ahead and next(self._ahead, None):
                    self._scouted += 1

    def _sessions(self, began: Assignment, last: str, running: Running) -> Iterator[Session]:
        later = dropwhile(lambda turn: (turn[0].path, turn[0].round) != (began.path, began.round), self._turns)
        for assignment in chain.from_iterable(later):
            checksum_then = read_head(assignment.actions).checksum
            text = read_source_text(assignment.setup.root, assignment.path, checksum_then)
            # A file that cannot be read is skipped here; the player reports the reason.
            if (assignment.side, assignment.round) == (began.side, began.round) and text is not None:
                scout = _Scout(assignment, Document(text), self.engine)
                scout.running = running
                ids = [call.session for call in chosen(assignment, iterate_actions(assignment.actions))]
                scout.known.update(ids[: ids.index(last) + 1] if assignment.path == began.path else ())
                yield from scout.play(iterate_actions(assignment.actions))
