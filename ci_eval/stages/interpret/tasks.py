"""What a worker is given, and what it gives back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ci_eval.contracts import Engine, Installation, Ranker, Surroundings
from ci_eval.model import (
    CallCompletion,
    FileActions,
    FileError,
    MoveCaret,
    Session,
    Status,
)
from ci_eval.support.chance import draw


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


def session_of(path: str, offset: int, call: CallCompletion, status: Status, message: str) -> Session:
    return Session(
        id=call.session,
        file=path,
        offset=offset,
        expected_text=call.expected_text,
        properties=call.properties,
        status=status,
        message=message,
    )


def first_calls(actions: FileActions) -> Iterator[tuple[int, CallCompletion]]:
    """Of each session in the actions: where its token begins, and its first call."""
    offset, last = 0, ""
    for action in actions.actions:
        if isinstance(action, MoveCaret):
            offset = action.offset
        elif isinstance(action, CallCompletion) and action.session != last:
            last = action.session
            yield offset, action
