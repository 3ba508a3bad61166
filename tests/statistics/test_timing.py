"""Differences of times over rounds, against other implementations and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.statistics.timing import (
    BINS,
    GROUPS,
    Observed,
    bin_latencies,
    compare_timing,
    estimate_quantile,
    nearest_rank,
)

METRICS = {each.info.name: each for each in metrics.load()}
BASE = ([10.0], [11.0], [12.0], [10.5], [11.5])
NEW = ([11.0], [13.0], [12.5], [11.0], [13.5])


def rounds(*values: list[float]) -> list[Observed]:
    comparison = []
    for of_round in values:
        seen = Observed()
        for number, value in enumerate(of_round):
            seen.add(number % GROUPS, [(value, 1.0)])
        comparison.append(seen)
    return comparison


def test_where_all_sessions_were_asked_it_is_the_paired_t_test_of_logarithms_over_rounds() -> None:
    comparison = compare_timing(METRICS["MeanLatency"], rounds(*BASE), rounds(*NEW), asked=1, tests=1)
    assert comparison
    # scipy 1.17.1: ttest_rel(log(new), log(base)), and its confidence_interval(0.95) around base's geometric mean.
    assert (comparison.low, comparison.high, comparison.p) == pytest.approx(
        (0.30321981305019446, 2.1225372545507724, 0.01929610846511916)
    )


def test_a_load_that_doubles_both_times_does_not_hide_which_is_faster() -> None:
    rng = np.random.default_rng(6)
    base = rng.gamma(2, 10, 200) * np.array([[1.0], [2.0], [4.0]])
    comparison = compare_timing(
        METRICS["MeanLatency"], rounds(*base.tolist()), rounds(*(base / 3).tolist()), asked=1, tests=4
    )
    assert comparison
    assert comparison.new == pytest.approx(comparison.base / 3)
    assert comparison.high < -0.6 * comparison.base


def test_times_of_zero_are_compared_by_their_differences() -> None:
    comparison = compare_timing(METRICS["MeanLatency"], rounds([0.0], [1.0]), rounds([2.0], [3.0]), asked=1, tests=1)
    assert comparison
    assert (comparison.base, comparison.new, comparison.low, comparison.high) == (0.5, 2.5, 2.0, 2.0)


def test_a_median_is_compared_by_its_difference_if_a_part_of_the_sessions_took_no_time() -> None:
    # The first of five blocks has zeros only, on both sides; the median of all sessions is none of them.
    base, new = ([0.0 if number % 5 == 0 else value for number in range(40)] for value in (1.0, 3.0))
    comparison = compare_timing(METRICS["LatencyPercentile50"], rounds(base, base), rounds(new, new), asked=1, tests=1)
    assert comparison
    assert (comparison.base, comparison.new) == (1, 3)
    # By hand: the blocks' differences are 0, 2, 2, 2, 2, with a variance of 0.8; two rounds; t.ppf(0.975, 1).
    assert comparison.high - comparison.difference == pytest.approx(12.7062 * np.sqrt(0.8 / 5 / 2), rel=1e-4)


def test_of_a_sample_of_sessions_the_interval_is_as_wide_as_that_of_the_mean_of_paired_differences() -> None:
    rng = np.random.default_rng(2)
    base = rng.gamma(2, 10, 4000)
    new = base + rng.normal(3, 5, 4000)
    comparison = compare_timing(
        METRICS["MeanLatency"], rounds(*[base.tolist()] * 3), rounds(*[new.tolist()] * 3), asked=0, tests=1
    )
    error = (new - base).std(ddof=1) / np.sqrt(len(base))
    assert comparison
    # scipy 1.17.1: t.ppf(0.975, 19); the error is estimated from as many groups, so it is near, not equal.
    assert (comparison.high - comparison.low) / 2 == pytest.approx(2.0930240544083087 * error, rel=0.35)


def test_rounds_that_agree_by_luck_are_no_surer_than_what_varies_within_them() -> None:
    rng = np.random.default_rng(4)
    base, new = rng.normal(100, 10, (3, 400)), rng.normal(100, 10, (3, 400))
    new += (base.mean(axis=1) - new.mean(axis=1))[:, None] + 1
    comparison = compare_timing(METRICS["MeanLatency"], rounds(*base.tolist()), rounds(*new.tolist()), asked=1, tests=1)
    assert comparison
    # Each mean has an error of 10 / sqrt(400), and so has each of three rounds; t.ppf(0.975, 2) = 4.303.
    assert comparison.high - comparison.difference == pytest.approx(4.303 * np.sqrt(2 / 3) * 0.5, rel=0.3)


def test_medians_of_rounds_that_agree_by_luck_are_no_surer_than_what_varies_within_them() -> None:
    rng = np.random.default_rng(5)
    base, new = rng.normal(100, 10, (3, 2000)), rng.normal(100, 10, (3, 2000))
    new += (np.median(base, axis=1) - np.median(new, axis=1))[:, None] + 1
    comparison = compare_timing(
        METRICS["LatencyPercentile50"], rounds(*base.tolist()), rounds(*new.tolist()), asked=1, tests=1
    )
    assert comparison
    # A normal sample's median has 1.2533 times the error of its mean; five blocks a round tell it roughly.
    error = 1.2533 * 10 / np.sqrt(2000) * np.sqrt(2 / 3)
    assert comparison.high - comparison.difference == pytest.approx(4.303 * error, rel=0.5)


def test_what_a_sample_did_not_show_is_not_ruled_out_for_the_rest() -> None:
    alike = rounds([1.0] * 100, [1.0] * 100)
    some, every = (
        compare_timing(METRICS["RightWithin100ms"], alike, alike, asked=asked, tests=1) for asked in (0.1, 1)
    )
    assert some
    assert every
    assert some.high > 0.02
    assert every.high == 0


def test_several_tests_widen_the_interval_as_bonferroni_says() -> None:
    one, three = (compare_timing(METRICS["MeanLatency"], rounds(*BASE), rounds(*NEW), asked=1, tests=n) for n in (1, 3))
    assert one
    assert three
    assert three.p == pytest.approx(3 * one.p)
    # scipy 1.17.1: t.ppf(1 - 0.05 / 6, 4) / t.ppf(0.975, 4), of logarithms.
    widths = [np.log1p(each.high / each.base) - np.log1p(each.low / each.base) for each in (three, one)]
    assert widths[0] / widths[1] == pytest.approx(1.4265675468804264)


@pytest.mark.parametrize("quantile", [0.5, 0.95, 1.0])
def test_quantiles_are_those_of_numpy_by_nearest_rank(quantile: float) -> None:
    values = np.random.default_rng(3).gamma(2, 10, 137)
    assert nearest_rank(values, quantile) == np.quantile(values, quantile, method="inverted_cdf")


def test_without_a_lookup_there_is_no_figure() -> None:
    assert (
        compare_timing(METRICS["LatencyPercentile95"], rounds([], []), rounds([1.0], [1.0]), asked=1, tests=1) is None
    )


def test_quantiles_are_nearest_rank_to_two_percent() -> None:
    values = np.random.default_rng(1).lognormal(3, 1, 5000)
    for share in (0.5, 0.95):
        exact = np.sort(values)[int(np.ceil(share * 5000)) - 1]
        assert estimate_quantile(bin_latencies(values), share) == pytest.approx(exact, rel=0.02)


def test_nothing_has_no_quantile() -> None:
    assert estimate_quantile(np.zeros(BINS), 0.5) is None
