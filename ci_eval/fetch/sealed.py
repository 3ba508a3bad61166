"""Seal folders of the cache. A seal lists the files with their sizes, and so shows if files were lost or cut off.

A seal protects against accidents, such as a full disk, an incomplete backup, or a file deleted by mistake.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import msgspec

from ci_eval.core.base.errors import PreparationError

LIST = "ci-eval-files.json"
ATTEMPTS = 3

_REPORT_DAMAGE: ContextVar[Callable[[str], None]] = ContextVar("report damage", default=warnings.warn)


@contextmanager
def care(*, report: Callable[[str], None]) -> Iterator[None]:
    token = _REPORT_DAMAGE.set(report)
    try:
        yield
    finally:
        _REPORT_DAMAGE.reset(token)


@contextmanager
def new_folder(parent: Path) -> Iterator[Path]:
    """Yield an empty folder below `parent`. The folder is deleted at the end unless it was published."""
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=parent, ignore_cleanup_errors=True) as name:
        whole = Path(name, "whole")
        whole.mkdir()
        yield whole


def is_sealed(folder: Path) -> bool:
    """Return whether the folder was finished and no damage has been noticed since. The files are not checked."""
    return (folder / LIST).is_file()


def intact(folder: Path) -> bool:
    """Return whether the folder was finished and its files still have their sizes. Damage is reported, and the seal of
    the folder is removed. Raises PreparationError if the folder is damaged and its seal cannot be removed."""
    try:
        sizes = msgspec.json.decode((folder / LIST).read_bytes(), type=dict[str, int])
    except OSError:
        return False
    except msgspec.MsgspecError:
        # While the seal of another version is there, `publish` would not replace the folder.
        _remove_seal(folder, f"{folder.name} in the cache is from another version")
        return False
    # Bytes are faster than Path objects: each run checks the files first, and there may be tens of thousands.
    base = os.fsencode(folder) + b"/"
    changes = [name for name, size in sizes.items() if _size(base + name.encode("latin-1")) != size]
    if not changes:
        return True
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    name = os.fsdecode(changes[0].encode("latin-1"))
    why = f"{folder.name} in the cache is damaged: {name}{more} changed"
    _remove_seal(folder, why)
    _REPORT_DAMAGE.get()(f"{why}; it is made again")
    return False


def _remove_seal(folder: Path, why: str) -> None:
    try:
        (folder / LIST).unlink(missing_ok=True)
    except OSError as error:
        raise PreparationError(f"{why}, and cannot be replaced: {error.strerror}. Remove {folder} yourself.") from error


def publish(whole: Path, folder: Path) -> None:
    """Seal a folder and move it to its final path. If several processes do this, the first wins. Raises OSError."""
    files = (os.path.join(parent, name) for parent, _, names in os.walk(whole) for name in names)  # noqa: PTH118 - fast
    # latin-1 has a character for each byte, so names that are not valid text are kept too.
    sizes = {os.fsencode(os.path.relpath(path, whole)).decode("latin-1"): _size(os.fsencode(path)) for path in files}
    (whole / LIST).write_bytes(msgspec.json.encode(sizes))
    for attempt in range(ATTEMPTS):
        try:
            if folder.exists() and not is_sealed(folder):
                # The existing folder is damaged, or from a killed run or another version. It is deleted with the
                # temporary folder.
                folder.rename(whole.with_name(f"old-{attempt}"))
            whole.rename(folder)
        except OSError:  # noqa: PERF203 - another process may have been faster at either rename
            if is_sealed(folder):
                return
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return


def _size(path: bytes) -> int:
    """Return the size of a file in bytes; for a link, the length of its target's name; -1 without a file."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return -1
