"""The client's part of the protocol: what it waits for, answers and cancels."""

from __future__ import annotations

import os

import pytest

from ci_eval.core.base.errors import EngineRaised, EngineTimeout, EngineUnstarted
from tests.adapters.lsp.conftest import TEXT, Start, ask


def test_a_server_that_obeys_a_cancellation_need_not_be_restarted(start: Start) -> None:
    server = start("silent-once", timeout=0.3)
    server.open("a.py", TEXT)
    with pytest.raises(EngineTimeout) as caught:
        ask(server)
    assert not caught.value.restart
    assert "one" in ask(server)


def test_announced_work_is_waited_for(start: Start) -> None:
    server = start("indexes")
    server.open("a.py", TEXT)
    assert "indexed" in ask(server)


def test_work_that_is_announced_late_is_waited_for_where_nothing_is_known_of_the_server(start: Start) -> None:
    server = start("announces-late", quiet=20.0)
    server.open("a.py", TEXT)
    assert "indexed" in ask(server)
    assert server.waited()[0] > 0


def test_what_was_answered_while_work_was_announced_is_asked_again(start: Start) -> None:
    server = start("indexes-when-asked")
    server.open("a.py", TEXT)
    assert "indexed" in ask(server)


def test_work_that_never_ends_is_waited_for_as_long_as_it_may_be(start: Start) -> None:
    server = start("works-for-ever", ready=0.3)
    server.open("a.py", TEXT)
    assert "one" in ask(server)
    assert server.waited()[1] == 1


def test_what_the_server_cancels_is_asked_again(start: Start) -> None:
    server = start("cancels-twice")
    server.open("a.py", TEXT)
    assert "one" in ask(server)


def test_what_the_server_always_cancels_is_no_empty_list(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_eval.plugins.adapters.lsp.client.PAUSE", 0.01)
    server = start("cancels")
    server.open("a.py", TEXT)
    with pytest.raises(EngineRaised, match="5 times with error -3280"):
        ask(server)


def test_a_server_that_does_not_initialize_says_how_long_it_had(start: Start) -> None:
    with pytest.raises(EngineUnstarted, match=r"did not answer `initialize` within 0.3 s.*engine\.initializeTimeout"):
        start("never-starts", initialize=0.3).open("a.py", TEXT)


def test_requests_of_the_server_are_answered(start: Start) -> None:
    server = start("asks")
    server.open("a.py", TEXT)
    assert ask(server) == ["wanted", "code32601"]


@pytest.mark.parametrize("way", ["", "never-ends", "silent", "floods"])
@pytest.mark.slow
def test_no_process_is_left(start: Start, way: str) -> None:
    server = start(way)
    server.open("a.py", TEXT)
    pid = server._running.process.pid
    server.close()
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, 0)


@pytest.mark.parametrize("way", ["triggers", "late-completion"])
def test_a_question_says_what_was_typed_last_as_vs_code_does(start: Start, way: str) -> None:
    server = start(way)
    server.open("a.py", TEXT)
    assert ask(server, 3, "one") == ['{"triggerKind": 1}']
    assert ask(server, 4) == ['{"triggerKind": 2, "triggerCharacter": " "}']
    (again,) = ask(server, 5, "t", continues=True)
    # A complete list is kept while the word is typed on.
    assert ('"triggerKind": 3' in again) == (way == "triggers")


def test_an_id_that_comes_back_as_text_is_the_same(start: Start) -> None:
    server = start("id-as-text", timeout=5)
    server.open("a.py", TEXT)
    assert "one" in ask(server)
