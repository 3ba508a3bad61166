"""Whether the changes between two engines could be those of one that wavers."""

from __future__ import annotations

import pytest

from ci_eval.core.statistics.repeated.repeats import Repeats, sign_test


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


def test_a_sample_shows_determinism_only_if_much_more_changed_than_may_waver_unseen() -> None:
    sample = Repeats(asked=40, differed=0, checked=True, whole=False)
    assert sample.shows_determinism(400, 1000)
    assert not sample.shows_determinism(20, 1000)
    assert sample.shows_determinism(0, 1000)


@pytest.mark.parametrize("repeats", [Repeats(asked=40, differed=1, whole=False), Repeats(checked=False, whole=False)])
def test_an_engine_that_differed_or_was_not_checked_is_never_deterministic(repeats: Repeats) -> None:
    assert not repeats.shows_determinism(900, 1000)


def test_what_was_asked_in_several_rounds_needs_no_sample() -> None:
    assert Repeats(asked=2000, differed=0, whole=True).shows_determinism(1, 1000)
