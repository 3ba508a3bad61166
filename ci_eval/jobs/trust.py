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


def config_of(folder: Path) -> Path:
    """The file of a workspace's configuration. Raises WorkspaceError where it is not what was sealed."""
    workspace = Workspace.open(folder)
    pipeline.stored_config(workspace)
    return workspace.config_path


def refuse_foreign(folder: Path, wanted: Config, *, trusted: bool) -> None:
    """Raises ConfigError where `wanted`, made from a workspace's configuration, has a command or an open wall of it."""
    stored = pipeline.stored_config(Workspace.open(folder))
    asked = []
    if stored.engine.command is not None and wanted.engine.command is not None:
        asked.append(f"run this command as the engine: {shlex.join(stored.engine.command)}")
    if stored.engine.reads and wanted.engine.reads:
        asked.append(f"let the engine read {', '.join(stored.engine.reads)}")
    if stored.interpret.confine == "off" == wanted.interpret.confine:
        asked.append("start the engine without walls (interpret.confine: off)")
    if asked and not trusted:
        raise ConfigError(
            f"the configuration in {folder} would {', and '.join(asked)}. A workspace may come from somebody else: add "
            "--trust if you know this one, or choose an engine with --engine or a CONFIG"
        )
