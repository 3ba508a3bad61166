"""Engines without a language server: a small program of ours calls the engine, and is asked one question a line."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ci_eval.adapters.lsp.overlay import NEVER, AutoImport
from ci_eval.adapters.place import DRIVERS, Place, variables
from ci_eval.adapters.process import LineProcess
from ci_eval.adapters.recipes import FromRecipe
from ci_eval.adapters.sent import beforehand, configuration
from ci_eval.adapters.tracing import Direction, tell
from ci_eval.contracts import Answer, Edit, Installation, Query, Running, Surroundings
from ci_eval.errors import EngineMisbehaved, EngineRaised, EngineTimeout
from ci_eval.model import Suggestion
from ci_eval.model.engine.sent import SentConfiguration

PATIENCE = 120.0
"""Seconds that the driver may take to start and to answer a first question, which does not count as a completion."""


def nothing(_place: Place) -> Sequence[str]:
    """Nothing to prepare."""
    return ()


@dataclass(frozen=True, kw_only=True)
class DrivenEngine(FromRecipe):
    """An engine that is called by a program of ours (its driver). It is sent to worker processes, so its functions must
    be importable, not lambdas.

    The driver reads lines "OFFSET PATH TEXT" and answers "MS NAMES": the offset in code points; path, text, and the
    names (one per line) in base64; the milliseconds as the driver measured them. Or it answers "error MESSAGE" (in
    base64), after which it can be asked again. A name may be followed by a tab and the text that an editor sorts it by.
    """

    command: Callable[[Place], Sequence[str]]
    prepare: Callable[[Place], Sequence[str]] = nothing
    """Returns a command that is run to its end before the driver starts; empty: there is none. Its exit code is
    ignored."""
    beside: float = 0.0
    """Seconds that a question may take in addition to the completion itself: where each question gets a new compiler,
    to make it and have it read the project."""
    text: re.Pattern[str] | None = None
    """The part of a name that is inserted, None = what names of the language look like; a name without is left out."""

    auto_import: AutoImport = NEVER

    def sent(self, installation: Installation, surroundings: Surroundings) -> SentConfiguration:
        """Return what the driver is told before it starts."""

        def write(place: Place) -> SentConfiguration:
            return configuration(
                place,
                self.command(place),
                variables(place),
                auto_import=self.auto_import.usual,
                prepared=self.prepare(place),
            )

        return beforehand(installation, surroundings, write)

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        """A new process."""
        assert installation.folder is not None
        return RunningDriver(self, installation.folder, surroundings)


class RunningDriver:
    """A running driver; each question has the whole text in it."""

    def __init__(self, engine: DrivenEngine, folder: Path, surroundings: Surroundings) -> None:
        self._engine = engine
        self._surroundings = surroundings
        self._place = Place.new(folder, surroundings)
        self._path = self._text = ""
        try:
            self._process = self._start()
        except BaseException:
            self._place.remove()
            raise

    def _start(self) -> LineProcess:
        self._place.renew()
        if preparing := self._engine.prepare(self._place):
            process = self._run(preparing)
            try:
                process.finish(PATIENCE)
            finally:
                process.close()
        self._fresh = True
        return self._run(self._engine.command(self._place))

    def _run(self, command: Sequence[str]) -> LineProcess:
        place = self._place
        walls = place.walls(command[0], *self._engine.needs, reads=(DRIVERS,))
        return LineProcess(command, cwd=place.scratch, environment=variables(place), walls=walls)

    @property
    def confined(self) -> str:
        """See Running."""
        return self._process.confined

    def peak_memory(self) -> int | None:
        """See Weighed."""
        return self._process.peak_memory()

    def open(self, path: str, text: str) -> None:
        """See Running. A new driver is asked once before, and the answer dropped: a person would have waited for its
        start, too."""
        self._path, self._text = path, text
        if self._fresh:
            # It is asked at the end of the file, where no session is: an error there does not matter.
            with suppress(EngineRaised):
                self._ask(len(text), PATIENCE)
            self._fresh = False

    def edit(self, edits: Sequence[Edit]) -> None:
        """See Running."""
        for offset, deleted, inserted in edits:
            self._text = self._text[:offset] + inserted + self._text[offset + deleted :]

    def complete(self, query: Query) -> Answer:
        """See Running."""
        limit = self._surroundings.timeout
        latency, names = self._ask(query.offset, limit + self._engine.beside)
        if latency > 1000 * limit:
            raise EngineTimeout(f"{self._engine.name} took {latency / 1000:.1f} s")
        return Answer(suggestions=[found for name in names if (found := self._suggestion(name))], latency=latency)

    def _suggestion(self, line: str) -> Suggestion | None:
        name, _, sort_text = line.partition("\t")
        match = (self._engine.text or self._surroundings.word).match(name)
        return Suggestion(text=match[0], sort_text=sort_text or None) if match else None

    def _ask(self, offset: int, timeout: float) -> tuple[float, list[str]]:
        where = str(self._place.root / self._path)
        _told("->", {"offset": offset, "path": where, "text": self._text})
        path, text = (base64.b64encode(part.encode()) for part in (where, self._text))
        line = self._process.ask(b"%d %s %s" % (offset, path, text), timeout)
        try:
            head, _, rest = line.decode().partition(" ")
            said = base64.b64decode(rest).decode()
            _told("<-", {head if head == "error" else f"{head} ms": said.splitlines()})
            if head != "error":
                return float(head), said.splitlines()
        except ValueError as error:
            raise EngineMisbehaved(f"the driver of {self._engine.name} answered {line[:80]!r}: {error}") from error
        raise EngineRaised(said)

    def restart(self) -> None:
        """See Running."""
        self._process.close()
        self._process = self._start()

    def close(self) -> None:
        """See Running."""
        self._process.close()
        self._place.remove()


def _told(direction: Direction, message: object) -> None:
    """Tell who listens of a message, without the base64 that nobody can read."""
    tell(direction, msgspec.json.encode(message))
