"""The messages to and from an engine, while somebody listens: a line for each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal

import msgspec

Direction = Literal["->", "<-"]
"""To the engine, or from it."""
Listener = Callable[[Direction, bytes], None]

LONGEST = 80
"""Characters of a text that are shown where it is shortened."""
MOST = 5
"""Elements of a list that are shown where it is shortened."""
DEEPEST = 20

_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def heard_by(listener: Listener) -> Iterator[None]:
    """Each message of an engine that is asked within the context is told to the listener, when it was sent or was
    there as a whole."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(direction: Direction, body: bytes) -> None:
    """Tell the listener, if there is one, of a message."""
    if listener := _listener.get():
        listener(direction, body)


class Trace:
    """A listener that makes each message a line: milliseconds since the first one, direction, what it is, and its
    JSON."""

    def __init__(
        self, write: Callable[[str], None], *, full: bool, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """`write` gets the lines; unless `full`, long texts and lists in them are shortened."""
        self._write = write
        self._full = full
        self._clock = clock
        self._began: float | None = None
        self._asked: dict[tuple[Direction, int | str], tuple[str, float]] = {}
        self.messages = 0
        """So far."""

    def __call__(self, direction: Direction, body: bytes) -> None:
        """See Listener."""
        now = self._clock()
        self._began = now if self._began is None else self._began
        self.messages += 1
        try:
            message = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            message = body.decode(errors="backslashreplace")  # an engine may send anything
        what, rest = self._parts(direction, message, now)
        said = msgspec.json.encode(rest if self._full else shortened(rest)).decode()
        self._write(f"{1000 * (now - self._began):10.1f} ms  {direction} {what}{said}")

    def _parts(self, direction: Direction, message: Any, now: float) -> tuple[str, Any]:
        """What a message is, as a word or two with a blank behind, and what is in it beside."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return "", message
        method, own = message.get("method"), message.get("id")
        name = f" #{own}" if own is not None else ""
        if isinstance(method, str):
            if isinstance(own, int | str):
                self._asked[direction, own] = method, now
            return f"{method}{name}  ", message.get("params")
        question: Direction = "<-" if direction == "->" else "->"
        of = self._asked.pop((question, own), None) if isinstance(own, int | str) else None
        took = f"{of[0]}{name} after {1000 * (now - of[1]):.1f} ms" if of else f"an answer{name}"
        if message.get("error") is not None:
            return f"{took}: error  ", message["error"]
        return f"{took}: result  ", message.get("result")


def shortened(value: Any, levels: int = DEEPEST) -> Any:
    """The same JSON with the beginning of each long text and list, and how much there is in all; `levels`: how many of
    lists and objects within each other are shown."""
    if not levels and isinstance(value, list | dict):
        return "…"
    if isinstance(value, str):
        return value if len(value) <= LONGEST else f"{value[:LONGEST]}… ({len(value):,} characters)"
    if isinstance(value, list):
        kept = [shortened(each, levels - 1) for each in value[:MOST]]
        return kept if len(value) <= MOST else [*kept, f"… ({len(value):,} in all)"]
    if isinstance(value, dict):
        return {name: shortened(each, levels - 1) for name, each in value.items()}
    return value
