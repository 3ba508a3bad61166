"""How tests wait: a machine may be as busy as it likes, so only what hangs fails."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable

HANGS = 600
"""Seconds after which a program is taken to hang."""


def wait_for(
    happened: Callable[[], bool], process: subprocess.Popen[str] | None = None, *, seconds: float = HANGS
) -> None:
    """Wait until it has happened; fail where the process that is to bring it about ends before that, or hangs.

    `seconds`: fewer where it must happen soon, lest it happen by itself.
    """
    deadline = time.monotonic() + seconds
    while not happened():
        ended = process is not None and process.poll() is not None
        if (ended and not happened()) or time.monotonic() > deadline:
            raise AssertionError(f"{'it ended' if ended else 'it hangs'}: {_last_words(process)}")
        time.sleep(0.02)


def _last_words(process: subprocess.Popen[str] | None) -> str:
    """What the process told, which is over then."""
    if process is None:
        return ""
    process.kill()
    return "\n".join(filter(None, process.communicate()))
