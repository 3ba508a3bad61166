"""Recordings of crowd-code 1.0."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.mining.usages.streams.recorded import END, MORE, STATES, TEXT, snapshots, states

pytestmark = pytest.mark.grammar


COLUMNS = ("Sequence", "Time", "File", "RangeOffset", "RangeLength", "Text", "Language", "Type")


def written(path: Path, *rows: tuple[object, ...]) -> Path:
    file = path / "source.csv"
    with file.open("w", newline="") as opened:
        writer = csv.writer(opened)
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return file


def row(ms: object, offset: object, text: str, kind: str = "content", file: str = "shop.py") -> tuple[object, ...]:
    return (1, ms, file, offset, 0, text.replace("\n", "\\n"), "python", kind)


def test_a_file_is_there_as_it_was_opened_and_edits_are_replayed(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        row(0, 0, TEXT, "tab"),
        row(5, 0, "ls", "terminal_command", "TERMINAL"),
        row(6, 3, "x", "selection_mouse"),
        row(1000, len(TEXT), "    "),
        row(4000, len(TEXT) + 4, MORE.lstrip()),
    )
    found, skipped = snapshots("crowd-code-csv", path)
    assert [each.text for each in found] == [f"{TEXT}    ", END]
    assert not skipped
    assert states("crowd-code-csv", path) == STATES


def test_what_is_broken_is_counted(tmp_path: Path) -> None:
    path = written(tmp_path, row("x", 0, "a"), row(0, 1.5, "a"), ("too", "short"), row(0, 9, "a"), row(0, 0, "a"))
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    (tmp_path / "empty.csv").write_bytes(b"\0\0")
    found, skipped = snapshots("crowd-code-csv", path.parent)
    assert found == []
    assert skipped == {
        "file without a column Time": 2,
        "row whose time or offsets are no numbers": 2,
        "row of another length than the first": 1,
        "an edit is outside of what is known of the text": 1,
        "edit of a file whose text is not known": 1,
    }


def test_cells_are_escaped_as_the_recorder_does_it(tmp_path: Path) -> None:
    """As in p-doom/crowd-code on GitHub, src/recording.ts and src/utilities.ts before 2.0: quotes are doubled, tabs and
    line ends are written with a backslash; heads and terminals have rows, too."""
    head = "Sequence,Time,File,RangeOffset,RangeLength,Text,Language,Type\n"
    opened = TEXT.replace("    ", "\t")
    rows = [
        f'1,2,"shop.py",0,0,"{opened}# ""x""\n",python,tab',
        '2,3,"TERMINAL",0,0,"ls",,terminal_command',
        '3,4,"shop.py",3,0,"",python,selection_keyboard',
        f'4,3000,"shop.py",{len(opened) + 5},0,"\t",python,content',
    ]
    escaped = [each.replace("\n", "\\n").replace("\t", "\\t") for each in rows]
    (tmp_path / "source.csv").write_text(head + "\n".join(escaped) + "\n")
    found, skipped = snapshots("crowd-code-csv", tmp_path / "source.csv")
    assert [each.text for each in found] == [f'{opened}# "x"\t\n']
    assert not skipped
