"""Tells a project's own files, which are regular files inside of it, from links that lead out, pipes and devices."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def is_own(path: Path, root: Path) -> bool:
    """Whether `path` is a regular file below `root`: reading it cannot block, and reveals nothing from elsewhere."""
    try:
        found = path.resolve(strict=True)
        return found.is_relative_to(root.resolve()) and stat.S_ISREG(found.stat().st_mode)
    except (OSError, RuntimeError, ValueError):
        # RuntimeError: a cycle of links, before Python 3.13.
        return False


def read_own(root: Path, path: str) -> bytes:
    """The bytes of a file of the project, at `path` below `root`. Raises OSError, also where it is not a regular file
    of its own."""
    if not is_own(root / path, root):
        (root / path).lstat()
        raise OSError(f"{path} is no regular file of the project")
    # O_NONBLOCK: a pipe may have taken its place since it was checked.
    with os.fdopen(os.open(root / path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        return file.read()


def exists(path: Path) -> bool:
    """Whether there is anything at `path`; False for a name that no file system allows."""
    try:
        return path.exists()
    except (OSError, ValueError):
        # The name is too long or has a NUL; `exists` raises for some of them before Python 3.12.
        return False
