"""Requests over HTTP, and the answers that servers send in many shapes.

Requests, and the key with them, go only to the configured address.
"""

from __future__ import annotations

import codecs
import json
import re
import socket
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.quoting import hide, hiding
from ci_eval.fetch.download import is_loopback, shown
from ci_eval.plugins.adapters.endpoints import trouble
from ci_eval.plugins.adapters.endpoints.messages import Api, Piece, Reply

if TYPE_CHECKING:
    import requests

DONE = object()
_LINE_END = re.compile(rb"[\r\n]")
_FIELDS = (b":", b"event:", b"id:", b"retry:")
COUNTS = ("prompt_tokens", "cached_tokens", "answer_tokens", "thought_tokens")


def objects(parts: Iterable[bytes]) -> Iterator[Any]:
    """Yield the JSON objects of a stream, and `DONE` for its end mark. Raises Trouble.

    An event may have data on several lines, and an endpoint may answer in one piece although a stream was requested.
    Texts that are not JSON, such as `data: ping`, are skipped.
    """
    held = b""
    for line in lines(parts):
        text = line.strip()
        if text.startswith(b"error:"):
            raise trouble.classify_error(text[6:].decode(errors="replace"))
        if text.startswith(b"data:"):
            text = text[5:].strip()
            if text == b"[DONE]":
                yield DONE
                continue
        elif not text or text.startswith(_FIELDS):
            continue
        goes_on = held.startswith((b"{", b"["))
        held = held + b"\n" + text if goes_on else text
        if not held.startswith((b"{", b"[")):
            # A short text such as `ping` is a sign of life and is dropped. A longer text is part of an HTML page.
            held = b"" if len(held) < 40 and b"<" not in held else held
        # Only a bracket can end an object; parsing at each line would take quadratic time.
        elif not goes_on or text.endswith((b"}", b"]")):
            with suppress(ValueError, RecursionError):
                parsed = json.loads(held)
                held = b""
                yield parsed
    if held:
        yield _parse(held)


def lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines without a byte order mark (https://html.spec.whatwg.org/multipage/server-sent-events.html). A CR LF
    gives an extra blank line, which callers ignore."""
    begun = b""
    for part in chain(parts, [b"\n"]):
        *whole_lines, begun = _LINE_END.split(begun + part)
        yield from (line.removeprefix(codecs.BOM_UTF8) for line in whole_lines)


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise trouble.garbage("the answer is not JSON") from None


def find_error(answer: Mapping[str, Any], key: str) -> object:
    """Return the error in an object that came with code 200, or None. `key`: the field that all answers have."""
    if answer.get("error"):
        return answer["error"] if isinstance(answer["error"], Mapping) else answer
    if answer.get("object") == "error" or answer.get("type") == "error":
        return answer
    status = answer.get("base_resp")  # MiniMax
    if isinstance(status, Mapping) and status.get("status_code"):
        return status
    if key not in answer and (answer.get("detail") or (answer.get("message") and answer.get("code"))):
        return answer
    choices = answer.get("choices")  # OpenRouter
    inner = [choice for choice in choices if isinstance(choice, Mapping)] if isinstance(choices, list) else []
    return next((choice["error"] for choice in inner if choice.get("error")), None)


class Assembly:
    def __init__(self, api: Api) -> None:
        self._api = api
        self.text = self.thought = ""
        self.logprobs: list[tuple[int, float | None]] = []
        self.last = Piece()
        self.first_text: float | None = None
        self._refused = self._is_whole = self._has_choice = False
        self._pieces = 0

    def add(self, content: Any) -> None:
        """Add a part of the answer. `content`: an object of the response, or a list of objects. Raises Trouble."""
        if isinstance(content, list):
            for inner in content:
                self.add(inner)
            return
        if isinstance(content, Mapping):
            if error := find_error(content, self._api.key):
                raise trouble.classify_error(error)
            if self._api.key not in content:
                return  # such as a ping
        try:
            # `Api.read` does not check the types of values; the conversion from builtins does.
            piece = msgspec.convert(msgspec.to_builtins(self._api.read(content)), Piece)
        except (LookupError, TypeError, ValueError, AttributeError):
            raise trouble.garbage(f"the answer does not have the form of api {self._api.name}") from None
        self._pieces += 1
        self._has_choice |= piece.has_choice
        if (piece.text or piece.thought) and self.first_text is None:
            self.first_text = time.perf_counter()
        if piece.is_whole and self.text and piece.text.startswith(self.text):
            self.text = piece.text  # some servers end a stream with the whole answer
        else:
            self.text += piece.text
            self.thought += piece.thought
            self.logprobs += piece.logprobs
        self._is_whole |= piece.is_whole
        self._refused |= piece.refused
        # A last chunk with only token counts must not replace the finish reason of an earlier chunk.
        finish = piece.finish if trouble.translate_finish(piece.finish) else self.last.finish
        counts = {name: getattr(piece, name) for name in COUNTS if getattr(piece, name) is not None}
        self.last = replace(self.last, finish=finish, model=piece.model or self.last.model, **counts)

    def read(self, parts: Iterable[bytes], *, streamed: bool) -> Assembly:
        """Read the body of a response. Raises Trouble if the answer is incomplete."""
        is_done = False
        for content in objects(parts) if streamed else [_parse(b"".join(parts).removeprefix(codecs.BOM_UTF8))]:
            is_done = content is DONE
            if is_done:
                break
            self.add(content)
        if not self._pieces:
            raise trouble.garbage(f"the answer does not have the form of api {self._api.name}")
        if not self._has_choice:
            raise trouble.garbage("the endpoint sent an empty list of answers")
        finish = trouble.translate_finish(self.last.finish)
        is_one_piece = self._is_whole and self._pieces == 1
        # Only the missing finish reason and end mark show that a stream was cut.
        if not (finish or is_done or is_one_piece or not streamed):
            raise trouble.Trouble("the answer broke off", again=True)
        if not (finish or self.text.strip() or self._refused):
            raise trouble.Trouble("the answer is empty, and the endpoint gives no reason", again=True)
        if finish.startswith(trouble.BROKEN):
            raise trouble.Trouble(f"the answer is {finish}: the endpoint did not finish it", again=True)
        return self

    @property
    def finish(self) -> str:
        if self._refused and not self.text:
            return trouble.REFUSAL
        return trouble.translate_finish(self.last.finish) or "unknown"


CONNECT_SECONDS = 10.0
LARGEST_BYTES = 16 << 20


def build_address(endpoint: str, path: str, *, keyed: bool) -> str:
    """Return the address of a request. Raises ConfigError if the address contains a secret, or would get the
    key unencrypted."""
    try:
        parts = urlsplit(endpoint)
        # `urlsplit` checks the port only when the attribute is read.
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(
            f"`engine.endpoint` is not an address ({error}); expected for example https://HOST/v1"
        ) from None
    url = shown(endpoint)
    if parts.scheme not in {"http", "https"} or not host or not endpoint.isascii() or any(map(str.isspace, endpoint)):
        raise ConfigError(f"`engine.endpoint` is {url!r}; expected an address such as https://HOST/v1")
    # Azure's addresses need `api-version`, which is not a secret.
    if parts.username is not None or {name for name, _ in parse_qsl(parts.query)} - {"api-version"} or parts.fragment:
        raise ConfigError(
            f"`engine.endpoint` {url} contains a user or parameters, which would be stored and shown: put the key "
            "into an environment variable, and name the variable in `engine.key`"
        )
    if keyed and parts.scheme == "http" and not is_loopback(host):
        raise ConfigError(f"`engine.endpoint` {url} would send the key unencrypted: use https")
    base = parts.path.rstrip("/")
    return parts._replace(path=base if base.endswith(path) else base + path).geturl()


def _watched_adapter(opened: weakref.WeakSet[Any]) -> Any:
    import requests.adapters
    import urllib3

    def watch(pool: Any) -> Any:
        kind = pool.ConnectionCls

        def connect(self: Any) -> None:
            opened.add(self)
            kind.connect(self)

        return type(pool.__name__, (pool,), {"ConnectionCls": type(kind.__name__, (kind,), {"connect": connect})})

    adapter = requests.adapters.HTTPAdapter()
    # Connections are collected here, since `requests` gives no access to a connection that awaits an answer.
    adapter.poolmanager.pool_classes_by_scheme = {
        "http": watch(urllib3.HTTPConnectionPool),
        "https": watch(urllib3.HTTPSConnectionPool),
    }
    return adapter


class Wire:
    def __init__(self, api: Api, address: str, key: str, key_name: str | None, timeout: float) -> None:
        self._api = api
        self._address = address
        self._key = key
        self._key_name = key_name
        self._timeout = timeout
        import requests  # The import takes long, and most commands ask no endpoint.

        self._session = requests.Session()
        # A weak set, so that closed connections are freed.
        self._opened: weakref.WeakSet[Any] = weakref.WeakSet()
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, _watched_adapter(self._opened))
        # Even without a key, this function keeps `requests` from reading a password from ~/.netrc.
        self._session.auth = self._add_key
        # No proxy is used for an address on this machine: the proxy would send the request to another machine.
        self._session.trust_env = not is_loopback(urlsplit(address).hostname or "")

    def send(self, body: Mapping[str, Any]) -> Reply:
        """Send a request and read the answer. Raises Trouble if the answer is incomplete."""
        started = time.perf_counter()
        # The timeouts of `requests` do not end an exchange in which a byte, or `100 Continue`, comes now and then.
        deadline = threading.Timer(self._timeout, self._cut)
        # A running timer must not keep the process alive.
        deadline.daemon = True
        deadline.start()
        with hiding(self._key):
            try:
                return self._exchange(body, started)
            except trouble.Trouble as failure:
                # A connection that the timer cut can look like an answer that ended early.
                if time.perf_counter() - started >= self._timeout:
                    raise trouble.timed_out(self._timeout) from None
                failure.reason = hide(failure.reason)
                raise
            finally:
                deadline.cancel()

    def _add_key(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request

    def _cut(self) -> None:
        # A copy, since other threads may open connections meanwhile.
        for connection in list(self._opened):
            if connection.sock is not None:
                with suppress(OSError):  # the connection was closed meanwhile
                    connection.sock.shutdown(socket.SHUT_RDWR)

    def _exchange(self, body: Mapping[str, Any], started: float) -> Reply:
        import requests
        import urllib3

        try:
            with self._session.post(
                self._address,
                json=body,
                stream=True,
                # A redirect could carry the key to another address.
                allow_redirects=False,
                timeout=(CONNECT_SECONDS, self._timeout),
                headers={"Accept-Encoding": "identity"},
            ) as answer:
                return self._receive(answer, started, streamed=body.get("stream") is True)
        except requests.ConnectTimeout:
            raise trouble.Trouble(f"the endpoint cannot be reached within {CONNECT_SECONDS:g} s", again=True) from None
        except requests.Timeout:
            raise trouble.timed_out(self._timeout) from None
        except requests.exceptions.SSLError:
            raise trouble.Trouble(
                "the endpoint's certificate cannot be verified; if a proxy inspects the connection, set "
                "REQUESTS_CA_BUNDLE to the file with the proxy's certificate"
            ) from None
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            # While a body is read, requests reports a timeout as a broken connection.
            if "timed out" in str(error).lower():
                raise trouble.timed_out(self._timeout) from None
            raise trouble.Trouble(describe_connection(error), again=True) from None

    def _receive(self, answer: requests.Response, started: float, *, streamed: bool) -> Reply:
        parts = self._read_parts(answer, started, streamed=streamed)
        if answer.status_code != 200:
            body = b"".join(parts)[:LARGEST_BYTES]
            # The key is removed before the message is shortened, since half a key would not be recognised.
            body = body.replace(self._key.encode(), b"[key]") if self._key else body
            raise trouble.classify_status(answer.status_code, answer.headers, body, self._key_name)
        assembly = Assembly(self._api).read(parts, streamed=streamed)
        first, last = assembly.first_text, assembly.last
        return Reply(
            text=hide(assembly.text),
            thought=hide(assembly.thought),
            finish=assembly.finish,
            model=hide(last.model),
            **{name: getattr(last, name) for name in COUNTS},
            logprobs=tuple(assembly.logprobs),
            first_token=round(1000 * (first - started), 3) if first is not None and streamed else None,
            last_token=round(1000 * (time.perf_counter() - started), 3),
        )

    def _read_parts(self, answer: requests.Response, started: float, *, streamed: bool) -> Iterator[bytes]:
        # If a body is not chunked, `requests` yields a part only when the part has `size` bytes.
        size = None if getattr(answer.raw, "chunked", False) else 1 if streamed else 1 << 16
        held = 0
        for part in answer.iter_content(size):
            held += len(part)
            if time.perf_counter() - started > self._timeout:
                raise trouble.timed_out(self._timeout)
            if held > LARGEST_BYTES:
                raise trouble.Trouble(f"the answer is longer than {LARGEST_BYTES:,} bytes")
            yield part


CAUSES = {
    "NewConnectionError": "nothing listens at that address; is the server running?",
    "NameResolutionError": "no host has that name; check engine.endpoint",
    "RemoteDisconnected": "the server closed the connection before it answered",
}


def describe_connection(error: Exception) -> str:
    # Only the name of the error is shown, since its text repeats the address and the request.
    first = error.args[0] if error.args else error
    cause = getattr(first, "reason", error)
    inner = [cause, *getattr(cause, "args", ()), *getattr(first, "args", ())]
    known = next((CAUSES[name] for part in inner if (name := type(part).__name__) in CAUSES), None)
    return f"the connection broke ({type(cause).__name__})" if known is None else f"the connection broke: {known}"
