"""Safe access to a project's files: no links out of the project are followed, and no pipes or devices are read."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

NOT_SOURCE = frozenset({"node_modules", "site-packages", "__pycache__"})
"""Folders with other people's code. They are ignored, as are hidden folders and the metadata of wheels."""


def below(start: Path, root: Path, ends: Sequence[str], ignored: Collection[str] = NOT_SOURCE) -> Iterator[str]:
    """Yield the paths, relative to `root`, of the regular files below `start` whose names end with one of `ends`.
    Hidden folders are excluded, and so are files and folders whose names are in `ignored`."""
    for folder, folders, files in os.walk(start):
        folders[:] = [n for n in folders if n not in ignored and not n.startswith(".") and not n.endswith(".dist-info")]
        # With 100,000 files, the creation of Path objects takes most of the time, so create only one per folder.
        above = Path(folder).relative_to(root).as_posix()
        prefix = "" if above == "." else f"{above}/"
        for name in files:
            # Exclude links, which may lead out of the project (targets inside are found anyway), and pipes.
            if name.endswith(tuple(ends)) and name not in ignored and is_regular(f"{folder}{os.sep}{name}"):
                yield f"{prefix}{name}"


def is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def is_own(path: Path, root: Path) -> bool:
    """Return whether `path`, with links resolved, is a regular file below `root`, so that it is safe to read."""
    try:
        target = os.path.realpath(path, strict=True)
        return target.startswith(_resolve(root)) and is_regular(target)
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=8)
def _resolve(root: Path) -> str:
    # Without the cache, resolving the root for each of 100,000 files takes a third of the time.
    return f"{os.path.realpath(root).rstrip(os.sep)}{os.sep}"


def read_own(root: Path, path: str) -> bytes:
    """Return the content of a project's file. Raises OSError, also if `is_own` is false."""
    if not is_own(root / path, root):
        # If the file does not exist, this raises FileNotFoundError.
        (root / path).lstat()
        raise OSError(f"{path} is not a regular file of the project")
    # Since the check, a pipe may have replaced the file. O_NONBLOCK keeps `open` from blocking on the pipe.
    with os.fdopen(os.open(root / path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        return file.read()


def exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        # Before Python 3.12, `exists` raises an error for some names that are too long or contain NUL.
        return False


def remove_tree(folder: Path) -> None:
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.is_dir() and not folder.is_symlink():
        # rmtree fails for 1,000 nested folders: it exceeds the stack (before Python 3.13) or the limit of open files.
        subprocess.run(["/bin/rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)
