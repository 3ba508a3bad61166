"""The declaration of an engine that a recipe installs: what it needs, and which files its answers depend on."""

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
    """The files of the project that an answer depends on, next to engine, settings and dependencies."""

    FILE = "file"
    IMPORTS = "imports"
    """The file in which the engine is asked, the files that it imports, directly or not; the names of all other files;
    and the contents of those that are not source files, such as settings."""
    PROJECT = "project"


def find_closure(engine: Engine) -> Closure:
    # An engine that declares nothing may read any file, so no stored result outlives a change of the project.
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
    """The lowest versions for the default version; see `Engine`. Other versions are not checked."""
    needs_dependencies: bool = False
    takes_records: bool = False
    own_process: bool = True
    closure: Closure = Closure.PROJECT
    why: str = ""
    """Reasons for the engine's configuration beyond paths, for users."""

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
            f"ci-eval cannot ask {self.source} for the newest version of {self.name}: name a version in place of latest"
        )

    def releases(self) -> Sequence[str]:
        if isinstance(self.recipe, Releasing):
            return self.recipe.releases()
        raise ConfigError(f"ci-eval cannot ask {self.source} for the releases of {self.name}: bisect its revisions")

    def install(self, version: str | None, cache: Path) -> Installation:
        """Install a version, or the default one. Raises PreparationError if a toolchain is missing."""
        if version in (None, self.version):
            check_toolchains(self.name, self.toolchains)
        engine = self.recipe.make(version, cache / "engines")
        info = EngineInfo(name=self.name, version=engine.version, packages=engine.packages)
        return Installation(info=info, folder=engine.folder)


# --------------------------------------------------------------------------------------------------------- toolchains


TOOLCHAINS = {
    "go": "https://go.dev/dl, in GitHub Actions actions/setup-go",
    "java": "a newer JDK, in GitHub Actions actions/setup-java",
    "node": "https://nodejs.org, in GitHub Actions actions/setup-node",
    "php": "https://www.php.net/downloads",
    "ruby": "https://www.ruby-lang.org/en/downloads",
}
"""The toolchains, and where each is to be had."""


def check_toolchains(engine: str, needed: Mapping[str, str]) -> None:
    """`needed`: name → lowest version. Raises PreparationError if one is missing or too old."""
    for name, lowest in needed.items():
        here = version_here(name)
        if not reaches(here, lowest):
            raise PreparationError(
                f"engine {engine} needs {name} {lowest} or newer; here is {here or 'none'}. "
                f"Get it from {TOOLCHAINS[name]}, and see that it is first on PATH."
            )


def version_here(name: str) -> str:
    """Return for example "1.24.4"; "" if there is none, or none that answers."""
    try:
        # Asked in an empty folder and without downloads: a project's go.mod could make `go` run another version, which
        # is not the one that engines are built with.
        output = run_client((name, "version" if name == "go" else "--version"), variables={"GOTOOLCHAIN": "local"})
    except (InstallError, OSError):
        return ""
    match = re.search(r"\d+(?:\.\d+)*", output)
    return match[0] if match else ""


def reaches(here: str, lowest: str) -> bool:
    """An unknown version ("") never does."""
    # Compared as numbers: as text, 1.9 would be newer than 1.24.
    return bool(here) and _numbers(here) >= _numbers(lowest)


def newest_toolchains(*needs: Mapping[str, str]) -> dict[str, str]:
    versions: dict[str, str] = {}
    for name, lowest in (item for need in needs for item in need.items()):
        versions[name] = max(versions.get(name, lowest), lowest, key=_numbers)
    return versions


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
