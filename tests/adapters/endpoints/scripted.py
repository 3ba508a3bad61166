"""An endpoint that answers as each test asks it to, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

Reply = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@dataclass
class Endpoint:
    """Where it listens, the bodies of the requests it got, and their headers."""

    address: str
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    at_once: int = 0
    """The most requests that were under way at the same time."""


def sends(body: bytes | str, code: int = 200, *, length: int | None = None, **headers: str) -> Reply:
    """These bytes, with headers (`_` stands for `-`); `length`: how many it claims that there are."""
    data = body.encode() if isinstance(body, str) else body

    def reply(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(data) if length is None else length))
        handler.end_headers()
        # The next request may arrive as soon as this answer is complete, before this thread goes on.
        getattr(handler, "leave", lambda: None)()
        handler.wfile.write(data)
        handler.close_connection = length is not None

    return reply


def whole(text: str, finish: str | None = "stop", *, prompt: int = 10, answer: int = 5) -> dict[str, Any]:
    """A chat's answer in one piece."""
    return {
        "model": "tiny-1",
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": answer},
    }


def events(*texts: str, finish: str | None = "stop", done: bool = True) -> bytes:
    """The same, in pieces."""
    chunks: list[dict[str, Any]] = [{"model": "tiny-1", "choices": [{"delta": {"content": text}}]} for text in texts]
    if finish:
        chunks.append({"choices": [{"delta": {}, "finish_reason": finish}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": len(texts)}})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks] + ["data: [DONE]\n\n"] * done
    return "".join(lines).encode()


def says(text: str, finish: str | None = "stop") -> Reply:
    """That answer: in pieces where the request wants it so."""

    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        data = events(*text, finish=finish) if body.get("stream") else json.dumps(whole(text, finish)).encode()
        sends(data)(handler, body)

    return reply


def fails(code: int, message: str = "", **headers: str) -> Reply:
    """An error in OpenAI's shape."""
    return sends(json.dumps({"error": {"message": message, "code": None}}), code, length=None, **headers)


def stalls(seconds: float) -> Reply:
    """Nothing for so long, then an answer."""

    def reply(handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        time.sleep(seconds)
        says("late")(handler, body)

    return reply


def trickles(before: float, between: float, *, chunked: bool) -> Reply:
    """A stream that says "fo" after `before` seconds, and "ur" `between` seconds later."""

    def reply(handler: BaseHTTPRequestHandler, _: dict[str, Any]) -> None:
        role = b'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n'
        first, second = events("fo", finish=None, done=False), events("ur")
        handler.send_response(200)
        if chunked:
            handler.send_header("Transfer-Encoding", "chunked")
        else:
            handler.send_header("Content-Length", str(len(role + first + second)))
        handler.end_headers()
        for wait, part in ((0.0, role), (before, first), (between, second), (0.0, b"")):
            time.sleep(wait)
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part) if chunked else part)
            handler.wfile.flush()

    return reply


@contextmanager
def serve(*replies: Reply) -> Iterator[Endpoint]:
    """An endpoint that gives each request the next of the replies; the last one serves for the rest."""
    left = list(replies)
    lock = threading.Lock()
    now: set[int] = set()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                endpoint.asked.append(body)
                endpoint.headers.append(dict(self.headers))
                now.add(id(self))
                endpoint.at_once = max(endpoint.at_once, len(now))
                reply = left.pop(0) if len(left) > 1 else left[0]
            try:
                reply(self, body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # who asked is gone
            self.leave()

        def leave(self) -> None:
            with lock:
                now.discard(id(self))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the base class
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    # An address of its own: ports come again, and the store of answers knows an endpoint by its address.
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/{uuid4().hex}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
