"""The store of answers that endpoints gave: how a command uses it, and how it gets to another machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ci_eval import atomic, machine
from ci_eval.adapters.endpoints.answers import Answers
from ci_eval.adapters.endpoints.client import MODE, store_of
from ci_eval.config import Config
from ci_eval.errors import ConfigError


@contextmanager
def asked(*, record: bool) -> Iterator[None]:
    """Meanwhile, nothing is asked, or everything is asked anew; worker processes inherit that."""
    before = os.environ.get(MODE)
    os.environ[MODE] = "record" if record else "offline"
    try:
        yield
    finally:
        if before is None:
            del os.environ[MODE]
        else:
            os.environ[MODE] = before


def export_answers(path: Path) -> int:
    """Write all answers, a line of JSON each; how many these are. Raises WorkspaceError."""
    store = Answers(store_of(machine.cache_folder()))
    lines = list(store.exported())
    atomic.write(path, b"".join(lines))
    return len(lines)


def import_answers(paths: Sequence[Path]) -> int:
    """Add what exports hold for questions that have no answer here; how many these were. Raises ConfigError."""
    store = Answers(store_of(machine.cache_folder()))
    return sum(_import(store, path) for path in paths)


@dataclass(frozen=True)
class Stored:
    """A stored answer, as people tell it from others."""

    key: str
    asked: str
    finish: str
    text: str


def matching_answers(text: str) -> list[Stored]:
    """Return the answers whose key begins with the text, or whose question or reply holds it, the oldest first."""
    store = Answers(store_of(machine.cache_folder()))
    found = store.matching(text)
    return [
        Stored(key, asked, "refused" if reply.refused else reply.finish, reply.refused or reply.text)
        for key, asked, reply in found
    ]


def drop_answers(answers: Sequence[Stored]) -> None:
    """Remove these answers from the store; the next run asks their questions again."""
    Answers(store_of(machine.cache_folder())).drop(answer.key for answer in answers)


def take_recorded(config: Config) -> None:
    """Add the answers of the files that the configuration names. Raises ConfigError."""
    named = [each.recorded for each in (config.engine, config.judge) if each and each.recorded]
    if named:
        import_answers([Path(each).expanduser() for each in dict.fromkeys(named)])


def _import(store: Answers, path: Path) -> int:
    try:
        with path.open("rb") as lines:
            return store.take(lines, str(path))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
