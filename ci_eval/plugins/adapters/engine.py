"""The declaration of an engine that a recipe installs, with its toolchains and the files that its answers depend on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import ConfigError, InstallError, PreparationError
from ci_eval.core.contracts import Engine, Installation
from ci_eval.core.model import EngineInfo
from ci_eval.fetch.clients import run_client
from ci_eval.plugins.adapters.recipes import Recipe, Releasing, Renewable


class Closure(Enum):
    """The files of the project that an answer depends on, besides the engine, its settings and the dependencies."""

    FILE = "file"
    IMPORTS = "imports"
    """The open file, the files that it imports directly or indirectly, all files that are not source files, and the
    names of all other files."""
    PROJECT = "project"


def find_closure(engine: Engine) -> Closure:
    # An engine without a declaration may read any file.
    closure: Closure = getattr(engine, "closure", Closure.PROJECT)
    return closure


class FromRecipe(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    summary: str
    languages: frozenset[str] | None
    licence: str
    recipe: Recipe
    runs_on: tuple[str, ...] = ()
    verified: bool = False
    toolchains: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Toolchain → its lowest version for the default version of the engine; see `Engine`. For other versions of the
    engine, toolchains are not checked."""
    needs_dependencies: bool = False
    takes_records: bool = False
    own_process: bool = True
    closure: Closure = Closure.PROJECT
    why: str = ""
    """A text for users that explains the engine's configuration, apart from paths."""

    @property
    def needs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.recipe.needs, *self.runs_on)))

    @property
    def version(self) -> str:
        return self.recipe.version

    @property
    def source(self) -> str:
        return self.recipe.source

    def is_ready(self, cache: Path) -> bool | None:
        return self.recipe.is_made(cache / "engines")

    def newest(self) -> str:
        """Return the newest version. Raises ConfigError if the recipe has no registry to ask."""
        if isinstance(self.recipe, Renewable):
            return self.recipe.newest()
        raise ConfigError(
            f"ci-eval cannot ask {self.source} for the newest version of {self.name}: name a version, not latest"
        )

    def releases(self) -> Sequence[str]:
        if isinstance(self.recipe, Releasing):
            return self.recipe.releases()
        raise ConfigError(f"ci-eval cannot ask {self.source} for the releases of {self.name}: bisect revisions instead")

    def install(self, version: str | None, cache: Path) -> Installation:
        """Install `version`, or the default version if None. Raises PreparationError if a toolchain is missing."""
        if version in (None, self.version):
            check_toolchains(self.name, self.toolchains)
        engine = self.recipe.make(version, cache / "engines")
        info = EngineInfo(name=self.name, version=engine.version, packages=engine.packages)
        return Installation(info=info, folder=engine.folder)


# --------------------------------------------------------------------------------------------------------- toolchains


TOOLCHAINS = {
    "go": "https://go.dev/dl (in GitHub Actions, use actions/setup-go)",
    "java": "a newer JDK (in GitHub Actions, use actions/setup-java)",
    "node": "https://nodejs.org (in GitHub Actions, use actions/setup-node)",
    "php": "https://www.php.net/downloads",
    "ruby": "https://www.ruby-lang.org/en/downloads",
}
"""Toolchain → where users get it."""


def check_toolchains(engine: str, needed: Mapping[str, str]) -> None:
    """Check the toolchains on PATH. `needed`: name → lowest version. Raises PreparationError if a toolchain is missing
    or too old."""
    for name, lowest in needed.items():
        version = read_toolchain(name)
        if not is_at_least(version, lowest):
            raise PreparationError(
                f"engine {engine} needs {name} {lowest} or newer; found {version or 'none'}. "
                f"Get it from {TOOLCHAINS[name]}, and put it first on PATH."
            )


def read_toolchain(name: str) -> str:
    """Return the version of a toolchain on PATH, such as "1.24.4", or "" if there is none that works."""
    try:
        # A go.mod in the current folder could make `go` run another version than the one that builds engines.
        output = run_client((name, "version" if name == "go" else "--version"), variables={"GOTOOLCHAIN": "local"})
    except (InstallError, OSError):
        return ""
    match = re.search(r"\d+(?:\.\d+)*", output)
    return match[0] if match else ""


def is_at_least(version: str, lowest: str) -> bool:
    """Compare versions by their numbers: 1.24 is newer than 1.9. An unknown version ("") is older than any other."""
    return bool(version) and _numbers(version) >= _numbers(lowest)


def newest_toolchains(*needs: Mapping[str, str]) -> dict[str, str]:
    versions: dict[str, str] = {}
    for name, lowest in (item for need in needs for item in need.items()):
        versions[name] = max(versions.get(name, lowest), lowest, key=_numbers)
    return versions


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
