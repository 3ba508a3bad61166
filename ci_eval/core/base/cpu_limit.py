"""A limit of the CPU time that may be spent on one answer, whatever the engine wrote into it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ci_eval.core.base.errors import EngineTimeout

CPU_LIMIT_S = 60.0
"""The CPU time that a worker may spend on one answer, besides the time that the engine has: an answer can be written
such that a pattern needs hours to read it."""


@contextmanager
def limit_cpu(seconds: float) -> Iterator[None]:
    """Raise EngineTimeout in the block once it has used so many seconds of CPU time. A regular
    expression that takes too long is stopped as well. Outside of the main thread there is no limit, since other threads
    get no signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise EngineTimeout(f"its answer took more than {seconds:g} s of CPU to read")

    former = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, former)
