"""The wire for requests over HTTP: nothing but the configured address is reached, and the key goes nowhere else."""

from __future__ import annotations

import socket
import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.base.quoting import hide, hiding
from ci_eval.core.fetch.download import is_loopback, shown
from ci_eval.plugins.adapters.endpoints.contract import Api, Reply
from ci_eval.plugins.adapters.endpoints.http.assembly import COUNTS, DONE, Assembly, objects, whole
from ci_eval.plugins.adapters.endpoints.http.trouble import Trouble, broken, classify_status, timed_out

if TYPE_CHECKING:
    import requests

CONNECT = 10.0
"""Seconds to reach the endpoint."""
MOST = 16 << 20
"""Bytes of the longest answer."""


def build_address(endpoint: str, path: str, *, keyed: bool) -> str:
    """Return the address of the api. Raises ConfigError if it tells a secret or would send one in the open."""
    try:
        parts = urlsplit(endpoint)
        # urlsplit finds a wrong port only when the port is read.
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"engine.endpoint is no address ({error}); expected for example https://HOST/v1") from None
    url = shown(endpoint)
    if parts.scheme not in {"http", "https"} or not host or not endpoint.isascii() or any(map(str.isspace, endpoint)):
        raise ConfigError(f"engine.endpoint is {url!r}; expected an address such as https://HOST/v1")
    # Azure's addresses need `api-version`, which is no secret.
    if parts.username is not None or {name for name, _ in parse_qsl(parts.query)} - {"api-version"} or parts.fragment:
        raise ConfigError(
            f"engine.endpoint {url} holds a user or parameters, which would be stored and shown: put the key into a "
            "variable of the environment, and name that in engine.key"
        )
    if keyed and parts.scheme == "http" and not is_loopback(host):
        raise ConfigError(f"engine.endpoint {url} would send the key unencrypted: use https")
    base = parts.path.rstrip("/")
    return parts._replace(path=base if base.endswith(path) else base + path).geturl()


class _Bearer:
    def __init__(self, key: str) -> None:
        self._key = key

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        # Even without a key, an object as `auth` keeps `requests` from looking for a password in ~/.netrc.
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        return request


class _Connections:
    """The open connections of a session, which another thread can cut."""

    def __init__(self) -> None:
        # The set must not keep closed connections alive.
        self._open: weakref.WeakSet[Any] = weakref.WeakSet()

    def adapter(self) -> Any:
        """Return an adapter for `requests` whose connections are remembered."""
        import requests.adapters
        import urllib3

        opened = self._open

        # requests has no way to reach a connection on which an answer is awaited.
        class Pools(requests.adapters.HTTPAdapter):
            """A manager of pools whose connections are remembered."""

            def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
                super().init_poolmanager(*arguments, **options)
                self.poolmanager.pool_classes_by_scheme = {
                    scheme: type(pool.__name__, (pool,), {"ConnectionCls": _remember(pool.ConnectionCls, opened)})
                    for scheme, pool in (
                        ("http", urllib3.HTTPConnectionPool),
                        ("https", urllib3.HTTPSConnectionPool),
                    )
                }

        return Pools()

    def cut(self) -> None:
        """End every exchange that is under way."""
        # A copy, since other threads may open connections meanwhile.
        for connection in list(self._open):
            if connection.sock is not None:
                with suppress(OSError):  # it was closed meanwhile
                    connection.sock.shutdown(socket.SHUT_RDWR)


def _remember(kind: Any, opened: weakref.WeakSet[Any]) -> Any:
    def connect(self: Any) -> None:
        opened.add(self)
        kind.connect(self)

    return type(kind.__name__, (kind,), {"connect": connect})


class Wire:
    """A sender of requests to one address, one at a time."""

    def __init__(self, api: Api, address: str, key: str, key_name: str | None, timeout: float) -> None:
        self._api = api
        self._address = address
        self._key = key
        self._key_name = key_name
        self._timeout = timeout
        import requests  # Takes long, and most commands ask no endpoint.

        self._session = requests.Session()
        self._connections = _Connections()
        for scheme in ("http://", "https://"):
            self._session.mount(scheme, self._connections.adapter())
        self._session.auth = _Bearer(key)
        # A proxy would carry what is meant for this machine off it.
        self._session.trust_env = not is_loopback(urlsplit(address).hostname or "")

    def send(self, body: Mapping[str, Any]) -> Reply:
        """Return the whole answer. Raises Trouble if there is none."""
        with hiding(self._key):
            try:
                return self._send_until(body)
            except Trouble as trouble:
                trouble.reason = hide(trouble.reason)
                raise

    def _send_until(self, body: Mapping[str, Any]) -> Reply:
        import requests
        import urllib3

        started = time.perf_counter()
        # Neither timeout of `requests` ends an exchange in which a byte comes now and then, or `100 Continue` for ever.
        deadline = threading.Timer(self._timeout, self._connections.cut)
        # A timer that still runs must not keep the process from ending.
        deadline.daemon = True
        deadline.start()
        try:
            try:
                with self._session.post(
                    self._address,
                    json=body,
                    stream=True,
                    # A redirect could carry the key to another address.
                    allow_redirects=False,
                    timeout=(CONNECT, self._timeout),
                    headers={"Accept-Encoding": "identity"},
                ) as answer:
                    return self._receive(answer, started, streamed=body.get("stream") is True)
            except requests.ConnectTimeout:
                raise broken(f"the endpoint cannot be reached within {CONNECT:g} s") from None
            except requests.Timeout:
                raise timed_out(self._timeout) from None
            except requests.exceptions.SSLError:
                raise Trouble(
                    "the endpoint's certificate cannot be verified; behind an inspecting proxy, let REQUESTS_CA_BUNDLE "
                    "name the file with its certificate"
                ) from None
            except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
                # While a body is read, requests tells a timeout as a broken connection.
                if "timed out" in str(error).lower():
                    raise timed_out(self._timeout) from None
                raise broken(describe_connection(error)) from None
        except Trouble:
            # What was cut can look like an answer that ended early.
            if time.perf_counter() - started >= self._timeout:
                raise timed_out(self._timeout) from None
            raise
        finally:
            deadline.cancel()

    def _receive(self, answer: requests.Response, started: float, *, streamed: bool) -> Reply:
        parts = self._parts(answer, started, streamed=streamed)
        if answer.status_code != 200:
            body = b"".join(parts)[:MOST]
            # Before the words are cut off: half a key would not be found in a message.
            body = body.replace(self._key.encode(), b"[key]") if self._key else body
            raise classify_status(answer.status_code, answer.headers, body, self._key_name)
        parser = Assembly(self._api)
        for content in objects(parts) if streamed else whole(parts):
            if content is DONE:
                parser.is_done = True
                break
            parser.add(content)
        return self._reply(parser.finished(streamed=streamed), started, streamed=streamed)

    def _reply(self, parser: Assembly, started: float, *, streamed: bool) -> Reply:
        first, last = parser.first_text, parser.last
        return Reply(
            text=hide(parser.text),
            thought=hide(parser.thought),
            finish=parser.finish,
            model=hide(last.model),
            **{name: getattr(last, name) for name in COUNTS},
            logprobs=tuple(parser.logprobs),
            first_token=_milliseconds(first - started) if first is not None and streamed else None,
            last_token=_milliseconds(time.perf_counter() - started),
        )

    def _parts(self, answer: requests.Response, started: float, *, streamed: bool) -> Iterator[bytes]:
        # A body that is not chunked would be waited for until so many bytes are there.
        size = None if getattr(answer.raw, "chunked", False) else 1 if streamed else 1 << 16
        held = 0
        for part in answer.iter_content(size):
            held += len(part)
            if time.perf_counter() - started > self._timeout:
                raise timed_out(self._timeout)
            if held > MOST:
                raise Trouble(f"the answer is longer than {MOST:,} bytes")
            yield part


CAUSES = {
    "NewConnectionError": "nothing listens at that address; is the server running?",
    "NameResolutionError": "there is no host of that name; check engine.endpoint",
    "RemoteDisconnected": "the server closed the connection before it answered",
}
"""The error of a connection → the meaning for a user."""


def describe_connection(error: Exception) -> str:
    """Return why a connection broke."""
    # The name only: the text of these errors repeats the address, and what was sent.
    first = error.args[0] if error.args else error
    cause = getattr(first, "reason", error)
    inner = [cause, *getattr(cause, "args", ()), *getattr(first, "args", ())]
    known = next((CAUSES[name] for part in inner if (name := type(part).__name__) in CAUSES), None)
    return f"the connection broke ({type(cause).__name__})" if known is None else f"the connection broke: {known}"


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)
