"""Recordings of TaskTracker."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.mining.usages.streams.recorded import END, STATES, TEXT, snapshots, states

pytestmark = pytest.mark.grammar


COLUMNS = ("date", "timestamp", "fileName", "fragment", "chosenTask", "language")


def written(path: Path, *rows: tuple[str, ...]) -> Path:
    file = path / "Main_1.csv"
    with file.open("w", newline="") as opened:
        csv.writer(opened).writerows([COLUMNS, *rows])
    return file


def row(second: str, text: str, language: str = "PYTHON") -> tuple[str, ...]:
    return (f"2019-12-16T03:39:{second}+05:00", "1", "Main", text, "pies", language)


def test_texts_before_pauses_and_with_new_lines_are_looked_at(tmp_path: Path) -> None:
    texts = ["from", "from a", TEXT, f"{TEXT}    box.op", END]
    path = written(tmp_path, *(row(f"{10 + 3 * i:02}.819", text) for i, text in enumerate(texts)))
    found, skipped = snapshots("task-tracker", path)
    assert [each.text for each in found] == texts
    assert found[1].time - found[0].time == 3
    assert {each.file for each in found} == {"Main.py"}
    assert not skipped
    assert states("task-tracker", path)[-2:] == STATES


def test_what_is_typed_without_a_pause_is_one_snapshot(tmp_path: Path) -> None:
    path = written(tmp_path, *(row(f"10.{i}", TEXT[:i]) for i in range(9)))
    assert [each.text for each in snapshots("task-tracker", path)[0]] == [TEXT[:8]]


def test_what_is_broken_is_counted(tmp_path: Path) -> None:
    path = written(tmp_path, ("yesterday", "", "Main", "x", "", ""), row("10.0", "x", "JAVA"), ("short",))
    assert snapshots("task-tracker", path) == (
        [],
        {
            "row without a date": 1,
            "event of a file of another language": 1,
            "row of another length than the first": 1,
        },
    )


def test_files_of_the_plugin_and_of_its_post_processing(tmp_path: Path) -> None:
    """The columns are those of src/resources/test_data in JetBrains-Research/task-tracker-post-processing on GitHub:
    what the plugin writes (`di_758`), and that joined with the events of an IDE (`union_task_1`): rows repeat."""
    plugin = "date,timestamp,fileName,fileHashCode,documentHashCode,fragment,chosenTask,writtenTask,age,activePane"
    (tmp_path / "di_758.csv").write_text(
        f'{plugin}\n2020-05-14T22:53:53.919+03:00,4202,shop.py,4275,1805376686,"{TEXT}",pies,,-1,taskStatusPane\n'
        f'2020-05-14T22:54:53.919+03:00,4203,shop.py,4275,1805376687,"{END}",pies,,-1,taskStatusPane\n'
    )
    found, skipped = snapshots("task-tracker", tmp_path / "di_758.csv")
    assert [each.text for each in found] == [TEXT, END]
    assert not skipped
    joined = [
        "date,fileName,fragment,timestampAti,eventType,eventData",
        "2019-12-09T16:44:00.175+03:00,shop.py,,,,",
        f'2019-12-09T17:04:45.404+03:00,shop.py,"{TEXT}",2019-12-09T17:05:21.265+03:00,Action,ChooseRunConfiguration',
        f'2019-12-09T17:04:45.404+03:00,shop.py,"{TEXT}",2019-12-09T17:05:21.749+03:00,Action,Run',
        f'2019-12-09T17:05:47.404+03:00,shop.py,"{END}",,,',
    ]
    (tmp_path / "union_task_1.csv").write_text("\n".join(joined))
    assert states("task-tracker", tmp_path / "union_task_1.csv") == [None, *STATES]
