"""A limit on the number of questions that are under way at once, over all processes of this machine."""

from __future__ import annotations

import fcntl
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.01
"""Seconds between two looks for a free slot."""


class Slots:
    """A number of slots. A process that holds a slot has locked its file, which the kernel undoes when the process
    ends."""

    def __init__(self, folder: Path, address: str, count: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(address.encode()).hexdigest()[:16]
        self._paths = [folder / f"{name}.{number}" for number in range(count)]

    @contextmanager
    def one(self) -> Iterator[None]:
        """Hold a slot, as soon as one is free."""
        while True:
            for path in self._paths:
                # Opened to append: opening must not empty a file that another process has locked.
                with path.open("ab") as file:
                    if _lock(file.fileno()):
                        yield
                        return
            # flock waits for one file, not for whichever of several is free first.
            time.sleep(PAUSE)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
