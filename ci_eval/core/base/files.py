"""Access to a project's files that follows no link out of the project, and reads neither pipes nor devices."""

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
"""The folders with other people's code, which are left out like hidden folders and the metadata of wheels."""


def below(start: Path, root: Path, ends: Sequence[str], ignored: Collection[str] = NOT_SOURCE) -> Iterator[str]:
    """Yield the paths, relative to `root`, of the regular files below `start` whose names have one of these ends. Files
    and folders with a name in `ignored` are left out, and so are hidden folders."""
    for folder, folders, files in os.walk(start):
        folders[:] = [n for n in folders if n not in ignored and not n.startswith(".") and not n.endswith(".dist-info")]
        # Making a path takes most of the time for 100,000 files, so it is made once per folder.
        above = Path(folder).relative_to(root).as_posix()
        prefix = "" if above == "." else f"{above}/"
        for name in files:
            # A link may lead out of the project, and a target inside is found anyway. Reading a pipe might never end.
            if name.endswith(tuple(ends)) and name not in ignored and is_regular(f"{folder}{os.sep}{name}"):
                yield f"{prefix}{name}"


def is_regular(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def is_own(path: Path, root: Path) -> bool:
    """Return whether `path` leads to a regular file below `root`, which is safe to read and to show."""
    try:
        target = os.path.realpath(path, strict=True)
        return target.startswith(_resolve(root)) and is_regular(target)
    except (OSError, ValueError):
        return False


@lru_cache(maxsize=8)
def _resolve(root: Path) -> str:
    # Resolving the root for each of 100,000 files would take a third of the time.
    return f"{os.path.realpath(root).rstrip(os.sep)}{os.sep}"


def read_own(root: Path, path: str) -> bytes:
    """Return the bytes of a project's file. Raises OSError, also if it is a link or not a regular file."""
    if not is_own(root / path, root):
        # If the file does not exist, this raises the system's error.
        (root / path).lstat()
        raise OSError(f"{path} is not a regular file of the project")
    # O_NONBLOCK: a pipe may have taken its place since it was checked.
    with os.fdopen(os.open(root / path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        return file.read()


def exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        # The name is too long or has a NUL; `exists` raises for some of them before Python 3.12.
        return False


def remove_tree(folder: Path) -> None:
    with suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
    if folder.is_dir() and not folder.is_symlink():
        # A thousand nested folders are too many: before Python 3.13 for the stack, since then because each stays open.
        subprocess.run(["/bin/rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)
