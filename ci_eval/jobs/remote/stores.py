"""The workspaces in a store with a URL, such as s3://BUCKET/PATH: they are fetched, verified and sent.

All work is done in folders of this machine. A fetched workspace is stored in the cache under the digest of its
manifest, which has the digests of everything else.
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

from ci_eval.core import machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.workspace import FOLDERS, PARTS, Workspace
from ci_eval.jobs.remote import pruning

MANIFEST = "manifest.json"

KEPT = frozenset({*PARTS, "reports"})
"""The parts that are sent and fetched: nothing else belongs to a finished workspace."""


def is_url(text: str) -> bool:
    """Return whether the text names something in a store, not a folder."""
    return re.match(r"[a-z][a-z0-9+.-]*://", text) is not None


def fetch(url: str) -> Path:
    """Return the workspace at `url` as a folder of the cache, which must not be written to. Raises WorkspaceError if
    there is none, or if it differs from what was sealed."""
    if (folder := fetch_if_there(url)) is None:
        raise WorkspaceError(f"{url} is not a workspace: it has no manifest.json; give the URL of an earlier run")
    return folder


def fetch_if_there(url: str) -> Path | None:
    """Return the workspace at `url` as `fetch` does; None if there is none. Raises WorkspaceError if it differs from
    what was sealed."""
    with _Store.at(url) as store:
        manifest = store.read(MANIFEST)
        if manifest is None:
            return None
        folder = _cache("fetched") / hashlib.sha256(manifest).hexdigest()
        if not folder.exists():
            atomic.make_folder(folder.parent)
            with tempfile.TemporaryDirectory(
                prefix=pruning.PARTIAL, dir=folder.parent, ignore_cleanup_errors=True
            ) as name:
                whole = Path(name, "whole")
                for part in FOLDERS:
                    atomic.make_folder(whole / part)
                store.download(whole)
                if not folder.exists():
                    # If two processes fetch it at once, the second finds the folder.
                    with atomic.writing(folder):
                        whole.rename(folder)
    try:
        Workspace.open(folder).verify()
    except WorkspaceError as error:
        # Half of a newer run, a damaged cache: the next attempt fetches it again.
        shutil.rmtree(folder, ignore_errors=True)
        raise WorkspaceError(f"{url} cannot be used: {error}") from error
    _record_use(folder)
    return folder


def to_change(url: str) -> Path:
    """Copy the workspace at `url` into a folder of this machine, to be changed and then sent. Raises WorkspaceError."""
    fetched, folders = fetch(url), atomic.make_folder(_cache("to-send"))
    folder = Path(tempfile.mkdtemp(prefix="changed-", dir=folders))
    with atomic.writing(folder):
        shutil.copytree(fetched, folder, dirs_exist_ok=True)
    pruning.unmark(folder)
    return folder


State = dict[str, tuple[int, int]]
"""The size of each file below a folder, and the time of its last change in ns, by path."""


def state(folder: Path) -> State:
    """Return the state of a folder, which may be missing. It stays the same while nothing is written below the
    folder."""
    stats = {path.relative_to(folder).as_posix(): path.stat() for path in folder.rglob("*") if path.is_file()}
    return {name: (stat.st_size, stat.st_mtime_ns) for name, stat in stats.items()}


def local_folder(url: str) -> Path:
    """Return the folder of this machine for the workspace that is sent to `url`. It is always the same, so that a run
    can be resumed."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", url)[-60:].strip(".-")
    return _cache("to-send") / f"{name}-{hashlib.sha256(url.encode()).hexdigest()[:16]}"


def check_free(url: str) -> None:
    """Check that there is no workspace at `url` that another machine began. Raises WorkspaceError if there is one."""
    if (local_folder(url) / MANIFEST).is_file():
        return
    with _Store.at(url) as store:
        if store.read(MANIFEST) is not None:
            raise WorkspaceError(f"{url} is not empty: choose another --output")


def send(folder: Path, url: str) -> bool:
    """Upload a sealed workspace, the manifest last: whoever finds a manifest finds everything. Return False if the
    workspace is not sealed.

    Raises WorkspaceError if it changed since it was sealed, or if the store refuses.
    """
    if not (folder / MANIFEST).is_file() or not Workspace.open(folder).manifest().digests:
        return False
    Workspace.open(folder).verify()
    # If the upload fails, the workspace is in no store, and must not be pruned.
    pruning.unmark(folder)
    paths = [path for part in sorted(KEPT) for path in _files(folder / part)]
    with _Store.at(url) as store:
        store.upload(folder, [path.relative_to(folder).as_posix() for path in paths])
    _record_use(folder)
    return True


def _record_use(folder: Path) -> None:
    """Mark the workspace as used now, and make room by removing others."""
    pruning.mark(folder)
    pruning.prune(_cache(""))


def _files(part: Path) -> list[Path]:
    return [path for path in sorted(part.rglob("*")) if path.is_file()] if part.is_dir() else [part][: part.is_file()]


class _Store:
    """The files below a URL of a store."""

    def __init__(self, system: Any, root: str) -> None:
        """Store the file system. `system` is one of fsspec, whose classes are unknown to the type checker."""
        self._system = system
        self._root = root.rstrip("/")

    @classmethod
    @contextmanager
    def at(cls, url: str) -> Iterator[_Store]:
        """Open the store of a URL for a `with` block. Raises WorkspaceError for any failure of the store in the
        block."""
        try:
            # A cached listing would not show what another machine has sent meanwhile.
            yield cls(*import_module("fsspec").core.url_to_fs(url, use_listings_cache=False))
        except WorkspaceError:
            raise
        except ImportError as error:
            raise WorkspaceError(f"{url} needs the extra `s3` ({error}): pip install '.[s3]' in a checkout") from error
        except Exception as error:  # what is raised, each kind of store decides
            reason = str(error) or type(error).__name__
            raise WorkspaceError(
                f"the store of {url} refuses ({reason}): check the URL, your credentials and the network"
            ) from error

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None if it is not there."""
        try:
            return bytes(self._system.cat_file(f"{self._root}/{name}"))
        except FileNotFoundError:
            return None

    def download(self, folder: Path) -> None:
        """Download everything that belongs to a workspace. Raises WorkspaceError if a name leads out of the folder."""
        names = [name for name in map(self._below, self._system.find(self._root)) if name.split("/")[0] in KEPT]
        targets = [folder / name for name in names]
        for target in {path.parent for path in targets}:
            atomic.make_folder(target)
        self._system.get([f"{self._root}/{name}" for name in names], [str(target) for target in targets])

    def _below(self, path: str) -> str:
        name = path.removeprefix(f"{self._root}/")
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts or "\\" in name or "\0" in name:
            raise WorkspaceError(f"{self._root} holds {path!r}, which leads out of it: it is no workspace of ci-eval")
        return name

    def upload(self, folder: Path, names: list[str]) -> None:
        """Send these files below the folder, the manifest last. Files that were at the URL before are deleted."""
        # Without a manifest, nobody takes the half-replaced files for a workspace.
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
