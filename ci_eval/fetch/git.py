"""Fetches the files of one revision of a Git repository: no history, no submodules, no hooks, no settings but ours."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import BinaryIO
from urllib.parse import urlsplit

from ci_eval.errors import ConfigError, InstallError
from ci_eval.fetch.clients import GET, last_words

TIMEOUT = 600.0
FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

PAGE = re.compile(
    r"(?P<url>https://(?:www\.)?(?:github\.com|gitlab\.com|codeberg\.org|bitbucket\.org)/[\w.-]+/[\w.-]+)"
    r"(?:/(?:-/)?(?:tree|commits?|src/branch|src/commit|src)/(?P<revision>[^?#]+?))?/?"
)
"""The page of a repository, or of one of its revisions, at the hosts that people paste addresses of."""

SETTINGS = {
    "advice.detachedHead": "false",
    "core.askPass": "true",
    "core.autocrlf": "false",
    "core.eol": "lf",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.symlinks": "false",
    "credential.helper": "",
    # Faults of old commits that do no harm: https://github.com/psf/requests has the first.
    "fetch.fsck.badTimezone": "ignore",
    "fetch.fsck.missingSpaceBeforeDate": "ignore",
    "fetch.fsck.zeroPaddedFilemode": "ignore",
    "fetch.fsckObjects": "true",
    "gc.auto": "0",
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
    "init.defaultBranch": "main",
    "protocol.version": "2",
    "submodule.recurse": "false",
    "transfer.fsckObjects": "true",
}
ENVIRONMENT = {
    "GIT_ASKPASS": "true",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_TERMINAL_PROMPT": "0",
}
KEPT = frozenset({"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_EXEC_PATH"})
"""Inherited variables that only say where this machine keeps things; all others named GIT_… are taken away."""


def fetch_revision(url: str, revision: str, target: Path, *, timeout: float = TIMEOUT) -> str:
    """Put the files of `revision` (a commit id, tag or branch) at `url` into the new folder `target`.

    The full commit id comes back. `timeout` is seconds per step. Symbolic links are left out, files kept elsewhere
    (LFS) stay pointers. Raises ConfigError, InstallError.
    """
    check_url(url)
    check_revision(revision)
    target.mkdir(parents=True)
    try:
        commit = _fetch(url, revision, target, timeout)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    shutil.rmtree(target / ".git")
    return commit


def is_full_commit(revision: str) -> bool:
    """Whether `revision` names one commit for ever: 40 (SHA-1) or 64 (SHA-256) hex digits, in lower case."""
    return FULL_COMMIT.fullmatch(revision) is not None


def of_page(address: str) -> str:
    """Return the SPEC of the repository whose page has this address, "" if it is no such page.

    The page of a branch, tag or commit stands for that revision, any other for the newest commit.
    """
    page = PAGE.fullmatch(address)
    return f"git:{page['url'].removesuffix('.git')}@{page['revision'] or 'HEAD'}" if page else ""


def check_url(url: str) -> None:
    """Raises ConfigError unless it is https://HOST/… without a password in it, or file:///FOLDER."""
    if url.startswith("-") or not url.isascii() or re.search(r"[\x00-\x20\x7f\\]", url):
        raise ConfigError(f"{url!r} is not the address of a Git repository: it begins with - or holds odd characters.")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"{url!r} is not the address of a Git repository: {error}.") from None
    if "@" in parts.netloc:
        raise ConfigError(
            "The Git address holds a user or a password, which would end up in reports. "
            "Check the repository out in the CI job, and give the folder: path:DIR."
        )
    if not (url.startswith("https://") and host) and not url.startswith("file:///"):
        raise ConfigError(f"{url!r} is not allowed: a Git address is https://HOST/… or file:///FOLDER.")


def check_revision(revision: str) -> None:
    """Raises ConfigError unless it can be nothing but a commit id, a tag or a branch."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]*", revision) or ".." in revision:
        raise ConfigError(f"{revision!r} is not a Git revision: give the full commit id, or a tag.")


def _fetch(url: str, revision: str, target: Path, timeout: float) -> str:
    commit = FULL_COMMIT.fullmatch(revision.lower())
    object_format = "sha256" if commit and len(revision) == 64 else "sha1"
    wanted = revision.lower() if commit else revision
    scheme = urlsplit(url).scheme
    run_git(target, scheme, timeout, "init", "--quiet", "--template=", f"--object-format={object_format}")
    fetch = ("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules")
    run_git(target, scheme, timeout, *fetch, "--", url, wanted)
    run_git(target, scheme, timeout, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    head = run_git(target, scheme, timeout, "rev-parse", "--verify", "HEAD").decode().strip()
    if commit and head != wanted:
        raise InstallError(f"{url} gave the commit {head} for {wanted}. Is it the id of a tag, not of its commit?")
    # With core.symlinks off they are text files holding a path: no source code.
    for entry in run_git(target, scheme, timeout, "ls-files", "--stage", "-z").split(b"\0"):
        if entry.startswith(b"120000 "):
            (target / os.fsdecode(entry.partition(b"\t")[2])).unlink(missing_ok=True)
    return head


def run_git(target: Path, scheme: str, timeout: float, *arguments: str, given: BinaryIO | None = None) -> bytes:
    """What git says in the folder `target`, with our settings alone; it may reach what has the address `scheme`.

    `given`: its standard input. Raises InstallError.
    """
    program = shutil.which("git")
    if program is None:
        raise InstallError(f"git is not installed. {GET['git']}")
    try:
        # GitPython takes long to import, and asks git for its version then.
        from git import Git, GitCommandError
    except ImportError as error:
        raise InstallError(f"{program} is no git that works. Put one first on PATH.\n{error}") from None
    ours = {**ENVIRONMENT, "GIT_ALLOW_PROTOCOL": scheme}
    # GitPython passes the whole environment on; a hook that runs us has set GIT_DIR, GIT_INDEX_FILE and more.
    inherited = [name for name in os.environ if name.startswith("GIT_") and name not in KEPT and name not in ours]
    command = ["env", *(part for name in inherited for part in ("-u", name))] if inherited else []
    command += ["git", *(part for item in SETTINGS.items() for part in ("-c", "=".join(item))), *arguments]
    try:
        return Git(target).execute(command, istream=given, env=ours, stdout_as_string=False, kill_after_timeout=timeout)
    except GitCommandError as error:
        said = re.sub(r"^\s*stderr: '|'\s*$", "", str(error.stderr))  # GitPython's wrapping
        raise InstallError(
            f"git {arguments[0]} failed:\n{last_words(said)}\n"
            "Check address and revision: a full commit id, a tag or a branch that anyone may read."
        ) from None
