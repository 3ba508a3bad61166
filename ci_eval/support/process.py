"""An engine's process: asked line by line, with a time limit, ended with everything it started."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ci_eval.errors import EngineCrash, EngineMisbehaved, EngineTimeout
from ci_eval.support import machine

LAUNCHER = Path(__file__).parent.parent / "drivers" / "launch.py"
LOOK = 20
"""Questions between two looks at the memory."""

LONGEST_LINE = 256 * 2**20
"""Bytes of one answer; an engine that sends more is broken."""


class EngineProcess:
    """A program with pipes to its standard streams; in a process group of its own, gone when its parent is."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], memory: int = 0) -> None:
        """Start it. `memory`: bytes of address space, 0 = no limit. Raises EngineCrash."""
        self.name = Path(argv[0]).name
        command = [sys.executable, "-I", "-S", str(LAUNCHER), str(memory), *argv]
        try:
            self._process = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineCrash(f"{self.name} could not be started: {error}") from error
        assert self._process.stdin
        assert self._process.stdout
        self._stdin = self._process.stdin.fileno()
        self._stdout = self._process.stdout.fileno()
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)
        self._received = bytearray()
        self._last_words = b""
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        """Of the program."""
        return self._process.pid

    def _await(self, fd: int, event: int, deadline: float) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(fd, event)
            if not selector.select(max(deadline - time.monotonic(), 0)):
                raise EngineTimeout(f"{self.name} did not answer in time")

    def _crash(self) -> EngineCrash:
        try:
            code = self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return EngineCrash(f"{self.name} closed its output")
        self._listener.join(timeout=1)
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return EngineCrash("\n".join([f"{self.name} ended ({cause})", *self.last_words()]))

    def last_words(self) -> list[str]:
        """The end of its standard error."""
        return [line.rstrip()[:500] for line in self._last_words.decode(errors="replace").splitlines()[-20:]]

    def _listen(self) -> None:
        assert self._process.stderr
        while chunk := self._process.stderr.read(65536):
            self._last_words = (self._last_words + chunk)[-8192:]

    def close(self) -> None:
        """End it and its process group; never raises."""
        # It may have ended by itself, with nothing left of what it started.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._listener.join(timeout=1)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()


class MemoryWatch:
    """Gives up an engine that takes too much memory: an address space limit is no use with Node.js, Go or Java."""

    def __init__(self, name: str, limit: int) -> None:
        """`limit`: bytes of all its processes together; 0 = none."""
        self._name = name
        self._limit = limit
        self._questions = 0

    def look(self, pid: int) -> None:
        """Count a question, and at every LOOK-th weigh the process group. Raises EngineCrash."""
        self._questions += 1
        if not self._limit or self._questions % LOOK:
            return
        used = machine.memory_of_group(pid)
        if used > self._limit:
            raise EngineCrash(
                f"{self._name} used {used / 1e9:.1f} GB; interpret.memoryLimit allows {self._limit / 1e9:.1f} GB"
            )


class LineProcess(EngineProcess):
    """A program that answers each line on its standard input with one line on its standard output."""

    def ask(self, line: bytes, timeout: float) -> bytes:
        """Send a line, return the next one. Raises EngineTimeout, EngineCrash or EngineMisbehaved."""
        deadline = time.monotonic() + timeout
        unsent = memoryview(line + b"\n")
        while unsent:
            self._await(self._stdin, selectors.EVENT_WRITE, deadline)
            try:
                unsent = unsent[os.write(self._stdin, unsent) :]
            except BrokenPipeError as error:
                raise self._crash() from error
        return self._receive(deadline)

    def _receive(self, deadline: float) -> bytes:
        end = self._received.find(b"\n")
        while end < 0:
            self._await(self._stdout, selectors.EVENT_READ, deadline)
            chunk = os.read(self._stdout, 2**20)
            if not chunk:
                raise self._crash()
            found = chunk.find(b"\n")
            end = len(self._received) + found if found >= 0 else -1
            self._received += chunk
            if len(self._received) > LONGEST_LINE:
                raise EngineMisbehaved(f"{self.name} answered with more than {LONGEST_LINE:,} bytes")
        line = bytes(self._received[:end])
        del self._received[: end + 1]
        return line
