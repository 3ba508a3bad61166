"""Keeps the workspaces in the cache from growing without end: those that were not used for longest go first.

A workspace that may be removed has a mark in the folder `used`, an empty file that is touched at each use. It stands
beside the workspaces, since nothing may be added to what is sealed.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ci_eval import atomic

DAY = 24 * 3600.0
OLD = 30 * DAY
"""Seconds after its last use, after which a workspace is removed."""
MOST = 10 * 10**9
"""Bytes that are kept."""
PARTIAL = ".new-"
"""How the name of a folder begins that is being written or removed."""


def mark(folder: Path) -> None:
    """Note that the workspace in this folder is used now, and is in a store, so that it may be removed some day."""
    path = _mark_of(folder)
    atomic.make_folder(path.parent)
    with atomic.writing(path):
        path.touch()


def unmark(folder: Path) -> None:
    """Note that the workspace in this folder is nowhere else: it is kept until it is sent."""
    _mark_of(folder).unlink(missing_ok=True)


def prune(root: Path, most: int = MOST) -> None:
    """Remove the marked workspaces in the folders below `root` that were not used for OLD seconds; then those that were
    not used for longest, until `most` bytes are left.

    What was used within a day stays: a command may be reading it.
    """
    now = time.time()
    for left in root.glob(f"*/{PARTIAL}*"):
        if _changed(left) < now - DAY:
            shutil.rmtree(left, ignore_errors=True)  # of a killed process; the next command tries again
    kept = 0
    for used, folder in sorted(_marked(root), reverse=True):
        kept += _size(folder)
        if used < now - OLD or (kept > most and used < now - DAY):
            _remove(folder)


def _mark_of(folder: Path) -> Path:
    return folder.parent.parent / "used" / folder.parent.name / folder.name


def _marked(root: Path) -> Iterator[tuple[float, Path]]:
    """When each was last used, and its folder."""
    for path in root.glob("used/*/*"):
        yield _changed(path), root / path.relative_to(root / "used")


def _changed(path: Path) -> float:
    """When it was last changed; now, where another process has just removed it."""
    with suppress(FileNotFoundError):
        return path.stat().st_mtime
    return time.time()


def _size(folder: Path) -> int:
    """Bytes of all files below it; what another process removes meanwhile does not count."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.lstat().st_size
    return size


def _remove(folder: Path) -> None:
    """In one step for whoever looks for it meanwhile."""
    away = folder.with_name(f"{PARTIAL}{folder.name}-{time.time_ns()}")
    unmark(folder)
    with suppress(FileNotFoundError):  # another process was faster
        folder.rename(away)
        shutil.rmtree(away, ignore_errors=True)  # what is left is removed after a day
