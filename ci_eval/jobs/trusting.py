"""What runs on this machine because a workspace says so, which may come from somebody else: nothing, unless trusted.

The project of a workspace is fetched and read as its configuration says, since nothing of a project is run.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from ci_eval.config import Config
from ci_eval.errors import ConfigError
from ci_eval.jobs import pipeline
from ci_eval.workspace import Workspace


def refuse_foreign(folder: Path, wanted: Config, *, trusted: bool) -> None:
    """Raises ConfigError where `wanted`, which was made from a workspace's configuration, has a command of it."""
    stored = pipeline.stored_config(Workspace.open(folder))
    command = stored.engine.command
    if trusted or command is None or wanted.engine.command is None:
        return
    raise ConfigError(
        f"the configuration in {folder} would run this command as the engine: {shlex.join(command)}. A workspace may "
        "come from somebody else: add --trust if you know this one, or choose an engine with --engine or a CONFIG"
    )
