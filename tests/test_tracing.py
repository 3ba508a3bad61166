"""Messages to and from engines, as lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ci_eval.core.tracing import Direction, Trace, attach_listener, tell
from tests.adapters.lsp.conftest import Start, ask, start
from tests.adapters.test_driven import ENGINE, asked

__all__ = ["start"]


def traced(*messages: tuple[Direction, object], full: bool = False) -> list[str]:
    """The lines of messages that pass 5 ms after one another."""
    lines: list[str] = []
    clock: Iterator[float] = iter(number * 0.005 for number in range(len(messages)))
    trace = Trace(lines.append, full=full, clock=lambda: next(clock))
    for direction, message in messages:
        trace(direction, message if isinstance(message, bytes) else json.dumps(message).encode())
    assert trace.messages == len(messages)
    return lines


def rpc(**members: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", **members}


def test_an_answer_is_shown_with_its_question_and_the_time_it_took() -> None:
    assert traced(
        ("->", rpc(id=1, method="initialize", params={"a": 1})),
        ("<-", rpc(id=1, method="window/logMessage", params=None)),
        ("<-", rpc(id=1, result=[])),
    ) == [
        '       0.0 ms  -> initialize #1  {"a":1}',
        "       5.0 ms  <- window/logMessage #1  null",
        "      10.0 ms  <- initialize #1 after 10.0 ms: result  []",
    ]


def test_an_error_says_so_and_an_answer_to_nothing_is_one_all_the_same() -> None:
    (line,) = traced(("<-", rpc(id="x", error={"code": -1})))
    assert line.endswith('<- an answer #x: error  {"code":-1}')


def test_long_texts_and_lists_are_shortened_unless_all_is_wanted() -> None:
    message: tuple[Direction, object] = ("->", {"text": "x" * 1000, "list": list(range(7))})
    (short,), (full,) = traced(message), traced(message, full=True)
    assert '(1,000 characters)","list":[0,1,2,3,4,"… (7 in all)"]}' in short
    assert "x" * 1000 in full
    assert "6]}" in full


@pytest.mark.parametrize(
    ("body", "shown"), [(b"\xff oops", '"\\\\xff oops"'), (b"[" * 5000, f'"{"[" * 80}… (5,000 characters)"')]
)
def test_what_is_no_json_is_shown_as_a_text(body: bytes, shown: str) -> None:
    (line,) = traced(("<-", body))
    assert line.endswith(f"<- {shown}")


def test_what_is_nested_deeply_is_shown_to_some_depth() -> None:
    (line,) = traced(("<-", b"[" * 200 + b"]" * 200))
    assert line.endswith("<- " + "[" * 20 + '"…"' + "]" * 20)


def test_nobody_listens_outside_of_the_context() -> None:
    heard: list[bytes] = []
    with attach_listener(lambda _, body: heard.append(body)):
        tell("->", b"1")
    tell("->", b"2")
    assert heard == [b"1"]


def test_all_that_a_language_server_is_told_and_says_is_heard(start: Start) -> None:
    lines: list[str] = []
    with attach_listener(Trace(lines.append, full=False)):
        server = start("asks")
        server.open("a.py", "one two\n")
        ask(server)
    said = [line.split("ms  ", 1)[1].split("  ")[0] for line in lines]
    assert [line.split(" after")[0] for line in said] == [
        "-> initialize #1",
        "<- initialize #1",
        "-> initialized",
        "-> workspace/didChangeConfiguration",
        "-> textDocument/didOpen",
        "-> textDocument/completion #2",
        "<- workspace/configuration #q1",
        "-> workspace/configuration #q1",
        "<- something/unknown #q2",
        "-> something/unknown #q2",
        "<- textDocument/completion #2",
    ]


def test_a_driver_is_heard_in_plain_text(tmp_path: Path) -> None:
    lines: list[str] = []
    with attach_listener(Trace(lines.append, full=False)):
        asked(ENGINE, tmp_path)
    assert f'-> {{"offset":0,"path":"{tmp_path}/A.java","text":""}}' in lines[0]
    assert lines[1].endswith('<- {"1.5 ms":["size()\\t03","length","->"]}')
