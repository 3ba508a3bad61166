"""An answer that would be read for hours ends with an error of its session."""

from __future__ import annotations

import re
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from ci_eval.core.base.cpu_limit import limit_cpu
from ci_eval.core.base.errors import EngineTimeout


def test_a_pattern_that_would_never_end_is_stopped() -> None:
    with pytest.raises(EngineTimeout, match=r"more than 0.2 s of CPU"), limit_cpu(0.2):
        re.match(r"(a+)+$", "a" * 60 + "b")


def test_afterwards_there_is_no_limit_any_more() -> None:
    with limit_cpu(30):
        pass
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getsignal(signal.SIGVTALRM) is signal.SIG_DFL


def test_a_thread_has_none() -> None:
    def read() -> bool:
        with limit_cpu(0.01):
            return re.match(r"(a+)+$", "a" * 18 + "b") is None

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(read).result()
