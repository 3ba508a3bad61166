"""A seal for folders of the cache: a list of their files with sizes, times and digests shows if they have changed.

It protects against accidents, such as a full disk, an incomplete backup, or a file deleted by mistake. Whoever may
write to the cache could write the list, too.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from stat import S_ISREG, S_IXUSR

import msgspec

from ci_eval.core.base.errors import PreparationError
from ci_eval.fetch.download import hash_file

LIST = "ci-eval-files.json"
ATTEMPTS = 3


class _SealedFile(msgspec.Struct, array_like=True):
    size: int
    time: int
    """Nanoseconds; of the file's last change."""
    executable: bool
    sha256: str


class _List(msgspec.Struct):
    files: dict[str, _SealedFile]
    links: dict[str, str]
    complete: bool


_REPORT_DAMAGE: ContextVar[Callable[[str], None]] = ContextVar("report damage", default=warnings.warn)


@contextmanager
def care(*, tell: Callable[[str], None]) -> Iterator[None]:
    token = _REPORT_DAMAGE.set(tell)
    try:
        yield
    finally:
        _REPORT_DAMAGE.reset(token)


@contextmanager
def new_folder(parent: Path) -> Iterator[Path]:
    """Yield an empty folder below `parent`, which is deleted in the end unless it was published."""
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=parent, ignore_cleanup_errors=True) as name:
        whole = Path(name, "whole")
        whole.mkdir()
        yield whole


def seal(folder: Path, *, complete: bool = False) -> None:
    """Write the list of files, after everything else. If `complete`, files that are added later count as damage,
    too."""
    files: dict[str, _SealedFile] = {}
    links: dict[str, str] = {}
    for path in _walk(folder):
        if path.is_symlink():
            links[_key(path, folder)] = _text(str(path.readlink()))
        elif path.is_file():
            now = path.lstat()
            executable = bool(now.st_mode & S_IXUSR)
            files[_key(path, folder)] = _SealedFile(now.st_size, now.st_mtime_ns, executable, hash_file(path))
    _write(folder, _List(files, links, complete))


def is_sealed(folder: Path) -> bool:
    """Return whether the folder was finished and no damage has been noticed since. It does not look at the files."""
    return (folder / LIST).is_file()


def intact(folder: Path) -> bool:
    """Return whether the folder was finished and has not changed. Damage is reported, and the folder then no longer
    counts as finished. Raises PreparationError for a damaged folder in a cache that cannot be written to."""
    try:
        listed = msgspec.json.decode((folder / LIST).read_bytes(), type=_List)
    except (OSError, msgspec.MsgspecError):
        return False
    changes: list[str] = []
    times = [file.time for file in listed.files.values()]
    # Bytes are faster than Path objects: there may be tens of thousands of files, and each run checks them first.
    base = os.fsencode(folder) + b"/"
    for key, file in listed.files.items():
        if change := _check_file(base + key.encode("latin-1"), file):
            changes.append(f"{_name(key)} {change}")
    for key, target in listed.links.items():
        now = ""
        with suppress(OSError):
            now = _text(str((folder / _name(key)).readlink()))
        if now != target:
            changes.append(f"{_name(key)} leads elsewhere")
    if listed.complete:
        known = listed.files.keys() | listed.links.keys()
        # Engines store notes in hidden files, and Python stores what it compiled.
        added = (_key(path, folder) for path in _walk(folder, hidden=False))
        changes += [f"{_name(key)} was added" for key in added if key not in known]
    if not changes:
        if times != [file.time for file in listed.files.values()]:
            # In a cache that cannot be written to, contents are read each time.
            with suppress(OSError):
                _write(folder, listed)
        return True
    more = f", and {len(changes) - 1} more" if len(changes) > 1 else ""
    why = f"{folder.name} in the cache is damaged: {changes[0]}{more}"
    try:
        (folder / LIST).unlink(missing_ok=True)
    except OSError as error:
        raise PreparationError(f"{why}, and cannot be replaced: {error.strerror}. Remove {folder} yourself.") from error
    _REPORT_DAMAGE.get()(f"{why}; it is made again")
    return False


def publish(whole: Path, folder: Path, *, complete: bool = False) -> None:
    """Seal a folder and move it to its final path. If several processes do so, the first wins. Raises OSError."""
    seal(whole, complete=complete)
    for attempt in range(ATTEMPTS):
        try:
            if folder.exists() and not is_sealed(folder):
                # The existing folder is damaged, or from a killed run or another version: it is deleted with the
                # temporary folder.
                folder.rename(whole.with_name(f"old-{attempt}"))
            whole.rename(folder)
        except OSError:  # noqa: PERF203 - another process may have been faster, at either
            if is_sealed(folder):
                return
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return


def _check_file(path: bytes, file: _SealedFile) -> str:
    """Return what has changed, or "". A file with the same contents and another time gets that time in the list."""
    try:
        now = os.lstat(path)
    except OSError as error:
        return f"is gone ({error.strerror})"
    if not S_ISREG(now.st_mode):
        return "is not a file any more"
    if now.st_size != file.size:
        return f"has {now.st_size:,} bytes, not {file.size:,}"
    if bool(now.st_mode & S_IXUSR) != file.executable:
        return "may be run, or may not, other than before"
    if now.st_mtime_ns == file.time:
        return ""
    # In a copied cache only the times differ, so contents are read.
    try:
        digest = hash_file(Path(os.fsdecode(path)))
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    file.time = now.st_mtime_ns
    return "" if digest == file.sha256 else "has other contents"


def _write(folder: Path, listed: _List) -> None:
    # Two processes may write the list at once.
    partial = folder / f"{LIST}.{os.getpid()}.tmp"
    partial.write_bytes(msgspec.json.encode(listed))
    partial.replace(folder / LIST)


def _walk(folder: Path, *, hidden: bool = True) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        if not hidden:
            folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        links = [name for name in folders if Path(parent, name).is_symlink()]
        for name in (*names, *links):
            # The file with the list, and its temporary file, are left out.
            if (hidden or not name.startswith(".")) and not (Path(parent) == folder and name.startswith(LIST)):
                yield Path(parent, name)


def _key(path: Path, folder: Path) -> str:
    return _text(path.relative_to(folder).as_posix())


def _text(name: str) -> str:
    # latin-1 has a character for each byte, so that `_name` can restore any name.
    return os.fsencode(name).decode("latin-1")


def _name(key: str) -> str:
    return os.fsdecode(key.encode("latin-1"))
