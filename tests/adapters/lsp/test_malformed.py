"""The client against messages that are not of the protocol: each costs an EngineFailure, and a restart mends it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from ci_eval.core.base.errors import EngineFailure
from ci_eval.core.contracts import Query
from ci_eval.plugins.adapters.lsp.engine import RunningLsp
from ci_eval.plugins.adapters.lsp.protocol import MESSAGE, mend_text, read_answer
from tests.adapters.lsp.conftest import Start

DEEP = b"[" * 1_000_000 + b"]" * 1_000_000


HUGE = b"9" * 5000


LONG = b"9" * 30


# `ID` becomes the id of the request that is being answered.
MESSAGES = {
    "nothing": b"",
    "zeros": b"\0" * 10,
    "no object": b"[]",
    "a batch": b'[{"id":ID,"result":null}]',
    "UTF-16": '{"id":1}'.encode("utf-16"),
    "no UTF-8": b'{"id":ID,"method":"\xff\xfe"}',
    "no UTF-8 in a result": b'{"id":ID,"result":[{"label":"\xff"}]}',
    "no UTF-8 in parameters": b'{"method":"$/progress","params":{"token":"\xff"}}',
    "a lone surrogate": b'{"id":ID,"result":[{"label":"\\ud800 and more letters"}]}',
    "a lone surrogate, plain": b'{"id":ID,"result":[{"label":"\xed\xa0\x80 and more letters"}]}',
    "deep": DEEP,
    "a deep result": b'{"id":ID,"result":%b}' % DEEP,
    "a deep label": b'{"id":ID,"result":[{"label":"a","data":%b}]}' % DEEP,
    "deep progress": b'{"method":"$/progress","params":{"token":1,"value":%b}}' % DEEP,
    "a deep question": b'{"id":"q","method":"workspace/configuration","params":%b}' % DEEP,
    "a huge id": b'{"id":%b,"result":null}' % HUGE,
    "a long id": b'{"id":%b,"method":"workspace/configuration","params":{"items":[]}}' % LONG,
    "a huge kind": b'{"id":ID,"result":[{"label":"a","kind":%b}]}' % HUGE,
    "a long kind": b'{"id":ID,"result":[{"label":"a","kind":%b},{"label":"b","kind":-7}]}' % LONG,
    "no id": b'{"id":null,"method":"workspace/configuration","params":{"items":[]}}',
    "an id that is none": b'{"id":{},"result":null}',
    "twice the same key": b'{"id":1,"id":ID,"result":5,"result":[],"method":null}',
    "five items": b'{"id":"q","method":"workspace/configuration","params":{"items":5}}',
    "a million items": b'{"id":"q","method":"workspace/configuration","params":{"items":[%b{}]}}' % (b"{}," * 999_999),
    "a section of many parts": b'{"id":"q","method":"workspace/configuration","params":{"items":[{"section":"%b"}]}}'
    % (b"a." * 100_000),
    "an error that is none": b'{"id":ID,"error":5}',
    "an error of another shape": b'{"id":ID,"error":{"code":"x","message":[]}}',
    "a result of another shape": b'{"id":ID,"result":{"items":{"a":1}}}',
    "capabilities of another shape": b'{"id":ID,"result":{"capabilities":[]}}',
    "units that are none": b'{"id":ID,"result":{"capabilities":{"positionEncoding":"ebcdic"}}}',
    "synchronization that is none": b'{"id":ID,"result":{"capabilities":{"textDocumentSync":-3}}}',
    "a range that is none": b'{"id":ID,"result":{"items":[{"label":"a"}],"itemDefaults":{"editRange":{"insert":5}}}}',
    "a place that is none": b'{"id":ID,"result":{"items":[],"itemDefaults":{"editRange":{"start":{"line":"x"}}}}}',
    "a place before the text": b'{"id":ID,"result":[{"label":"a","textEdit":{"newText":"a","range":'
    b'{"start":{"line":-1,"character":-9},"end":{"line":-1,"character":-9}}}}]}',
    "a place before the line": b'{"id":ID,"result":[{"label":"a","textEdit":{"newText":"a","range":'
    b'{"start":{"line":0,"character":-9},"end":{"line":0,"character":-9}}}}]}',
    "a place behind the text": b'{"id":ID,"result":[{"label":"a","textEdit":{"newText":"a","range":'
    b'{"start":{"line":0,"character":%b},"end":{"line":%b,"character":0}}}}]}' % (LONG, LONG),
}


@pytest.mark.parametrize(
    ("label", "read"),
    [
        (b"\\ud83d half", "\ufffd half"),
        (b"half \\udc4d", "half \ufffd"),
        (b"\\uD83D\\uDC4D whole", "👍 whole"),
        (b"\\\\ud83d spelled", "\\ud83d spelled"),
        (b"caf\xe9", "caf\ufffd"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
    ],
)
def test_halves_of_characters_are_read_as_vs_code_reads_them(label: bytes, read: str) -> None:
    body = b'{"id":1,"result":[{"label":"plain"},{"label":"%b","documentation":"\\ud83d"}]}' % label
    message = MESSAGE.decode(mend_text(body))
    assert [item.label for item in read_answer(message.result).items] == ["plain", read]


def use(server: RunningLsp) -> None:
    server.open("a.py", "one two\n")
    server.edit([(0, 0, "x")])
    server.complete(Query(offset=1, prefix="x", expected=""))


ELSEWHERE = [
    "nothing",
    "no UTF-8",
    "a deep result",
    "five items",
    "capabilities of another shape",
    "units that are none",
]


CASES = [
    *((message, "textDocument/completion") for message in MESSAGES),
    *((message, method) for message in ELSEWHERE for method in ("initialize", "textDocument/didOpen", "shutdown")),
]


@pytest.mark.parametrize(("message", "method"), CASES)
def test_only_engine_failures_come_of_it(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str, method: str
) -> None:
    monkeypatch.setattr("ci_eval.plugins.adapters.lsp.engine.WARM_UP", 0.0)
    server = start(f"says@{method}", timeout=2.0)
    told = tmp_path / "project" / "message"
    told.write_bytes(MESSAGES[message])
    with suppress(EngineFailure):
        use(server)
    with suppress(EngineFailure):
        server.restart()
    told.unlink()
    server.restart()
    use(server)
