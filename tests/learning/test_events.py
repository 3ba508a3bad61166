"""Events, read line by line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ci_eval.core.base.errors import NothingToEvaluate, WorkspaceError
from ci_eval.core.logs.features import NAMES, SCHEMA
from ci_eval.plugins.learning.events import EventLog, FeatureTable, Shown, ShownSession, make_lists, training_rows
from ci_eval.plugins.learning.training import fit_user
from ci_eval.plugins.log_formats.jetbrains import FORMAT
from tests.jetbrains.event_samples import line, session
from tests.logs.sessions import ORIGIN, logged


def read(path: Path, text: str) -> tuple[list[ShownSession], dict[str, int]]:
    path.write_text(text)
    log = EventLog()
    return list(log.sessions([path])), dict(log.left_out)


def test_a_list_is_followed_by_its_changes(tmp_path: Path) -> None:
    item = {"id": 0, "length": 3, "relevance": {"a": "1", "b": "true", "c": "x", "d": None}}
    new = {"id": 7, "length": 3, "relevance": None}
    change = {"id": 0, "added": {"e": "2"}, "changed": {"a": "1.5"}, "removed": ["c"]}
    text = (
        line("s", "COMPLETION_STARTED", {"queryLength": 2, "completionListIds": [0], "newCompletionListItems": [item]})
        + line("s", "DOWN", {"currentPosition": 0, "completionListIds": [0], "newCompletionListItems": []})
        + line("s", "TYPE", {"completionListIds": [7, 0], "newCompletionListItems": [new], "itemsDiff": [change]})
        + line("s", "BACKSPACE", {"completionListIds": [0]})
        + line("s", "CUSTOM", {})
        + line("s", "TYPED_SELECT", {"selectedId": 0})
    )
    (recorded,), left_out = read(tmp_path / "log", text)
    assert left_out == {}
    assert (recorded.outcome, recorded.wanted, [each.typed for each in recorded.lookups]) == (
        "typed",
        0,
        [2, 3, 2],
    )
    assert recorded.lookups[0].features == [{"a": 1.0, "b": 1.0, "c": "x", "d": None}]
    assert recorded.lookups[1].features == [{}, {"a": 1.5, "b": 1.0, "d": None, "e": 2.0}]
    assert [recorded.rank(each) for each in recorded.lookups] == [1, 2, 1]


def test_what_cannot_be_used_is_counted(tmp_path: Path) -> None:
    text = (
        session("a", right=0, ended=False)
        + "1\t2\t3\n"
        + line("b", "TYPE", {})
        + line("c", "COMPLETION_STARTED", {"completionListIds": [5]})
        + line("c", "COMPLETION_CANCELED", {})
        + line("d", "COMPLETION_STARTED", {"validationStatus": "INVALID"})
        + line("e", "COMPLETION_STARTED", {"completionListIds": []})
        + line("e", "COMPLETION_CANCELED", {})
    )
    recorded, left_out = read(tmp_path / "log", text)
    assert recorded == []
    assert left_out == {
        "lines that are not events": 1,
        "events of sessions that do not begin": 1,
        "sessions with an item that is never described": 1,
        "events that their recorder called invalid": 1,
        "sessions in which no list was shown": 1,
        "sessions that do not end": 1,
    }


def test_sessions_of_two_users_may_be_interleaved(tmp_path: Path) -> None:
    one, two = session("s", right=1).splitlines(keepends=True), session("s", right=2).splitlines(keepends=True)
    two = [each.replace("abcdefabcdef", "000000000000") for each in two]
    recorded, _ = read(tmp_path / "log", "".join(text for pair in zip(one, two, strict=True) for text in pair))
    assert [(each.user, each.wanted) for each in recorded] == [("abcdefabcdef", 1), ("000000000000", 2)]


def test_a_damaged_file_is_an_error_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "chunk_0.gz"
    path.write_bytes(b"\x1f\x8bnonsense")
    with pytest.raises(WorkspaceError, match=r"chunk_0.gz is damaged: .*; fetch the logs again"):
        list(EventLog().sessions([path]))


def test_what_we_write_is_read_back_with_every_feature(tmp_path: Path) -> None:
    part = FORMAT.write(tmp_path / "a", ORIGIN)
    part.add(written := logged(selected=True))
    part.close()
    (recorded,), left_out = read(tmp_path / "a", (tmp_path / "a").read_text())
    assert left_out == {}
    table = FeatureTable.of([recorded])
    assert (table.names, table.schema) == (NAMES, SCHEMA)
    for query, lookup in zip(written.queries, recorded.lookups, strict=True):
        assert np.array_equal(table.rows(lookup), query.features, equal_nan=True)
        assert lookup.typed == len(query.prefix)
    assert (recorded.outcome, recorded.rank(recorded.lookups[-1])) == ("selected", 2)


def test_words_become_numbers_and_the_place_a_feature(tmp_path: Path) -> None:
    (recorded,), _ = read(tmp_path / "log", session("s", right=2, size=3))
    table = FeatureTable.of([recorded])
    assert (table.names, table.categories) == (("ml_kind", "ml_score", "user_age", "position"), ("ml_kind",))
    nan = np.nan
    wanted = [[nan, 0.5, 3, 1], [0, 0.5, 3, 2], [nan, 1.5, 3, 3]]
    assert np.array_equal(table.rows(recorded.lookups[0]), np.array(wanted, dtype=np.float32), equal_nan=True)


def shown(outcome: str, wanted: int | None, number: int = 0) -> ShownSession:
    features = [{"a": float(each)} for each in range(3)]
    lookups = [
        Shown(typed=typed, ids=ids, features=features[: len(ids)]) for typed, ids in ((1, (0, 1, 2)), (2, (2, 1)))
    ]
    return ShownSession(user="u", session=str(number), lookups=lookups, outcome=outcome, wanted=wanted)


def test_lists_end_as_the_session_does() -> None:
    lists = list(make_lists([shown("selected", 2), shown("cancelled", None, 1)]))
    assert [(each.typed, each.rank, each.outcome) for each in lists] == [
        (1, 3, "typed"), (2, 1, "selected"), (1, None, "typed"), (2, None, "cancelled"),
    ]  # fmt: skip
    assert fit_user(lists).sessions == 2


def test_only_lists_with_the_wanted_item_are_learned_from() -> None:
    sessions = [shown("selected", 0), shown("typed", 1, 1), shown("cancelled", None, 2)]
    table = FeatureTable.of(sessions)
    of_selected = training_rows(sessions, table, "selected", 0, side="train", project="p")
    of_all = training_rows(sessions, table, "expected", 0, side="train", project="p")
    assert (of_selected.sizes.tolist(), of_selected.positive.tolist()) == ([3], [0])
    assert (of_all.sizes.tolist(), of_all.positive.tolist()) == ([3, 3, 2], [0, 1, 1])
    with pytest.raises(NothingToEvaluate, match="in the train side of the logs no item of a list was taken"):
        training_rows(sessions[2:], table, "expected", 0, side="train", project="p")
