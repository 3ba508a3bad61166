"""The written files name the commit of ci-eval that is installed, if others can fetch it."""

from __future__ import annotations

import json
import subprocess
from email.message import Message
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from ci_eval.jobs.workflows import origin
from ci_eval.jobs.workflows.origin import UNKNOWN, Origin

COMMIT = "0123456789" * 4
ADDRESS = "https://github.com/team/ci-eval"


class Installed(Distribution):
    """A distribution as its installer describes it."""

    def __init__(self, direct: object = None, version: str = "0.1.0", source: str = "") -> None:
        self._direct = direct
        self._lines = Message()
        self._lines["Version"] = version
        if source:
            self._lines["Project-URL"] = f"Source, {source}"

    def read_text(self, filename: str) -> str | None:
        return json.dumps(self._direct) if filename == "direct_url.json" and self._direct else None

    def locate_file(self, path: object) -> Path:
        raise NotImplementedError

    @property
    def metadata(self) -> Message:  # type: ignore[override]
        return self._lines


def git(folder: Path, *arguments: str) -> str:
    argv = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(argv, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def upstream(tmp_path: Path) -> tuple[Path, str]:
    """Return a repository with the release v0.1.0 and its commit."""
    folder = tmp_path / "team" / "ci-eval"
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    git(folder, "tag", "-a", "v0.1.0", "-m", "the release")
    return folder, git(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://github.com/team/ci-eval.git", "https://github.com/team/ci-eval"),
        ("git@github.com:team/ci-eval.git", "https://github.com/team/ci-eval"),
        ("ssh://git@git.example.com:2222/team/ci-eval", "https://git.example.com/team/ci-eval"),
        ("https://user:token@git.example.com:8443/team/ci-eval/", "https://git.example.com:8443/team/ci-eval"),
        ("git@gitserver:team/ci-eval.git", "https://gitserver/team/ci-eval"),
        ("https://gitlab.example.com/tools/quality/ci-eval", "https://gitlab.example.com/tools/quality/ci-eval"),
    ],
)
def test_an_installation_from_git_names_its_repository_and_commit(url: str, address: str) -> None:
    direct = {"url": url, "vcs_info": {"vcs": "git", "commit_id": COMMIT}}
    origin_of_git = origin.find(Installed(direct))
    assert (origin_of_git.address, origin_of_git.commit) == (address, COMMIT)


@pytest.mark.parametrize(
    "url", ["/srv/git/ci-eval.git", "file:///srv/git/ci-eval", "https://github.com/ci-eval", "https://github.com/a/b/c"]
)
def test_a_repository_at_no_host_is_not_looked_for_at_github(url: str) -> None:
    direct = {"url": url, "vcs_info": {"vcs": "git", "commit_id": COMMIT}}
    assert origin.find(Installed(direct)) == UNKNOWN


def test_a_checkout_names_its_commit_once_that_is_pushed(upstream: tuple[Path, str], tmp_path: Path) -> None:
    folder, commit = upstream
    checkout = tmp_path / "checkout"
    git(tmp_path, "clone", "-q", str(folder), str(checkout))
    git(checkout, "remote", "set-url", "origin", ADDRESS)
    installed = Installed({"url": checkout.as_uri(), "dir_info": {"editable": True}})
    assert origin.find(installed) == Origin(repository="team/ci-eval", commit=commit, release="v0.1.0")
    git(checkout, "commit", "-q", "--allow-empty", "-m", "of mine")
    assert origin.find(installed) == UNKNOWN


@pytest.mark.parametrize(
    "direct",
    [None, {"url": "file:///tmp/ci_eval-0.1.0.whl"}, {"url": "https://example.org/ci_eval-0.1.0.whl"}],
    ids=["a registry", "a wheel", "an address"],
)
def test_a_release_names_the_commit_of_its_tag(
    direct: object, upstream: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, commit = upstream
    monkeypatch.chdir(folder)
    git(folder, "config", f"url.{folder}.insteadOf", ADDRESS)
    assert origin.find(Installed(direct, source=ADDRESS)) == Origin(
        repository="team/ci-eval", commit=commit, release="v0.1.0"
    )


@pytest.mark.parametrize("url", ["file:///tmp/ci-eval-0.1.0.tar.gz", "https://example.org/archive/main.zip"])
def test_an_archive_of_source_is_not_taken_for_the_release(
    url: str, upstream: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = upstream
    monkeypatch.chdir(folder)
    git(folder, "config", f"url.{folder}.insteadOf", ADDRESS)
    assert origin.find(Installed({"url": url, "archive_info": {}}, source=ADDRESS)) == UNKNOWN


@pytest.mark.parametrize(
    "installed",
    [
        Installed(),
        Installed(version="0.2.0.dev0", source="https://github.com/team/ci-eval"),
        Installed(source="/nowhere/team/ci-eval"),
        Installed({"url": "file:///nowhere", "dir_info": {}}),
        Installed({"url": "https://example.org/ci_eval.whl", "archive_info": {}}),
    ],
    ids=["no address", "no release", "unreachable", "no checkout", "a file"],
)
def test_what_nobody_else_can_fetch_is_left_to_be_filled_in(installed: Installed) -> None:
    assert origin.find(installed) == UNKNOWN
    assert not UNKNOWN.is_known
