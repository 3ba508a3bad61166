"""Download the artifacts of builds from a TeamCity server.

https://www.jetbrains.com/help/teamcity/rest/manage-finished-builds.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import msgspec
import requests

from ci_eval.ci.repository import TIMEOUT, make_session, reachable, unpack
from ci_eval.core.base.errors import ConfigError, DownloadError

TOKEN = "TEAMCITY_TOKEN"  # noqa: S105 - the name of a variable
PAGE = re.compile(
    r"(?P<server>(?:https://[\w.-]+|http://(?:127\.0\.0\.1|localhost))(?::\d+)?(?:/[\w.-]+)*?)"
    r"/buildConfiguration/(?P<id>\w+)(?:[/?#].*)?"
)
"""The address of a build configuration's page. The token is sent only over https, except to this machine."""
LOCATOR = "buildType:(id:{}),branch:(default:true),state:finished,status:SUCCESS,count:1"


class Build(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    """The id of the build, unique on the server."""
    finished: str
    """The time as TeamCity writes it: 20261122T050712+0000."""


class Builds:
    def __init__(self, page: str, environment: Mapping[str, str]) -> None:
        """`page` is the address of a build configuration. Raises ConfigError if the environment has no token."""
        match = PAGE.fullmatch(page)
        assert match
        if not environment.get(TOKEN):
            raise ConfigError(f"{TOKEN} missing: set the variable to an access token of your TeamCity profile")
        self._server, self.name = match.group("server", "id")
        self._session = make_session(environment[TOKEN], "application/json")

    def newest(self) -> Build:
        address = f"{self._server}/app/rest/builds"
        query = {"locator": LOCATOR.format(self.name), "fields": "build(id,finishDate)"}
        builds = self._get(address, query).get("build") or []
        if not builds:
            raise DownloadError(f"no build of {self.name} at the default branch has been successful yet")
        return Build(number=builds[0]["id"], finished=builds[0]["finishDate"])

    def archives(self, build: Build, pattern: str) -> list[str]:
        """Return the sorted names, without `.zip`, of the build's zip files that match `pattern`."""
        address = f"{self._server}/app/rest/builds/id:{build.number}/artifacts/children/"
        files = self._get(address, {"fields": "file(name)"}).get("file") or []
        names = sorted(file["name"].removesuffix(".zip") for file in files if file["name"].endswith(".zip"))
        return [name for name in names if fnmatchcase(name, pattern)]

    def fetch(self, build: Build, name: str, folder: Path) -> Path:
        content = f"{self._server}/app/rest/builds/id:{build.number}/artifacts/content/{quote(name)}.zip"
        with reachable(self._server, "try again later"):
            unpack(self._session, content, folder, self._check)
        return folder

    def _get(self, address: str, query: Mapping[str, str]) -> dict[str, Any]:
        with reachable(self._server, "try again later"):
            answer = self._session.get(address, params=dict(query), timeout=TIMEOUT)
            return cast("dict[str, Any]", self._check(answer).json())

    def _check(self, answer: requests.Response) -> requests.Response:
        if answer.ok:
            return answer
        reason = {401: f"the token in {TOKEN} is not valid", 403: "the token cannot read that", 404: "it is missing"}
        advice = reason.get(answer.status_code, "try again later")
        raise DownloadError(f"TeamCity answered {answer.status_code} about {self.name}: {advice}")
