"""The stored responses of language models: whether they are used, and their export and import."""

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
    """Answer from the store only; with `record`, ask endpoints again. Worker processes inherit the mode."""
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
    """Write the stored responses as lines of JSON, and return their number. Raises WorkspaceError."""
    lines = list(Answers(answers_path(machine.cache_folder())).export_lines())
    atomic.write(path, b"".join(lines))
    return len(lines)


def import_answers(paths: Sequence[Path]) -> int:
    """Add responses that are not in the store yet, and return their number. Raises ConfigError."""
    store = Answers(answers_path(machine.cache_folder()))
    added = 0
    try:
        for path in paths:
            with path.open("rb") as lines:
                added += store.take(lines, str(path))
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be read: {error.strerror}") from error
    return added


def import_recordings(config: Config) -> None:
    """Add the responses in the files that `engine.recorded` and `judge.recorded` name. Raises ConfigError."""
    paths = [section.recorded for section in (config.engine, config.judge) if section and section.recorded]
    if paths:
        # Engine and judge may name the same file.
        import_answers([Path(path).expanduser() for path in dict.fromkeys(paths)])
