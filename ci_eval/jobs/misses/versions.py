"""The versions of an engine between two of them: revisions that are built, or releases that are installed."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, InstallError, PreparationError
from ci_eval.core.catalogs import engines
from ci_eval.core.config import Config, patch
from ci_eval.core.fetch.clients import last_words
from ci_eval.core.fetch.git import TIMEOUT, run_git
from ci_eval.plugins.adapters.recipes import Releasing


class Versions(Protocol):
    @property
    def names(self) -> Sequence[str]:
        """Return the versions in order, with the good one first and the bad one last."""

    def title(self, name: str) -> str:
        """Return what a version is called, in a line."""

    def config(self, name: str) -> Config:
        """Return the configuration with that version as the engine. Raises PreparationError if it does not build."""


@dataclass(frozen=True)
class Releases:
    """The releases of a named engine that its registry lists."""

    given: Config
    engine: str
    names: Sequence[str]

    def title(self, name: str) -> str:
        return f"{self.engine} {name}"

    def config(self, name: str) -> Config:
        return patch(self.given, engine=f"{self.engine}@{name}")


@dataclass(frozen=True)
class Revisions:
    """The first parents between two revisions of a repository. Each is checked out and built once, below `builds`."""

    given: Config
    repository: Path
    build: str
    builds: Path
    names: Sequence[str]

    def title(self, name: str) -> str:
        return _git(self.repository, "log", "-1", "--format=%h %s", name)

    def config(self, name: str) -> Config:
        """Return the configuration in which words of the command that begin with `./` are files of the checkout; see
        `Versions`."""
        folder, log = self.builds / name, self.builds / f"{name}.log"
        if not log.exists():
            # Left of an interrupted build.
            shutil.rmtree(folder, ignore_errors=True)
            atomic.make_folder(self.builds)
            _git(self.repository, "clone", "--quiet", "--shared", "--no-checkout", str(self.repository), str(folder))
            _git(folder, "checkout", "--quiet", "--detach", name)
            output, failed = b"", False
            if self.build:
                # The user's own command, over the user's own repository: it is not confined.
                command = ["/bin/sh", "-c", self.build]
                done = subprocess.run(
                    command, cwd=folder, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
                )
                output, failed = done.stdout, done.returncode != 0
            atomic.write(log, (b"failed\n" if failed else b"built\n") + output)
        result, _, output = log.read_bytes().partition(b"\n")
        if result == b"failed":
            raise PreparationError(f"{name} does not build: {last_words(output.decode(errors='replace'))}")
        words = self.given.engine.command or ()
        own = tuple(str(folder.resolve() / word) if word.startswith("./") else word for word in words)
        return replace(self.given, engine=replace(self.given.engine, command=own))


def _git(folder: Path, *arguments: str) -> str:
    return run_git(folder, "file", TIMEOUT, "-c", "safe.directory=*", *arguments).decode(errors="replace").strip()


def find_versions(good: str, bad: str, config: Config, build: str, repository: Path, builds: Path) -> Versions:
    """Return the versions from `good` to `bad`: NAME@VERSION of a named engine, or revisions. Raises ConfigError."""
    name, at, first = good.rpartition("@")
    if at and name in engines.names():
        other, _, last = bad.rpartition("@")
        engine = engines.CATALOG.load(name)
        if other != name or not isinstance(engine, Releasing):
            raise ConfigError(f"give two releases of one engine from PyPI or npm, such as {name}@1.0 {name}@1.1")
        listed = list(engine.releases())
        for version in (first, last):
            if version not in listed:
                raise ConfigError(f"{name} has no release {version}; the newest are {', '.join(listed[-5:])}")
        names = listed[listed.index(first) : listed.index(last) + 1]
    else:
        if not config.engine.command:
            raise ConfigError("say how a revision is started: --engine-command './server --stdio'")
        try:
            first, last = (_git(repository, "rev-parse", "--verify", f"{one}^{{commit}}") for one in (good, bad))
            listed = _git(repository, "rev-list", "--first-parent", "--reverse", f"{first}..{last}").splitlines()
            _git(repository, "merge-base", "--is-ancestor", first, last)
        except InstallError as error:
            raise ConfigError(f"{good} is no revision before {bad} in {repository}: {error}") from error
        names = [first, *listed] if listed else []
    if len(names) < 2:
        raise ConfigError(f"{good} does not come before {bad}: give the good one first")
    if at and name in engines.names():
        return Releases(config, name, names)
    return Revisions(config, repository.resolve(), build, builds, names)
