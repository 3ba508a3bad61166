"""A reader of the files of a Git repository in each commit. It works on a copy that is made for it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.fetch.git import TIMEOUT, check_revision, check_url, run_git

MOST = 64
"""The number of file versions that are read at once."""
REGULAR = ("100644", "100755")


@dataclass(frozen=True)
class Revision:
    """A file in one commit."""

    commit: str
    blob: str
    """The id of the file's content, or "" if the commit has deleted the file or it was no regular file."""


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A copy of a repository, with its history."""

    folder: Path
    name: str
    commit: str
    """The full id of the newest commit that counts."""

    def files(self, ends: Sequence[str]) -> list[str]:
        """Return the sorted paths of the newest commit's regular files whose names have one of these ends. Bytes of a
        name that are not UTF-8 are kept by `surrogateescape`."""
        entries = self._git("ls-tree", "-r", "-z", self.commit).split(b"\0")
        parts = [entry.partition(b"\t") for entry in entries if entry[:6].decode() in REGULAR]
        paths = [path.decode(errors="surrogateescape") for _, _, path in parts]
        return sorted(path for path in paths if path.endswith(tuple(ends)))

    def revisions(self, path: str) -> list[Revision]:
        """Return the file in each commit that has changed it, the earliest first. Renames are followed, merges left
        out."""
        log = self._git(
            *("log", "--follow", "--no-merges", "--format=%x01%H", "--raw", "--no-abbrev"),
            # A path may hold `*` and other signs of git's patterns.
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
        """Yield the bytes of each blob, or None for a blob of more than `most` bytes."""
        for begin in range(0, len(blobs), MOST):
            part = blobs[begin : begin + MOST]
            sizes = [int(line.split(b" ")[2]) for line in self._batch("--batch-check", part).splitlines()]
            small = [blob for blob, size in zip(part, sizes, strict=True) if size <= most]
            data, at = self._batch("--batch", small), 0
            for size in sizes:
                if size > most:
                    yield None
                else:
                    start = data.index(b"\n", at) + 1
                    yield data[start : start + size]
                    # `git cat-file --batch` ends each blob with a newline of its own.
                    at = start + size + 1

    def _batch(self, option: str, blobs: Sequence[str]) -> bytes:
        if not blobs:
            return b""
        # GitPython takes only a file with a descriptor as git's input.
        with tempfile.TemporaryFile() as file:
            file.write("".join(f"{blob}\n" for blob in blobs).encode())
            file.seek(0)
            return run_git(self.folder, "file", TIMEOUT, "cat-file", option, given=file)

    def _git(self, *arguments: str) -> bytes:
        return run_git(self.folder, "file", TIMEOUT, *arguments)


@contextmanager
def repository(source: str) -> Iterator[Repository]:
    """Yield a copy of the repository at `source`: a URL or a folder, perhaps with @REVISION behind it (default: HEAD).
    Raises ConfigError or InstallError."""
    url, revision = _parse(source)
    with tempfile.TemporaryDirectory(prefix="ci-eval-", ignore_cleanup_errors=True) as name:
        # The settings of a repository may name programs to run; those of the copy are ours.
        folder, scheme = Path(name), urlsplit(url).scheme
        run_git(folder, scheme, TIMEOUT, "init", "--quiet", "--bare", "--template=")
        fetch = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
        run_git(folder, scheme, TIMEOUT, *fetch, "--", url, revision)
        commit = run_git(folder, scheme, TIMEOUT, "rev-parse", "--verify", "FETCH_HEAD^{commit}").decode().strip()
        yield Repository(folder=folder, name=_name(url), commit=commit)


def _parse(source: str) -> tuple[str, str]:
    """Return the address and the revision of a source."""
    address, at, revision = source.rpartition("@")
    if not at or "/" in revision or Path(source).is_dir():
        address, revision = source, "HEAD"
    if not address.startswith(("https:", "file:")):
        folder = Path(address).expanduser()
        if not folder.is_dir():
            raise ConfigError(f"there is no Git repository {address}: give a folder, https://… or file:///…")
        address = folder.resolve().as_uri()
    check_url(address)
    check_revision(revision)
    return address, revision


def _name(url: str) -> str:
    return unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2].removesuffix(".git")
