"""Whether the changes between two engines could be those of one that wavers."""

from __future__ import annotations

import pytest

from ci_eval.core.model import Determinism
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
