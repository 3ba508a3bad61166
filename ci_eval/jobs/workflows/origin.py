"""The request from which `init` writes the files of a CI, and the commit of ci-eval that these files name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec

from ci_eval.ci import limits
from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.fetch import identity
from ci_eval.fetch.git import run_git

SECONDS = 30.0
RELEASE = re.compile(r"v\d+\.\d+\.\d+")
COMMIT = re.compile(r"[0-9a-f]{40}")


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    repository: str
    """OWNER/NAME, or a longer path on a server with nested groups."""
    commit: str
    release: str = ""
    """The tag of the commit, such as v0.1.0; "" if the commit is not a release."""
    server: str = "https://github.com"

    @property
    def address(self) -> str:
        return f"{self.server}/{self.repository}"

    @property
    def is_known(self) -> bool:
        return self != UNKNOWN


UNKNOWN = Origin(repository="OWNER/ci-eval", commit="COMMIT")


def parse(text: str) -> Origin:
    match = re.fullmatch(r"([\w.-]+/[\w.-]+)@([\w.-]+)", text, re.ASCII)
    if not match:
        raise ConfigError(f"--action {text!r}: give OWNER/NAME@COMMIT")
    return Origin(repository=match[1], commit=match[2])


def find(distribution: metadata.Distribution | None = None) -> Origin:
    """Return the origin of the installed ci-eval; UNKNOWN if nobody else could fetch it."""
    own = distribution or metadata.distribution("ci-eval")
    record = own.read_text("direct_url.json")
    if record is None:
        return _find_release(own)
    # Installers write this record (PEP 610) for a package that was installed from an address.
    direct = msgspec.json.decode(record)
    if vcs := direct.get("vcs_info"):
        return _make(direct["url"], vcs["commit_id"])
    parts = urlsplit(direct["url"])
    path = Path(unquote(parts.path))
    if parts.scheme == "file" and path.is_dir():
        address = identity.remote_address(path)
        if not address:
            return UNKNOWN
        try:
            commit = _git(path, "rev-parse", "HEAD")
            is_pushed = bool(_git(path, "branch", "--remotes", "--contains", commit))
            tags = _git(path, "tag", "--points-at", commit).split()
        except InstallError:
            # The folder is not a repository, or git refuses to read it.
            return UNKNOWN
        return _make(address, commit, next(filter(RELEASE.fullmatch, tags), "")) if is_pushed else UNKNOWN
    # A source archive may be of any commit between two releases.
    if not parts.path.endswith(".whl"):
        return UNKNOWN
    # A wheel of a changed checkout counts as the release, since nothing in a wheel distinguishes them.
    return _find_release(own)


def _find_release(own: metadata.Distribution) -> Origin:
    addresses = dict(line.split(", ", 1) for line in own.metadata.get_all("Project-URL") or [])
    address, tag = addresses.get("Source", ""), f"v{own.version}"
    if not address or not RELEASE.fullmatch(tag):
        return UNKNOWN
    try:
        listed = _git(Path.cwd(), "ls-remote", "--", address, f"refs/tags/{tag}", f"refs/tags/{tag}^{{}}")
    except InstallError:
        # There may be no network.
        return UNKNOWN
    # If the tag has a message, the first line has the id of the tag, and the second line the commit.
    commits = [line.split("\t")[0] for line in listed.splitlines()]
    return _make(address, commits[-1], tag) if commits else UNKNOWN


def _git(folder: Path, *arguments: str) -> str:
    return run_git(folder, "https:file", SECONDS, *arguments).decode().strip()


def _make(address: str, commit: str, release: str = "") -> Origin:
    match = re.fullmatch(r"(https://[^/]+)/([\w./~-]+)", identity.https_address(address))
    if not match or not COMMIT.fullmatch(commit):
        return UNKNOWN
    server, repository = match.groups()
    if server == UNKNOWN.server and repository.count("/") != 1:
        return UNKNOWN
    return Origin(repository=repository, commit=commit, release=release, server=server)


CONFIG = Path("ci/completion.yaml")
NIGHT, PULL_REQUEST, LOGS, SITE, NOTICE = "night", "pull-request", "logs", "site", "notice"
ALGORITHMS = "algorithms"
PURPOSES = (NIGHT, PULL_REQUEST, LOGS, SITE, NOTICE, ALGORITHMS)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    system: str = "github"
    purposes: tuple[str, ...] = (NIGHT,)
    origin: Origin
    folder: str = "."
    rivals: tuple[str, ...] = ()
    build: str = ""
    build_output: str = "build"
    mail: str = ""
    """The address to which the CI sends mail about red nights; "" if it sends none."""

    @property
    def nameable_origin(self) -> Origin:
        """Return the origin; UNKNOWN if the CI cannot name it: workflows at GitHub name repositories at GitHub only."""
        is_nameable = self.system != "github" or self.origin.server == UNKNOWN.server
        return self.origin if is_nameable else UNKNOWN

    @property
    def configs(self) -> list[Path]:
        return [CONFIG, *(CONFIG.with_stem(f"{CONFIG.stem}-{limits.name(engine)}") for engine in self.rivals)]


class CiPlan(msgspec.Struct, frozen=True, kw_only=True):
    request: Request
    command: str
    like: str
    key: str
    is_reusable: bool
    training: Sequence[str]
