"""The reader of a project's files, which runs in worker processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeVar

from ci_eval.core.workers import Workers

TIMEOUT = 60.0
"""Seconds one file may take; a grammar that needs more is stuck."""
LARGEST = 1_000_000
"""Bytes of the largest file that is read. Larger files were not written by people."""
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
    """Run `read(*shared, path)` on every file. Return the results by path, and the error messages by path.

    `read` returns a text if it fails. `advance(done, of)` is called after each file. `timeout` is in seconds for one
    file.
    """
    results: dict[str, Found] = {}
    troubles: dict[str, str] = {}
    processes = min(jobs, max(len(paths) // 50, 1))
    with Workers[str, "Found | str"](read, jobs=processes, timeout=timeout, tries=2, shared=shared) as workers:
        for outcome in workers.map(deque(paths)):
            if outcome is not None:
                result = outcome.trouble if outcome.result is None else outcome.result
                if isinstance(result, str):
                    # A path need not be UTF-8, but a message must be.
                    troubles[outcome.task.encode(errors="backslashreplace").decode()] = result
                else:
                    results[outcome.task] = result
            advance(len(results) + len(troubles), len(paths))
    return results, troubles
