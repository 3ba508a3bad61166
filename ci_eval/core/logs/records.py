"""The account of a folder of logs: what is in it, and whether it still is."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.model import LogFile, LogsRecord


def read_logs_record(folder: Path) -> LogsRecord | None:
    """Return the manifest of logs, None if the folder has none. Raises WorkspaceError."""
    path = folder / "manifest.json"
    if not path.is_file():
        return None
    try:
        record = stored.decode_json(stored.read(path, stored.MANIFEST), LogsRecord, path)
    except WorkspaceError as error:
        raise WorkspaceError(f"{path} is no account of logs: {error}") from error
    check(record, folder)
    return record


def check(record: LogsRecord, folder: Path) -> None:
    """Check that the manifest names no file outside its folder. Raises WorkspaceError."""
    try:
        for file in record.files:
            stored.inside(file.path)
    except ValueError as error:
        raise WorkspaceError(f"{folder}: the account of its logs is damaged: {error}") from error


def verify(folder: Path, record: LogsRecord) -> None:
    """Check that each file is what was written. Raises WorkspaceError."""
    for file in record.files:
        path = folder / file.path
        if not path.is_file() or digest(path, folder) != file:
            raise WorkspaceError(f"{path} is not what was logged: fetch the logs again")


def digest(path: Path, folder: Path) -> LogFile:
    """Return path, size and SHA-256 of a file in the logs."""
    sha256 = hashlib.sha256()
    with stored.open_regular_file(path) as file:
        while block := file.read(1 << 20):
            sha256.update(block)
    return LogFile(path=path.relative_to(folder).as_posix(), size=path.stat().st_size, sha256=sha256.hexdigest())
