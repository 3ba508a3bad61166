"""jedi, the static analysis library for Python: the release ci-eval runs with, or any other from PyPI."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version as installed_version
from pathlib import Path

import jedi
import msgspec

from ci_eval.contracts import Answer, Edit, Engine, Installation, Query, Running, Surroundings
from ci_eval.errors import EngineMisbehaved, EngineRaised
from ci_eval.model import EngineInfo, Suggestion
from ci_eval.support.process import LineProcess
from ci_eval.support.recipes import Pip

DRIVER = Path(__file__).parent.parent / "drivers" / "jedi_driver.py"
PATIENCE = 60.0
"""Seconds for the start and for opening a file, which are no completions."""


class _Reply(msgspec.Struct):
    ms: float = 0.0
    items: list[tuple[str, str]] = []
    error: str = ""


_DECODER = msgspec.json.Decoder(_Reply)


class RunningJedi:
    """A driver process with that jedi in it."""

    def __init__(self, library: Path, surroundings: Surroundings, cache: Path) -> None:
        self._surroundings = surroundings
        self._library = library
        self._cache = cache
        self._pending: list[Edit] = []
        self._process = self._start()

    def _start(self) -> LineProcess:
        arguments = [str(self._library), str(self._surroundings.root), str(self._cache)]
        if self._surroundings.environment:
            arguments += map(str, self._surroundings.environment.glob("lib/python*/site-packages"))
        # A fixed hash seed: the order of sets decides which of several equal answers comes first.
        environment = {
            "PATH": os.defpath,
            "HOME": str(self._surroundings.cache),
            "PYTHONHASHSEED": "0",
            "LANG": "C.UTF-8",
        }
        return LineProcess(
            [sys.executable, "-s", "-S", str(DRIVER), *arguments],
            cwd=self._surroundings.root,
            environment=environment,
            memory=self._surroundings.memory,
        )

    def open(self, path: str, text: str) -> None:
        self._pending = []
        self._ask(["open", path, text], PATIENCE)

    def edit(self, edits: Sequence[Edit]) -> None:
        # Sent with the next question: jedi only looks at a text when it is asked about it.
        self._pending.extend(edits)

    def complete(self, query: Query) -> Answer:
        edits, self._pending = self._pending, []
        reply = self._ask(["complete", edits, query.offset], self._surroundings.timeout)
        # jedi writes keyword arguments as `name=`; the sign is not part of the name.
        found = [Suggestion(text=name.rstrip("="), kind=kind) for name, kind in reply.items]
        return Answer(suggestions=found, latency=reply.ms)

    def _ask(self, request: object, timeout: float) -> _Reply:
        line = self._process.ask(msgspec.json.encode(request), timeout)
        try:
            reply = _DECODER.decode(line)
        except msgspec.MsgspecError as error:
            raise EngineMisbehaved(f"jedi's driver answered {line[:80]!r}: {error}") from error
        if reply.error:
            raise EngineRaised(reply.error)
        return reply

    def restart(self) -> None:
        self.close()
        self._process = self._start()

    def close(self) -> None:
        self._process.close()


@dataclass(frozen=True)
class Jedi:
    """The engine."""

    name: str = "jedi"
    summary: str = "static analysis for Python; embedded, or any release from PyPI (jedi@0.18.2)"
    languages: frozenset[str] | None = field(default=frozenset({"python"}))
    version: str = jedi.__version__
    source: str = "PyPI"
    licence: str = "MIT"
    verified: bool = True

    def install(self, version: str | None, cache: Path) -> Installation:
        if version is None:
            packages = {name: installed_version(name) for name in ("jedi", "parso")}
            return Installation(info=EngineInfo(name=self.name, version=packages["jedi"], packages=packages))
        made = Pip(package="jedi", version=self.version).make(version, cache / "engines")
        return Installation(
            info=EngineInfo(name=self.name, version=version, packages=made.packages), folder=made.folder
        )

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        library = installation.folder or Path(jedi.__file__).parent.parent
        # What jedi parsed stays, for releases that can read it.
        release = "-".join(f"{name}{number}" for name, number in sorted(installation.info.packages.items()))
        cache = surroundings.cache / "jedi" / release
        cache.mkdir(parents=True, exist_ok=True)
        return RunningJedi(library, surroundings, cache)


ENGINE: Engine = Jedi()
