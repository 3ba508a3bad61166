"""The store of responses from endpoints: how a command uses it, and how it gets to another machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ci_eval.core import machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import Config
from ci_eval.plugins.adapters.endpoints.client import MODE, answers_path
from ci_eval.plugins.adapters.endpoints.store import Answers


@contextmanager
def set_answer_mode(*, record: bool) -> Iterator[None]:
    """Let endpoints answer from the store alone, or with `record` ask again. Worker processes inherit the mode."""
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
    """Write a line of JSON each; return their number. Raises WorkspaceError."""
    store = Answers(answers_path(machine.cache_folder()))
    lines = list(store.export_lines())
    atomic.write(path, b"".join(lines))
    return len(lines)


def import_answers(paths: Sequence[Path]) -> int:
    """Existing responses stay. Return the number of added ones. Raises ConfigError."""
    store = Answers(answers_path(machine.cache_folder()))
    return sum(_import(store, path) for path in paths)


def import_recordings(config: Config) -> None:
    """Add the responses of the files that the configuration names. Raises ConfigError."""
    named = [section.recorded for section in (config.engine, config.judge) if section and section.recorded]
    if named:
        # Engine and judge may name the same file.
        import_answers([Path(path).expanduser() for path in dict.fromkeys(named)])


def _import(store: Answers, path: Path) -> int:
    try:
        with path.open("rb") as lines:
            return store.take(lines, str(path))
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
