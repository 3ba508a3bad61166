"""The values from which the files of all CI systems are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.ci import limits
from ci_eval.jobs.workflows.origin import UNKNOWN, Origin

CONFIG = Path("ci/completion.yaml")
NIGHT, PULL_REQUEST, LOGS, SITE, NOTICE = "night", "pull-request", "logs", "site", "notice"
ALGORITHMS = "algorithms"
PURPOSES = (NIGHT, PULL_REQUEST, LOGS, SITE, NOTICE, ALGORITHMS)
"""The purposes that files are written for."""


@dataclass(frozen=True, kw_only=True)
class Request:
    system: str = "github"
    purposes: tuple[str, ...] = (NIGHT,)
    origin: Origin
    folder: str = "."
    """The folder that is measured, relative to the repository's."""
    rivals: tuple[str, ...] = ()
    """Further engines that a night asks the same, and ranks."""
    build: str = ""
    """The command that builds the engine, or ""."""
    build_output: str = "build"
    """The file or folder that the build leaves."""
    mail: str = ""
    """The address that gets mail about red nights from CI systems that send it; "" = none."""

    @property
    def nameable_origin(self) -> Origin:
        """Return the origin, or UNKNOWN if the CI cannot name it: workflows at GitHub name repositories of GitHub."""
        return self.origin if self.system != "github" or self.origin.is_at_github else UNKNOWN

    @property
    def configs(self) -> list[Path]:
        return [CONFIG, *(CONFIG.with_stem(f"{CONFIG.stem}-{limits.name(engine)}") for engine in self.rivals)]


@dataclass(frozen=True, kw_only=True)
class CiPlan:
    """The purposes, engine and origin from which the files of any CI are written."""

    request: Request
    command: str
    like: str
    key: str
    is_reusable: bool
    """True if a night may take over answers of the night before."""
    training: Sequence[str]
    """SPECs of the projects that a ranker learns from."""
