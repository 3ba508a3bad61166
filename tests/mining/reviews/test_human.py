"""What people decide is kept, and what is new waits for them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.plugins.mining.record import Line
from ci_eval.plugins.mining.reviews import human


def line(name: str, body: str = "Why?") -> Line:
    return Line(
        id=name,
        cluster="o/r",
        language="go",
        instruction="",
        context={},
        references=(body,),
        meta={"url": f"https://x/{name}"},
    )


def test_new_records_are_added_below_what_is_decided(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    assert human.write(path, {}, [line("a")]) == 1
    path.write_text(path.read_text().replace("a,,", "a,accept,"))
    assert human.write(path, human.read(path), [line("a"), line("b")]) == 1
    assert {name: row["verdict"] for name, row in human.read(path).items()} == {"a": "accept", "b": ""}


def test_a_spreadsheet_that_writes_it_anew_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    human.write(path, {}, [line("a", 'It says: "no",\nand\tagain')])
    rows = list(csv.reader(path.read_text().splitlines()))
    path.write_bytes(
        (
            "\ufeff" + "\r\n".join(",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in rows)
        ).encode()
    )
    assert human.read(path)["a"]["comment"] == 'It says: "no", and again'


def test_a_comment_is_no_formula(tmp_path: Path) -> None:
    human.write(tmp_path / "r.csv", {}, [line("a", '=HYPERLINK("https://evil")')])
    assert human.read(tmp_path / "r.csv")["a"]["comment"].startswith("'=")


@pytest.mark.parametrize("row", ["a,yes,u,c", ",accept,u,c"])
def test_a_row_that_decides_nothing_is_named(tmp_path: Path, row: str) -> None:
    (tmp_path / "r.csv").write_text(f"id,verdict,url,comment\n{row}\n")
    with pytest.raises(ConfigError, match=r"r\.csv, row 2: expected an id, and a verdict accept, reject or nothing"):
        human.read(tmp_path / "r.csv")


def rows(**verdicts: str) -> human.Rows:
    return {name: {"id": name, "verdict": verdict} for name, verdict in verdicts.items()}


def test_all_reviewers_must_accept_and_one_that_contradicts_is_told_apart() -> None:
    first = rows(a="accept", b="accept", c="reject", d="accept", e="", f="reject", g="accept")
    second = rows(a="accept", b="reject", c="reject", d="", e="", f="")
    combined = human.combine([first, second])
    assert combined == {
        "a": "accept", "b": "disagree", "c": "reject", "d": "", "e": "", "f": "reject", "g": ""
    }  # fmt: skip
    assert human.combine([first])["d"] == "accept"
    assert human.pair_verdicts(first, second) == [("accept", "accept"), ("accept", "reject"), ("reject", "reject")]


def test_capitals_and_blanks_of_a_verdict_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("id,verdict,url,comment\na, Accept,u,c\n")
    assert human.read(tmp_path / "r.csv")["a"]["verdict"] == "accept"
