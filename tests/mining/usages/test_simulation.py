"""Simulated editing."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from ci_eval.core.model import Definition, History, ObjectUsage
from ci_eval.plugins.mining.usages.histories import equal
from ci_eval.plugins.mining.usages.simulation import CLASSES, ROWS, simulate

DEFINITIONS = [Definition(kind="NEW", member="A"), Definition(kind="PARAM", member="f", argument=0)]


def usages(count: int = 6000) -> list[ObjectUsage]:
    """As many calls as the goals of table 3 have."""
    columns = [sum(row[m] for row in ROWS) for m in range(len(ROWS))]
    sizes = [m for m, column in enumerate(columns, 1) for _ in range(round(column * count / sum(columns)))]
    names = [f"m{i}" for i in range(12)]
    return [
        ObjectUsage(
            type="A",
            method=f"m{i}",
            definition=DEFINITIONS[i % 2],
            calls=tuple((names + names)[i % 12 : i % 12 + size]),
        )
        for i, size in enumerate(sizes)
    ]


def class_of(history: History) -> str:
    start, end = history.states[0], history.states[-1]
    assert end
    if start is None:
        return "NEW"
    removed = set(start.calls) - set(end.calls)
    changed = start.definition != end.definition
    return {(True, True): "-M+dD", (True, False): "-M", (False, True): "dD", (False, False): "0"}[
        bool(removed), changed
    ]


def test_the_classes_are_as_frequent_as_in_table_5() -> None:
    skipped: Counter[str] = Counter()
    found = list(simulate(usages(), seed=1, skipped=skipped))
    counts = Counter(map(class_of, found))
    assert not skipped
    for name, share in CLASSES.items():
        assert 100 * counts[name] / len(found) == pytest.approx(share, abs=2), name


def test_as_many_calls_are_there_as_in_table_3() -> None:
    found = [each for each in simulate(usages(20_000), seed=2, skipped=Counter()) if each.states[0]]
    for m in (2, 3, 4):
        kept = Counter()  # type: Counter[int]
        for each in found:
            start, end = each.states[0], each.states[-1]
            if start and end and len(end.calls) == m:
                kept[len(set(start.calls) & set(end.calls))] += 1
        weights = [row[m - 1] for row in ROWS]
        weights[0] = round(weights[0] * (1 - 3612 / 5747))
        for n, weight in enumerate(weights[:m]):
            assert kept[n] / sum(kept.values()) == pytest.approx(weight / sum(weights), abs=0.06), (n, m)


def test_every_history_ends_with_the_usage_and_adds_a_call() -> None:
    given = usages(500)
    for steps in (False, True):
        for usage, history in zip(given, simulate(given, seed=3, skipped=Counter(), steps=steps), strict=True):
            start, end = history.states[0], history.states[-1]
            assert end == usage
            assert set(usage.calls) - set(start.calls if start else ())
            assert not any(equal(one, other) for one, other in pairwise(history.states))


def test_steps_add_and_remove_one_call_at_a_time() -> None:
    (history,) = simulate(
        [ObjectUsage(type="A", calls=("a", "b", "c"))], seed=1, skipped=Counter(), steps=True, in_order=1
    )
    sizes = [len(state.calls) if state else -1 for state in history.states]
    assert sizes[-1] == 3
    assert all(abs(one - other) <= 1 for one, other in pairwise(sizes))


def test_a_seed_gives_the_same_histories_and_another_one_others() -> None:
    given = usages(300)
    one, same, other = (list(simulate(given, seed=seed, skipped=Counter())) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_what_cannot_be_simulated_is_counted() -> None:
    skipped: Counter[str] = Counter()
    alone = [ObjectUsage(type=f"A{i}", calls=("a",)) for i in range(200)]
    found = list(simulate([ObjectUsage(type="B"), *alone], seed=1, skipped=skipped))
    assert len(found) == 200
    assert skipped.pop("usage without any call") == 1
    assert set(skipped) == {f"nothing else seen of the type, so no change {name}" for name in ("-M", "dD", "-M+dD")}
