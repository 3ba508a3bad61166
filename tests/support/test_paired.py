"""The paired statistics, against other programs' results, brute force, and what they must never do."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from ci_eval.model import Verdict
from ci_eval.support.paired import (
    BINS,
    Finding,
    Floats,
    Resampling,
    benjamini_hochberg,
    binned,
    holm,
    mcnemar,
    quantile_of,
    verdict,
)

P = [0.01, 0.04, 0.03, 0.005, 0.2, 0.9]


def hits(base: Floats, new: Floats, n: int = 10) -> Floats:
    """Sums of one metric: so many hits of n sessions in each file."""
    weights = np.full(len(base), float(n))
    return np.stack([base, weights, new, weights], axis=1)[:, None, :]


@pytest.mark.parametrize(
    ("wins", "losses", "p"),
    [(10, 2, 0.03857421875), (0, 5, 0.0625), (7, 7, 1.0), (150, 110, 0.01541558283317145), (1200, 1300, 0.0476818652)],
)
def test_mcnemar_agrees_with_statsmodels(wins: int, losses: int, p: float) -> None:
    """Recorded: statsmodels 0.14 `mcnemar(exact=True)`, scipy 1.16 `binomtest`."""
    assert mcnemar(wins, losses) == pytest.approx(p, rel=1e-9)


def test_adjustments_agree_with_statsmodels() -> None:
    """Recorded: statsmodels 0.14 `multipletests`, methods holm and fdr_bh."""
    assert holm(P) == pytest.approx([0.05, 0.12, 0.12, 0.03, 0.4, 0.9])
    assert benjamini_hochberg(P) == pytest.approx([0.03, 0.06, 0.06, 0.03, 0.24, 0.9])
    assert holm([0.03, None, 0.01]) == pytest.approx([0.03, None, 0.02])
    assert benjamini_hochberg([]) == []


def test_with_few_files_the_p_value_is_the_share_of_all_ways_to_swap_sides() -> None:
    base, new = np.array([3.0, 5, 2, 8, 1, 0]), np.array([4.0, 7, 2, 9, 0, 3])
    (found,) = Resampling(6, 1).ratios(hits(base, new))
    assert found is not None
    observed = abs((new - base).sum())
    ways = [abs(((new - base) * np.array(signs)).sum()) for signs in product((1, -1), repeat=6)]
    assert found.p == pytest.approx(sum(each >= observed for each in ways) / len(ways))
    assert found.difference == pytest.approx((new - base).sum() / 60)


def test_swapping_the_sides_turns_the_sign_and_nothing_else() -> None:
    random = np.random.default_rng(3)
    base, new = random.integers(0, 10, 40).astype(float), random.integers(0, 10, 40).astype(float)
    (there,), (back,) = (Resampling(40, 5).ratios(hits(*sides)) for sides in ((base, new), (new, base)))
    assert there is not None
    assert back is not None
    assert there.p == back.p
    assert [there.difference, there.low, there.high] == pytest.approx(
        [-back.difference, -(back.high or 0), -(back.low or 0)]
    )


def test_the_same_on_both_sides_is_equivalent() -> None:
    same = np.arange(30).astype(float) % 7
    (found,) = Resampling(30, 1).ratios(hits(same, same))
    assert found is not None
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)
    assert verdict(found, found.p, better="higher", floor=0.001, margin=0.005) is Verdict.EQUIVALENT


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    random, covered, rounds = np.random.default_rng(11), 0, 300
    for turn in range(rounds):
        rates = random.beta(3, 3, 60)
        base = random.binomial(20, rates).astype(float)
        new = random.binomial(20, np.clip(rates + 0.03, 0, 1)).astype(float)
        (found,) = Resampling(60, turn).ratios(hits(base, new, 20))
        assert found is not None
        truth = float((np.clip(rates + 0.03, 0, 1) - rates).mean())
        covered += (found.low or 0) <= truth <= (found.high or 0)
    assert 0.91 <= covered / rounds <= 0.99


def test_one_file_allows_no_inference() -> None:
    (found,) = Resampling(1, 1).ratios(hits(np.array([3.0]), np.array([9.0])))
    assert found is not None
    assert (found.base, found.new, found.low, found.p) == (0.3, 0.9, None, None)
    assert verdict(found, None, better="higher", floor=0, margin=0) is Verdict.NOT_COMPARABLE


def test_a_metric_without_observations_on_a_side_has_no_finding() -> None:
    sums = hits(np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    sums[:, :, 1] = 0
    assert Resampling(2, 1).ratios(sums) == [None]


def test_quantiles_are_nearest_rank_to_two_percent() -> None:
    values = np.random.default_rng(1).lognormal(3, 1, 5000)
    for share in (0.5, 0.95):
        exact = np.sort(values)[int(np.ceil(share * 5000)) - 1]
        assert quantile_of(binned(values)[None, :], share)[0] == pytest.approx(exact, rel=0.02)


def test_a_slower_side_is_shown_slower_in_the_tail() -> None:
    random = np.random.default_rng(2)
    base = np.stack([binned(random.lognormal(3, 0.5, 50)) for _ in range(40)])
    new = np.stack([binned(random.lognormal(3.4, 0.5, 50)) for _ in range(40)])
    median, tail = Resampling(40, 1).quantiles(base, new, (0.5, 0.95))
    assert median is not None
    assert tail is not None
    assert median.new / median.base == pytest.approx(1.49, rel=0.1)
    assert tail.p is not None
    assert tail.p < 0.01
    assert Resampling(2, 1).quantiles(np.zeros((2, BINS)), base[:2], (0.5,)) == [None]


@pytest.mark.parametrize(
    ("difference", "low", "high", "p", "better", "expected"),
    [
        (0.02, 0.01, 0.03, 0.001, "higher", Verdict.BETTER),
        (-0.02, -0.03, -0.01, 0.001, "higher", Verdict.WORSE),
        (5.0, 2.0, 8.0, 0.001, "lower", Verdict.WORSE),
        (0.02, -0.01, 0.05, 0.2, "higher", Verdict.NOT_SHOWN),
        (0.02, 0.001, 0.04, 0.08, "higher", Verdict.NOT_SHOWN),
        (0.001, -0.002, 0.004, 0.5, "higher", Verdict.EQUIVALENT),
        (0.0005, 0.0001, 0.0009, 0.001, "higher", Verdict.EQUIVALENT),
        (0.02, 0.01, 0.03, 0.001, "neither", Verdict.NOT_COMPARABLE),
    ],
)
def test_verdicts(difference: float, low: float, high: float, p: float, better: str, expected: Verdict) -> None:
    found = Finding(1.0, 1.0 + difference, difference, low, high, p, 0.01)
    assert verdict(found, p, better=better, floor=0.001, margin=0.005) is expected
