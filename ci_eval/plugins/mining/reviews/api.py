"""A client of GitHub's REST API that follows GitHub's guides: it reads page by page, and waits when GitHub asks it to.

https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api and
https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

import requests

from ci_eval.core.base.errors import ConfigError, DownloadError
from ci_eval.core.base.quoting import quote

ADDRESS = "https://api.github.com"
VERSION = "2022-11-28"
JSON = "application/vnd.github+json"
RAW = "application/vnd.github.raw+json"
TIMEOUT = (10.0, 60.0)
TRIES = 5
MINUTE = 60.0
"""The first wait, in seconds, if GitHub names no time. Each further wait is twice as long."""
PATIENCE = 2 * 3600.0
"""The limit of all waits together, in seconds. GitHub limits the requests per hour."""


class Api:
    """A client of GitHub. Methods raise DownloadError, whose message never holds the token."""

    def __init__(
        self,
        token: str,
        address: str = ADDRESS,
        *,
        patience: float = PATIENCE,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`token`: without one, GitHub allows few requests. `tell` receives messages about long waits."""
        self._address = address.rstrip("/")
        self._left, self._sleep, self._now, self._tell = patience, sleep, now, tell
        self._not_before = 0.0
        self._session = requests.Session()
        self._session.headers["X-GitHub-Api-Version"] = VERSION
        if token:
            self._session.headers["Authorization"] = f"Bearer {token}"
            # Otherwise requests would send a password from ~/.netrc instead of the token.
            self._session.auth = lambda request: request

    def get(self, path: str, **query: str | int) -> Any:
        return self._check(self._request(self._address + path, JSON, query)).json()

    def raw(self, path: str, **query: str | int) -> bytes | None:
        """Return the content of the file at `path`, or None if the server answers 404."""
        answer = self._request(self._address + path, RAW, query)
        return None if answer.status_code == 404 else self._check(answer).content

    def listed(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        address, query = self._address + path, {**query, "per_page": 100}
        while address:
            answer = self._check(self._request(address, JSON, query))
            page = answer.json()
            yield from page["items"] if isinstance(page, dict) else page
            # The address of the next page includes the query.
            address, query = answer.links.get("next", {}).get("url", ""), {}
            # The session sends the token to every address, so make sure that this one is GitHub's.
            if address and not address.startswith(f"{self._address}/"):
                raise DownloadError(f"GitHub named another server for the next page of {path}: {quote(address, 200)}")

    def _request(self, address: str, accept: str, query: dict[str, str | int]) -> requests.Response:
        trouble = ""
        for number in range(TRIES):
            self._wait(self._not_before - self._now())
            try:
                answer = self._session.get(address, params=query, headers={"Accept": accept}, timeout=TIMEOUT)
            except requests.RequestException as error:
                trouble = f"GitHub cannot be reached ({type(error).__name__})"
                self._wait(2.0**number)
                continue
            if answer.headers.get("x-ratelimit-remaining") == "0":
                text = answer.headers.get("x-ratelimit-reset", "")
                self._not_before = (float(text) if text.isdigit() else 0.0) + 1
            pause = self._pause(answer, number)
            if pause is None:
                return answer
            trouble = f"GitHub answered {answer.status_code}{_reason(answer)}"
            self._wait(pause)
        raise DownloadError(f"{trouble} in {TRIES} attempts; try again later")

    def _pause(self, answer: requests.Response, number: int) -> float | None:
        """Return the time to wait before a retry, in seconds, or None if a retry would not help."""
        if answer.status_code >= 500:
            return 2.0**number
        if answer.status_code not in {403, 429}:
            return None
        if asked := answer.headers.get("retry-after"):
            # RFC 9110 allows either a number of seconds or a date.
            if asked.isdigit():
                return float(asked)
            try:
                return max(parsedate_to_datetime(asked).timestamp() - self._now(), 0.0)
            except ValueError:
                return MINUTE
        if answer.headers.get("x-ratelimit-remaining") == "0":
            return max(self._not_before - self._now(), 0.0)
        # A secondary rate limit may have the code 403; then only the message tells that it is a limit.
        is_limit = answer.status_code == 429 or "rate limit" in _reason(answer)
        return MINUTE * 2**number if is_limit else None

    def _wait(self, seconds: float) -> None:
        if seconds <= 0:
            return
        self._left -= seconds
        until = datetime.fromtimestamp(self._now() + seconds, timezone.utc).strftime("%H:%M:%S UTC")
        if self._left < 0:
            raise DownloadError(
                f"GitHub accepts no more requests until {until}; try again then, or set GITHUB_TOKEN: with a token, "
                "GitHub accepts more requests"
            )
        if seconds >= MINUTE:
            self._tell(f"GitHub accepts no more requests until {until}: waiting")
        self._sleep(math.ceil(seconds))

    def _check(self, answer: requests.Response) -> requests.Response:
        if answer.ok:
            return answer
        path = answer.request.path_url.partition("?")[0]
        said = f"GitHub answered {answer.status_code}{_reason(answer)} to {path}"
        if answer.status_code == 401:
            raise ConfigError(f"{said}: the token in GITHUB_TOKEN is not valid; set a new one, or unset the variable")
        raise DownloadError(f"{said}: check the repository's name, and whether the token may read the repository")


def _reason(answer: requests.Response) -> str:
    try:
        return f" ({answer.json()['message']})"
    except (ValueError, KeyError, TypeError):
        return ""
