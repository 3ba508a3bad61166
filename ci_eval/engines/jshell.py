"""JShell's source code analysis, which every JDK brings: completion for Java by the compiler, in alphabetical order."""

from __future__ import annotations

import base64
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ci_eval.contracts import Answer, Edit, Engine, Installation, Query, Running, Surroundings
from ci_eval.errors import EngineCrash, EngineMisbehaved, InstallError
from ci_eval.model import EngineInfo, Suggestion
from ci_eval.support.clients import run_to_end
from ci_eval.support.process import LineProcess
from ci_eval.support.recipes import System

DRIVER = Path(__file__).parent.parent / "drivers" / "JShellDriver.java"
PATIENCE = 120.0
"""Seconds the compiler may take for the project's classes."""

_NAME = re.compile(r"\w+")


class RunningJShell:
    """A driver process; it is told the whole text at each question, which is what JShell looks at."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._scratch = Path(tempfile.mkdtemp(prefix="ci-eval-jshell-"))
        self._text = ""
        self._compile()
        self._process = self._start()

    def _compile(self) -> None:
        """The project's classes, as far as they compile; none of them is run, nor any annotation processor."""
        classes = self._scratch / "classes"
        classes.mkdir()
        files = self._scratch / "files"
        sources = sorted(self._surroundings.root.rglob("*.java"))
        files.write_text("\n".join(f'"{path}"' for path in sources))
        options = ["-proc:none", "-nowarn", "-XDshould-stop.ifError=GENERATE", "-encoding", "UTF-8"]
        try:
            # What does not compile is not known to the engine; javac says so with its exit code.
            run_to_end(("javac", *options, "-d", str(classes), f"@{files}"), cwd=self._scratch, timeout=PATIENCE)
        except InstallError as error:
            raise EngineCrash(f"the project's classes could not be compiled: {error}") from error

    def _start(self) -> LineProcess:
        environment = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(self._scratch), "LANG": "C.UTF-8"}
        return LineProcess(
            ["java", str(DRIVER), str(self._scratch / "classes")], cwd=self._surroundings.root, environment=environment
        )

    def open(self, _path: str, text: str) -> None:
        self._text = text

    def edit(self, edits: Sequence[Edit]) -> None:
        for offset, deleted, inserted in edits:
            self._text = self._text[:offset] + inserted + self._text[offset + deleted :]

    def complete(self, query: Query) -> Answer:
        question = f"{query.offset} ".encode() + base64.b64encode(self._text.encode())
        answer = self._process.ask(question, self._surroundings.timeout)
        try:
            taken, _, names = answer.decode().partition(" ")
            latency, found = float(taken), base64.b64decode(names).decode().splitlines()
        except ValueError as error:
            raise EngineMisbehaved(f"the driver of jshell answered {answer[:80]!r}: {error}") from error
        # A method comes with its brackets.
        texts = [match[0] for name in found if (match := _NAME.match(name))]
        return Answer(suggestions=[Suggestion(text=text) for text in texts], latency=latency)

    def restart(self) -> None:
        self._process.close()
        self._process = self._start()

    def close(self) -> None:
        self._process.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


@dataclass(frozen=True)
class JShell:
    """The engine."""

    name: str = "jshell"
    summary: str = "the completion of JShell in the system's JDK, 17 or newer"
    languages: frozenset[str] | None = field(default=frozenset({"java"}))
    version: str = "system"
    source: str = "the system"
    licence: str = "GPL-2.0-only WITH Classpath-exception-2.0"
    verified: bool = True

    def install(self, version: str | None, cache: Path) -> Installation:
        made = System(program="java", hint="apt-get install default-jdk-headless").make(version, cache / "engines")
        return Installation(info=EngineInfo(name=self.name, version=made.version, packages=made.packages))

    def start(self, _installation: Installation, surroundings: Surroundings) -> Running:
        return RunningJShell(surroundings)


ENGINE: Engine = JShell()
