"""The sessions of a file on their way to disk."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ci_eval.core.interpret.pack import Pack
from ci_eval.core.model import Kind, Properties, Session, SourceFile, Status
from tests.packed import unpacked

SOURCE = SourceFile(path="a.py", text="x\n", checksum="c")


def session(name: str, status: Status, message: str = "") -> Session:
    properties = Properties(kind=Kind.FIELD)
    return Session(
        id=name, file="a.py", offset=0, expected_text="x", properties=properties, status=status, message=message
    )


def test_what_another_worker_finished_is_stored_and_counted_as_it_was(tmp_path: Path) -> None:
    whole, pieced = Pack(SOURCE), Pack(SOURCE)
    lines = [whole.add(session("1", Status.OK)), whole.add(session("2", Status.TIMEOUT, "late"))]
    ended = [pieced.take_over(line) for line in lines]
    assert [(each.id, each.status) for each in ended] == [("1", Status.OK), ("2", Status.TIMEOUT)]
    assert (pieced.statuses, pieced.trouble) == (whole.statuses, whole.trouble)
    stored = tmp_path / "x.zst"
    stored.write_bytes(whole.close())
    assert pieced.close() == stored.read_bytes()
    assert unpacked(stored) == msgspec.json.encode(SOURCE) + b"\n" + b"".join(lines)


def test_the_first_session_in_trouble_speaks_for_all() -> None:
    pack = Pack(SOURCE)
    assert pack.trouble is None
    for status, message in ((Status.OK, ""), (Status.TIMEOUT, "late\ntrace"), (Status.ERROR, "other")):
        pack.add(session("1", status, message))
    assert pack.trouble
    assert (pack.trouble.message, pack.trouble.trace, pack.trouble.sessions) == (
        "2 sessions: timeout: late",
        "trace",
        2,
    )
