"""Reads the files of a project in worker processes, each into what is found in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from ci_eval.workers import Workers

TIMEOUT = 60.0
"""Seconds one file may take; a grammar that needs more is stuck."""
LARGEST = 1_000_000
"""Bytes of the largest file that is read; what is larger was not written by people."""
Found = TypeVar("Found")


def read_all(
    paths: Sequence[str],
    read: Callable[..., Found | str],
    shared: tuple[object, ...],
    *,
    jobs: int,
    advance: Callable[[int, int], None],
    timeout: float = TIMEOUT,
) -> tuple[dict[str, Found], dict[str, str]]:
    """What `read(*shared, path)` finds in each file, and why it found nothing in others, for which it returns a text.

    Calls `advance(done, of)` after each file. `timeout`: seconds for one file.
    """
    found: dict[str, Found] = {}
    troubles: dict[str, str] = {}
    processes = min(jobs, max(len(paths) // 50, 1))
    with Workers[str, "Found | str"](read, jobs=processes, timeout=timeout, tries=2, shared=shared) as workers:
        for outcome in workers.map(deque(paths)):
            if outcome is not None:
                result = outcome.trouble if outcome.result is None else outcome.result
                if isinstance(result, str):
                    troubles[outcome.task.encode(errors="backslashreplace").decode()] = result
                else:
                    found[outcome.task] = result
            advance(len(found) + len(troubles), len(paths))
    return found, troubles
