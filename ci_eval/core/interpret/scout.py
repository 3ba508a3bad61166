"""A scout: it plays sessions ahead of the player, so that an engine of another machine is asked several questions at
once.

All else stays as it is: the player asks, reads and grades one session after the other, and takes the answers that are
there by then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from itertools import chain, dropwhile
from typing import Protocol, runtime_checkable

from ci_eval.core.base.errors import EngineFailure
from ci_eval.core.contracts import Query, Running
from ci_eval.core.grammar.document import Document
from ci_eval.core.interpret.assignments import Assignment, Turn, chosen, read_source_text
from ci_eval.core.interpret.engines import KeptEngine
from ci_eval.core.interpret.player import Open, Player, Question
from ci_eval.core.model import Lookup, Session, Status
from ci_eval.core.workspace import read_actions

ALONE = 2
"""The number of sessions that are asked one after the other: an account without money is noticed by the second one."""


@runtime_checkable
class AsksAhead(Protocol):
    """A running engine whose answers depend on the text and the query alone. Copies of it share the answers."""

    ahead: int
    """The number of questions that it may be asked ahead."""

    def expect(self, query: Query) -> None:
        """Ask ahead, without waiting for the answer."""


class _Scout(Player):
    """A player that takes no answers: it asks ahead the first question of each session, which no answer changes."""

    running: Running

    def ask(self, question: Question, session: Open) -> Lookup | None:
        # Whatever goes wrong here goes wrong once more when the player asks, and is reported then.
        with suppress(Exception):
            record = self._record_of_next(session)
            if not (session.failure or self._carets.caret(record)) and isinstance(self.running, AsksAhead):
                self.running.expect(self._make_query(self.running, question, record))
        session.failure = session.failure or (Status.SKIPPED, "")
        return None


class Scout:
    """A scout for one engine, which goes through the files in the order in which a worker gets them."""

    def __init__(self, turns: Sequence[Turn], engine: KeptEngine) -> None:
        self._turns = turns
        self.engine = engine
        self._ahead: Iterator[Session] | None = None
        self._played, self._scouted = 0, 0

    def lead(self, sessions: Iterable[Session], assignment: Assignment) -> Iterator[Session]:
        """Yield the sessions of the player, and ask ahead after each of them."""
        for session in sessions:
            self._played += 1
            # An engine that does not start has no answers to ask for.
            with suppress(EngineFailure):
                if self._turns and self._played >= ALONE:
                    self._ask_ahead(assignment, session.id, self.engine.running())
            yield session

    def _ask_ahead(self, assignment: Assignment, last: str, running: Running) -> None:
        if self._ahead is None:
            self._scouted = self._played
            self._ahead = self._sessions(assignment, last, copy(running))
        ahead = running.ahead if isinstance(running, AsksAhead) else 0
        while self._scouted < self._played + ahead and next(self._ahead, None):
            self._scouted += 1

    def _sessions(self, began: Assignment, last: str, running: Running) -> Iterator[Session]:
        """Yield the sessions after the one with the id `last`, of this file and all later ones of the round."""
        later = dropwhile(lambda turn: (turn.path, turn.round) != (began.path, began.round), self._turns)
        for assignment in chain.from_iterable(turn.assignments for turn in later):
            actions = read_actions(assignment.actions)
            text = read_source_text(assignment.setup.root, assignment.path, actions.checksum)
            # The player says what is wrong with a file that cannot be read.
            if (assignment.side, assignment.round) == (began.side, began.round) and text is not None:
                scout = _Scout(assignment, Document(text), self.engine)
                scout.running = running
                ids = [call.session for call in chosen(assignment, actions)]
                scout.known.update(ids[: ids.index(last) + 1] if assignment.path == began.path else ())
                yield from scout.play(actions)
