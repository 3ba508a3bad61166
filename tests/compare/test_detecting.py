"""What the sessions asked so far tell of the difference that can be found."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.detecting import make_pilot
from ci_eval.core.compare.sums import Sums
from ci_eval.core.statistics.student import Floats

METRICS = [each for each in metrics.load() if each.info.name in {"RecallAt1", "Recall"}]
NAME = METRICS[0].info.name


def rows(count: int = 300) -> Floats:
    """Sessions in which either side is right or not, in both metrics."""
    right = np.random.default_rng(3).random((count, 2, 2)) < [0.7, 0.8]
    pilot = np.ones((count, 2, 4))
    pilot[:, :, [0, 2]] = right.transpose(0, 1, 2)
    return pilot


def sums(seen: Floats) -> Sums:
    pilot = Sums(figures=2)
    pilot.add(seen)
    return pilot


def test_the_variance_is_that_of_the_sessions_that_differ() -> None:
    seen = rows()
    differ = int((seen[:, 0, 0] != seen[:, 0, 2]).sum())
    pilot = make_pilot(sums(seen), METRICS, NAME, sessions=1000, asked=300)
    assert pilot is not None
    assert pilot.variance == pytest.approx((differ + 2) / 302)
    assert (pilot.observed, pilot.noise) == (300, 0)


def test_it_is_blind_to_which_side_is_better() -> None:
    seen = rows()
    swapped = seen.copy()
    other = np.random.default_rng(5).random(len(seen)) < 0.5
    swapped[other] = seen[other][:, :, [2, 3, 0, 1]]
    better = np.where(
        (seen[:, 0, 0] > seen[:, 0, 2])[:, None, None], seen[:, :, [2, 3, 0, 1]], seen
    )  # new is never worse
    pilot = [make_pilot(sums(each), METRICS, NAME, sessions=1000, asked=300) for each in (seen, swapped, better)]
    variances = [each.variance for each in pilot if each]
    assert variances == pytest.approx([variances[0]] * 3)


def test_a_figure_that_was_not_observed_tells_nothing() -> None:
    assert make_pilot(sums(np.zeros((5, 2, 4))), METRICS, NAME, sessions=10, asked=5) is None
