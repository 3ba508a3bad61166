"""Recordings of crowd-code 2.0."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.mining.usages.streams.recorded import END, MORE, STATES, TEXT, snapshots, states


def action(ms: int, offset: int, text: str, length: int = 0, source: str = "user") -> dict[str, object]:
    diff = {"rangeOffset": offset, "rangeLength": length, "text": text}
    edit = {"kind": "edit", "source": source, "file": "shop.py", "diff": diff}
    return {"sequence": 1, "timestamp": ms, "type": "action", "action": edit}


OTHERS: list[dict[str, object]] = [
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


@pytest.mark.grammar
def test_edits_are_replayed(tmp_path: Path) -> None:
    path = written(tmp_path, [*OTHERS, action(0, 0, TEXT), action(3000, len(TEXT), MORE)])
    found, skipped = snapshots("crowd-code", path)
    assert [(each.time, each.text, each.user) for each in found] == [(0, TEXT, "s"), (3, END, "s")]
    assert not skipped
    assert states("crowd-code", path) == STATES


@pytest.mark.grammar
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


# The structure of what follows is that of the recorder's own source: p-doom/crowd-code on GitHub, src/recording.ts and
# src/types.ts at 712d337 (chunk_000.json beside snapshots/snapshot_001.json, patches as jsdiff writes them).


def changed(ms: int, kind: str, diff: str | None, source: str = "agent") -> dict[str, object]:
    change = {"kind": "file_change", "source": source, "file": "shop.py", "changeType": kind, "diff": diff}
    return {"sequence": 1, "timestamp": ms, "type": "action", "action": change}


def patch(hunk: str) -> str:
    return f"{'=' * 67}\n--- a/shop.py\t\n+++ b/shop.py\t\n{hunk}"


CREATED = patch("@@ -0,0 +1,3 @@\n" + "".join(f"+{line}\n" for line in TEXT.splitlines()))
SNAPSHOT: dict[str, object] = {"timestamp": 0, "type": "workspace_snapshot", "snapshotId": "snapshot_001"}


def test_a_file_that_was_made_outside_of_the_editor_is_known(tmp_path: Path) -> None:
    events = [changed(0, "create", CREATED, source="unknown"), action(1, len(TEXT), MORE)]
    found, skipped = snapshots("crowd-code", written(tmp_path, events))
    assert [each.text for each in found] == [END]
    assert skipped == {"change on disk: applied without a snapshot": 1}


def test_a_change_on_disk_is_applied_where_it_fits(tmp_path: Path) -> None:
    middle = patch("@@ -1,3 +1,4 @@\n+# agent\n from a import Box\n def put():\n     box = Box()\n")
    events = [action(0, 0, TEXT), changed(1, "change", middle), action(5000, len("# agent\n" + TEXT), MORE)]
    found, _ = snapshots("crowd-code", written(tmp_path, events))
    assert [found[0].text, found[-1].text] == [TEXT, f"# agent\n{END}"]
    other = patch("@@ -1,1 +1,1 @@\n-import b\n+import c\n")
    _, skipped = snapshots("crowd-code", written(tmp_path, [action(0, 0, TEXT), changed(1, "change", other), *events]))
    assert skipped["a change on disk does not fit what is known of the text"] == 1


def test_what_the_workspace_held_is_known_from_its_snapshots(tmp_path: Path) -> None:
    (tmp_path / "snapshots").mkdir()
    held = {"C:\\code\\shop.py": TEXT, "/code/other.txt": "x"}
    (tmp_path / "snapshots" / "snapshot_001.json").write_text(json.dumps(held))
    written(tmp_path, [SNAPSHOT, action(1, len(TEXT), MORE)], chunk=0)
    found, skipped = snapshots("crowd-code", tmp_path)
    assert [each.text for each in found] == [END]
    assert not skipped


@pytest.mark.parametrize("name", ["snapshot_002", "../snapshot_001", ""])
def test_a_snapshot_of_the_workspace_that_is_not_there_is_counted(tmp_path: Path, name: str) -> None:
    (tmp_path / "snapshot_001.json").write_text(json.dumps({"/code/shop.py": TEXT}))
    written(tmp_path, [SNAPSHOT | {"snapshotId": name}, action(1, len(TEXT), MORE)])
    _, skipped = snapshots("crowd-code", tmp_path / "recording0.json")
    assert skipped["snapshot of the workspace that cannot be read"] == 1
    assert skipped["an edit is outside of what is known of the text"] == 1


def test_a_file_that_is_deleted_and_made_again_is_known_again(tmp_path: Path) -> None:
    events = [action(0, 99, "x"), changed(1, "delete", None), changed(2, "create", CREATED), action(3, len(TEXT), MORE)]
    found, _ = snapshots("crowd-code", written(tmp_path, events))
    assert [each.text for each in found] == [END]
