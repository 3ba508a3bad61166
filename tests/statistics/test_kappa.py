"""The agreement of two raters: against another implementation, and its interval by how often that holds the truth."""

from __future__ import annotations

import random

import pytest

from ci_eval.core.statistics.kappa import measure_agreement
from tests.needs import need_module

PROBABILITIES = {
    ("a", "a"): 0.45, ("a", "b"): 0.12, ("b", "a"): 0.08, ("b", "b"): 0.2, ("c", "c"): 0.1, ("a", "c"): 0.05,
}  # fmt: skip
TRUTH = (0.75 - (0.62 * 0.53 + 0.28 * 0.32 + 0.10 * 0.15)) / (1 - (0.62 * 0.53 + 0.28 * 0.32 + 0.10 * 0.15))


def pairs_of(**counts: int) -> list[tuple[str, str]]:
    return [(names[0], names[1]) for names, count in counts.items() for _ in range(count)]


def test_kappa_is_that_of_another_implementation() -> None:
    metrics = need_module("sklearn.metrics")
    chance = random.Random(5)
    for size in (5, 20, 200):
        pairs = chance.choices([*PROBABILITIES], [*PROBABILITIES.values()], k=size)
        expected = metrics.cohen_kappa_score([first for first, _ in pairs], [second for _, second in pairs])
        assert measure_agreement(pairs).kappa == pytest.approx(expected)


def test_the_interval_holds_the_truth_in_nineteen_of_twenty_samples() -> None:
    chance, held = random.Random(1), 0
    for _ in range(1000):
        agreement = measure_agreement(chance.choices([*PROBABILITIES], [*PROBABILITIES.values()], k=150))
        assert agreement.low is not None
        assert agreement.high is not None
        held += agreement.low <= TRUTH <= agreement.high
    assert 0.925 <= held / 1000 <= 0.97


def test_agreement_by_chance_alone_is_zero_and_worse_is_negative() -> None:
    assert measure_agreement(pairs_of(yy=10, yn=10, ny=10, nn=10)).kappa == 0
    assert measure_agreement(pairs_of(yn=10, ny=10)).kappa == -1


def test_full_agreement_has_no_interval() -> None:
    agreement = measure_agreement(pairs_of(yy=30, nn=10))
    assert (agreement.kappa, agreement.equal, agreement.low, agreement.high) == (1, 40, None, None)


@pytest.mark.parametrize("pairs", [[], pairs_of(yy=40)])
def test_without_different_verdicts_there_is_no_kappa(pairs: list[tuple[str, str]]) -> None:
    agreement = measure_agreement(pairs)
    assert (agreement.kappa, agreement.both) == (None, len(pairs))


def test_few_items_have_no_interval() -> None:
    assert measure_agreement(pairs_of(yy=9, nn=9, yn=1)).low is None
    assert measure_agreement(pairs_of(yy=9, nn=9, yn=2)).low is not None
