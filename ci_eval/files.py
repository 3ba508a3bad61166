"""Whose a file is: a project's own are regular files inside it; links out, pipes and devices are left alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def is_own(path: Path, root: Path) -> bool:
    """Whether `path` leads to a regular file below `root`: reading it neither blocks nor tells of anything else."""
    try:
        found = path.resolve(strict=True)
        return found.is_relative_to(root.resolve()) and stat.S_ISREG(found.stat().st_mode)
    except (OSError, RuntimeError, ValueError):
        # RuntimeError: a loop of links, before Python 3.13.
        return False


def read_own(root: Path, path: str) -> bytes:
    """A file of the project, `path` below its root. Raises OSError, also for what is none of its own regular files."""
    if not is_own(root / path, root):
        (root / path).lstat()
        raise OSError(f"{path} is no regular file of the project")
    # A pipe may have taken its place since.
    with os.fdopen(os.open(root / path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        return file.read()


def exists(path: Path) -> bool:
    """Whether anything is there; of a name that no file system takes, nothing is."""
    try:
        return path.exists()
    except (OSError, ValueError):
        # Too long, or with a null; before Python 3.12 `exists` lets some of them through.
        return False
