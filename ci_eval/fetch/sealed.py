"""Folders of the cache that tell whether they are as they were left: each holds a list of its files.

Against accidents: a full disk, half a backup, a hand that slipped. Who may write to the cache may write the list too.
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
"""Seconds after which contents are looked at again, not only sizes and times."""
ATTEMPTS = 3


class _SealedFile(msgspec.Struct, array_like=True):
    size: int
    time: int
    """Of the last change, ns."""
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
    """Within it: whether contents are always looked at, and who is told of damage; None = as it was."""
    now = _CARE.get()
    now = now if thorough is None else replace(now, thorough=thorough)
    token = _CARE.set(now if tell is None else replace(now, tell=tell))
    try:
        yield
    finally:
        _CARE.reset(token)


def seal(folder: Path, *, complete: bool = False) -> None:
    """Write the list; the last that is done to a folder. `complete`: what is added later counts as damage too."""
    files: dict[str, _SealedFile] = {}
    links: dict[str, str] = {}
    for path in _below(folder):
        if path.is_symlink():
            links[_key(path, folder)] = _text(str(path.readlink()))
        elif path.is_file():
            files[_key(path, folder)] = _file(path, sha256_of(path))
    _write(folder, _List(files, links, complete))


def is_sealed(folder: Path) -> bool:
    """Whether it was finished, and no damage was found since; nothing is looked at."""
    return (folder / LIST).is_file()


def intact(folder: Path) -> bool:
    """Whether it was finished and is as it was left. Damage is told of, and the folder no longer counts as finished.

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
    """Move a sealed folder into its place; who comes second leaves what is there. Raises OSError."""
    for attempt in range(ATTEMPTS):
        try:
            if folder.exists() and not is_sealed(folder):
                # Of a killed run, of another format, or damaged: it goes with the temporary folder.
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
    """What is not as it was left; "" if all is."""
    found: list[str] = []
    read = False
    # Bytes and no Path: there may be tens of thousands, and this is done before each run.
    base = os.fsencode(folder) + b"/"
    for key, file in listed.files.items():
        path = base + key.encode("latin-1")
        if trouble := _roughly(path, file):
            found.append(f"{_name(key)} {trouble}")
        elif thorough or os.lstat(path).st_mtime_ns != file.time:
            # In a cache that was copied only the times differ.
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
    """Contents are due again in a week."""
    try:
        _write(folder, listed)
    except OSError:
        # In a cache that cannot be written to they are looked at each time.
        return


def _write(folder: Path, listed: _List) -> None:
    partial = folder / f"{LIST}.{os.getpid()}.tmp"
    partial.write_bytes(msgspec.json.encode(listed))
    partial.replace(folder / LIST)


def _added(folder: Path) -> Iterator[str]:
    """Engines leave notes of their own in hidden files; Python leaves what it compiled."""
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
    """A name as JSON can hold it, also one that is not UTF-8."""
    return os.fsencode(name).decode("latin-1")


def _name(key: str) -> str:
    return os.fsdecode(key.encode("latin-1"))
