"""Whose a file is: a project's own are regular files inside it; links out, pipes and devices are left alone."""

from __future__ import annotations

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
