"""What runs of a GitHub repository left behind: their artifacts, by GitHub's REST API.

https://docs.github.com/en/rest/actions/artifacts
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from ci_eval.errors import ConfigError, DownloadError
from ci_eval.support import archive

TIMEOUT = (10.0, 60.0)
PAGES = 20
CHUNK = 1 << 20
MOST = 2 << 30
"""Bytes of an artifact."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """What a run uploaded under a name."""

    name: str
    number: int
    run: int
    created: str


class Repository:
    """The repository that a workflow runs in."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Raises ConfigError where these are not the variables of a step at GitHub with a token."""
        missing = [name for name in ("GITHUB_REPOSITORY", "GITHUB_TOKEN", "GITHUB_RUN_ID") if not environment.get(name)]
        if missing:
            raise ConfigError(
                f"{', '.join(missing)} missing: run this in a step of a workflow, with GITHUB_TOKEN: "
                "${{ github.token }} in its env, and actions: read among the job's permissions"
            )
        api = environment.get("GITHUB_API_URL", "https://api.github.com")
        self.run = int(environment["GITHUB_RUN_ID"])
        self._workflow = _file(environment.get("GITHUB_WORKFLOW_REF", ""), environment["GITHUB_REPOSITORY"])
        server = environment.get("GITHUB_SERVER_URL", "https://github.com")
        self._pages = f"{server}/{environment['GITHUB_REPOSITORY']}/actions/runs"
        self._address = f"{api}/repos/{environment['GITHUB_REPOSITORY']}"
        self._session = requests.Session()
        again = Retry(total=4, backoff_factor=1.0, status_forcelist=(429, 500, 502, 503, 504), allowed_methods={"GET"})
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=again))
        self._session.headers["Accept"] = "application/vnd.github+json"
        self._session.headers["Authorization"] = f"Bearer {environment['GITHUB_TOKEN']}"

    def artifacts(self, name: str = "") -> list[Artifact]:
        """Those of the default branch that still exist, the newest first; runs of forks and branches are left out.

        Without a name all of them, as far back as pages are asked for.
        """
        branch = self._json(self._address)["default_branch"]
        found = [
            _artifact(each)
            for each in self._listed(f"{self._address}/actions/artifacts", name)
            if not each["expired"]
            and each["workflow_run"]["head_branch"] == branch
            and each["workflow_run"]["head_repository_id"] == each["workflow_run"]["repository_id"]
        ]
        return sorted(found, key=lambda each: (each.run, each.created), reverse=True)

    def of_run(self, run: int, name: str) -> Artifact | None:
        """The newest one of a run under a name, if it still exists."""
        listed = self._listed(f"{self._address}/actions/runs/{run}/artifacts", name)
        found = [_artifact(each) for each in listed if not each["expired"]]
        return max(found, key=lambda each: (each.created, each.number), default=None)

    def is_of_this_workflow(self, artifact: Artifact) -> bool:
        """Whether the same workflow file made it; false for a run that is gone."""
        return self.workflow_of(artifact.run) == self._workflow

    def workflow_of(self, run: int) -> str:
        """Its file, such as .github/workflows/nightly.yml; empty for a run that is gone."""
        found = self._json(f"{self._address}/actions/runs/{run}", absent={})
        return str(found.get("path", "")).partition("@")[0]

    def page_of_run(self, run: int) -> str:
        """Where a person sees it."""
        return f"{self._pages}/{run}"

    def page_of(self, artifact: Artifact) -> str:
        """Where a person downloads it."""
        return f"{self._pages}/{artifact.run}/artifacts/{artifact.number}"

    def fetch(self, artifact: Artifact, folder: Path) -> Path:
        """Unpacked into a new folder. Raises DownloadError, ArchiveError."""
        with tempfile.TemporaryDirectory() as temporary:
            packed = Path(temporary) / f"{artifact.name}.zip"
            self._download(f"{self._address}/actions/artifacts/{artifact.number}/zip", packed)
            archive.unpack(packed, folder)
        return folder

    def _download(self, address: str, target: Path) -> None:
        # Where GitHub redirects to, on another host, requests takes no token along.
        try:
            with self._session.get(address, stream=True, timeout=TIMEOUT) as answer, target.open("wb") as file:
                _check(answer)
                for chunk in answer.iter_content(CHUNK):
                    file.write(chunk)
                    if file.tell() > MOST:
                        raise DownloadError(f"the artifact {target.stem} is larger than {MOST:,} bytes")
        except requests.RequestException as error:
            raise _unreachable(error) from None

    def _listed(self, address: str, name: str) -> Iterator[dict[str, Any]]:
        wanted = {"name": name} if name else {}
        asked = requests.Request("GET", address, params={**wanted, "per_page": 100}).prepare()
        following = asked.url
        for _ in range(PAGES):
            if not following:
                return
            answer = self._get(following)
            yield from answer.json()["artifacts"] if answer.status_code != 404 else []
            following = answer.links.get("next", {}).get("url")

    def _json(self, address: str, absent: dict[str, Any] | None = None) -> dict[str, Any]:
        answer = self._get(address)
        if answer.status_code == 404 and absent is not None:
            return absent
        _check(answer)
        return cast("dict[str, Any]", answer.json())

    def _get(self, address: str) -> requests.Response:
        try:
            answer = self._session.get(address, timeout=TIMEOUT)
        except requests.RequestException as error:
            raise _unreachable(error) from None
        if answer.status_code != 404:
            _check(answer)
        return answer


def _file(reference: str, repository: str) -> str:
    """OWNER/NAME/.github/workflows/FILE@REF → .github/workflows/FILE, of the workflow that was started."""
    return reference.partition("@")[0].removeprefix(f"{repository}/")


def _artifact(found: Mapping[str, Any]) -> Artifact:
    return Artifact(
        name=found["name"], number=found["id"], run=found["workflow_run"]["id"], created=found["created_at"]
    )


def _check(answer: requests.Response) -> None:
    if answer.status_code == 403:
        raise DownloadError("GitHub answered 403: give the job `permissions: {actions: read}`")
    if not answer.ok:
        raise DownloadError(f"GitHub answered {answer.status_code} when asked for artifacts; run the job again later")


def _unreachable(error: requests.RequestException) -> DownloadError:
    return DownloadError(f"GitHub cannot be reached ({type(error).__name__}); run the job again later")
