"""The finite population of one project's sessions: exact where all were asked, and right where some were."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.sums import FileSums, FilterSums
from ci_eval.core.statistics.paired import Limits, Spread, make_intervals
from ci_eval.core.statistics.population import Strata, Stratum
from ci_eval.core.statistics.repeated import DETERMINISTIC
from ci_eval.core.statistics.sampled import (
    effective_sessions,
    estimate_project,
    figure,
    influence,
    largest_gains,
    pool,
    sum_powers,
)
from ci_eval.core.statistics.stats import Observations, estimate, pack_location
from ci_eval.core.statistics.student import Floats

SHARE, RANK = (0.0, 1.0), (1.0, None)


def sums(base: Floats, new: Floats, asked: float, span: float | None = 1.0) -> Spread:
    """Of one metric that is a mean over sessions."""
    seen = np.stack([base, np.ones(len(base)), new, np.ones(len(base))], axis=1)
    changed, sizes = np.array([(base != new).any()]), np.array([float(len(base))])
    center, variance = estimate_project(
        seen.sum(axis=0)[None], seen.T @ seen, sizes, asked, largest_gains([span]), changed
    )
    difference = np.array([new.mean() - base.mean()])
    return Spread(difference, center, np.sqrt(variance), np.full(1, np.inf), np.zeros(1))


def changes(wins: int, losses: int, of: int) -> tuple[Floats, Floats]:
    base, new = np.zeros(of), np.zeros(of)
    new[:wins] = 1
    base[wins : wins + losses] = 1
    return base, new


def test_where_all_were_asked_nothing_is_uncertain() -> None:
    found = sums(*changes(606, 84, 1538), asked=1)
    assert found.error[0] == 0
    assert found.center[0] == pytest.approx((606 - 84) / 1538)


def test_of_a_small_sample_the_interval_is_that_of_bonett_and_price() -> None:
    """Bonett & Price 2012: one win and one loss are added. By hand for 12 wins and 5 losses of 100."""
    (found,) = make_intervals(sums(*changes(12, 5, 100), asked=0))
    won, lost = 13 / 102, 6 / 102
    error = np.sqrt((won + lost - (won - lost) ** 2) / 102)
    assert (found.low, found.high) == pytest.approx((won - lost - 1.959964 * error, won - lost + 1.959964 * error))


def test_bonett_and_price_in_an_independent_implementation() -> None:
    """Cavo et al. 2012, 59 + 6 + 16 + 80 patients: the R package contingencytables (Fagerland, Lydersen and Laake), of
    whose tests this is one: `Wald_CI_BonettPrice_paired_2x2(cavo_2012)` is -0.0621 (-0.1195 to -0.0032)."""
    spread = sums(*changes(6, 16, 161), asked=0)
    (found,) = make_intervals(spread)
    assert (spread.difference[0], found.low, found.high) == pytest.approx((-0.0621, -0.1195, -0.0032), abs=5e-5)


def test_where_nothing_changed_the_bound_is_near_the_rule_of_three() -> None:
    (found,) = make_intervals(sums(*changes(0, 0, 1000), asked=0.01))
    assert 0.0025 < found.high < 0.0035
    assert found.low == -found.high


def test_the_interval_is_narrower_the_more_sessions_were_asked() -> None:
    widths = [
        np.ptp([(found := make_intervals(sums(*changes(20, 5, 400), asked))[0]).low, found.high])
        for asked in (0.1, 0.9)
    ]
    assert widths[1] < widths[0] * 0.4


def test_swapping_the_sides_turns_the_sign_and_nothing_else() -> None:
    base, new = changes(20, 5, 400)
    (there,), (back,) = make_intervals(sums(base, new, 0.5)), make_intervals(sums(new, base, 0.5))
    assert (there.low, there.high, there.p) == pytest.approx((-back.high, -back.low, back.p))


def test_the_error_of_a_ratio_is_that_of_all_samples_there_are() -> None:
    random = np.random.default_rng(4)
    seen = random.integers(1, 9, (14, 4)).astype(float)
    every = np.array([seen[list(chosen)].sum(axis=0) for chosen in combinations(range(14), 7)])
    true = (every[:, 2] / every[:, 3] - every[:, 0] / every[:, 1]).std()
    whole = seen.sum(axis=0)
    weights = influence(whole[None])[:, 0]
    # Without the correction, of 14; the samples are of 7 out of 14.
    alone = np.sqrt(weights @ seen.T @ seen @ weights * 14 / 7 * (1 - 7 / 14) * 14 / 13)
    assert alone == pytest.approx(true, rel=0.1)


def test_an_exact_figure_reaches_as_far_as_what_may_differ_unseen() -> None:
    hits = np.stack([np.repeat([1.0, 0], [12, 88]), np.ones(100)], axis=1)
    assert figure(hits.sum(axis=0), hits.T @ hits, 100, 1.0, SHARE, unseen=0.015) == pytest.approx((0.105, 0.135))
    assert figure(hits[:12].sum(axis=0), hits[:12].T @ hits[:12], 12, 1.0, SHARE, unseen=0.25) == (0.75, 1.0)


def single(values: Floats, asked: float, limits: Limits = SHARE) -> tuple[float, float]:
    """Of a metric that is a mean over sessions."""
    seen = np.stack([values, np.ones(len(values))], axis=1)
    worth = effective_sessions(*sum_powers(values, seen[:, 1]), seen.sum(axis=0))
    low, high = figure(seen.sum(axis=0), seen.T @ seen, float(len(values)), asked, limits, effective=worth)
    assert low is not None
    assert high is not None
    return low, high


@pytest.mark.parametrize("limits", [(0.0, 1.0), (None, 1.0), (0.0, None), (None, None), (-4.0, 1.0)])
@pytest.mark.parametrize("lowest", [-400.0, -3.0, 0.0])
def test_an_interval_lies_within_the_limits_and_holds_its_figure(limits: Limits, lowest: float) -> None:
    for seed in range(60):
        random = np.random.default_rng(seed)
        values = np.where(random.random(3 + 7 * seed) < 0.1, lowest, random.random(3 + 7 * seed))
        seen, asked = np.stack([values, np.ones(len(values))], axis=1), random.choice([0, 0.2, 0.999])
        worth = effective_sessions(*sum_powers(values, seen[:, 1]), seen.sum(axis=0))
        low, high = figure(seen.sum(axis=0), seen.T @ seen, float(len(values)), asked, limits, effective=worth)
        value = float(np.divide(*seen.sum(axis=0)))
        if low is None or high is None:
            continue
        assert low <= value <= high
        assert low >= min(-np.inf if limits[0] is None else limits[0], value)
        assert high <= max(np.inf if limits[1] is None else limits[1], value)


@pytest.mark.parametrize("values", [[1.0], [0.0, 1.0]])
def test_one_or_two_sessions_have_no_interval(values: list[float]) -> None:
    sums_of = np.array([sum(values), len(values)])
    products = np.array([[sum(values), sum(values)], [sum(values), len(values)]])
    assert figure(sums_of, products, len(values), 0.5, SHARE, effective=9.0) == (None, None)


def test_a_mean_rank_of_few_sessions_has_no_interval_unless_all_were_asked() -> None:
    ranks = np.ones((199, 2))
    for asked, found in ((0.5, (None, None)), (1.0, (1.0, 1.0))):
        assert figure(ranks.sum(axis=0), ranks.T @ ranks, 199, asked, RANK, effective=50.0) == found


def test_one_rank_that_is_very_large_widens_the_interval_of_the_mean() -> None:
    """(Σr²)²/Σr⁴ is near 1 where one session makes the error: t is then 12.7 standard errors, not 2."""
    ranks = np.append(np.ones(399), 1000.0)
    assert effective_sessions(*sum_powers(ranks, np.ones(400)), np.array([ranks.sum(), 400])) == pytest.approx(
        1, abs=0.02
    )
    assert np.ptp(single(ranks, 0, (None, None))) > 10 * 2 * 1.96 * ranks.std() / 20 / 2


def test_of_a_small_sample_the_interval_of_a_share_is_that_of_agresti_and_coull() -> None:
    """Two hits and two misses are added: by hand for 12 hits of 100 (Agresti & Coull 1998, p. 122)."""
    share, values = 14 / 104, np.repeat([1.0, 0], [12, 88])
    reach = 1.959964 * np.sqrt(share * (1 - share) / 104)
    assert single(values, 0) == pytest.approx((share - reach, share + reach))


def test_the_figure_of_all_sessions_is_exact() -> None:
    assert single(np.repeat([1.0, 0], [12, 88]), 1) == (0.12, 0.12)


@pytest.mark.parametrize("hits", [0, 40])
def test_a_share_of_nothing_or_all_has_a_bound_on_the_other_side(hits: int) -> None:
    low, high = single(np.repeat([1.0, 0], [hits, 40 - hits]), 0)
    assert (low, high) == pytest.approx((0, 0.112) if not hits else (0.888, 1), abs=0.01)


@pytest.mark.parametrize("asked", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("rate", [0.03, 0.4, 0.95])
def test_samples_of_a_known_population_hold_its_share(asked: float, rate: float) -> None:
    random = np.random.default_rng(8)
    values = (random.random(2000) < rate).astype(float)
    drawn = (values[random.permutation(2000)[: int(asked * 2000)]] for _ in range(400))
    held = sum(low <= values.mean() <= high for low, high in (single(each, asked) for each in drawn))
    assert 0.925 <= held / 400 <= 0.985


@pytest.mark.parametrize("asked", [0.1, 0.5, 0.9])
@pytest.mark.parametrize(("rate", "at_most"), [(0.004, 1.0), (0.05, 0.985)])
def test_samples_of_a_known_population_hold_its_difference(asked: float, rate: float, at_most: float) -> None:
    random, size, held = np.random.default_rng(6), 3000, 0
    base = (random.random(size) < 0.4).astype(float)
    new = np.where(random.random(size) < rate, 1 - base, base)
    for _ in range(300):
        chosen = random.permutation(size)[: int(asked * size)]
        (found,) = make_intervals(sums(base[chosen], new[chosen], asked))
        held += found.low <= (new - base).mean() <= found.high
    assert 0.92 <= held / 300 <= at_most


def any_weighs(seen: list[tuple[int, int]]) -> bool:
    return any(weight for _, weight in seen)


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 1)), min_size=1, max_size=50).filter(any_weighs))
@example([(1, 0), (202, 1), (202, 1), (202, 1)])
def test_the_effective_number_of_sessions_follows_from_sums(seen: list[tuple[int, int]]) -> None:
    values, weights = np.array(seen, dtype=float).T
    total = np.array([values.sum(), weights.sum()])
    ratio = Fraction(total[0]) / Fraction(total[1])
    residuals = [Fraction(value) - ratio * Fraction(weight) for value, weight in seen]
    second = sum(each**2 for each in residuals)
    true = float(second**2 / sum(each**4 for each in residuals)) if second else np.inf
    assert effective_sessions(*sum_powers(values, weights), total) == pytest.approx(true, rel=1e-14)


METRICS = [metric for metric in metrics.load() if metric.info.name == "RecallAt1"]


def pooled_variance(sizes: list[int], asked: list[int], values: list[Floats]) -> float:
    """Return the variance of the mean over all sessions."""
    sample = [Stratum(*of) for of in zip(sizes, asked, strict=True)]
    weights = np.array([stratum.weight for stratum in sample]) / sum(sizes)
    total, squares = (np.array([(of**power).sum() for of in values]) for power in (1, 2))
    products, _ = pool(sample, weights, total[:, None], squares[:, None, None], np.ones((2, 1)), finite=True)
    return float(products[0, 0]) * max(1 - stratum.share for stratum in sample)


def test_the_variance_is_that_within_the_strata() -> None:
    """Cochran 1977, section 5.4."""
    values = [np.array([1.0, 0] * 200), np.array([1.0] * 60 + [0] * 240)]
    expected = (0.5**2 * 0.25 / 400 * (1 - 400 / 2000)) + 0.5**2 * 0.16 / 300 * (1 - 300 / 2000)
    assert pooled_variance([2000, 2000], [400, 300], values) == pytest.approx(expected, rel=0.01)


def test_the_mean_variance_of_small_samples_is_no_smaller_than_the_true_one() -> None:
    worlds, found = [np.array([0.0, 1, 1, 0, 0, 1]), np.array([0.0, 0, 0, 1])], []
    for first, second in product(product(range(6), repeat=2), range(4)):
        if first[0] != first[1]:
            found.append(pooled_variance([6, 4], [2, 1], [worlds[0][list(first)], worlds[1][[second]]]))
    truth = (0.6**2 * worlds[0].var(ddof=1) / 2 * (1 - 2 / 6)) + 0.4**2 * worlds[1].var(ddof=1) * (1 - 1 / 4)
    assert np.mean(found) >= 0.85 * truth


def test_a_stratum_of_which_all_was_asked_adds_nothing_to_the_error() -> None:
    random = np.random.default_rng(1)
    half, whole = [(random.random(size) < 0.5).astype(float) for size in (40, 30)]
    alone = pooled_variance([80, 30], [40, 30], [half, np.zeros(30)])
    assert pooled_variance([80, 30], [40, 30], [half, whole]) == pytest.approx(alone)


def test_weights_make_a_sample_worth_fewer_sessions() -> None:
    """Ten that stand for one each and ten that stand for nine: (10 + 90)² / (10 + 810)."""
    sample, zeros = [Stratum(10, 10), Stratum(90, 10)], np.zeros((2, 1))
    _, (size,) = pool(sample, np.array([1.0, 9.0]), zeros, zeros[:, :, None], zeros + 10, finite=True)
    assert size == pytest.approx(100**2 / 820)


def figure_of(asked: Floats, limits: bool = True) -> tuple[float | None, float | None, float | None]:
    """Return figure and interval of strata of 3,000 and 400 sessions, of which these were asked (rows of values)."""
    name = "RecallAt1" if limits else "MeanRank"
    metric = metrics.select_metrics([name])[name]
    observations = Observations(metric, [Stratum(3000, asked.shape[1]), Stratum(400, asked.shape[1])])
    for number, values in enumerate(asked, 1):
        places = np.full(len(values), pack_location(0, stratum=number))
        observations.add(places, np.stack([values, np.ones(len(values))], axis=1))
    found = estimate(observations, asked.shape[1] / 3000)
    return found.value, found.low, found.high


def test_a_share_of_one_may_have_a_miss_that_was_not_asked() -> None:
    """Rule of three: one miss among 50 unseen ones would be 3/50 at most."""
    value, low, high = figure_of(np.ones((2, 50)))
    assert (value, high) == (1, 1)
    assert low is not None
    assert 1 / 50 < 1 - low < 7 / 50


@pytest.mark.parametrize("rank", [1.0, 3.0])
def test_a_mean_rank_that_nothing_moves_is_itself(rank: float) -> None:
    ranks = np.full((2, 300), rank)
    assert figure_of(ranks, limits=False) == pytest.approx((rank, rank, rank), abs=1e-9)
    ranks[0, :20] += 1
    _, low, high = figure_of(ranks, limits=False)
    assert (low or 0) < (high or 0)


SIZES, RATES, LOST = (9000, 1200, 400), (0.4, 0.6, 0.8), (0.0, 0.05, 0.1)
LIMIT = 300
KNOWN = {("", str(number)): size for number, size in enumerate(SIZES)}


def project(random: np.random.Generator, sessions: int, rate: float, lost: float) -> Floats:
    """Hits of base and of new (sessions x 4)."""
    base = random.random(sessions) < rate
    new = np.where(random.random(sessions) < lost, False, base) | (random.random(sessions) < 0.02)
    ones = np.ones(sessions)
    return np.stack([base.astype(float), ones, new.astype(float), ones], axis=1)


def test_the_interval_of_unequal_projects_holds_the_difference_of_all_sessions() -> None:
    random = np.random.default_rng(3)
    worlds = [project(random, *each) for each in zip(SIZES, RATES, LOST, strict=True)]
    whole = np.concatenate(worlds).sum(axis=0)
    truth = whole[2] / whole[3] - whole[0] / whole[1]
    held, pooled = 0, []
    for _ in range(300):
        samples = [world[random.choice(len(world), LIMIT, replace=False)] for world in worlds]
        sums = FilterSums(figures=1)
        for number, sample in enumerate(samples):
            sums.rows.append(sums.add(sample[:, None]))
            sums.add_to_stratum(("", str(number)), FileSums.of(sample[:, None]))
        plain = sums.total[0]
        pooled.append(plain[2] / plain[3] - plain[0] / plain[1])
        assert sums.weigh(Strata(KNOWN), dict.fromkeys(KNOWN, LIMIT))
        found = Judge(METRICS, LIMIT / max(SIZES), repeats=DETERMINISTIC).filter(sums)
        low, high = found["RecallAt1"].low, found["RecallAt1"].high
        assert low is not None
        assert high is not None
        held += low <= truth <= high
        assert found["RecallAt1"].state == "weighted"
    assert 0.92 <= held / 300 <= 0.985
    assert abs(np.mean(pooled) - truth) > 0.02


@pytest.mark.parametrize(
    ("shares", "apart"), [([0.5, 0.5], False), ([0.48, 0.5], False), ([0.1, 0.5], True), ([], False)]
)
def test_shares_that_chance_explains_need_no_weights(shares: list[float], apart: bool) -> None:
    asked = {("", str(number)): round(100 * share) for number, share in enumerate(shares)}
    assert bool(Strata(dict.fromkeys(asked, 100)).weighted(asked, asked)) is apart
