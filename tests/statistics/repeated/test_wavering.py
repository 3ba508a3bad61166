"""The engine's own noise: by hand, and when there is none."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.model import Kind, LookupScore, Otherwise, Properties, SessionScore, Status
from ci_eval.core.scoring import answers
from ci_eval.core.statistics.repeated.wavering import NoiseVariance, Wavering
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
