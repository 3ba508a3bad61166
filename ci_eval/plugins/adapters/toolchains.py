"""The compilers and interpreters that engines are built with or run on: which version is here, which one is needed, and
how to get it."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ci_eval.core.base.errors import InstallError, PreparationError
from ci_eval.core.fetch.clients import run_client

NUMBER = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    program: str
    ask: tuple[str, ...]
    """The arguments with which the program prints its version."""
    get: str
    """The place to get a newer version from, for messages."""


TOOLCHAINS = {
    "go": Toolchain(program="go", ask=("version",), get="https://go.dev/dl, in GitHub Actions actions/setup-go"),
    "java": Toolchain(program="java", ask=("--version",), get="a newer JDK, in GitHub Actions actions/setup-java"),
    "node": Toolchain(
        program="node", ask=("--version",), get="https://nodejs.org, in GitHub Actions actions/setup-node"
    ),
    "php": Toolchain(program="php", ask=("--version",), get="https://www.php.net/downloads"),
    "ruby": Toolchain(program="ruby", ask=("--version",), get="https://www.ruby-lang.org/en/downloads"),
}
"""The toolchains by the names that engines and the job matrix use."""


def check(engine: str, needed: Mapping[str, str]) -> None:
    """Check that each toolchain that the engine needs (name → lowest version) is installed. Raises PreparationError if
    one is missing or too old."""
    for name, lowest in needed.items():
        here = version_here(name)
        if not reaches(here, lowest):
            raise PreparationError(
                f"engine {engine} needs {name} {lowest} or newer; here is {here or 'none'}. "
                f"Get it from {TOOLCHAINS[name].get}, and see that it is first on PATH."
            )


def version_here(name: str) -> str:
    """Return the version of the machine's own toolchain, such as "1.24.4", or "" if there is none, or none that
    answers."""
    toolchain = TOOLCHAINS[name]
    with tempfile.TemporaryDirectory() as empty:
        try:
            # Asked in an empty folder and without downloads: a project's go.mod could make `go` run another version,
            # which is not the one that engines are built with.
            output = run_client(
                (toolchain.program, *toolchain.ask), cwd=Path(empty), variables={"GOTOOLCHAIN": "local"}
            )
        except (InstallError, OSError):
            return ""
    match = NUMBER.search(output)
    return match[0] if match else ""


def reaches(here: str, lowest: str) -> bool:
    """Return whether the version `here` is at least `lowest`; "" is not. Numbers are compared: 1.9 is older than
    1.24."""
    # Compared as numbers: as text, 1.9 would be newer than 1.24.
    return bool(here) and _numbers(here) >= _numbers(lowest)


def newest(*needs: Mapping[str, str]) -> dict[str, str]:
    """Return the toolchains of all needs, each with the newest of the versions asked for."""
    versions: dict[str, str] = {}
    for name, lowest in (item for need in needs for item in need.items()):
        versions[name] = max(versions.get(name, lowest), lowest, key=_numbers)
    return versions


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
