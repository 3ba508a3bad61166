"""Which sessions are drawn, and that they tell the figure of all of them."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.statistics.expected import Floats
from ci_eval.core.statistics.phases import FEWEST, Frame, Sampler, allocate

SESSIONS = 3000
KINDS = np.arange(SESSIONS) % 3
FRAME = Frame([f"s{place}" for place in range(SESSIONS)], [KINDS, np.arange(SESSIONS) % 60])
LARGE = Frame([f"s{place}" for place in range(12_000)], [np.arange(12_000) % 10])


def world() -> Floats:
    """1 where a session is right: kinds differ much, and so do some cells in them."""
    random = np.random.default_rng(3)
    rates = np.array([0.99, 0.1, 0.7])[KINDS] * np.where(FRAME.features[1] % 20 == 7, 0.3, 1)
    right: Floats = (random.random(SESSIONS) < rates).astype(float)
    return right


RIGHT = world()


BEFORE = np.where(np.random.default_rng(7).random(SESSIONS) < 0.02, 1 - RIGHT, RIGHT)
"""How an earlier run went: otherwise in 2 % of the sessions."""
EXPECTING = Frame(FRAME.ids, [BEFORE.astype(int), *FRAME.features], BEFORE)


def drawn(precision: float, seed: int, right: Floats = RIGHT, frame: Frame = FRAME) -> Sampler:
    sampler = Sampler(frame, "Recall", precision, seed)
    while not sampler.is_precise:
        phase = sampler.next_phase()
        answers = right[np.concatenate(phase.drawn)]
        sampler.take(phase, answers, np.ones(len(answers)))
    return sampler


def test_drawing_stops_once_the_interval_is_narrow_enough() -> None:
    sampler = drawn(0.03, seed=1)
    assert sampler.reach() <= 0.03
    assert len(sampler.asked) < SESSIONS / 3


def test_the_same_answers_and_seed_draw_the_same_sessions() -> None:
    assert drawn(0.03, seed=1).strata() == drawn(0.03, seed=1).strata()
    assert drawn(0.03, seed=1).strata() != drawn(0.03, seed=2).strata()


def test_the_first_phase_draws_from_strata_by_the_first_feature() -> None:
    strata = Sampler(FRAME, "Recall", 0.03, seed=1).next_phase().strata
    assert len(strata) == 8
    # Eight strata of the same size and three kinds: two strata have the end of one kind and the begin of the next.
    assert sum(len(set(KINDS[places].tolist())) for places in strata) == 8 + 2


def test_no_session_is_drawn_twice() -> None:
    sampler = drawn(0.02, seed=1)
    places = np.concatenate([places for phase in sampler.phases for places in phase.drawn])
    assert len(sampler.phases) > 1
    assert len(set(places.tolist())) == len(places) == sum(each.asked for each in sampler.sampling.strata)


def test_sessions_stand_for_all_of_the_project() -> None:
    sampler = drawn(0.02, seed=1)
    assert sum(each.asked * each.weight for each in sampler.sampling.strata) == pytest.approx(SESSIONS)


def test_that_no_miss_was_seen_does_not_say_that_there_is_none() -> None:
    """With 380 sessions the score interval ends at 99 %."""
    sampler = drawn(0.01, seed=1, right=np.ones(12_000), frame=LARGE)
    assert 380 <= len(sampler.asked) < 450


def test_where_precision_takes_all_sessions_the_figure_is_exact() -> None:
    sampler = drawn(1e-5, seed=1)
    assert len(sampler.asked) == SESSIONS
    assert sampler.figure() == pytest.approx((RIGHT.mean(),) * 3)


def test_an_earlier_run_spares_most_sessions() -> None:
    assert len(drawn(0.02, seed=1, frame=EXPECTING).asked) < len(drawn(0.02, seed=1).asked) / 2


def test_an_earlier_run_that_misleads_costs_sessions_but_not_the_figure() -> None:
    misled = Frame(FRAME.ids, [(1 - RIGHT).astype(int), *FRAME.features], 1 - RIGHT)
    found = drawn(0.02, seed=1, frame=misled).figure()
    assert found
    assert found.low <= RIGHT.mean() <= found.high


@pytest.mark.slow
@pytest.mark.parametrize(("frame", "most"), [(FRAME, 0.99), (EXPECTING, 1.0)], ids=["alone", "expecting"])
def test_figures_are_right_in_the_mean_and_intervals_hold_as_often_as_they_say(frame: Frame, most: float) -> None:
    found = np.array([drawn(0.02, seed, frame=frame).figure() for seed in range(300)], dtype=float)
    errors = found[:, 0] - RIGHT.mean()
    held = (found[:, 1] <= RIGHT.mean()) & (found[:, 2] >= RIGHT.mean())
    assert abs(errors.mean()) < 3 * errors.std() / np.sqrt(300)
    assert 0.92 < held.mean() <= most


@pytest.mark.slow
@pytest.mark.parametrize(("frame", "share", "precision"), [(FRAME, 0.97, 0.015), (LARGE, 0.988, 0.01)])
def test_rare_misses_that_nothing_foretells_do_not_end_it_early(frame: Frame, share: float, precision: float) -> None:
    """Where few of them happen to be seen, or none, the figure is too high, and the interval seems narrow enough."""
    right = (np.random.default_rng(5).random(len(frame.ids)) < share).astype(float)
    found = np.array([drawn(precision, seed, right, frame).figure() for seed in range(300)], dtype=float)
    held = (found[:, 1] <= right.mean()) & (found[:, 2] >= right.mean())
    assert 0.92 < held.mean() < 0.99
    assert abs(found[:, 0].mean() - right.mean()) < 0.001


@pytest.mark.slow
def test_where_few_went_otherwise_than_expected_it_does_not_end_early() -> None:
    """1.3 % that were right are wrong now: of the first 200 sessions, by chance none may show it."""
    share = 0.72
    now = (np.arange(12_000) < share * 12_000).astype(float)
    before = np.where(np.arange(12_000) < (share + 0.013) * 12_000, 1.0, 0.0)
    frame = Frame(LARGE.ids, [before.astype(int), *LARGE.features], before)
    found = np.array([drawn(0.01, seed, now, frame).figure() for seed in range(100)], dtype=float)
    held = (found[:, 1] <= now.mean()) & (found[:, 2] >= now.mean())
    assert held.mean() > 0.93


def test_a_stratum_gets_sessions_by_size_and_spread_within_bounds() -> None:
    counts = allocate(np.array([1000, 1000, 4, 30]), np.array([0.5, 0.1, 0.5, 0.0]), 200)
    assert counts[2] == 4
    assert counts[3] == FEWEST
    assert counts[0] == pytest.approx(5 * counts[1], rel=0.05)
    assert counts.sum() == pytest.approx(200, abs=2)
