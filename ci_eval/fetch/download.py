"""Download one file over HTTPS to a cache that is addressed by content. Only a file with the pinned digest is
returned."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import random
import re
import tempfile
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from ci_eval.core.base.errors import ChecksumError, ConfigError, DownloadError

if TYPE_CHECKING:
    import requests

MAX_BYTES = 1 << 30
MAX_REDIRECTS = 5
MAX_WAIT = 60.0
MAX_SECONDS = 1800.0
ATTEMPTS = 4
CHUNK = 1 << 16
TIMEOUT = (10.0, 60.0)
"""The time limits of connecting, and of waiting for the next packet, in seconds."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class _TryAgain(Exception):
    """A failure that may be temporary. `wait` is the delay that the server asks for, in seconds."""

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


def download(url: str, *, sha256: str, cache: Path) -> Path:
    """Download the file at `url` unless it is in `cache`, and return its path below `cache`. In both cases its SHA-256
    (hex) must be `sha256`. Raises DownloadError, ChecksumError, or ConfigError for a wrong digest or address."""
    digest = check_digest(sha256)
    check_url(url)
    # The file keeps its name, which shows callers whether it is an archive or a program.
    name = re.sub(r"[^A-Za-z0-9._+-]+", "-", unquote(urlsplit(url).path).rpartition("/")[2]).lstrip(".-")
    # A long name is cut at its beginning, since its end tells the kind of the file.
    name = name[-100:].lstrip(".-") or "download"
    path = cache / "downloads" / "sha256" / digest[:2] / digest / name
    if path.is_file() and hash_file(path) == digest:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            for attempt in range(1, ATTEMPTS + 1):
                try:
                    _follow(url, file)
                    break
                except _TryAgain as trouble:
                    if attempt == ATTEMPTS:
                        raise DownloadError(
                            f"Could not download {shown(url)}: {trouble} ({ATTEMPTS} attempts). "
                            "Check the network and the proxy settings, then run again."
                        ) from trouble
                    jittered = 2.0**attempt * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
                    sleep(min(jittered if trouble.wait is None else trouble.wait, MAX_WAIT))
            file.flush()
            os.fsync(file.fileno())
        check_sha256(Path(name), digest, shown(url))
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)
    return path


def shown(url: str) -> str:
    """Return `url` without the parts that may be secret: user, password, query and fragment."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "the address"
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()


def check_url(url: str, *, is_repository: bool = False) -> SplitResult:
    """Return the parts of an address, which must be https://…, or on this machine: file:///… if `is_repository`, else
    http://…. Raises ConfigError for others."""
    # Programs take an address with a leading hyphen for an option. Two parsers may read different hosts from an
    # address with one of the other characters.
    if url.startswith("-") or not url.isascii() or re.search(r"[\x00-\x20\x7f\\]", url):
        raise ConfigError(
            f"{shown(url)!r} is not an address: it begins with - or contains a blank or an odd character."
        )
    try:
        parts = urlsplit(url)
        # urlsplit finds a wrong port only when the port is read.
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{shown(url)} is not an address: {error}.") from None
    is_local = url.startswith("file:///") if is_repository else parts.scheme == "http" and is_loopback(host or "")
    if is_local or (parts.scheme == "https" and host):
        return parts
    expected = "https://HOST/… or file:///FOLDER" if is_repository else "https://HOST/…"
    raise ConfigError(f"{shown(url)} is not allowed: an address is {expected}.")


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_digest(sha256: str) -> str:
    """Return `sha256` in lower case. Raises ConfigError unless it is 64 hex digits."""
    if not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise ConfigError(f"{sha256!r} is not a SHA-256: it must be 64 hex digits. Take it from `sha256sum FILE`.")
    return sha256.lower()


def check_sha256(path: Path, expected: str, what: str) -> None:
    """Raises ChecksumError unless the file has the `expected` digest. `what` names the file's origin in the message."""
    actual = hash_file(path)
    if actual != expected.lower():
        raise ChecksumError(
            f"{what} is not the file that was pinned.\n"
            f"  expected SHA-256 {expected.lower()}\n"
            f"  actual   SHA-256 {actual}\n"
            "It was changed at its source or on the way. Find out where; pin the new digest only if you trust the file."
        )


def hash_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _follow(url: str, file: BinaryIO) -> None:
    import requests  # The import takes long, and most commands download nothing.

    current, scheme = url, urlsplit(url).scheme
    for _ in range(MAX_REDIRECTS + 1):
        with requests.Session() as session:
            # With `trust_env`, a proxy could carry plain http off this machine.
            session.trust_env = scheme == "https"
            following = _fetch(session, current, file)
        if following is None:
            return
        # Redirects are followed here, since requests would not check the address before the next request.
        target = urljoin(current, following)
        try:
            parts = check_url(target)
        except ConfigError as error:
            raise DownloadError(f"Refused a redirect of {shown(current)}: {error}") from None
        if scheme == "https" and parts.scheme != "https":
            raise DownloadError(f"Refused a redirect of {shown(current)} to {shown(target)}: it leaves https.")
        current, scheme = target, parts.scheme
    raise DownloadError(f"Could not download {shown(url)}: more than {MAX_REDIRECTS} redirects.")


def _fetch(session: requests.Session, url: str, file: BinaryIO) -> str | None:
    """Send one request. Return the `Location` of a redirect, or None after the whole body was written to `file`."""
    import requests
    import urllib3

    try:
        # Without compression, Content-Length is the number of bytes that are hashed.
        headers = {"Accept-Encoding": "identity"}
        with session.get(url, stream=True, allow_redirects=False, timeout=TIMEOUT, headers=headers) as response:
            if response.status_code in REDIRECTS:
                return response.headers.get("Location", "")
            code = response.status_code
            if code == 429 or code >= 500:
                delay = response.headers.get("Retry-After", "").strip()
                raise _TryAgain(f"the server answered {code}", float(delay) if delay.isdecimal() else None)
            if code != 200:
                raise DownloadError(f"Could not download {shown(url)}: the server answered {code}. Check the address.")
            _receive(response, url, file)
            return None
    except requests.exceptions.SSLError:
        raise DownloadError(
            f"Could not download {shown(url)}: its certificate cannot be verified. "
            "Behind an inspecting proxy, let REQUESTS_CA_BUNDLE name the file with the proxy's certificate."
        ) from None
    except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError) as error:
        # Only the class is shown: the text of these errors repeats the address with its query.
        cause = getattr(error.args[0] if error.args else error, "reason", error)
        raise _TryAgain(f"the connection failed ({type(cause).__name__})") from None
    except (requests.RequestException, ValueError) as error:
        raise DownloadError(f"Could not download {shown(url)}: {type(error).__name__}. Check the address.") from None


def _receive(response: requests.Response, url: str, file: BinaryIO) -> None:
    length = response.headers.get("Content-Length", "")
    expected = int(length) if length.isdecimal() else None
    too_large = DownloadError(f"{shown(url)} is larger than the {MAX_BYTES:,} bytes allowed. Is it the right file?")
    if expected is not None and expected > MAX_BYTES:
        raise too_large
    # An earlier attempt may have written a part of the file.
    file.seek(0)
    file.truncate()
    # The timeout of requests is for each packet, so a slow server could go on forever.
    received, deadline = 0, monotonic() + MAX_SECONDS
    for chunk in response.raw.stream(CHUNK, decode_content=False):
        received += len(chunk)
        if received > MAX_BYTES:
            raise too_large
        if monotonic() > deadline:
            raise DownloadError(f"{shown(url)} took longer than {MAX_SECONDS / 60:.0f} minutes. Is the network slow?")
        file.write(chunk)
    if expected is not None and received != expected:
        raise _TryAgain(f"{received:,} of {expected:,} bytes arrived")
