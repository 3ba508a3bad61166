"""What the files of a Git repository were in each commit, read from a copy that is made for it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ci_eval.errors import ConfigError
from ci_eval.fetch.git import TIMEOUT, check_revision, check_url, run_git

MOST = 64
"""Versions of files that are read at once."""
REGULAR = ("100644", "100755")


@dataclass(frozen=True)
class Revision:
    """A file in one commit."""

    commit: str
    blob: str
    """The id of its content; "" where the commit has deleted it, or it was no regular file."""


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A copy of a repository, with its history."""

    folder: Path
    name: str
    commit: str
    """The full id of the newest commit that counts."""

    def files(self, ends: Sequence[str]) -> list[str]:
        """Paths of the newest commit's regular files whose names have one of these ends, sorted. What is not
        UTF-8 in a name is there as `surrogateescape` has it."""
        entries = self._git("ls-tree", "-r", "-z", self.commit).split(b"\0")
        found = [entry.partition(b"\t") for entry in entries if entry[:6].decode() in REGULAR]
        paths = [path.decode(errors="surrogateescape") for _, _, path in found]
        return sorted(path for path in paths if path.endswith(tuple(ends)))

    def revisions(self, path: str) -> list[Revision]:
        """The file in each commit that has changed it, the earliest first; renames are followed, merges left out."""
        said = self._git(
            *("log", "--follow", "--no-merges", "--format=%x01%H", "--raw", "--no-abbrev"),
            *(self.commit, "--", f":(literal){path}"),
        )
        found = []
        commit = ""
        for line in said.decode(errors="replace").split("\n"):
            if line.startswith("\x01"):
                commit = line[1:]
            elif line.startswith(":") and commit:
                _, mode, _, blob = line.split(" ")[:4]
                found.append(Revision(commit, blob if mode in REGULAR else ""))
        return found[::-1]

    def contents(self, blobs: Sequence[str], most: int) -> Iterator[bytes | None]:
        """The bytes of each; None where there are more than `most`."""
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
                    at = start + size + 1

    def _batch(self, option: str, blobs: Sequence[str]) -> bytes:
        if not blobs:
            return b""
        with tempfile.TemporaryFile() as file:
            file.write("".join(f"{blob}\n" for blob in blobs).encode())
            file.seek(0)
            return run_git(self.folder, "file", TIMEOUT, "cat-file", option, given=file)

    def _git(self, *arguments: str) -> bytes:
        return run_git(self.folder, "file", TIMEOUT, *arguments)


@contextmanager
def repository(source: str) -> Iterator[Repository]:
    """The repository at `source`: URL or folder, with @REVISION behind it unless HEAD is meant. It is copied first: the
    settings of a repository may name programs, and those of the copy are ours.

    Raises ConfigError, InstallError.
    """
    url, revision = _parse(source)
    with tempfile.TemporaryDirectory(prefix="ci-eval-", ignore_cleanup_errors=True) as name:
        folder, scheme = Path(name), urlsplit(url).scheme
        run_git(folder, scheme, TIMEOUT, "init", "--quiet", "--bare", "--template=")
        fetch = ("fetch", "--quiet", "--no-tags", "--no-recurse-submodules")
        run_git(folder, scheme, TIMEOUT, *fetch, "--", url, revision)
        commit = run_git(folder, scheme, TIMEOUT, "rev-parse", "--verify", "FETCH_HEAD^{commit}").decode().strip()
        yield Repository(folder=folder, name=_name(url), commit=commit)


def _parse(source: str) -> tuple[str, str]:
    """Address and revision."""
    place, at, revision = source.rpartition("@")
    if not at or "/" in revision or Path(source).is_dir():
        place, revision = source, "HEAD"
    if not place.startswith(("https:", "file:")):
        folder = Path(place).expanduser()
        if not folder.is_dir():
            raise ConfigError(f"there is no Git repository {place}: give a folder, https://… or file:///…")
        place = folder.resolve().as_uri()
    check_url(place)
    check_revision(revision)
    return place, revision


def _name(url: str) -> str:
    return unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2].removesuffix(".git")
