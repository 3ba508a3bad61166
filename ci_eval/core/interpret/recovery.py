"""The recovery of a file whose worker died, or raised what nobody expected."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import islice, takewhile

from ci_eval.core.interpret.assignments import Assignment, Played, Turn, chosen
from ci_eval.core.interpret.journal import read_journal
from ci_eval.core.interpret.player import PATIENCE
from ci_eval.core.model import Status
from ci_eval.core.workers import TaskOutcome
from ci_eval.core.workspace import read_actions

TRIES = 2
"""The number of workers that may die of one session."""


class Recovery:
    """A memory of the sessions that workers died of."""

    def __init__(self) -> None:
        self._deaths: Counter[tuple[str, str]] = Counter()

    def again(self, outcome: TaskOutcome[Turn, tuple[Played, ...]]) -> Turn | None:
        """Return what is left to do; None if so many sessions in a row were of that kind that the file is given up, or
        if none was left."""
        turn = outcome.task
        assignment, sessions, on = _find_interruption(turn)
        # The session that the worker was on is the first one that neither is finished nor was given up.
        self._deaths[assignment.path, f"{assignment.side} {on}"] += 1
        if outcome.died and self._deaths[assignment.path, f"{assignment.side} {on}"] < TRIES:
            return turn
        if not on:
            return None
        why = (Status.ENGINE_CRASH, f"{outcome.trouble}, twice") if outcome.died else (Status.ERROR, outcome.trouble)
        assignment = replace(assignment, given_up={**assignment.given_up, on: why})
        # PATIENCE is of sessions in a row, so they are counted back from this one.
        until = sessions[sessions.index(on) :: -1]
        in_a_row = sum(1 for _ in takewhile(assignment.given_up.__contains__, until))
        return turn.replace_assignment(assignment) if in_a_row < PATIENCE else None


def _find_interruption(turn: Turn) -> tuple[Assignment, list[str], str]:
    """Return the assignment that the worker was at, its sessions, and the one that it was on; "" if it was done with
    all."""
    assignment, sessions, on = turn.assignments[0], list[str](), ""
    for assignment in turn.assignments:
        assert assignment.journal
        sessions = [call.session for call in chosen(assignment, read_actions(assignment.actions))]
        done = sum(1 for _ in read_journal(assignment.journal))
        on = next((session for session in islice(sessions, done, None) if session not in assignment.given_up), "")
        if on or done < len(sessions):
            break
    return assignment, sessions, on
