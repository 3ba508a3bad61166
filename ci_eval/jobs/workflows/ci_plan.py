"""What the files of all CI systems are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.jobs.workflows.origin import Origin

CONFIG = Path("ci/completion.yaml")
NIGHT, PULL_REQUEST, LOGS, SITE, NOTICE = "night", "pull-request", "logs", "site", "notice"
"""What files are written for."""


@dataclass(frozen=True, kw_only=True)
class PluginSet:
    """The purposes that files are written for, and how the engine comes about."""

    purposes: frozenset[str]
    origin: Origin
    command: str
    """The command of the engine, or "" if the configuration names one."""
    like: str
    key: str
    """The variable with the key of a language model, or ""."""
    is_reusable: bool
    """Whether a night may take over answers of the night before."""
    build: str
    """The command that builds the engine, or ""."""
    build_output: str
    """The file or folder that the build leaves."""
    training: Sequence[str]
    """SPECs of the projects that a ranker learns from."""
    mail: str
    """Who is told of red nights where a CI sends mail; "" = nobody."""
