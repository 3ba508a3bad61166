"""The pipes of a server process, over which messages are sent and received without threads."""

from __future__ import annotations

import os
import re
import selectors
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from ci_eval.core.base.errors import EngineCrash, EngineMisbehaved, EngineTimeout
from ci_eval.core.base.quoting import quote
from ci_eval.core.tracing import tell
from ci_eval.plugins.adapters.process import EngineProcess, SandboxPolicy

LARGEST = 256 * 2**20
"""Bytes of the longest message taken from a server; one that sends a longer one is taken to be broken."""

AHEAD = 32 * 2**20
"""Bytes that may arrive while one message is being sent; a server that sends more does not read."""

LONGEST_HEADER = 8192
_LENGTH = re.compile(rb"content-length\s*:\s*(\d{1,12})\s*(?:\r\n|$)", re.IGNORECASE)


class Wire(EngineProcess):
    """A server process that speaks in messages. Its output is read even while we write: otherwise both sides could wait
    for each other for ever."""

    def __init__(
        self, argv: Sequence[str], *, cwd: Path, environment: Mapping[str, str], walls: SandboxPolicy | None = None
    ) -> None:
        super().__init__(argv, cwd=cwd, environment=environment, walls=walls)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._stdout, selectors.EVENT_READ)
        self._length = -1
        """Bytes of the message whose header was read; -1 = none was."""

    def send(self, body: bytes, deadline: float) -> None:
        """Write one message. Raises EngineTimeout (time.monotonic() > deadline), EngineCrash or EngineMisbehaved."""
        tell("->", body)
        unsent = memoryview(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        limit = len(self._received) + AHEAD
        while True:
            try:
                unsent = unsent[os.write(self._stdin, unsent) :]
            except BlockingIOError:
                pass
            except BrokenPipeError as error:
                raise self._crash() from error
            if not unsent:
                return
            self._selector.register(self._stdin, selectors.EVENT_WRITE)
            try:
                ready = self._select(deadline)
            finally:
                self._selector.unregister(self._stdin)
            if not ready:
                raise EngineTimeout(f"{self.name} did not read what it was sent")
            if self._stdout in ready:
                self._read()
            if len(self._received) > limit:
                raise EngineMisbehaved(f"{self.name} sent {AHEAD:,} bytes and did not read what it was sent")

    def receive(self, deadline: float) -> bytes | None:
        """Return the next message, or None if none is there by `deadline` (time.monotonic()). Raises EngineCrash or
        EngineMisbehaved."""
        while time.monotonic() < deadline:
            message = self._message()
            if message is not None:
                return message
            if self._select(deadline):
                self._read()
        return None

    def _select(self, deadline: float) -> list[int]:
        """Return the pipes that are ready; [] after the deadline."""
        # Without this check, a server that never stops sending would hold us for ever.
        left = deadline - time.monotonic()
        return [key.fd for key, _ in self._selector.select(left)] if left > 0 else []

    def _read(self) -> None:
        try:
            chunk = os.read(self._stdout, 2**20)
        except BlockingIOError:
            return
        if not chunk:
            raise self._crash()
        self._received += chunk
        if len(self._received) > LARGEST + LONGEST_HEADER:
            raise EngineMisbehaved(f"{self.name} sent more than {LARGEST:,} bytes at once")

    def _message(self) -> bytes | None:
        if self._length < 0 and not self._header():
            return None
        if len(self._received) < self._length:
            return None
        # A slice of the bytearray itself would copy the message twice.
        body = bytes(memoryview(self._received)[: self._length])
        del self._received[: self._length]
        self._length = -1
        tell("<-", body)
        return body

    def _header(self) -> bool:
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            if len(self._received) > LONGEST_HEADER:
                raise EngineMisbehaved(
                    f"{self.name} wrote what is no message: {quote(bytes(self._received[:LONGEST_HEADER]), 80)!r}"
                )
            return False
        header = bytes(self._received[:end])
        match = _LENGTH.search(header)
        # Some servers print a line or two before they begin to speak the protocol; that is no reason to give up.
        if not match or int(match[1]) > LARGEST:
            raise EngineMisbehaved(f"{self.name} wrote a header without a usable Content-Length: {quote(header, 80)!r}")
        del self._received[: end + 4]
        self._length = int(match[1])
        return True

    def wait_for_end(self, seconds: float) -> bool:
        """Return whether the program ends by itself within that time. Its output is dropped meanwhile."""
        deadline = time.monotonic() + seconds
        with suppress(EngineCrash, EngineMisbehaved):
            while self.receive(deadline) is not None:
                pass
        return self._process.poll() is not None

    def close(self) -> None:
        self._selector.close()
        super().close()
