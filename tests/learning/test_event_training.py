"""Events as what is learned from."""

from __future__ import annotations

import pytest

from ci_eval.core.base.errors import NothingToEvaluate
from ci_eval.plugins.learning.event_training import FeatureTable, make_lists, training_rows
from ci_eval.plugins.learning.events import Shown, ShownSession
from ci_eval.plugins.learning.fitting import fit_user


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
