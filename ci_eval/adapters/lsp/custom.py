"""A language server of your own, given by the command that starts it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ci_eval.adapters.confinement import top_of
from ci_eval.adapters.lsp.engine import LspEngine
from ci_eval.adapters.lsp.manners import BY_PROGRAM, CLANGD, OWN_DATABASE, PLAIN
from ci_eval.adapters.place import Place
from ci_eval.adapters.recipes import InstalledEngine
from ci_eval.errors import InstallError
from ci_eval.fetch.download import sha256_of


@dataclass(frozen=True)
class Given:
    """The recipe of a program that is there already."""

    program: str
    version: str = ""
    """What reports call its version; "": the beginning of the program's SHA-256."""
    source: str = "your command"

    @property
    def needs(self) -> tuple[str, ...]:
        return (self.program,)

    def is_made(self, _folder: Path) -> bool:
        return shutil.which(self.program) is not None

    def make(self, version: str | None, _folder: Path) -> InstalledEngine:
        """See Recipe; nothing is installed."""
        found = shutil.which(self.program)
        if found is None:
            raise InstallError(
                f"`engine.command`: there is no program {self.program!r} on PATH, or it may not be executed"
            )
        return InstalledEngine(top_of(Path(found).resolve()), version or sha256_of(Path(found))[:12], {})


def custom(
    name: str, command: tuple[str, ...], *, language_id: str | None, settings: dict[str, Any], options: dict[str, Any]
) -> LspEngine:
    """The engine for a command; relative paths in it are taken from the current folder.

    A program whose name is known (`manners.BY_PROGRAM`) is asked as if ci-eval had installed it.
    """
    program = str(Path(command[0]).absolute()) if "/" in command[0] else command[0]
    files = {part: Path(part).absolute() for part in command[1:] if Path(part).is_file()}
    manners = BY_PROGRAM.get(Path(command[0]).name, PLAIN)
    if manners == CLANGD and any(part.startswith("--compile-commands-dir") for part in command):
        manners = OWN_DATABASE
    arguments = [str(files.get(part, part)) for part in command[1:]]
    arguments += [flag for flag in manners.flags if not any(flag.split("=")[0] in part for part in command[1:])]
    return LspEngine(
        name=name,
        summary="the language server of your configuration",
        languages=None,
        licence="LicenseRef-unknown",
        recipe=Given(program),
        command=_Command((program, *arguments)),
        installs=tuple(map(top_of, files.values())),
        settings=_Always(settings),
        options=_Always(options) if options else manners.options,
        manners=manners,
        only_language_id=language_id or "",
    )


# Classes, since two functions made by `partial` are never equal: a worker keeps its server for the next file as long as
# the engine asked for is equal.
@dataclass(frozen=True)
class _Command:
    parts: tuple[str, ...]

    def __call__(self, place: Place) -> list[str]:
        return [part.replace("{root}", str(place.root)) for part in self.parts]


@dataclass(frozen=True)
class _Always:
    value: Any

    def __call__(self, _place: Place) -> Any:
        return self.value
