"""Files as a sample of other code: the jackknife by hand, and when there is no interval."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.statistics.clustered import count_effective_clusters, estimate_other_code, figures
from ci_eval.core.statistics.student import Floats

RANDOM = np.random.default_rng(2)


def hits(base: Floats, new: Floats, n: Floats) -> Floats:
    """Sums of one metric: so many hits of n sessions in each file."""
    return np.stack([base, n, new, n], axis=1)[:, None, :]


def test_the_error_is_that_of_leaving_out_one_file_after_the_other() -> None:
    n = np.array([10.0, 40, 7, 25, 90])
    base, new = np.array([3.0, 22, 0, 13, 40]), np.array([5.0, 20, 1, 15, 52])
    without = [((new.sum() - new[i]) - (base.sum() - base[i])) / (n.sum() - n[i]) for i in range(5)]
    whole = (new - base).sum() / n.sum()
    by_hand = np.sqrt(4 / 5 * sum((each - whole) ** 2 for each in without))
    estimate, _ = estimate_other_code(hits(base, new, n))
    assert estimate.error[0] == pytest.approx(by_hand)
    assert estimate.difference[0] == pytest.approx(whole)


RECORDED = [(113, 81, 62), (37, 24, 16), (97, 35, 35), (101, 64, 24), (818, 408, 226), (407, 173, 158), (390, 185, 121),
            (133, 76, 58)]  # fmt: skip
"""Files of itsdangerous 2.2.0, one letter typed: sessions, first places of `words` and of jedi 0.20.1."""


def test_an_independent_implementation_has_the_same_cluster_jackknife() -> None:
    """pyfixest 0.60.0, a row per session with the difference d and its file:

    feols("d ~ 1", rows, vcov={"CRV3": "file"}, ssc=ssc(k_adj=False, G_adj=False)).se() is 0.0501114439780311, without
    the factor (G - 1)/G, which the R packages summclust (of this method) and sandwich have; .coef() is
    -0.1650763358778626.
    """
    n, base, new = np.array(RECORDED, float).T
    estimate = estimate_other_code(hits(base, new, n))[0]
    assert estimate.difference[0] == pytest.approx(-0.1650763358778626, rel=1e-12)
    assert estimate.error[0] == pytest.approx(0.0501114439780311 * np.sqrt(7 / 8), rel=1e-12)


@pytest.mark.parametrize(("sizes", "worth"), [([5, 5, 5, 5], 4), ([97, 1, 1, 1], 1.06), ([0, 0, 7], 1), ([0, 0], 0)])
def test_files_of_unequal_size_are_worth_fewer(sizes: list[int], worth: float) -> None:
    assert count_effective_clusters(np.array(sizes, float)[:, None]) == pytest.approx([worth], rel=0.01)


def test_one_file_that_makes_the_difference_leaves_one_degree_of_freedom() -> None:
    n = np.full(100, 40.0)
    new = np.full(100, 20.0)
    new[0] = 0
    alone = estimate_other_code(hits(np.full(100, 20.0), new, n))[0].df[0]
    even = estimate_other_code(hits(np.full(100, 20.0), RANDOM.binomial(40, 0.5, 100).astype(float), n))[0].df[0]
    assert alone < 1.1
    assert even > 20


def test_where_nothing_changed_the_interval_is_not_of_width_zero() -> None:
    same, n = np.full(200, 20.0), np.full(200, 40.0)
    estimate = estimate_other_code(hits(same, same, n))[0]
    assert (estimate.error[0], estimate.df[0]) == (1 / 8000, 1)


def shares(above: Floats, below: Floats) -> Floats:
    return np.stack([above, below], axis=1)[:, None, :]


def test_a_share_stays_between_0_and_1() -> None:
    above = (RANDOM.random(50) < 0.06).astype(float)
    (estimate,) = figures(shares(above, np.full(50, 5.0)), [(0.0, 1.0)])
    assert estimate.low is not None
    assert estimate.high is not None
    assert 0 < estimate.low < above.sum() / 250 < estimate.high < 1


def test_one_file_gives_a_figure_without_an_interval_and_ten_a_wide_one() -> None:
    (alone,) = figures(shares(np.full(1, 9.0), np.full(1, 20.0)), [(0.0, 1.0)])
    assert (alone.low, alone.effective) == (None, 1)
    (estimate,) = figures(shares(np.arange(10, dtype=np.float64), np.full(10, 20.0)), [(0.0, 1.0)])
    assert estimate.effective == pytest.approx(10)
    assert estimate.low is not None
    assert estimate.high is not None
    assert 0.1 < estimate.high - estimate.low < 0.4


def test_sessions_that_agree_within_files_do_not_narrow_the_interval() -> None:
    truth = RANDOM.integers(2, size=40).astype(float)
    once, often = (figures(shares(truth * of, np.full(40, of)), [(0.0, 1.0)])[0] for of in (1.0, 100.0))
    assert (once.low, once.high) == pytest.approx((often.low, often.high))


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_the_interval_of_a_figure_holds_the_truth_about_95_times_of_100(rate: float) -> None:
    n = np.maximum(RANDOM.lognormal(3, 1, (60, 500)), 1).astype(int)
    above = RANDOM.binomial(n, RANDOM.beta(8 * rate, 8 * (1 - rate), n.shape)).astype(float)
    estimate = figures(np.stack([above, n.astype(float)], axis=-1), [(0.0, 1.0)] * 500)
    given = [each for each in estimate if each.low is not None and each.high is not None]
    held = sum((each.low or 0) <= rate <= (each.high or 0) for each in given)
    assert len(given) > 300
    assert 0.92 <= held / len(given) <= 0.98


def test_two_files_have_an_interval_of_any_width_within_the_limits() -> None:
    (estimate,) = figures(shares(np.array([1.0, 39]), np.array([40.0, 40])), [(0.0, 1.0)])
    assert estimate.low == pytest.approx(0, abs=1e-9)
    assert estimate.high == pytest.approx(1, abs=1e-9)
