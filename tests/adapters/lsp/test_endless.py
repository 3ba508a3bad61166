"""The client against servers that never stop, or stop in the middle: each costs its time limit and no more."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress

import pytest

from ci_eval.core.base.errors import EngineFailure, EngineMisbehaved, EngineTimeout, EngineUnstarted
from ci_eval.core.contracts import Query
from ci_eval.plugins.adapters.lsp.engine import RunningLsp
from ci_eval.plugins.adapters.process import AHEAD
from tests.adapters.lsp.conftest import Start

METHODS = ("initialize", "textDocument/didOpen", "textDocument/completion", "shutdown")
ENDLESS = [
    *(f"{what}@{method}" for what in ("logs", "half") for method in METHODS),
    *(f"{what}@textDocument/{method}" for what in ("works", "questions") for method in ("didOpen", "completion")),
    "answers@textDocument/completion",
]


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_eval.plugins.adapters.lsp.client.GOODBYE", 0.5)
    monkeypatch.setattr("ci_eval.plugins.adapters.lsp.engine.OPEN_TIMEOUT", 0.5)


@pytest.fixture(autouse=True)
def alarm() -> Iterator[None]:
    """A hanging client fails its test, and does not hang the others."""

    def hangs(*_: object) -> None:
        raise AssertionError("the client hangs")

    signal.signal(signal.SIGALRM, hangs)
    signal.alarm(20)
    yield
    signal.alarm(0)


def use(server: RunningLsp, text: str = "one two\n") -> None:
    server.open("a.py", text)
    server.complete(Query(offset=0, prefix="", expected=""))


@pytest.mark.parametrize("what", ENDLESS)
@pytest.mark.slow
def test_each_step_ends_within_its_limit(start: Start, what: str) -> None:
    server = start(what, timeout=0.5, initialize=1.5, ready=0.5)
    with nullcontext() if what.endswith("shutdown") else suppress(EngineTimeout, EngineMisbehaved, EngineUnstarted):
        use(server)
    server.close()


def test_what_a_server_sends_while_it_does_not_read_is_bounded(start: Start) -> None:
    server = start("logs@textDocument/didOpen", timeout=5.0)
    server.open("a.py", "one\n")
    server.edit([(0, 0, "x" * 3_000_000)])
    with pytest.raises(EngineFailure, match="did not read what it was sent"):
        server.complete(Query(offset=0, prefix="", expected=""))
    assert len(server._running.process._received) < 2 * AHEAD


def test_work_that_never_ends_is_waited_for_as_long_as_indexing_may_take(start: Start) -> None:
    server = start("works-for-ever", ready=0.5)
    started = time.monotonic()
    use(server)
    assert time.monotonic() - started >= 0.5
