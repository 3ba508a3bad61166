"""An HTTP server on this machine that behaves as badly as each test asks it to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Reply = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Loopback:
    """Where the server listens, and the paths it was asked for."""

    address: str
    asked: list[str] = field(default_factory=list)

    def url(self, path: str = "/file.zip") -> str:
        return f"http://{self.address}{path}"


def sends(body: bytes, *, length: int | None = None) -> Reply:
    """Answer 200 with `body`, and claim that it has `length` bytes."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        handler.end_headers()
        handler.wfile.write(body)

    return reply


def answers(code: int, **headers: str) -> Reply:
    """Answer with a status and headers (`_` stands for `-`), and no body."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return reply


def stalls(seconds: float) -> Reply:
    """Promise ten bytes, then fall silent."""

    def reply(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "10")
        handler.end_headers()
        handler.wfile.flush()
        time.sleep(seconds)

    return reply


@contextmanager
def serve(*replies: Reply) -> Iterator[Loopback]:
    """A server that gives each request the next of the replies; the last one serves for the rest."""
    left = list(replies)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            loopback.asked.append(self.path)
            (left.pop(0) if len(left) > 1 else left[0])(self)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    loopback = Loopback(f"127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield loopback
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
