"""A language server that the user configures by the command that starts it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.fetch.download import hash_file
from ci_eval.plugins.adapters.engine import Closure
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import NOTHING, Overlay, Template
from ci_eval.plugins.adapters.lsp.quirks import CLANGD, OWN_DATABASE, fallback_options
from ci_eval.plugins.adapters.place import interprets
from ci_eval.plugins.adapters.process import find_install_root
from ci_eval.plugins.adapters.recipes import InstalledEngine, System

SCRIPT = re.compile(r"[^-{}][^{}]*\.\w+")
"""Matches a first argument that must be a file, not an option or a subcommand."""
UNKNOWN_QUIET = 3.0
"""An unknown server is taken to be ready after this many seconds without announced work."""


class CommandRecipe(System, frozen=True, kw_only=True):
    hint: str = ""
    version: str = ""
    """If empty, the version is the beginning of the SHA-256 of the script or program."""
    source: str = "your command"
    script: Path | None = None

    def make(self, version: str | None, _folder: Path) -> InstalledEngine:
        path = shutil.which(self.program)
        if path is None:
            raise InstallError(
                f"`engine.command`: there is no program {self.program!r} on PATH, or it may not be executed"
            )
        server = self.script or Path(path)
        return InstalledEngine(find_install_root(server.resolve()), version or hash_file(server)[:12], {})


def custom(
    name: str,
    command: tuple[str, ...],
    *,
    language_id: str | None = None,
    own: Overlay = NOTHING,
    like: LspEngine | None = None,
) -> LspEngine:
    """Return an engine that runs the user's command. Relative paths in `command` count from the current folder.
    `like`: an engine whose configuration is used. `own`: the user's configuration. Raises ConfigError."""
    program = str(Path(command[0]).absolute()) if "/" in command[0] else command[0]
    first = command[1] if len(command) > 1 and interprets(command[0]) else ""
    if SCRIPT.fullmatch(first) and not Path(first).is_file():
        raise ConfigError(
            f"`engine.command`: there is no file {Path(first).absolute()} for {command[0]} to run; a relative path "
            "counts from the current folder"
        )
    files = {part: Path(part).absolute() for part in command[1:] if Path(part).is_file()}
    # The paths are made absolute, since the server runs in another folder.
    arguments = [str(files.get(part, part)) for part in command[1:]]
    model = like or LspEngine(
        name="", summary="", languages=None, licence="", recipe=CommandRecipe(program=""), command=Template([])
    )
    names = {part.partition("=")[0] for part in arguments}
    if model.quirks == CLANGD and "--compile-commands-dir" in names:
        model = replace(model, quirks=OWN_DATABASE, options=fallback_options)
    # If the user gives a flag, the user's value is used.
    flags = [flag for flag in model.flags if flag.partition("=")[0] not in names]
    return replace(
        model,
        name=name,
        summary="the language server of your configuration",
        languages=None,
        licence="LicenseRef-unknown",
        recipe=CommandRecipe(program=program, script=find_script(command)),
        runs_on=(),
        verified=False,
        toolchains={},
        # The program may read other files than the engine `like` does.
        closure=Closure.PROJECT,
        command=Template((program, *arguments, *flags)),
        installs=tuple(map(find_install_root, files.values())),
        only_language_id=language_id or model.only_language_id,
        own=own,
        like=like.name if like else "",
        # ci-eval does not know when an unknown server announces its work.
        quiet=model.quiet if like else UNKNOWN_QUIET,
    )


def find_script(command: Sequence[str]) -> Path | None:
    """Return the script that the program runs, or None if the program is itself the server."""
    scripts = (Path(part).absolute() for part in command[1:] if Path(part).is_file())
    return next(scripts, None) if interprets(command[0]) else None


def calls_itself(name: str, engine: LspEngine) -> bool:
    return bool(name) and name.lower().replace(" ", "-") in {engine.name, *engine.programs}


def is_called(command: Sequence[str], engine: LspEngine) -> bool:
    known = {engine.name, *engine.programs}
    path = shutil.which(command[0])
    files = (find_script(command), Path(command[0]), Path(path).resolve() if path else None)
    for file in filter(None, files):
        # A server is recognised by its file's name without suffix and version, or by its npm package.
        plain = re.sub(r"(\.(exe|cmd|bat|sh|phar|m?js|cjs|py|rb))+$", "", file.name)
        names = {plain, re.sub(r"[-_]v?\d[\w.]*$", "", plain)}
        if "node_modules" in (parts := file.parts):
            package = parts[len(parts) - parts[::-1].index("node_modules") :]
            names.add("/".join(package[:2]) if package[0].startswith("@") else package[0])
        if known & names:
            return True
    return False
