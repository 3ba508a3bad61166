"""Engines without a language server. A driver, a program of ours, reads one question per line and asks the engine."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from ci_eval.core.base.errors import EngineMisbehaved, EngineRaised, EngineTimeout
from ci_eval.core.base.quoting import quote
from ci_eval.core.contracts import Answer, Edit, Installation, Query, Running, Surroundings
from ci_eval.core.model import Suggestion
from ci_eval.core.model.engine import SentConfiguration
from ci_eval.core.tracing import tell
from ci_eval.plugins.adapters.engine import FromRecipe
from ci_eval.plugins.adapters.lsp.overlay import NEVER, AutoImport
from ci_eval.plugins.adapters.place import DRIVERS, Place, configuration, variables
from ci_eval.plugins.adapters.process import LineProcess

START_TIMEOUT = 120.0
"""The time limit for the driver's start and first answer, in seconds. That answer does not count as a completion."""


class DrivenEngine(FromRecipe, frozen=True, kw_only=True):
    """An engine that is called by a driver, a program of ours. Workers receive the engine by pickle, so its functions
    must be importable, not lambdas.

    A question is a line "OFFSET PATH TEXT"; the answer is "MS NAMES" or "error MESSAGE". OFFSET is in code points, MS
    the time measured by the driver in milliseconds. PATH, TEXT, NAMES (one per line) and MESSAGE are in base64. A name
    may be followed by a tab and the text that editors sort by. After an error, the driver can be asked again.
    """

    command: Callable[[Place], Sequence[str]]
    overhead: float = 0.0
    """The extra time for a question, in seconds, if a new compiler must first read the project."""
    text: re.Pattern[str] | None = None
    """Matches the inserted part of a name; if None, `Surroundings.word` is used. Names without a match are dropped."""
    auto_import: AutoImport = NEVER

    def sent(self, installation: Installation, surroundings: Surroundings) -> SentConfiguration:
        with Place.temporary(installation.folder or DRIVERS, surroundings) as place:
            return configuration(place, self.command(place), variables(place), auto_import=self.auto_import.usual)

    def start(self, installation: Installation, surroundings: Surroundings) -> Running:
        assert installation.folder is not None
        return RunningDriver(self, installation.folder, surroundings)


class Reply(msgspec.Struct):
    error: str = ""


_Reply = TypeVar("_Reply", bound=Reply)


class RunningProcess:
    needs: tuple[str, ...] = ()
    reads: tuple[Path, ...] = (DRIVERS,)
    limits_address_space = False

    def __init__(self, folder: Path, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._place = Place.new(folder, surroundings)
        try:
            self._process = self._start()
        except BaseException:
            self._place.remove()
            raise

    def command(self, place: Place) -> Sequence[str]:
        raise NotImplementedError

    def variables(self, place: Place) -> dict[str, str]:
        return variables(place)

    def _start(self) -> LineProcess:
        place = self._place
        place.renew()
        command = self.command(place)
        address_space = place.memory if self.limits_address_space else 0
        walls = place.walls(command[0], *self.needs, reads=self.reads, address_space=address_space)
        return LineProcess(command, cwd=place.scratch, environment=self.variables(place), walls=walls)

    def ask(self, request: object, timeout: float, kind: type[_Reply]) -> _Reply:
        """Ask a driver whose requests and replies are lines of JSON. Raises EngineMisbehaved if the reply cannot be
        read, and EngineRaised if the driver reports an error."""
        question = msgspec.json.encode(request)
        tell("->", question)
        line = self._process.ask(question, timeout)
        tell("<-", line)
        try:
            reply = msgspec.json.decode(line, type=kind)
        # JSON that is nested too deeply raises a RecursionError.
        except (msgspec.MsgspecError, RecursionError) as error:
            raise EngineMisbehaved(f"the driver answered {quote(line, 80)!r}: {error}") from error
        if reply.error:
            raise EngineRaised(reply.error)
        return reply

    @property
    def confined(self) -> str:
        return self._process.confined

    @property
    def process(self) -> LineProcess:
        return self._process

    def peak_memory(self) -> int | None:
        return self._process.peak_memory()

    def restart(self) -> None:
        self._process.close()
        self._process = self._start()

    def close(self) -> None:
        self._process.close()
        self._place.remove()


class RunningDriver(RunningProcess):
    def __init__(self, engine: DrivenEngine, folder: Path, surroundings: Surroundings) -> None:
        self._engine = engine
        self._path = self._text = ""
        self.needs = engine.needs
        super().__init__(folder, surroundings)

    def command(self, place: Place) -> Sequence[str]:
        self._fresh = True
        return self._engine.command(place)

    def open(self, path: str, text: str) -> None:
        """Ask a new driver one question and drop the answer."""
        self._path, self._text = path, text
        # The driver's start must not count as part of a completion: a user would have waited for the start before.
        if self._fresh:
            # No session is at the end of the file, so an error there does not matter.
            with suppress(EngineRaised):
                self._ask(len(text), START_TIMEOUT)
            self._fresh = False

    def edit(self, edits: Sequence[Edit]) -> None:
        for offset, deleted, inserted in edits:
            self._text = self._text[:offset] + inserted + self._text[offset + deleted :]

    def complete(self, query: Query) -> Answer:
        """Ask the driver. Raises EngineTimeout if the driver measured a time above the limit."""
        limit = self._surroundings.timeout
        clocks = self._process.start_clock()
        latency, names = self._ask(query.offset, limit + self._engine.overhead)
        cpu = self._process.stop_clock(clocks)
        # The wait may be longer than the limit (see `overhead`), so the driver's own time decides.
        if latency > 1000 * limit:
            raise EngineTimeout(f"{self._engine.name} took {latency / 1000:.1f} s")
        suggestions = []
        for line in names:
            name, _, sort_text = line.partition("\t")
            if match := (self._engine.text or self._surroundings.word).match(name):
                suggestions.append(Suggestion(text=match[0], sort_text=sort_text or None))
        return Answer(suggestions=suggestions, latency=latency, cpu=cpu)

    def _ask(self, offset: int, timeout: float) -> tuple[float, list[str]]:
        location = str(self._place.root / self._path)
        # Messages are traced without base64, which nobody can read.
        tell("->", msgspec.json.encode({"offset": offset, "path": location, "text": self._text}))
        # Base64 contains no line end, which would end the question.
        path, text = (base64.b64encode(part.encode()) for part in (location, self._text))
        line = self._process.ask(b"%d %s %s" % (offset, path, text), timeout)
        try:
            head, _, encoded = line.decode().partition(" ")
            reply = base64.b64decode(encoded).decode()
            tell("<-", msgspec.json.encode({head if head == "error" else f"{head} ms": reply.splitlines()}))
            if head != "error":
                return float(head), reply.splitlines()
        # Wrong base64, wrong UTF-8 and a wrong number all raise a ValueError.
        except ValueError as error:
            raise EngineMisbehaved(
                f"the driver of {self._engine.name} answered {quote(line, 80)!r}: {error}"
            ) from error
        raise EngineRaised(reply)
