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


@pytest.mark.parametrize("before", range(256, 304, 3))
def test_no_part_of_the_key_is_shown_where_the_endpoints_words_are_cut(before: int, serve: Serve) -> None:
    key = "sk-0123456789abcdefghijklmnopqrstuv"
    body = b'{"error":"%b%b and more"}' % (b"." * before, key.encode())
    head = b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
    with pytest.raises(Trouble) as caught:
        Wire(apis.CATALOG.load("chat"), serve(iter([head + body])), key, None, timeout=20).send({"model": "m"})
    assert key[:4] not in caught.value.reason
    assert "[key"[: max(300 - before, 0)] in caught.value.reason
