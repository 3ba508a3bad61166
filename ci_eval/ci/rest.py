"""The GitHub REST API of the repository that a workflow runs in.

https://docs.github.com/en/rest
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from ci_eval.core.base.errors import ConfigError, DownloadError

TIMEOUT = (10.0, 60.0)
PAGES = 20
CHUNK = 1 << 20
MOST = 2 << 30
"""Bytes of the largest download."""
RIGHTS = "x-accepted-github-permissions"
"""The header that says which rights a request needs:
https://github.blog/changelog/2023-08-10-x-accepted-github-permissions-header-for-fine-grained-permission-actors
"""


def variables_of(page: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a job of the repository with this address has. Raises ConfigError, also if the token of
    the environment is another server's."""
    match = re.fullmatch(r"https://([\w.-]+(?::\d+)?)/([\w.-]+/[\w.-]+?)(?:\.git)?/?", page)
    if not match:
        raise ConfigError(
            f"{page} is no repository and no build configuration: give https://github.com/OWNER/NAME (or the host of a "
            "GitHub Enterprise Server), or https://SERVER/buildConfiguration/ID of TeamCity"
        )
    host, names = match.groups()
    own = urlsplit(environment.get("GITHUB_SERVER_URL", "")).netloc
    if own and own != host:
        raise ConfigError(
            f"GITHUB_TOKEN is of {own}; for {host}, put a token of that server there, and https://{host} into "
            "GITHUB_SERVER_URL"
        )
    # An Enterprise Server has its API at its own address.
    api = "https://api.github.com" if host == "github.com" else f"https://{host}/api/v3"
    if own:
        # A runner of this server knows it better, for example behind a proxy.
        api = environment.get("GITHUB_API_URL", api)
    return {"GITHUB_REPOSITORY": names, "GITHUB_SERVER_URL": f"https://{host}", "GITHUB_API_URL": api}


class Rest:
    """The client that sends requests with the token of a job. All requests raise DownloadError."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Read the job's environment. Raises ConfigError if the variables do not name a repository and hold a token."""
        missing = [name for name in ("GITHUB_REPOSITORY", "GITHUB_TOKEN") if not environment.get(name)]
        if missing:
            raise _missing_variables(missing)
        self._run = environment.get("GITHUB_RUN_ID", "")
        repository = environment["GITHUB_REPOSITORY"]
        # OWNER/NAME/.github/workflows/FILE@REF of the workflow that was started.
        reference = environment.get("GITHUB_WORKFLOW_REF", "")
        self.workflow = reference.partition("@")[0].removeprefix(f"{repository}/")
        self._page = f"{environment.get('GITHUB_SERVER_URL', 'https://github.com')}/{repository}"
        self._address = f"{environment.get('GITHUB_API_URL', 'https://api.github.com')}/repos/{repository}"
        self._session = make_session(environment["GITHUB_TOKEN"], "application/vnd.github+json")

    @property
    def run(self) -> int:
        if not self._run:
            raise _missing_variables(["GITHUB_RUN_ID"])
        return int(self._run)

    def page_of(self, run: int) -> str:
        return f"{self._page}/actions/runs/{run}"

    def get(self, path: str) -> dict[str, Any]:
        return cast("dict[str, Any]", _check(self._request("GET", self._address + path)).json())

    def find(self, path: str) -> dict[str, Any] | None:
        answer = self._request("GET", self._address + path)
        return None if answer.status_code == 404 else cast("dict[str, Any]", _check(answer).json())

    def listed(self, path: str, key: str = "", **query: str) -> Iterator[dict[str, Any]]:
        """Yield the items of a list, page after page; nothing if there is no such list. `key` is the field of the
        response that holds the list, empty if the response is the list. Empty parameters of `query` are left out."""
        parameters = {name: text for name, text in query.items() if text}
        asked = requests.Request("GET", self._address + path, params={**parameters, "per_page": 100}).prepare()
        following = asked.url
        for _ in range(PAGES):
            if not following:
                return
            answer = self._request("GET", following)
            if answer.status_code == 404:
                return
            page = _check(answer).json()
            yield from page[key] if key else page
            following = answer.links.get("next", {}).get("url")

    def send(self, method: Literal["POST", "PATCH"], path: str, body: Mapping[str, str]) -> dict[str, Any]:
        """Create or change the object at `path`; returns it."""
        return cast("dict[str, Any]", _check(self._request(method, self._address + path, body)).json())

    def download(self, path: str, target: Path) -> None:
        # If GitHub redirects to another host, requests does not send the token.
        try:
            save(self._session, self._address + path, target, _check)
        except requests.RequestException as error:
            raise _unreachable(error) from None

    def _request(self, method: str, address: str, body: Mapping[str, str] | None = None) -> requests.Response:
        try:
            return self._session.request(method, address, json=body, timeout=TIMEOUT)
        except requests.RequestException as error:
            raise _unreachable(error) from None


def _missing_variables(names: Sequence[str]) -> ConfigError:
    return ConfigError(
        f"{', '.join(names)} missing: run this in a step of a workflow, with GITHUB_TOKEN: "
        "${{ github.token }} in its env, and actions: read among the job's permissions"
    )


def save(
    session: requests.Session,
    address: str,
    target: Path,
    check: Callable[[requests.Response], requests.Response],
) -> None:
    """Download an address into the file `target`. Raises what `check` raises of a response, DownloadError if the file
    is too large, and RequestException."""
    with session.get(address, stream=True, timeout=TIMEOUT) as answer, target.open("wb") as file:
        check(answer)
        for chunk in answer.iter_content(CHUNK):
            file.write(chunk)
            if file.tell() > MOST:
                raise DownloadError(f"the artifact {target.stem} is larger than {MOST:,} bytes")


def make_session(token: str, accept: str) -> requests.Session:
    """Return a session that asks for the media type `accept`, and tries again what may succeed later."""
    session = requests.Session()
    # POST is not retried, since it would create an item twice.
    again = Retry(
        total=4, backoff_factor=1.0, status_forcelist=(429, 500, 502, 503, 504), allowed_methods={"GET", "PATCH"}
    )
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(max_retries=again))
    session.headers["Accept"] = accept
    session.headers["Authorization"] = f"Bearer {token}"
    return session


def _check(answer: requests.Response) -> requests.Response:
    if answer.ok:
        return answer
    said = f"GitHub answered {answer.status_code}{_reason(answer)}"
    # GitHub also answers 403 to too many requests.
    if answer.status_code == 403 and "rate limit" not in said:
        rights = answer.headers.get(RIGHTS, "actions=read").replace("=", ": ").replace("_", "-")
        raise DownloadError(f"{said}: give the job `permissions: {{{rights}}}`")
    raise DownloadError(f"{said} to {answer.request.method} {answer.request.path_url}; run the job again later")


def _reason(answer: requests.Response) -> str:
    try:
        return f" ({answer.json()['message']})"
    except (ValueError, KeyError, TypeError):
        return ""


def _unreachable(error: requests.RequestException) -> DownloadError:
    return DownloadError(f"GitHub cannot be reached ({type(error).__name__}); run the job again later")
