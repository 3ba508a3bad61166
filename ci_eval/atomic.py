"""Files that are either the old ones or the new ones, never half written; and the folders for them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ci_eval.errors import WorkspaceError


def make_folder(folder: Path, option: str = "--output") -> Path:
    """With those above it, unless it is there. Raises WorkspaceError, which names the option to choose another by."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"cannot create {folder}: {error.strerror}; choose another {option}") from error
    return folder


def empty_folder(folder: Path, option: str = "--output") -> Path:
    """A new one, or one with nothing in it. Raises WorkspaceError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WorkspaceError(f"{folder} is not empty: choose another {option}")
    return make_folder(folder, option)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """While a file or folder is written. Raises WorkspaceError where the system refuses, as a full disk does."""
    try:
        yield
    except OSError as error:
        raise WorkspaceError(
            f"cannot write {path}: {error.strerror or error}; make room, or choose another place"
        ) from error


def write(path: Path, data: bytes) -> Path:
    """Put `data` at `path` in one step, with the folders above it. Raises WorkspaceError."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(data)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    return path


def copy(source: Path, target: Path) -> None:
    """The content of a file. Raises WorkspaceError."""
    with writing(target):
        shutil.copyfile(source, target)


def tidy(folder: Path) -> None:
    """Remove what was half written below it when its process was killed: files, and folders of pages."""
    for path in sorted(folder.rglob("*.tmp"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
