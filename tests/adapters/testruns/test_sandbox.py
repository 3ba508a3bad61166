"""What a test runner reports, and what of it counts."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from ci_eval.fetch.clients import ClientEnd
from ci_eval.plugins.adapters.testruns.languages import read_go
from ci_eval.plugins.adapters.testruns.sandbox import LARGEST, Outcome, Work, read_junit, telling_lines

OK = "<testcase name='a'/>"
FAILS = "<testcase name='a'><failure message='short'>1\n\n2 != 3\n</failure></testcase>"
ERROR = "<testcase name='a'><error message='no fixture'/></testcase>"
SKIPPED = "<testcase name='a'><skipped/></testcase>"


def read(folder: Path, cases: str, *, code: int = 0, errors_run: bool = False) -> Outcome:
    path = folder / "report.xml"
    path.write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    return read_junit(path, ClientEnd(name="test", code=code, output="out", trouble="err"), errors_run=errors_run)


@pytest.mark.parametrize(
    ("cases", "code", "runs", "passes"),
    [
        (OK, 0, True, True),
        (OK, 1, True, False),
        (OK + SKIPPED, 0, True, True),
        (OK + FAILS, 1, True, False),
        (FAILS, 1, True, False),
        (FAILS, 0, True, False),
        (ERROR, 1, False, False),
        (OK + ERROR, 1, True, False),
        (SKIPPED, 0, False, False),
        ("", 0, False, False),
    ],
)
def test_it_passes_where_a_test_does_none_fails_and_the_exit_code_agrees(
    tmp_path: Path, cases: str, code: int, runs: bool, passes: bool
) -> None:
    found = read(tmp_path, cases, code=code)
    assert (found.runs, found.passes, found.said == "") == (runs, passes, passes)


def test_an_error_may_be_a_test_that_ran(tmp_path: Path) -> None:
    assert read(tmp_path, ERROR, code=1, errors_run=True).runs


def test_what_is_said_of_a_failure_is_its_text_or_else_its_message(tmp_path: Path) -> None:
    skipped = "<testcase name='a'><skipped message='no numpy'/></testcase>"
    assert read(tmp_path, skipped, code=5).said == "it was skipped\nno numpy"
    assert read(tmp_path, OK + skipped, code=1).runs
    assert read(tmp_path, FAILS, code=1).said == "1\n2 != 3"
    assert read(tmp_path, ERROR, code=1).said == "no fixture"


@pytest.mark.parametrize(
    "data", [b"", b"<a", b"\xff", b"<!DOCTYPE a><a/>", "<a/>".encode("utf-16"), b" " * (LARGEST + 1)]
)
def test_what_is_no_report_is_none(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "report.xml"
    path.write_bytes(data)
    found = read_junit(path, ClientEnd(name="test", code=3, output="", trouble="why"), errors_run=True)
    assert (found.runs, found.said) == (False, "the test runner ended without a report (exit code 3)\nwhy")


def test_of_much_that_is_said_the_first_and_the_last_lines_are_told_none_of_them_long() -> None:
    found = telling_lines("\n\n".join(str(number) * 1_000 for number in range(10, 100)))
    assert [line[:2] for line in found] == ["10", "11", "12", "13", "14", "15", "…", "94", "95", "96", "97", "98", "99"]
    assert max(map(len, found)) == 300


RUN = '{"Action":"run","Test":"TestPrice"}\n'
PASS = '{"Action":"pass","Test":"TestPrice"}\n{"Action":"pass"}\n'


@pytest.mark.parametrize("printed", ["half a li", '{"x": ' + "[" * 100_000 + "]" * 100_000 + "}", "[]", "null"])
def test_lines_that_are_no_events_are_passed_over(printed: str) -> None:
    ended = ClientEnd(name="test", code=0, output=f"{RUN}{printed}\n{PASS}", trouble="")
    # Go's reports tell everything by themselves.
    assert read_go(cast("Work", None), ended).passes
