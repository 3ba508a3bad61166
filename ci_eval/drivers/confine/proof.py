"""Finds out what a confined process can still do, by trying it: on a file and a process that it must not touch."""

from __future__ import annotations

import _socket  # `socket` takes 8 ms to import
import ctypes
import errno
import os
from collections.abc import Callable

from ci_eval.drivers.confine import kernel

REFUSED = frozenset({errno.EACCES, errno.EPERM, errno.EXDEV})
FAMILIES = {
    "TCP": (_socket.AF_INET, _socket.SOCK_STREAM),
    "UDP": (_socket.AF_INET, _socket.SOCK_DGRAM),
    "IPv6": (_socket.AF_INET6, _socket.SOCK_STREAM),
    "Unix sockets": (_socket.AF_UNIX, _socket.SOCK_STREAM),
}

NOTHING_OPEN = "nothing found open"


def sentence(walls: list[str], still: list[str], reasons: list[str]) -> str:
    """How the process is confined, as manifest and reports say it: `landlock 6 + seccomp, nothing found open`.

    `walls`: what confines it. `still`: what is open. `reasons`: why a wall is missing.
    """
    because = f" ({'; '.join(reasons)})" if reasons else ""
    if not walls:
        return f"not confined: {'; '.join(reasons)}"
    return (
        f"{' + '.join(walls)}; open: {', '.join(still)}{because}" if still else f"{' + '.join(walls)}, {NOTHING_OPEN}"
    )


def still_open(canary: str, caller: int) -> list[str]:
    """What this process can do although it should not.

    `canary`: a file outside all that is allowed. `caller`: id of the process that started this one.
    """
    tried: dict[str, Callable[[], object]] = {
        "reading files": lambda: os.close(os.open(canary, os.O_RDONLY)),
        "writing files": lambda: os.close(os.open(canary, os.O_WRONLY)),
        "making files": lambda: os.close(os.open(f"{canary}.new", os.O_WRONLY | os.O_CREAT, 0o600)),
        "removing files": lambda: os.unlink(canary),
        "listing folders": lambda: os.listdir(os.path.dirname(canary)),
        "cutting files": lambda: os.truncate(canary, 0),
        "rights of files": lambda: os.chmod(canary, 0o600),
        # As they are, so that nothing changes where these are open.
        "rights of open files": lambda: os.fchmod(2, os.fstat(2).st_mode & 0o7777),
        "priorities": lambda: os.setpriority(os.PRIO_PROCESS, caller, os.getpriority(os.PRIO_PROCESS, caller)),
        "the caller's processors": lambda: os.sched_setaffinity(caller, os.sched_getaffinity(caller)),
        "shared memory": _share_memory,
        "the caller's environment": lambda: _first_byte(f"/proc/{caller}/environ"),
        "signals": lambda: os.kill(caller, 0),
    }
    found = [what for what, attempt in tried.items() if not _refused(attempt)]
    found += [what for what, (family, kind) in FAMILIES.items() if not _refused(lambda: _open(family, kind))]  # noqa: B023
    return found


def _refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError as error:
        return error.errno in REFUSED
    return False


def _share_memory() -> None:
    """Make a segment of System V shared memory, which would outlive the engine; raise OSError if that is refused."""
    number = {"x86_64": 29, "aarch64": 194}.get(os.uname().machine)
    if number is None:
        raise OSError(errno.EPERM, "not known of this machine")
    segment = kernel.syscall(number, ctypes.c_int(0), ctypes.c_size_t(4096), ctypes.c_int(0o600 | 0o1000))
    kernel.syscall(31 if number == 29 else 195, ctypes.c_int(segment), ctypes.c_int(0), None)


def _first_byte(path: str) -> None:
    place = os.open(path, os.O_RDONLY)
    try:
        os.read(place, 1)
    finally:
        os.close(place)


def _open(family: int, kind: int) -> None:
    _socket.socket(family, kind).close()
