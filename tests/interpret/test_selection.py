"""Which sessions a limit chooses."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from ci_eval.core.base.chance import draw
from ci_eval.core.interpret import Listed

SIZES = {"names, Prefix 1": 1200, "names": 2400, "imports": 9, "keywords": 1600}


def listed(sizes: dict[str, int]) -> Listed:
    classes = [name for name, size in sizes.items() for _ in range(size)]
    ids = [f"session {number}" for number in range(len(classes))]
    return Listed(ids, [(Path("a.json"), "a.py")] * len(ids), classes, next(iter(sizes)))


def test_two_thirds_are_of_the_headline_and_each_other_class_has_some() -> None:
    sessions = listed(SIZES)
    chosen = Counter(sessions.classes[index] for index in sessions.order(7)[:200])
    assert 130 <= chosen["names, Prefix 1"] <= 135
    assert min(chosen["names"], chosen["keywords"]) >= 25
    assert chosen["imports"] >= 2


def test_a_class_that_has_no_more_sessions_leaves_its_share_to_the_others() -> None:
    sessions = listed({"names, Prefix 1": 20, "keywords": 500})
    chosen = Counter(sessions.classes[index] for index in sessions.order(7)[:100])
    assert chosen == {"names, Prefix 1": 20, "keywords": 80}


def test_within_a_class_the_sessions_with_the_lowest_draws_are_chosen() -> None:
    sessions = listed(SIZES)
    leading = [index for index in sessions.order(7) if index < 1200]
    assert leading == sorted(leading, key=lambda index: draw(7, sessions.ids[index]))


def test_without_classes_a_limit_chooses_the_lowest_draws_of_all() -> None:
    sessions = listed({"": 300})
    order = sessions.order(3, probability=0.5)
    assert order == sorted(order, key=lambda index: draw(3, sessions.ids[index]))
    assert len(order) == sum(draw(3, session_id) < 0.5 for session_id in sessions.ids)
