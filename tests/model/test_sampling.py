"""What a stored sample may say."""

from __future__ import annotations

import pytest

from ci_eval.core.model.sampling import Sampling, Stratum


def sampling(**given: float) -> Sampling:
    usual = {"phase": 0, "sessions": 10, "asked": 5, "share": 0.5, "later": 0.5}
    return Sampling(metric="Recall", precision=0.01, strata=(Stratum(**usual | given),))  # type: ignore[arg-type]


def test_what_was_asked_counts_as_itself_in_the_estimates_of_later_phases() -> None:
    assert sampling().strata[0].weight == 0.5 * 10 / 5 + 0.5


@pytest.mark.parametrize("wrong", [{"asked": 11}, {"later": 0.6}])
def test_numbers_that_contradict_each_other_are_refused(wrong: dict[str, float]) -> None:
    sampling().check()
    with pytest.raises(ValueError, match="more"):
        sampling(**wrong).check()
