"""Exchanges that would never end: the limit holds from the first byte sent to the last one received."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat

import pytest

from ci_eval.plugins.adapters.endpoints import apis
from ci_eval.plugins.adapters.endpoints.http.trouble import Trouble
from ci_eval.plugins.adapters.endpoints.http.wire import Wire

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
BODY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
Serve = Callable[[Iterator[bytes]], str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start a server that sends these parts to whoever connects, five a second; return its address."""
    servers = []

    def start(parts: Iterator[bytes]) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        threading.Thread(target=_send, args=(server, parts), daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/v1"

    yield start
    for server in servers:
        server.close()


def _send(server: socket.socket, parts: Iterator[bytes]) -> None:
    with suppress(OSError):  # the client has gone, as it should
        client, _ = server.accept()
        with client:
            for part in parts:
                client.sendall(part)
                time.sleep(0.2)


@pytest.mark.parametrize(
    "parts",
    [
        repeat(CONTINUE),
        chain([b"HTTP/1.1 200 OK\r\nX-Slow: "], repeat(b"x")),
        chain([BODY], repeat(b"1\r\n \r\n")),
        repeat(b"", 30),
    ],
    ids=["continue", "header", "body", "nothing"],
)
def test_an_answer_that_never_ends_is_given_up(parts: Iterator[bytes], serve: Serve) -> None:
    wire = Wire(apis.CATALOG.load("chat"), serve(parts), "", None, timeout=1)
    with pytest.raises(Trouble, match="no answer within 1"):
        wire.send({"model": "m"})
