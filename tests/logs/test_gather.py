"""On which side of the logs a file is."""

from __future__ import annotations

from ci_eval.core.logs.contract import TEST, TRAIN
from ci_eval.core.logs.gather import assign_side

FILES = [f"src/file{number}.py" for number in range(1000)]


def trained(percent: int, seed: int = 1) -> set[str]:
    return {file for file in FILES if assign_side(file, seed=seed, percent=percent) == TRAIN}


def test_a_larger_share_only_adds_files_and_is_that_share() -> None:
    assert trained(0) == set()
    assert trained(70) < trained(80) < trained(100) == set(FILES)
    assert 650 < len(trained(70)) < 750


def test_another_seed_divides_otherwise() -> None:
    assert trained(50) != trained(50, seed=2)


def test_what_is_kept_for_the_test_is_taken_from_validation_alone() -> None:
    sides = {file: assign_side(file, seed=1, percent=70, test_percent=15) for file in FILES}
    assert {file for file, side in sides.items() if side == TRAIN} == trained(70)
    assert 110 < sum(side == TEST for side in sides.values()) < 190
