"""Traces of the messages to and from an engine, with one line per message."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import msgspec

Direction = Literal["->", "<-"]
"""The direction of a message: to the engine (`->`) or from it (`<-`)."""
Listener = Callable[[Direction, bytes], None]

LONGEST = 80
"""The number of characters to which long texts are shortened."""
MOST = 5
"""The number of elements to which long lists are shortened."""
DEEPEST = 20

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def attach_listener(listener: Listener) -> Iterator[None]:
    """Call the listener for each message in the block, after the message was sent or completely received."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(direction: Direction, body: bytes) -> None:
    if listener := _listener.get():
        listener(direction, body)


class Trace:
    """A listener that writes a line for each message: milliseconds since the first message, direction, label, JSON."""

    def __init__(
        self, write: Callable[[str], None], *, full: bool, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """`write`: a function that is called with each line. `full`: do not shorten long texts and lists."""
        self._write = write
        self._full = full
        self._clock = clock
        self._began: float | None = None
        self._asked: dict[tuple[Direction, int | str], tuple[str, float]] = {}
        self._numbers: dict[int, int] = {}
        self.messages = 0

    def __call__(self, direction: Direction, body: bytes) -> None:
        now = self._clock()
        self._began = now if self._began is None else self._began
        self.messages += 1
        try:
            message = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            message = body.decode(errors="backslashreplace")  # an engine may send anything
        label, content = self._parts(direction, message, now)
        text = msgspec.json.encode(content if self._full else shorten_value(content)).decode()
        self._write(f"{1000 * (now - self._began):10.1f} ms  {direction} {label}{text}")

    def _parts(self, direction: Direction, message: Any, now: float) -> tuple[str, Any]:
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return "", message
        method, identifier = message.get("method"), message.get("id")
        if isinstance(identifier, int) and direction == ("->" if isinstance(method, str) else "<-"):
            # The ids of our requests are random. They are numbered, so that equal runs have equal traces.
            identifier = self._numbers.setdefault(identifier, len(self._numbers) + 1)
        name = f" #{identifier}" if identifier is not None else ""
        if isinstance(method, str):
            if isinstance(identifier, int | str):
                self._asked[direction, identifier] = method, now
            return f"{method}{name}  ", message.get("params")
        # Both sides choose the ids of their own requests, so an id may occur in both directions.
        opposite: Direction = "<-" if direction == "->" else "->"
        request = self._asked.pop((opposite, identifier), None) if isinstance(identifier, int | str) else None
        took = f"{request[0]}{name} after {1000 * (now - request[1]):.1f} ms" if request else f"an answer{name}"
        part = "result" if message.get("error") is None else "error"
        return f"{took}: {part}  ", message.get(part)


def shorten_value(value: Any, levels: int = DEEPEST) -> Any:
    """Return the JSON value with long texts and lists shortened, and "…" for lists and objects nested too deeply."""
    if not levels and isinstance(value, list | dict):
        return "…"
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({len(value):,} characters)"
    if isinstance(value, list):
        elements = [shorten_value(element, levels - 1) for element in value[:MOST]]
        return elements if len(value) <= MOST else [*elements, f"… ({len(value):,} in all)"]
    if isinstance(value, dict):
        return {name: shorten_value(member, levels - 1) for name, member in value.items()}
    return value
