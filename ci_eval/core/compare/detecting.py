"""An estimate of how large a difference a comparison can find, from the sessions asked so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ci_eval.core.compare.judging import estimate_noise
from ci_eval.core.compare.pairing import pair
from ci_eval.core.compare.sums import Sums
from ci_eval.core.contracts import Metric
from ci_eval.core.filters import ReportFilters
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import Difference
from ci_eval.core.model.comparison import Detected
from ci_eval.core.statistics.detection import Pilot, mean_square
from ci_eval.core.statistics.paired import FOUR_OF_FIVE
from ci_eval.core.statistics.sampled import influence, largest_gains
from ci_eval.core.statistics.student import NORMAL
from ci_eval.core.workspace import Workspace


def pilot(
    base: Workspace,
    new: Workspace,
    metrics: Sequence[Metric],
    filters: ReportFilters,
    metric: str,
    *,
    sessions: int,
    asked: int,
) -> Pilot | None:
    """Return what is known so far of the headline's difference in one metric; None if a side has no figure yet.

    `metrics`: those that are judged together. `sessions`: the number of all sessions, of which `asked` were asked so
    far.
    """
    paired = pair(base, new, metrics, filters, 0)
    headline = filters.over({name: sums.sessions for name, sums in paired.filters.items()}).headline
    sums = paired.filters[headline]
    return make_pilot(sums, metrics, metric, sessions=sessions, asked=asked)


def make_pilot(sums: Sums, metrics: Sequence[Metric], metric: str, *, sessions: int, asked: int) -> Pilot | None:
    """Return what sums over the sessions asked so far tell of the difference in one metric; see `pilot`."""
    at = next(index for index, own in enumerate(metrics) if own.info.name == metric)
    if not np.all(sums.total[at, [1, 3]] > 0):
        return None
    base_above, base_below, new_above, new_below = sums.total[at]
    count, difference = float(sums.observed[at]), float(new_above / new_below - base_above / base_below)
    weights, own = influence(sums.total[[at]])[:, 0], slice(4 * at, 4 * at + 4)
    # The squares are about 0, not about the mean: to swap the engines must change nothing (docs/statistics.md).
    squares = float(weights @ sums.products[own, own] @ weights) * count**2 + count * difference**2
    noise = estimate_noise(sums, [at])
    return Pilot(
        sessions=sessions,
        asked=asked,
        observed=count,
        variance=mean_square(squares, count, largest_gains([metrics[at].info.span])[0]),
        noise=float(noise.variance[0]),
        df=float(noise.df[0]),
    )


def find_detection(base: Manifest, new: Manifest, found: dict[str, Difference]) -> Detected | None:
    """Return which difference the asked sessions find. None if the sides were not asked to find the same difference, or
    if its metric has no difference.

    `found`: name of each metric → its difference over all sessions.
    """
    request = base.detection
    if request is None or request != new.detection or request.metric not in found:
        return None
    return Detected(
        metric=request.metric,
        wanted=request.wanted,
        power=request.power,
        most=request.most,
        reached=_detectable_difference(found[request.metric], request.power),
    )


def _detectable_difference(difference: Difference, power: float) -> float | None:
    if difference.low is None or difference.high is None:
        return None
    reach = (difference.high - difference.low) / 2
    # An exact difference has no `detectable`: it would show a change of any size.
    if difference.detectable is None:
        return 0.0
    # `detectable` is for a power of 80%; another power takes another quantile.
    return reach + (difference.detectable - reach) / FOUR_OF_FIVE * NORMAL.inv_cdf(power)
