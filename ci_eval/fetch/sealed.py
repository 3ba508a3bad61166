"""Folders of the cache that can tell whether they have changed: each holds a list of its files with sizes, times and
digests.

This is against accidents, such as a full disk, an incomplete backup, or a file deleted by mistake. Whoever may write to
the cache could write the list, too.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG, S_IXUSR

import msgspec

from ci_eval.errors import PreparationError
from ci_eval.fetch.download import sha256_of

LIST = "ci-eval-files.json"
WEEK = 7 * 24 * 3600.0
"""Seconds after which contents are read again; in between, only sizes and times are looked at."""
ATTEMPTS = 3


class _SealedFile(msgspec.Struct, array_like=True):
    size: int
    time: int
    """When it was last changed, in ns."""
    executable: bool
    sha256: str


class _List(msgspec.Struct):
    files: dict[str, _SealedFile]
    links: dict[str, str]
    complete: bool


@dataclass(frozen=True)
class _Care:
    thorough: bool = False
    tell: Callable[[str], None] = warnings.warn


_USUAL = _Care()
_CARE = ContextVar("care", default=_USUAL)


@contextmanager
def care(*, thorough: bool | None = None, tell: Callable[[str], None] | None = None) -> Iterator[None]:
    """Within this context: whether contents are always read, and whom to tell of damage; None leaves either as it
    is."""
    now = _CARE.get()
    now = now if thorough is None else replace(now, thorough=thorough)
    token = _CARE.set(now if tell is None else replace(now, tell=tell))
    try:
        yield
    finally:
        _CARE.reset(token)


def seal(folder: Path, *, complete: bool = False) -> None:
    """Write the list of files, after everything else. `complete`: files that are added later count as damage, too."""
    files: dict[str, _SealedFile] = {}
    links: dict[str, str] = {}
    for path in _below(folder):
        if path.is_symlink():
            links[_key(path, folder)] = _text(str(path.readlink()))
        elif path.is_file():
            files[_key(path, folder)] = _file(path, sha256_of(path))
    _write(folder, _List(files, links, complete))


def is_sealed(folder: Path) -> bool:
    """Whether the folder was finished, and no damage has been found since; does not look at its files."""
    return (folder / LIST).is_file()


def intact(folder: Path) -> bool:
    """Whether the folder was finished and has not changed. Damage is reported, and the folder no longer counts as
    finished.

    Raises PreparationError for a damaged folder in a cache that cannot be written to.
    """
    try:
        listed = msgspec.json.decode((folder / LIST).read_bytes(), type=_List)
        age = time.time() - (folder / LIST).stat().st_mtime
    except (OSError, msgspec.MsgspecError):
        return False
    thorough = _CARE.get().thorough or not 0 <= age <= WEEK
    if trouble := _damage(folder, listed, thorough):
        _condemn(folder, f"{folder.name} in the cache is damaged: {trouble}")
        return False
    return True


def publish(whole: Path, folder: Path) -> None:
    """Move a finished folder to its place; of several processes, the first wins. Raises OSError."""
    for attempt in range(ATTEMPTS):
        try:
            if folder.exists() and not is_sealed(folder):
                # What is there is of a killed run, of another format, or damaged: it is deleted with the temporary
                # folder.
                folder.rename(whole.with_name(f"old-{attempt}"))
            whole.rename(folder)
        except OSError:  # noqa: PERF203 - another process may have been faster, at either
            if is_sealed(folder):
                return
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return


def _condemn(folder: Path, why: str) -> None:
    try:
        (folder / LIST).unlink(missing_ok=True)
    except OSError as error:
        raise PreparationError(f"{why}, and cannot be replaced: {error.strerror}. Remove {folder} yourself.") from error
    _CARE.get().tell(f"{why}; it is made anew")


def _damage(folder: Path, listed: _List, thorough: bool) -> str:
    """What has changed; "" if nothing has."""
    found: list[str] = []
    read = False
    # Bytes and no Path: there may be tens of thousands, and this is done before each run.
    base = os.fsencode(folder) + b"/"
    for key, file in listed.files.items():
        path = base + key.encode("latin-1")
        if trouble := _roughly(path, file):
            found.append(f"{_name(key)} {trouble}")
        elif thorough or os.lstat(path).st_mtime_ns != file.time:
            # In a copied cache only the times differ, so contents are read.
            read = True
            if trouble := _exactly(path, file):
                found.append(f"{_name(key)} {trouble}")
    found += [f"{_name(key)} leads elsewhere" for key, to in listed.links.items() if _led(folder / _name(key)) != to]
    if listed.complete:
        known = listed.files.keys() | listed.links.keys()
        found += [f"{_name(key)} was added" for key in _added(folder) if key not in known]
    if read and not found:
        _renew(folder, listed)
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"{found[0]}{more}" if found else ""


def _roughly(path: bytes, file: _SealedFile) -> str:
    try:
        now = os.lstat(path)
    except OSError as error:
        return f"is gone ({error.strerror})"
    if not S_ISREG(now.st_mode):
        return "is no file any more"
    if now.st_size != file.size:
        return f"has {now.st_size:,} bytes, not {file.size:,}"
    return "" if bool(now.st_mode & S_IXUSR) == file.executable else "may be run, or may not, other than before"


def _exactly(path: bytes, file: _SealedFile) -> str:
    try:
        digest = sha256_of(Path(os.fsdecode(path)))
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    file.time = os.lstat(path).st_mtime_ns
    return "" if digest == file.sha256 else "has other contents"


def _renew(folder: Path, listed: _List) -> None:
    """Note that contents were read, so that they are due in a week again."""
    try:
        _write(folder, listed)
    except OSError:
        # In a cache that cannot be written to, contents are read each time.
        return


def _write(folder: Path, listed: _List) -> None:
    partial = folder / f"{LIST}.{os.getpid()}.tmp"
    partial.write_bytes(msgspec.json.encode(listed))
    partial.replace(folder / LIST)


def _added(folder: Path) -> Iterator[str]:
    """Files that were added, except for hidden ones, in which engines keep notes, and what Python compiled."""
    for path in _below(folder, hidden=False):
        yield _key(path, folder)


def _below(folder: Path, *, hidden: bool = True) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        if not hidden:
            folders[:] = [name for name in folders if not name.startswith(".") and name != "__pycache__"]
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in (*names, *links):
            if (hidden or not name.startswith(".")) and not (Path(place) == folder and name.startswith(LIST)):
                yield Path(place, name)


def _file(path: Path, digest: str) -> _SealedFile:
    now = path.lstat()
    return _SealedFile(now.st_size, now.st_mtime_ns, bool(now.st_mode & S_IXUSR), digest)


def _led(path: Path) -> str:
    try:
        return _text(str(path.readlink()))
    except OSError:
        return ""


def _key(path: Path, folder: Path) -> str:
    return _text(path.relative_to(folder).as_posix())


def _text(name: str) -> str:
    """The name as JSON can hold it, even if it is not UTF-8."""
    return os.fsencode(name).decode("latin-1")


def _name(key: str) -> str:
    return os.fsdecode(key.encode("latin-1"))
