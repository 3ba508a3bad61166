"""The engine's own noise: by hand, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.model import Determinism, Kind, LookupScore, Otherwise, Properties, SessionScore, Status
from ci_eval.core.scoring import answers
from ci_eval.core.statistics.nonparametric import sign_test
from ci_eval.core.statistics.repeated import (
    NoiseVariance,
    Repeats,
    Rounds,
    SecondQuestions,
    Wavering,
    highest_share,
    measure_noise,
    noise_text,
)
from ci_eval.core.statistics.student import critical_values

HIT = LookupScore(prefix="", total=3, rank=1, latency=1.0)
SESSION = SessionScore(
    id="s", file="a.py", offset=0, expected_text="x", properties=Properties(kind=Kind.VARIABLE), status=Status.OK,
    lookups=(HIT,), otherwise=(Otherwise(round=2, status=Status.TIMEOUT),),
)  # fmt: skip
SHARE = np.array([[1 / 10, 0.0]])
"""What one more hit of ten sessions moves a share by."""


def test_a_session_is_seen_as_each_round_answered_it() -> None:
    assert [(each.status, len(each.lookups)) for each in answers(SESSION, 3)] == [
        (Status.OK, 1),
        (Status.OK, 1),
        (Status.TIMEOUT, 0),
    ]


def moved(*hits: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """One session, which was hit or missed round by round."""
    return np.array([[[float(each), 1.0]] for each in hits])


def test_the_variance_is_that_between_rounds() -> None:
    """Two sessions missed in the same round: shares 0, 0, -0.2, so by hand 0.04/3 (statistics.variance)."""
    found = Wavering(3)
    found.add(moved(1, 1, 0))
    found.add(moved(1, 1, 0))
    noise = found.variance(SHARE)
    assert noise.variance == pytest.approx([0.04 / 3])
    assert noise.df == pytest.approx([2])


def test_the_sessions_of_a_file_vary_together_and_files_by_themselves() -> None:
    """Half of the squared sums of differences by file: (2² + 1²) / 2 / 10²; (Σx²)²/Σx⁴ = 5²/(4² + 1²) degrees."""
    found = Wavering(2)
    for file in (0, 0, 1):
        found.add(moved(1, 0), file)
    noise = found.variance(SHARE)
    assert noise.variance == pytest.approx([5 / 2 / 100])
    assert noise.df == pytest.approx([25 / 17])


@pytest.mark.parametrize("rounds", [1, 3])
def test_an_engine_that_repeats_itself_has_no_noise(rounds: int) -> None:
    assert Wavering(rounds).variance(SHARE).variance == [0]


def test_both_engines_noise_adds_up_and_the_rounds_limit_how_well_it_is_known() -> None:
    """Welch 1947: (a + b)²/(a²/(m - 1) + b²/(n - 1))."""
    noise = NoiseVariance.of(
        [NoiseVariance(np.array([0.03]), np.array([2])), NoiseVariance(np.array([0.01]), np.array([4]))]
    )
    assert noise.variance == pytest.approx([0.04])
    assert noise.df == pytest.approx([0.04**2 / (0.03**2 / 2 + 0.01**2 / 4)])


def test_intervals_hold_the_expected_figure_of_a_noisy_engine() -> None:
    """400 runs of 3 rounds, 200 sessions in 20 files, hit half the time."""
    random, held = np.random.default_rng(3), 0
    for _ in range(400):
        rounds, found = (random.random((200, 3)) < 0.5).astype(float), Wavering(3)
        for file, each in enumerate(rounds):
            found.add(np.stack([each, np.ones(3)], axis=1)[:, None, :], file % 20)
        noise = found.variance(np.array([[1 / 200, 0.0]]))
        reach = critical_values(0.05, noise.df) * np.sqrt(noise.variance)
        held += bool(abs(rounds[:, 0].mean() - 0.5) <= reach[0])
    assert 0.93 <= held / 400 <= 0.99


def test_sessions_may_be_added_up_apart() -> None:
    whole, one, other = Wavering(3), Wavering(3), Wavering(3)
    for each in (moved(1, 1, 0), moved(1, 0, 0)):
        whole.add(each)
    one.add(moved(1, 1, 0))
    other.add(moved(1, 0, 0))
    one.add_all(Wavering(3))
    one.add_all(other)
    assert one.variance(SHARE).variance == pytest.approx(whole.variance(SHARE).variance)


@pytest.mark.parametrize(
    ("up", "down", "p"), [(0, 0, 1), (0, 5, 0.0625), (1, 6, 0.125), (10, 20, 0.09873714670538902), (3, 3, 1)]
)
def test_the_sign_test_is_exact(up: int, down: int, p: float) -> None:
    """Recorded: scipy 1.17 `binomtest(down, up + down).pvalue`; McNemar's exact test is the same."""
    assert sign_test(up, down) == pytest.approx(p, rel=1e-12)
    assert sign_test(down, up) == sign_test(up, down)


def test_of_many_changes_the_sign_test_is_near_the_normal_one() -> None:
    # 60,000 and 59,000: (1000 - 1) / sqrt(119000) = 2.896 standard errors, p = 0.00378.
    assert sign_test(60_000, 59_000) == pytest.approx(0.00378, rel=0.01)


TWICE, DIFFERED = Determinism(asked=300), Determinism(asked=300, differed=1)


@pytest.mark.parametrize(
    ("sides", "alike", "unseen"),
    [
        ([(True, 1, None), (True, 1, Determinism(asked=20))], True, 0.0),
        ([(False, 2, TWICE), (False, 2, TWICE)], True, 0.005),
        ([(True, 1, None), (False, 2, TWICE)], True, 0.01),
        ([(False, 2, TWICE), (False, 2, DIFFERED)], False, 0.005),
        ([(False, 2, TWICE), (False, 1, TWICE)], False, 0.005),
        ([(False, 1, None)], False, 0.0),
    ],
)
def test_only_functions_and_engines_asked_in_two_rounds_answer_alike(
    sides: list[tuple[bool, int, Determinism | None]], alike: bool, unseen: float
) -> None:
    repeats = Repeats.of(sides)
    assert repeats.alike == alike
    assert repeats.unseen == pytest.approx(unseen)


ASKED_TWICE = SessionScore(
    id="s", file="a.py", offset=0, expected_text="x", properties=Properties(kind=Kind.VARIABLE), status=Status.OK,
    again=1,
)  # fmt: skip
DIFFERENT = SessionScore(
    id="s", file="a.py", offset=0, expected_text="x", properties=Properties(kind=Kind.VARIABLE), status=Status.OK,
    again=1, differing=1,
)  # fmt: skip


def test_questions_are_counted_by_session_and_by_file() -> None:
    questions, other = SecondQuestions(), SecondQuestions()
    questions.add([ASKED_TWICE, DIFFERENT, DIFFERENT])
    questions.add([])
    other.add([ASKED_TWICE])
    questions.add_all(other)
    assert questions.sessions == Determinism(asked=4, differed=2)
    assert questions.files == Determinism(asked=2, differed=1)


@pytest.mark.parametrize(("differed", "poisson"), [(0, 2.996), (1, 4.744), (3, 7.754), (10, 16.962)])
def test_the_bound_on_a_share_is_at_least_that_of_poisson(differed: int, poisson: float) -> None:
    """Recorded: scipy 1.17 `chi2.ppf(0.95, 2 * differed + 2) / 2`."""
    assert poisson <= 1000 * highest_share(Determinism(asked=1000, differed=differed)) <= 1.3 * poisson


def test_the_more_files_the_less_a_figure_may_waver() -> None:
    questions = SecondQuestions(Determinism(asked=20), Determinism(asked=15))
    few, many = (questions.bound(np.full(files, 10.0), 1.0).variance[0] for files in (20, 500))
    # Of 15 files, up to 3 may answer otherwise: 3/15 / 2 / files.
    assert (few, many) == pytest.approx((0.2 / 2 / 20 if 0.2 / 2 / 20 < (0.15 / 1.96) ** 2 else 0, 0.2 / 2 / 500))


def session(*latencies: float | None, differing: int = 0, status: Status = Status.OK) -> SessionScore:
    lookup = LookupScore(prefix="", total=1, rank=1, latency=1.0, latencies=latencies)
    return SessionScore(
        id="1", file="a", offset=0, expected_text="x", properties=Properties(kind=Kind.FIELD), status=status,
        differing=differing, lookups=(lookup,),
    )  # fmt: skip


def test_rounds_are_averaged_and_what_is_missing_is_left_out() -> None:
    measured = measure_noise([session(10, 12, differing=1), session(20, None), session(status=Status.SKIPPED)], 2)
    assert measured
    assert (measured.sessions, measured.differing, measured.latencies) == (2, 1, (15, 12))
    assert "answers differed in 1 of 2 sessions (50.0%); mean latency by round 15.0, 12.0 ms" in noise_text(measured)


def test_one_round_has_no_noise() -> None:
    assert measure_noise([session(10)], 1) is None


def test_rounds_may_be_added_up_apart() -> None:
    all_sessions = [session(10, 12, differing=1), session(20, None), session(8, 6)]
    parts = [Rounds(2), Rounds(2)]
    for number, each in enumerate(all_sessions):
        parts[number > 0].add(each)
    parts[0].add_all(parts[1])
    assert parts[0].noise() == measure_noise(all_sessions, 2)
