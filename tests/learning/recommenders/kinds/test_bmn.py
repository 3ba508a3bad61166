"""The distances to the usages seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.model import ObjectUsage
from ci_eval.plugins.learning.recommenders.kinds.bmn import Neighbours
from ci_eval.plugins.learning.recommenders.model import load
from ci_eval.plugins.learning.recommenders.training import encode_usage
from tests.learning.recommenders.trained import CREATE, NEW, PARAM, T2, UNSEEN, T, proposed, trained, usage


def distance(folder: Path, query: ObjectUsage, *, unknown: bool = True) -> int:
    """Of the nearest."""
    model, options = load(folder / "bmn.model").type("T"), trained(folder, "bmn", T).options
    assert model
    calls, *values = ({text: place for place, text in enumerate(of)} for of in (model.calls, *model.values))
    return int(Neighbours(model).distances(encode_usage(query, calls, values, options, unknown=unknown)).min())


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (usage("", NEW), 0),
        (usage("m1", CREATE), 0),
        (usage(""), 1),
        (usage("", UNSEEN), 1),
        (usage("", PARAM, "N"), 0),
        (usage("m1", NEW), 0),
        (usage("m1 m3", NEW), 1),
        (usage("m1 elsewhere", NEW), 0),
        (usage("", NEW, ""), 1),
    ],
)
def test_golden_distances(query: ObjectUsage, found: int, tmp_path: Path) -> None:
    trained(tmp_path, "bmn", T)
    assert distance(tmp_path, query) == found


def test_another_value_of_a_slot_costs_two_and_an_ignored_one_nothing(tmp_path: Path) -> None:
    trained(tmp_path, "bmn", T)
    assert distance(tmp_path, usage("m3", NEW)) == 1
    assert distance(tmp_path, usage(""), unknown=False) == 0
    model = trained(tmp_path, "bmn", T2)
    assert proposed(model, usage("", CREATE), 0) == {"a": 0.8, "b": 0.8, "c": 0.6, "d": 0.2}


def test_a_share_must_exceed_the_threshold(tmp_path: Path) -> None:
    model = trained(tmp_path, "bmn", [*[usage("a b")] * 3, *[usage("a c")] * 7])
    assert proposed(model, usage("")) == {"a": 1.0, "c": 0.7}
    assert proposed(model, usage(""), 0.29) == {"a": 1.0, "c": 0.7, "b": 0.3}
