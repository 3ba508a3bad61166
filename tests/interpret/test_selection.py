"""Which sessions a limit chooses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ci_eval.core.base.chance import draw
from ci_eval.core.interpret import SessionTable

SIZES = {"names, Prefix 1": 1200, "names": 2400, "imports": 9, "keywords": 1600}


def table(sizes: dict[str, int], seed: int = 7) -> SessionTable:
    classes = np.repeat(np.arange(len(sizes), dtype=np.int8), [*sizes.values()])
    draws = [draw(seed, f"session {number}") for number in range(len(classes))]
    return SessionTable([(Path("a.json"), "a.py")], np.array([len(classes)]), np.array(draws), classes)


def count(sessions: SessionTable, sizes: dict[str, int], limit: int) -> Counter[str]:
    names = [*sizes]
    return Counter(names[number] for number in sessions.classes[sessions.order()[:limit]])


def test_two_thirds_are_of_the_headline_and_each_other_class_has_some() -> None:
    chosen = count(table(SIZES), SIZES, 200)
    assert 130 <= chosen["names, Prefix 1"] <= 135
    assert min(chosen["names"], chosen["keywords"]) >= 25
    assert chosen["imports"] >= 2


def test_a_class_that_has_no_more_sessions_leaves_its_share_to_the_others() -> None:
    sizes = {"names, Prefix 1": 20, "keywords": 500}
    assert count(table(sizes), sizes, 100) == {"names, Prefix 1": 20, "keywords": 80}


def test_a_class_without_sessions_has_no_share() -> None:
    sizes = {"names, Prefix 1": 20, "imports": 0, "keywords": 500}
    assert count(table(sizes), sizes, 100) == {"names, Prefix 1": 20, "keywords": 80}


def test_within_a_class_the_sessions_with_the_lowest_draws_are_chosen() -> None:
    sessions = table(SIZES)
    leading = [index for index in sessions.order() if index < 1200]
    assert leading == sorted(leading, key=lambda index: sessions.draws[index])


def test_without_classes_a_limit_chooses_the_lowest_draws_of_all() -> None:
    sessions = table({"": 300})
    order = sessions.order(probability=0.5)
    assert [*order] == sorted(order, key=lambda index: sessions.draws[index])
    assert len(order) == (sessions.draws < 0.5).sum()


@pytest.mark.parametrize("limit", [0, 1, 7, 200, 5_000])
def test_a_limit_chooses_the_first_of_the_whole_order(limit: int) -> None:
    sessions = table(SIZES)
    assert sessions.order(limit=limit).tolist() == sessions.order()[:limit].tolist()
    assert sessions.order(0.3, limit).tolist() == sessions.order(0.3)[:limit].tolist()


def test_no_sessions_have_no_order() -> None:
    assert table({"names": 0}).order(limit=3).tolist() == []
