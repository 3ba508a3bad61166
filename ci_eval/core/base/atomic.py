"""Atomic writing of files: readers see either the old or the new content, never a part of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import WorkspaceError


def make_folder(folder: Path, option: str = "--output") -> Path:
    """Create a folder and its parents. Raises WorkspaceError, whose message advises to change `option`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"cannot create {folder}: {error.strerror}; choose another {option}") from error
    return folder


def check_free(folder: Path, hint: str = "") -> None:
    """Raise WorkspaceError, whose message ends with `hint`, unless the folder is missing or empty."""
    if folder.exists() and not folder.is_dir():
        raise WorkspaceError(f"{folder} is a file, and a folder is needed: choose another --output")
    if folder.exists() and any(folder.iterdir()):
        raise WorkspaceError(f"{folder} is not empty: choose another --output{hint}")


def empty_folder(folder: Path) -> Path:
    """Create the folder if it is missing. Raises WorkspaceError if it is not empty."""
    check_free(folder)
    return make_folder(folder)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Convert an OSError in the block, which writes `path`, to a WorkspaceError."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise WorkspaceError(f"cannot write {path}: {reason}; make room, or choose another place") from error


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file that replaces `path` at the end of the block. Raises WorkspaceError."""
    # The temporary file is in the same folder, since a rename is atomic only within one file system.
    partial = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with writing(path):
        try:
            yield partial
            partial.replace(path)
        finally:
            # Remove the partial file if writing failed.
            partial.unlink(missing_ok=True)


def write(path: Path, data: bytes) -> Path:
    """Write `data` to `path` atomically, and create missing folders. Raises WorkspaceError."""
    with replacing(path) as partial:
        partial.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
    return path


def write_json(path: Path, value: object) -> Path:
    return write(path, msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def copy(source: Path, target: Path) -> None:
    with writing(target):
        shutil.copyfile(source, target)


def tidy(folder: Path) -> None:
    # Remove children before their folder, which may match the pattern as well.
    for path in sorted(folder.rglob("*.tmp"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
