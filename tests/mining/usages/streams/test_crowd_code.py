"""Recordings of crowd-code 2.0."""

from __future__ import annotations

import json
from pathlib import Path

from tests.mining.usages.streams.recorded import END, MORE, STATES, TEXT, snapshots, states


def action(ms: int, offset: int, text: str, length: int = 0, source: str = "user") -> dict[str, object]:
    diff = {"rangeOffset": offset, "rangeLength": length, "text": text}
    edit = {"kind": "edit", "source": source, "file": "shop.py", "diff": diff}
    return {"sequence": 1, "timestamp": ms, "type": "action", "action": edit}


OTHERS: list[dict[str, object]] = [
    {"sequence": 0, "timestamp": 0, "type": "workspace_snapshot", "snapshotId": "s"},
    {"sequence": 1, "timestamp": 0, "type": "observation", "observation": {"viewport": None, "activeTerminal": None}},
    {"sequence": 2, "timestamp": 0, "type": "action", "action": {"kind": "terminal_focus", "terminalId": "1"}},
]


def written(path: Path, events: list[dict[str, object]], chunk: int | None = None) -> Path:
    session: dict[str, object] = {"version": "2.0", "sessionId": "s", "startTime": 0, "events": events}
    if chunk is not None:
        session["chunkIndex"] = chunk
    file = path / f"recording{chunk or 0}.json"
    file.write_text(json.dumps(session))
    return file


def test_edits_are_replayed(tmp_path: Path) -> None:
    path = written(tmp_path, [*OTHERS, action(0, 0, TEXT), action(3000, len(TEXT), MORE)])
    found, skipped = snapshots("crowd-code", path)
    assert [(each.time, each.text, each.user) for each in found] == [(0, TEXT, "s"), (3, END, "s")]
    assert not skipped
    assert states("crowd-code", path) == STATES


def test_the_parts_of_a_session_go_on_where_the_one_before_ended(tmp_path: Path) -> None:
    written(tmp_path, [action(3000, len(TEXT), MORE)], chunk=10)
    written(tmp_path, [action(0, 0, TEXT)], chunk=9)
    assert states("crowd-code", tmp_path) == STATES


def test_what_an_agent_writes_is_there_but_is_no_snapshot(tmp_path: Path) -> None:
    comment = "# \U0001f600\n"
    events = [action(0, 0, comment, source="agent"), action(1, 5, TEXT), action(2, 5 + len(TEXT), MORE)]
    found, skipped = snapshots("crowd-code", written(tmp_path, events))
    assert [each.text for each in found] == [comment + TEXT, comment + END]
    assert skipped == {"edit that no person made: applied without a snapshot": 1}


def test_what_is_broken_is_counted(tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text('{"version": "2.0"}')
    (tmp_path / "broken.json").write_text('{"sessionId": "x", "events": [1, ')
    (tmp_path / "deep.json").write_text('{"sessionId": "x", "events": ' + "[" * 100_000)
    bad: dict[str, object] = {"timestamp": "x", "type": "action"}
    written(tmp_path, [bad, {**action(0, 0, ""), "action": {"kind": "edit"}}, action(0, 99, "x"), action(0, 0, "x")])
    found, skipped = snapshots("crowd-code", tmp_path)
    assert found == []
    assert skipped == {
        "file that is no recording of crowd-code 2.0": 3,
        "event that cannot be read": 2,
        "an edit is outside of what is known of the text": 1,
        "edit of a file whose text is not known": 1,
    }
