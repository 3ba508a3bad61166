"""The manifest of a folder of logs."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.logs.features import FEATURES
from ci_eval.core.logs.formats import (
    COLUMNS,
    DESCRIPTION,
    build_columns,
    check,
    digest,
    make_group_id,
    read_logs_record,
    verify,
)
from ci_eval.core.model import LogCounts, LogFile, LogsRecord
from ci_eval.core.text_spans import Lines
from tests.logs.sessions import ORIGIN, logged
from tests.projects import write

NONE = LogCounts(files=0, sessions=0, selected=0, queries=0, rows=0, expected=0, kinds={})
RECORD = LogsRecord(
    schema="s", formats=("jsonl",), split_by="file", seed=0, percent=70, train=NONE, validation=NONE, files=()
)


def test_a_file_that_changed_or_is_gone_is_named(tmp_path: Path) -> None:
    write(tmp_path, **{"sub/train__jsonl": "x"})
    record = replace(RECORD, files=(digest(tmp_path / "sub" / "train.jsonl", tmp_path),))
    verify(tmp_path, record)
    for change in (lambda path: path.write_text("y"), Path.unlink):
        change(tmp_path / "sub" / "train.jsonl")
        with pytest.raises(WorkspaceError, match=r"train\.jsonl has changed since it was logged: fetch the logs again"):
            verify(tmp_path, record)


@pytest.mark.parametrize("path", ["../x", "/etc/passwd"])
def test_an_account_that_names_files_elsewhere_is_damaged(tmp_path: Path, path: str) -> None:
    with pytest.raises(WorkspaceError, match="the manifest of its logs is damaged"):
        check(replace(RECORD, files=(LogFile(path=path, size=1, sha256="0" * 64),)), tmp_path)


def test_a_folder_without_an_account_has_none_and_a_broken_one_is_refused(tmp_path: Path) -> None:
    assert read_logs_record(tmp_path) is None
    write(tmp_path, manifest__json="[]")
    with pytest.raises(WorkspaceError, match="is not a manifest of logs"):
        read_logs_record(tmp_path)


def test_after_each_query_but_the_last_the_user_typed_on() -> None:
    for session, last in (
        (logged(selected=True), "selected"),
        (logged(cancelled=True), "cancelled"),
        (logged(), "typed"),
    ):
        assert [session.outcome(number) for number in (0, 1)] == ["typed", last]
        assert session.selected == (last == "selected")


def test_each_query_has_a_row_for_each_suggestion_and_every_column() -> None:
    first, second = build_columns(logged(selected=True), ORIGIN)
    assert list(second) == [column.name for column in COLUMNS]
    assert {len(values) for values in second.values()} == {2}
    assert (first["expected"], first["selected"]) == ([False, False], [False, False])
    assert (second["place"], second["expected"], second["selected"]) == ([1, 2], [False, True], [False, True])
    assert [query["selected"] for query in build_columns(logged(), ORIGIN)] == [[False, False]] * 2
    assert second["candidate"] == ["function", "variable"]


def test_all_rows_of_a_query_have_its_group_and_place() -> None:
    text = "a\nname"
    session = logged()
    session = msgspec.structs.replace(session, session=replace(session.session, offset=2))
    first, second = build_columns(session, msgspec.structs.replace(ORIGIN, lines=Lines(text)))
    assert (second["offset"], second["line"]) == ([2, 2], [2, 2])
    assert len({*first["group"]}) == len({*second["group"]}) == 1
    assert first["group"] != second["group"]
    assert first["group"][0] == make_group_id("1", 0)
    assert 0 <= make_group_id("1", 0) < 2**63


def test_the_code_around_the_token_is_logged_as_far_as_wanted() -> None:
    session = logged()
    expected = session.session.expected_text
    session = msgspec.structs.replace(session, session=replace(session.session, offset=4))
    origin = msgspec.structs.replace(ORIGIN, text=f"x = {expected}(1)\n", context=3)
    for query in build_columns(session, origin):
        assert (set(query["before"]), set(query["after"])) == ({" = "}, {"(1)"})
    assert {
        text for query in build_columns(session, msgspec.structs.replace(origin, context=0)) for text in query["before"]
    } == {""}


def test_every_column_is_described() -> None:
    assert [column["name"] for column in json.loads(msgspec.json.encode(DESCRIPTION))["columns"]] == [
        each.name for each in (*COLUMNS, *FEATURES)
    ]
