"""Files that are either the old ones or the new ones, never half written; and the folders for them."""

from __future__ import annotations

import os
from pathlib import Path

from ci_eval.errors import WorkspaceError


def make_folder(folder: Path, option: str = "--output") -> Path:
    """With those above it, unless it is there. Raises WorkspaceError, which names the option to choose another by."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WorkspaceError(f"cannot create {folder}: {error.strerror}; choose another {option}") from error
    return folder


def write(path: Path, data: bytes) -> Path:
    """Put `data` at `path` in one step, with the folders above it. Raises WorkspaceError."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(data)
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise WorkspaceError(f"cannot write {path}: {error.strerror}") from error
    return path
