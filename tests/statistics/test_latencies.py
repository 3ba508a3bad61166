"""Times in bins."""

from __future__ import annotations

import numpy as np
import pytest

from ci_eval.core.statistics.latencies import BINS, bin_latencies, estimate_quantile


def test_quantiles_are_nearest_rank_to_two_percent() -> None:
    values = np.random.default_rng(1).lognormal(3, 1, 5000)
    for share in (0.5, 0.95):
        exact = np.sort(values)[int(np.ceil(share * 5000)) - 1]
        assert estimate_quantile(bin_latencies(values), share) == pytest.approx(exact, rel=0.02)


def test_nothing_has_no_quantile() -> None:
    assert estimate_quantile(np.zeros(BINS), 0.5) is None
