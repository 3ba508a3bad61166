"""Changes to a workspace that its owner did not make."""

from __future__ import annotations

from pathlib import Path

import yaml

from ci_eval.core.workspace import Workspace


def sessions_of(folder: Path) -> Path:
    """One of its files of sessions."""
    return sorted((folder / "sessions").iterdir())[0]


def configure(folder: Path, changes: dict[str, dict[str, object]], *, sealed: bool = True) -> None:
    """Change sections of its configuration."""
    config = folder / "config.yaml"
    raw = yaml.safe_load(config.read_text())
    config.write_text(yaml.safe_dump(raw | {name: raw[name] | change for name, change in changes.items()}))
    if sealed:
        Workspace(folder).seal()


def names_a_command(folder: Path, argv: list[str], *, sealed: bool) -> None:
    """Put an engine of its own into its configuration."""
    configure(folder, {"engine": {"name": "mine", "command": argv}}, sealed=sealed)
