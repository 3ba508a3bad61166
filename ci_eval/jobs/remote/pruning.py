"""A limit for the workspaces in the cache: those that were unused for longest are removed first.

A workspace that may be removed has a mark in the folder `used`, an empty file that is touched at each use. The mark is
outside the workspace, since nothing may be added to a sealed one.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from ci_eval.core.base import atomic

DAY = 24 * 3600.0
OLD = 30 * DAY
"""The seconds after its last use after which a workspace is removed."""
MOST = 10 * 10**9
"""The most bytes that are stored."""
PARTIAL = ".new-"
"""The prefix of the name of a folder that is being written or removed."""


def mark(folder: Path) -> None:
    """Mark the workspace in this folder as used now, and as present in a store, so that it may be removed some day."""
    path = _mark_path(folder)
    atomic.make_folder(path.parent)
    with atomic.writing(path):
        path.touch()


def unmark(folder: Path) -> None:
    """Remove the mark of a workspace that is in no store: it is not pruned until it is sent."""
    _mark_path(folder).unlink(missing_ok=True)


def prune(root: Path, most: int = MOST) -> None:
    """Remove the marked workspaces in the folders below `root` that were unused for OLD seconds. Then remove those that
    were unused for longest, until at most `most` bytes are left.

    A workspace that was used within a day stays: a command may be reading it.
    """
    now = time.time()
    for partial in root.glob(f"*/{PARTIAL}*"):
        if _change_time(partial) < now - DAY:
            shutil.rmtree(partial, ignore_errors=True)  # of a killed process; the next command tries again
    total = 0
    # The most recently used come first, so that the limit falls on the others.
    for used, folder in sorted(_list_marks(root), reverse=True):
        total += _size(folder)
        if used < now - OLD or (total > most and used < now - DAY):
            # The time makes the name unique, since an interrupted removal may have left its folder.
            away = folder.with_name(f"{PARTIAL}{folder.name}-{time.time_ns()}")
            unmark(folder)
            with suppress(FileNotFoundError):  # another process was faster
                # A rename removes the folder in one step for any process that looks for it.
                folder.rename(away)
                shutil.rmtree(away, ignore_errors=True)  # what is left is removed after a day


def _mark_path(folder: Path) -> Path:
    return folder.parent.parent / "used" / folder.parent.name / folder.name


def _list_marks(root: Path) -> Iterator[tuple[float, Path]]:
    """Yield the time of the last use of each marked workspace, and its folder."""
    for path in root.glob("used/*/*"):
        yield _change_time(path), root / path.relative_to(root / "used")


def _change_time(path: Path) -> float:
    """Return the time of the last change; the current time if another process has just removed the file."""
    with suppress(FileNotFoundError):
        return path.stat().st_mtime
    return time.time()


def _size(folder: Path) -> int:
    """Return the bytes of all files below a folder, without those that another process removes meanwhile."""
    size = 0
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            size += path.lstat().st_size
    return size
