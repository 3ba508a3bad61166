"""The neutral JSON lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.plugins.mining.usages.histories import Selection
from ci_eval.plugins.mining.usages.streams.neutral import EditReplay
from tests.mining.usages.streams.recorded import END, MORE, STATES, TEXT, snapshots, states


def written(path: Path, *events: object) -> Path:
    file = path / "typed.jsonl"
    file.write_text("".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in events))
    return file


def edit(t: float, offset: int, ins: str, deleted: int = 0, file: str = "shop.py") -> dict[str, object]:
    return {"t": t, "user": "u", "file": file, "op": "edit", "offset": offset, "del": deleted, "ins": ins}


def completion(t: float, offset: int, **more: object) -> dict[str, object]:
    return {"t": t, "user": "u", "file": "shop.py", "op": "completion", "offset": offset, **more}


def test_edits_are_replayed(tmp_path: Path) -> None:
    path = written(tmp_path, edit(0, 0, TEXT), edit(1, len(TEXT), "    bax"), edit(2, len(TEXT) + 5, "ox.open()\n", 2))
    found, skipped = snapshots("neutral", path)
    assert [each.text for each in found] == [TEXT, END]
    assert not skipped
    assert states("neutral", path) == STATES


def test_completions_are_the_moments_where_there_are_any(tmp_path: Path) -> None:
    caret = len(TEXT) + len("    box.o")
    path = written(
        tmp_path,
        edit(0, 0, TEXT),
        completion(1, len(TEXT), outcome="cancel"),
        edit(9, len(TEXT), "    box.o\n"),
        completion(10, caret, prefix="o", candidates=["close", "open"], outcome="select", index=1),
    )
    assert states("neutral", path) == STATES


def test_where_the_recording_does_not_tell_what_was_taken_it_is_the_first(tmp_path: Path) -> None:
    line = edit(0, 0, f"{TEXT}    box.")
    select = completion(1, len(TEXT) + 8, outcome="select", candidates=["open"], index=7)
    path = written(tmp_path, line, completion(0.5, 0), select)
    assert snapshots("neutral", path)[0][-2].selection is None
    select["index"] = 0
    path = written(tmp_path, line, completion(0.5, 0), select)
    assert states("neutral", path) == STATES


def test_what_is_broken_is_counted(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "{",
        "[]",
        "[" * 100_000,
        {"op": "save", "t": 1, "file": "shop.py"},
        edit(0, 0, "x", file="shop.js"),
        edit(0, 0, TEXT),
        edit(1, 10_000, "x"),
        edit(2, 0, "x"),
    )
    found, skipped = snapshots("neutral", path)
    assert [each.text for each in found] == [TEXT]
    assert skipped == {
        "line that is neither an edit nor a completion": 4,
        "event of a file of another language": 1,
        "edit outside the known text": 1,
        "event of a file whose text is unknown": 1,
    }


def test_a_folder_holds_several_recordings(tmp_path: Path) -> None:
    written(tmp_path, edit(0, 0, TEXT)).rename(tmp_path / "a.jsonl")
    written(tmp_path, edit(3, len(TEXT), MORE))
    assert states("neutral", tmp_path) == STATES


def typed(text: str) -> EditReplay:
    replay = EditReplay("u", "f")
    replay.text = text
    return replay


def test_a_snapshot_is_taken_before_a_pause_behind_a_new_line_and_at_the_end() -> None:
    typing = EditReplay("u", "f")
    found = [*typing.edit(0, 0, 0, "a"), *typing.edit(1, 1, 0, "b"), *typing.edit(4, 2, 0, "c")]
    found += [*typing.edit(4.5, 3, 0, "\n"), *typing.edit(5, 0, 2, ""), *typing.end()]
    assert [(each.time, each.text) for each in found] == [(1, "ab"), (4.5, "abc\n"), (5, "c\n")]


@pytest.mark.parametrize(("offset", "length"), [(5, 0), (0, 9), (-1, 0), (0, -1)])
def test_an_edit_outside_of_the_text_is_refused(offset: int, length: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        list(typed("abc").edit(0, offset, length, "x"))


def test_line_ends_are_normalised_and_places_with_them() -> None:
    snapshot = typed("a\r\nb\r\nc").complete(1, Selection(item="x", offset=6))
    assert snapshot.text == "a\nb\nc"
    assert snapshot.selection == Selection(item="x", offset=4)
