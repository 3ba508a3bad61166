"""A run of a test in a fresh folder, in a process that may write nowhere else and reach nothing."""

from __future__ import annotations

import os
import re
import selectors
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ci_eval.core.base.errors import EngineTimeout
from ci_eval.core.contracts import RunSettings, Surroundings
from ci_eval.plugins.adapters.place import Place, variables
from ci_eval.plugins.adapters.process import EngineProcess
from ci_eval.plugins.adapters.testruns.contract import Ended, Outcome, Runner, Step, Work, telling_lines

KEPT = 1 << 18
"""The number of bytes that are kept of the end of a program's output; the rest is thrown away as it comes."""


ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


class Program(EngineProcess):
    def finish(self, timeout: float) -> Ended:
        """Wait for the program's end. Raises EngineTimeout if it does not end within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        assert self._process.stdin
        # A program that reads its input comes to the end at once, instead of waiting.
        self._process.stdin.close()
        printed = b""
        while True:
            self._await(self._stdout, selectors.EVENT_READ, deadline)
            chunk = os.read(self._stdout, 1 << 20)
            if not chunk:
                break
            printed = (printed + chunk)[-KEPT:]
        try:
            # It may have closed its output, and go on.
            code = self._process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired as error:
            raise EngineTimeout(f"{self.name} did not end in time") from error
        self._listener.join(timeout=1)
        return Ended(code=code, output=printed.decode(errors="replace"), trouble="\n".join(self.last_words()))


@dataclass(frozen=True, kw_only=True)
class Box:
    runner: Runner
    kit: Path
    """The folder that `Runner.install` made."""
    settings: RunSettings
    project: Path | None = None
    """The top folder of the project, if the record has one."""
    environment: Path | None = None
    """The folder with the project's dependencies."""

    def run(self, files: Mapping[str, str], test: str, timeout: float) -> Outcome:
        """Run the tests in one of these files, for at most `timeout` seconds. Raises EngineCrash if the runner cannot
        be started."""
        surroundings = Surroundings(
            root=self.kit,
            language=self.runner.name,
            keywords=frozenset(),
            cache=self.kit,
            timeout=timeout,
            memory=self.settings.memory,
            environment=self.environment,
            # Other people's code is run within whole walls, or none at all: `prepare` of the grader has asked which.
            confine="off" if self.settings.confine == "off" else "required",
        )
        place = Place.new(self.kit, surroundings)
        started = time.monotonic()
        try:
            place.renew()
            work = Work(place=place, test=test)
            if self.project:
                shutil.copytree(self.project, work.files, ignore=_links_and_git)
            for path, text in files.items():
                (work.files / path).parent.mkdir(parents=True, exist_ok=True)
                (work.files / path).write_bytes(text.encode())
            outcome = self._run(work, timeout)
        finally:
            place.remove()
        # Folders have another name each time, and what is in memory another address.
        words = outcome.said.replace(f"{work.files}/", "").replace(str(place.scratch), "…").replace(str(self.kit), "…")
        words = ADDRESS.sub("0x…", words)
        return replace(outcome, said=words, seconds=time.monotonic() - started)

    def _run(self, work: Work, timeout: float) -> Outcome:
        deadline = time.monotonic() + timeout
        ended = Ended(code=0, output="", trouble="")
        for step in self.runner.steps(work):
            try:
                ended = self._finish(step, work, max(deadline - time.monotonic(), 0.1))
            except EngineTimeout:
                return Outcome(said=f"it was not done after {timeout:g} s")
            if step.compiles and ended.code:
                return Outcome(compiled=False, said="\n".join(telling_lines(ended.trouble or ended.output)))
        return self.runner.read(work, ended)

    def _finish(self, step: Step, work: Work, timeout: float) -> Ended:
        place = work.place
        walls = place.walls(step.argv[0], *self.runner.programs)
        if self.runner.runs_own:
            walls = replace(walls, runs=(*walls.runs, place.scratch))
        environment = {**variables(place), **step.variables}
        process = Program(step.argv, cwd=work.files, environment=environment, walls=walls)
        try:
            return process.finish(timeout)
        finally:
            process.close()


def _links_and_git(folder: str, names: list[str]) -> list[str]:
    # A link may lead out of the project, and CI systems keep tokens in .git.
    return [name for name in names if name == ".git" or Path(folder, name).is_symlink()]
