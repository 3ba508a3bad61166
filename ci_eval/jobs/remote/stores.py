"""Workspaces in a store that is reached by a URL, such as s3://BUCKET/PATH: fetched, verified, and sent.

All work is done in folders of this machine. One that is fetched is kept in the cache under the digest of its manifest,
which has the digests of everything else.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from ci_eval import atomic, machine
from ci_eval.errors import WorkspaceError
from ci_eval.jobs.remote import pruning
from ci_eval.workspace import FOLDERS, PARTS, Workspace

MANIFEST = "manifest.json"

KEPT = frozenset({*PARTS, "reports"})
"""What is sent and fetched: nothing else belongs to a workspace that is finished."""


def is_url(text: str) -> bool:
    """Whether the text names something in a store, not a folder."""
    return re.match(r"[a-z][a-z0-9+.-]*://", text) is not None


def fetch(url: str) -> Path:
    """Return the workspace at `url`, as a folder of the cache, which nobody may write to. Raises WorkspaceError, also
    where it is not what was sealed."""
    if (folder := fetch_if_there(url)) is None:
        raise WorkspaceError(f"{url} is not a workspace: it has no manifest.json; give the URL of an earlier run")
    return folder


def fetch_if_there(url: str) -> Path | None:
    """Return the same; None if nothing is there."""
    with _Store.at(url) as store:
        manifest = store.read(MANIFEST)
        if manifest is None:
            return None
        folder = _cache("fetched") / hashlib.sha256(manifest).hexdigest()
        if not folder.exists():
            _download(store, folder)
    _verified(folder, url)
    _used(folder)
    return folder


def _download(store: _Store, folder: Path) -> None:
    atomic.make_folder(folder.parent)
    with tempfile.TemporaryDirectory(prefix=pruning.PARTIAL, dir=folder.parent, ignore_cleanup_errors=True) as name:
        whole = Path(name, "whole")
        for part in FOLDERS:
            atomic.make_folder(whole / part)
        store.download(whole)
        if not folder.exists():
            # Of two processes that fetch it at once, the second finds the folder there.
            with atomic.writing(folder):
                whole.rename(folder)


def _verified(folder: Path, url: str) -> None:
    try:
        Workspace.open(folder).verify()
    except WorkspaceError as error:
        # Half of a newer run, a damaged cache: the next attempt fetches it again.
        shutil.rmtree(folder, ignore_errors=True)
        raise WorkspaceError(f"{url} cannot be used: {error}") from error


def to_change(url: str) -> Path:
    """Return a folder of this machine with the workspace at `url`, to be written to and then sent. Raises
    WorkspaceError."""
    kept, folders = fetch(url), atomic.make_folder(_cache("to-send"))
    folder = Path(tempfile.mkdtemp(prefix="changed-", dir=folders))
    with atomic.writing(folder):
        shutil.copytree(kept, folder, dirs_exist_ok=True)
    pruning.unmark(folder)
    return folder


State = dict[str, tuple[int, int]]
"""Each file below a folder → its size, and when it was last changed, in ns."""


def state(folder: Path) -> State:
    """That of a folder, which may not be there; while nothing is written below it, it stays the same."""
    found = {path.relative_to(folder).as_posix(): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in found.items()}


def local_folder(url: str) -> Path:
    """Where on this machine the workspace is made that is sent to `url`: always the same, so that it can be resumed."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", url)[-60:].strip(".-")
    return _cache("to-send") / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:16]}"


def check_free(url: str) -> None:
    """Raises WorkspaceError if there is a workspace at `url` that this machine did not begin."""
    if (local_folder(url) / MANIFEST).is_file():
        return
    with _Store.at(url) as store:
        if store.read(MANIFEST) is not None:
            raise WorkspaceError(f"{url} is not empty: choose another --output")


def send(folder: Path, url: str) -> bool:
    """Upload a sealed workspace, the manifest last, so that whoever finds one finds all; False if it is not sealed.

    Raises WorkspaceError if it changed since, or the store refuses.
    """
    if not (folder / MANIFEST).is_file() or not Workspace.open(folder).manifest().digests:
        return False
    Workspace.open(folder).verify()
    pruning.unmark(folder)
    paths = [path for part in sorted(KEPT) for path in _files(folder / part)]
    with _Store.at(url) as store:
        store.upload(folder, [path.relative_to(folder).as_posix() for path in paths])
    _used(folder)
    return True


def _used(folder: Path) -> None:
    """Note that it is used now, and make room by removing others."""
    pruning.mark(folder)
    pruning.prune(_cache(""))


def _files(part: Path) -> list[Path]:
    return [path for path in sorted(part.rglob("*")) if path.is_file()] if part.is_dir() else [part][: part.is_file()]


class _Store:
    """The files below a URL."""

    def __init__(self, system: Any, root: str) -> None:
        """`system`: fsspec's, whose classes are not known to the type checker."""
        self._system = system
        self._root = root.rstrip("/")

    @classmethod
    @contextmanager
    def at(cls, url: str) -> Iterator[_Store]:
        """Return the store of a URL; raises WorkspaceError for whatever it does not do in this context."""
        try:
            yield cls(*import_module("fsspec").core.url_to_fs(url, use_listings_cache=False))
        except WorkspaceError:
            raise
        except ImportError as error:
            raise WorkspaceError(f"{url} needs the extra `s3` ({error}): pip install '.[s3]' in a checkout") from error
        except Exception as error:  # what is raised, each kind of store decides
            why = str(error) or type(error).__name__
            raise WorkspaceError(
                f"the store of {url} refuses ({why}): check the URL, your credentials and the network"
            ) from error

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None if it is not there."""
        try:
            return bytes(self._system.cat_file(f"{self._root}/{name}"))
        except FileNotFoundError:
            return None

    def download(self, folder: Path) -> None:
        """Everything that belongs to a workspace. Raises WorkspaceError if a name leads elsewhere."""
        names = [name for name in map(self._below, self._system.find(self._root)) if name.split("/")[0] in KEPT]
        targets = [folder / name for name in names]
        for target in {each.parent for each in targets}:
            atomic.make_folder(target)
        self._system.get([f"{self._root}/{name}" for name in names], [str(target) for target in targets])

    def _below(self, path: str) -> str:
        name = path.removeprefix(f"{self._root}/")
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts or "\\" in name or "\0" in name:
            raise WorkspaceError(f"{self._root} holds {path!r}, which leads out of it: it is no workspace of ci-eval")
        return name

    def upload(self, folder: Path, names: list[str]) -> None:
        """Send these files below the folder, the manifest as the last one. What was there in their place goes first."""
        if self.read(MANIFEST) is not None:
            self._system.rm_file(f"{self._root}/{MANIFEST}")
        others = [name for name in names if name != MANIFEST]
        gone = {self._below(path) for path in self._system.find(self._root)} - set(names)
        self._system.put([str(folder / name) for name in others], [f"{self._root}/{name}" for name in others])
        for name in sorted(gone):
            self._system.rm_file(f"{self._root}/{name}")
        self._system.put_file(str(folder / MANIFEST), f"{self._root}/{MANIFEST}")


def _cache(part: str) -> Path:
    return machine.cache_folder() / "workspaces" / part
