"""The processes below this one, whoever started them, and whatever became of their parents."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Container, Iterator
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


def below(root: int, but: Container[int] = ()) -> dict[int, int]:
    """Process → its group, of all below `root` but these and what is below them; those that ended do not count."""
    children: dict[int, list[tuple[int, int]]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended while we looked
            state, parent, group = path.read_bytes().rpartition(b")")[2].split()[:3]
            if state != b"Z":
                children.setdefault(int(parent), []).append((int(path.parent.name), int(group)))
    found: dict[int, int] = {}
    waiting = [root]
    while waiting:
        for child, leads in children.get(waiting.pop(), ()):
            if child not in but:
                found[child] = leads
                waiting.append(child)
    return found


def left_after(known: Container[int], seconds: float) -> list[str]:
    """What still runs below this process after that time; what is known, and what it starts, does not count.

    A browser that other tests share starts processes whenever it likes.
    """
    deadline = time.monotonic() + seconds
    while left := below(os.getpid(), but=known):
        if time.monotonic() > deadline:
            return [_said(pid) for pid in left]
        time.sleep(0.05)
    return []


def _said(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return str(pid)


def runs(pid: int) -> bool:
    """Whether the process is there, and is no zombie."""
    with suppress(FileNotFoundError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False
