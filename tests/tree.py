"""The processes below this one, whoever started them, and whatever became of their parents."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SUBREAPER = 36


@contextmanager
def orphans_stay() -> Iterator[None]:
    """A process below this one whose parent ends becomes a child of this one."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).prctl(SUBREAPER, 0)


def below(root: int) -> dict[int, int]:
    """Process → how many steps below `root` it is; those that ended do not count."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended while we looked
            state, parent = path.read_bytes().rpartition(b")")[2].split()[:2]
            if state != b"Z":
                children.setdefault(int(parent), []).append(int(path.parent.name))
    found: dict[int, int] = {}
    waiting = [(root, 0)]
    while waiting:
        pid, depth = waiting.pop()
        for child in children.get(pid, ()):
            found[child] = depth + 1
            waiting.append((child, depth + 1))
    return found


def left_after(known: set[int], seconds: float) -> list[str]:
    """What runs below this process that was not known, once that time is over; all else is gone sooner."""
    deadline = time.monotonic() + seconds
    while left := below(os.getpid()).keys() - known:
        if time.monotonic() > deadline:
            return [_said(pid) for pid in left]
        time.sleep(0.05)
    return []


def _said(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return str(pid)
