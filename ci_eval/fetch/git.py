"""Fetch the files of one Git revision, and read the versions of a file. Git runs with our settings only, and without
submodules and hooks."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

import msgspec

from ci_eval.core.base.errors import ConfigError, InstallError
from ci_eval.fetch.clients import GET, last_words
from ci_eval.fetch.download import check_url

TIMEOUT = 600.0
"""The time limit of a git command, in seconds."""
FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

PAGE = re.compile(
    r"(?P<url>https://(?:www\.)?(?:github\.com|gitlab\.com|codeberg\.org|bitbucket\.org)/[\w.-]+/[\w.-]+)"
    r"(?:/(?:-/)?(?:tree|commits?|src/branch|src/commit|src)/(?P<revision>[^?#]+?))?/?"
)

SETTINGS = {
    "advice.detachedHead": "false",
    # Git runs the program `true` to ask for a password. `true` prints nothing, so the password is empty.
    "core.askPass": "true",
    # Line ends stay as they were committed, so that checksums are equal on all machines.
    "core.autocrlf": "false",
    "core.eol": "lf",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    # Links are checked out as text files, which `fetch_revision` deletes.
    "core.symlinks": "false",
    "credential.helper": "",
    # Old commits have these harmless faults; https://github.com/psf/requests has the first.
    "fetch.fsck.badTimezone": "ignore",
    "fetch.fsck.missingSpaceBeforeDate": "ignore",
    "fetch.fsck.zeroPaddedFilemode": "ignore",
    "fetch.fsckObjects": "true",
    "gc.auto": "0",
    # By default, git waits without limit for a server that has fallen silent.
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
VARIABLES = ("GITHUB_SHA", "BUILD_VCS_NUMBER", "CI_COMMIT_SHA")
"""The variables in which GitHub, TeamCity and GitLab store the commit that they checked out."""
WITHOUT_LFS = ("-c", "filter.lfs.clean=", "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false")
"""Settings that keep git from starting git-lfs."""
KEPT = frozenset({"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_EXEC_PATH"})
"""Inherited variables that are kept, since they name files of this machine. All other GIT_… variables are removed."""


def fetch_revision(url: str, revision: str, target: Path) -> str:
    """Fetch the files of `revision` (a commit id, tag or branch) at `url` to the new folder `target`. Return the full
    commit id. Symbolic links are deleted, and files stored with LFS stay pointers.
    Raises ConfigError or InstallError."""
    check_address(url, revision)
    is_commit = is_full_commit(revision.lower())
    revision = revision.lower() if is_commit else revision
    # Commits of a SHA-256 repository cannot be fetched into a SHA-1 repository.
    object_format = "sha256" if is_commit and len(revision) == 64 else "sha1"
    run = partial(run_git, target, urlsplit(url).scheme, TIMEOUT)
    target.mkdir(parents=True)
    try:
        # No template is used, since the machine's templates may contain hooks.
        run("init", "--quiet", "--template=", f"--object-format={object_format}")
        run("fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", url, revision)
        run("checkout", "--quiet", "--detach", "FETCH_HEAD")
        commit = run("rev-parse", "--verify", "HEAD").decode().strip()
        if is_commit and commit != revision:
            raise InstallError(
                f"{url} returned commit {commit} for {revision}: if {revision} is the id of a tag, give its commit"
            )
        # With core.symlinks off, links are text files that hold a path: no source code.
        for entry in run("ls-files", "--stage", "-z").split(b"\0"):
            if entry.startswith(b"120000 "):
                (target / os.fsdecode(entry.partition(b"\t")[2])).unlink(missing_ok=True)
        shutil.rmtree(target / ".git")
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return commit


def read_revision(folder: Path) -> str:
    """Return the commit of the files in `folder`, with `+changes` if they were changed since. If git cannot read
    the repository and the current folder contains `folder`, return the commit that the CI's variables name. Return ""
    if the commit is unknown, for example if git does not track the files."""
    try:
        if not any((parent / ".git").exists() for parent in (folder.resolve(), *folder.resolve().parents)):
            raise InstallError(f"{folder} is in no repository")
        # Git would run the programs that filters name, and a stranger's repository may name any program.
        if re.search(r"^filter\.(?!lfs\.)", _read_git(folder, "config", "--list", "--name-only"), re.MULTILINE):
            raise InstallError(f"{folder} has filters")
        status = ("status", "--porcelain=v2", "--branch", "--untracked-files=no", "--ignore-submodules=all", "--", ".")
        lines = _read_git(folder, *WITHOUT_LFS, *status).splitlines()
        is_tracked = (folder / ".git").exists() or _read_git(folder, "ls-files", "-z", "--", ".")
        commit = next((line.split()[2] for line in lines if line.startswith("# branch.oid ")), "(initial)")
        if not is_tracked or commit == "(initial)":
            return ""
        return commit if all(line.startswith("#") for line in lines) else f"{commit}+changes"
    except InstallError:
        if not folder.resolve().is_relative_to(Path.cwd()):
            return ""
        return next((os.environ[name] for name in VARIABLES if re.fullmatch(r"\w{1,64}", os.environ.get(name, ""))), "")


def _read_git(folder: Path, *arguments: str) -> str:
    # In a container, another user owns the checkout. No scheme is allowed: a partial clone would fetch missing files.
    ours = ("-c", "safe.directory=*", "--no-optional-locks")
    return run_git(folder, "none", TIMEOUT, *ours, *arguments).decode(errors="replace").strip()


def is_full_commit(revision: str) -> bool:
    """Return whether `revision` is 40 (SHA-1) or 64 (SHA-256) hex digits in lower case."""
    return FULL_COMMIT.fullmatch(revision) is not None


def parse_page(address: str) -> str:
    """Return the SPEC of a repository, given the address of its web page; "" for other addresses. The page of a branch,
    tag or commit gives that revision, the repository's main page gives HEAD."""
    page = PAGE.fullmatch(address)
    return f"git:{page['url'].removesuffix('.git')}@{page['revision'] or 'HEAD'}" if page else ""


def name_of(url: str) -> str:
    return unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2].removesuffix(".git")


def check_address(url: str, revision: str) -> None:
    if "@" in check_url(url, is_repository=True).netloc:
        raise ConfigError(
            "The Git address contains a user or a password, which would end up in reports. "
            "Check the repository out in the CI job, and give the folder: path:DIR."
        )
    # A revision must be neither an option of git (-…) nor a range (a..b).
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._/-]*", revision) or ".." in revision:
        raise ConfigError(f"{revision!r} is not a Git revision: give the full commit id, a tag or a branch.")


def run_git(target: Path, scheme: str, timeout: float, *arguments: str, given: BinaryIO | None = None) -> bytes:
    """Run git in the folder `target` with our settings only, and return what git prints. Git may access only addresses
    of `scheme`. `given` is the standard input; `timeout` is in seconds. Raises InstallError."""
    program = shutil.which("git")
    if program is None:
        raise InstallError(f"git is not installed. {GET['git']}")
    try:
        # This import takes long and runs git, so it fails if git does not work.
        from git import Git, GitCommandError
    except ImportError as error:
        raise InstallError(f"{program} does not work. Put a git that works first on PATH.\n{error}") from None
    ours = {**ENVIRONMENT, "GIT_ALLOW_PROTOCOL": scheme}
    # GitPython passes on all variables, so `env` unsets those of git. A git hook that runs ci-eval sets GIT_DIR.
    inherited = [name for name in os.environ if name.startswith("GIT_") and name not in KEPT and name not in ours]
    command = ["env", *(part for name in inherited for part in ("-u", name))] if inherited else []
    command += ["git", *(part for item in SETTINGS.items() for part in ("-c", "=".join(item))), *arguments]
    try:
        return Git(target).execute(command, istream=given, env=ours, stdout_as_string=False, kill_after_timeout=timeout)
    except GitCommandError as error:
        message = re.sub(r"^\s*stderr: '|'\s*$", "", str(error.stderr))  # GitPython's wrapping
        raise InstallError(
            f"git {arguments[0]} failed:\n{last_words(message)}\n"
            "Check the address, which must be public, and the revision: a full commit id, a tag or a branch."
        ) from None


BLOBS_AT_ONCE = 64
REGULAR = ("100644", "100755")


class Revision(msgspec.Struct, frozen=True):
    commit: str
    blob: str
    """The id of the file's content, or "" if the commit has deleted the file or replaced it by a link."""


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    name: str
    commit: str

    def files(self, ends: Sequence[str]) -> list[str]:
        """Return the sorted paths of the commit's regular files whose names end in one of `ends`. Bytes that are not
        UTF-8 are decoded with `surrogateescape`."""
        entries = run_git(self.folder, "file", TIMEOUT, "ls-tree", "-r", "-z", self.commit).split(b"\0")
        parts = [entry.partition(b"\t") for entry in entries if entry[:6].decode() in REGULAR]
        paths = [path.decode(errors="surrogateescape") for _, _, path in parts]
        return sorted(path for path in paths if path.endswith(tuple(ends)))

    def revisions(self, path: str) -> list[Revision]:
        """Return the commits that changed the file, the earliest first. Renames are followed; merges are skipped."""
        log = run_git(
            *(self.folder, "file", TIMEOUT),
            *("log", "--follow", "--no-merges", "--format=%x01%H", "--raw", "--no-abbrev"),
            # A path may contain `*` and other characters that git reads as a pattern.
            *(self.commit, "--", f":(literal){path}"),
        )
        revisions = []
        commit = ""
        for line in log.decode(errors="replace").split("\n"):
            if line.startswith("\x01"):
                commit = line[1:]
            elif line.startswith(":") and commit:
                _, mode, _, blob = line.split(" ")[:4]
                revisions.append(Revision(commit, blob if mode in REGULAR else ""))
        return revisions[::-1]

    def contents(self, blobs: Sequence[str], most: int) -> Iterator[bytes | None]:
        """Yield the bytes of each blob, or None if the blob has more than `most` bytes."""
        for begin in range(0, len(blobs), BLOBS_AT_ONCE):
            part = blobs[begin : begin + BLOBS_AT_ONCE]
            sizes = [int(line.split(b" ")[2]) for line in self._batch("--batch-check", part).splitlines()]
            small = [blob for blob, size in zip(part, sizes, strict=True) if size <= most]
            data, at = self._batch("--batch", small), 0
            for size in sizes:
                if size > most:
                    yield None
                else:
                    start = data.index(b"\n", at) + 1
                    yield data[start : start + size]
                    # `git cat-file --batch` adds a newline after each blob.
                    at = start + size + 1

    def _batch(self, option: str, blobs: Sequence[str]) -> bytes:
        if not blobs:
            return b""
        # GitPython accepts input only from a file with a descriptor.
        with tempfile.TemporaryFile() as file:
            file.write("".join(f"{blob}\n" for blob in blobs).encode())
            file.seek(0)
            return run_git(self.folder, "file", TIMEOUT, "cat-file", option, given=file)


@contextmanager
def repository(source: str) -> Iterator[Repository]:
    """Yield a temporary copy of the repository at `source`, which is a URL or a folder, optionally followed by
    @REVISION (default: HEAD). Raises ConfigError or InstallError."""
    url, at, revision = source.rpartition("@")
    if not at or "/" in revision or Path(source).is_dir():
        url, revision = source, "HEAD"
    if not url.startswith(("https:", "file:")):
        checkout = Path(url).expanduser()
        if not checkout.is_dir():
            raise ConfigError(f"there is no Git repository {url}: give a folder, https://… or file:///…")
        url = checkout.resolve().as_uri()
    check_address(url, revision)
    with tempfile.TemporaryDirectory(prefix="ci-eval-", ignore_cleanup_errors=True) as name:
        # A repository's settings may name programs to run. The copy has our settings instead.
        run = partial(run_git, Path(name), urlsplit(url).scheme, TIMEOUT)
        run("init", "--quiet", "--bare", "--template=")
        run("fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--", url, revision)
        commit = run("rev-parse", "--verify", "FETCH_HEAD^{commit}").decode().strip()
        yield Repository(folder=Path(name), name=name_of(url), commit=commit)
