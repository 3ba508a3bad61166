"""The columns of the page that has all sessions."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core.catalogs import tasks
from ci_eval.core.contracts import Metric
from ci_eval.core.model import MetricInfo, SourceFile, Status
from ci_eval.rendering import sessiontable
from ci_eval.rendering.sessiontable import Computed, SessionTable, crop_line, selection
from tests.reports.samples import session

TASK = tasks.CATALOG.load("completion")
SOURCE = SourceFile(path="a.py", checksum="0" * 64, text="one\n    two three\n")


def told(table: SessionTable) -> dict[str, Any]:
    text = json.loads(table.script().decode().removeprefix("ciEval.table(").removesuffix(");\n"))
    found: dict[str, Any] = json.loads(zlib.decompress(b64decode(text)))
    return found


def test_a_row_has_its_line_its_texts_and_how_it_went() -> None:
    table = SessionTable(TASK, [""], "t")
    table.begin(SOURCE, ["files/a.html"])
    for each in (
        session("a.py", 0, "one"),
        session("a.py", 12, "three", 3),
        session("a.py", 17, "", status=Status.SKIPPED),
    ):
        table.add([each])
    found = told(table)
    columns, (went,) = found["columns"], found["went"]
    assert columns["line"] == [1, 2, 2]
    assert [found["lines"][each] for each in columns["code"]] == ["one", "two three", "two three"]
    assert columns["at"] == [0, 4, 9]
    assert [found["texts"][each] for each in columns["expected"]] == ["one", "three", ""]
    assert went["rank"] == [1, 3, 0]
    assert [found["texts"][each] for each in went["first"][:2]] == ["one", "candidate_1"]
    assert (went["first"][2], went["band"][2], went["latency"][2]) == (-1, -1, -1)
    assert [found["statuses"][each] for each in went["status"]] == ["ok", "ok", "skipped"]


def test_a_metric_may_observe_lists() -> None:
    info = MetricInfo(name="Ours", summary="", unit="share", better="higher")
    observed: Any = [[1.0, 2.0]]
    metric = Metric(info=info, observe=lambda _: observed)
    table = SessionTable(TASK, [""], "t", Computed(metrics=[metric]))
    table.begin(SOURCE, ["files/a.html"])
    table.add([session("a.py", 0, "one")])
    rows = told(table)
    assert [rows["observed"][number] for number in rows["went"][0]["observed"][0]] == [observed]


def test_a_pair_says_how_it_moved_and_which_page_has_it() -> None:
    table = SessionTable(TASK, ["base", "new"], "t")
    table.begin(SOURCE, ["files/a.html", "files/a-2.html"])
    worse, better = session("a.py", 0, "one", 2), session("a.py", 0, "one", 1)
    failed = replace(better, status=Status.TIMEOUT)
    for page, row in enumerate([(worse, better), (better, worse), (better, better), (None, better), (better, failed)]):
        table.add(row, page % 2)
    found = told(table)
    changes = [found["changes"][each] for each in found["columns"]["change"]]
    assert changes == ["better", "worse", "same", "only", "worse"]
    assert found["columns"]["page"] == [0, 1, 0, 1, 0]
    assert found["statuses"][found["went"][0]["status"][3]] == "not there"
    assert found["bands"][found["went"][1]["band"][4]][0] == "failed"


def test_what_is_too_much_for_a_page_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessiontable, "MOST_ROWS", 2)
    table = SessionTable(TASK, [""], "t")
    table.begin(SOURCE, [])
    for _ in range(3):
        table.add([session("a.py", 0, "one")])
    assert (table.left_out, len(told(table)["columns"]["line"])) == (1, 2)


def test_a_session_of_an_earlier_run_has_no_time() -> None:
    table = SessionTable(TASK, [""], "t")
    table.begin(SOURCE, [])
    asked = session("a.py", 0, "one")
    for row in (asked, replace(asked, reused=True)):
        table.add([row])
    assert told(table)["went"][0]["latency"] == [round(10 * asked.lookups[0].latency), -1]


def test_a_line_is_cropped_around_its_token() -> None:
    assert crop_line("    two three", 8) == ("two three", 4)
    shown, at = crop_line(" " * 4 + "x" * 500 + "name" + "y" * 500, 504)
    assert (shown[at : at + 4], len(shown), at) == ("name", 160, 60)


@pytest.mark.parametrize(("name", "part"), [("ALL", ""), ("names, Prefix 1", "filter=names%2C%20Prefix%201")])
def test_a_filter_has_an_address(name: str, part: str) -> None:
    assert selection(name) == part
