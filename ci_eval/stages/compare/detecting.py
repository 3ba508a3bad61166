"""What the sessions of a comparison that is under way tell of how large a difference it can find."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ci_eval.contracts import Metric
from ci_eval.filters import ReportFilters
from ci_eval.manifest import Manifest
from ci_eval.model import Difference
from ci_eval.model.detection import Detected
from ci_eval.stages.compare.judging import noise_of
from ci_eval.stages.compare.pairing import pair
from ci_eval.stages.compare.sums import Sums
from ci_eval.statistics.detection import Pilot, mean_square
from ci_eval.statistics.paired import FOUR_OF_FIVE, joint
from ci_eval.statistics.sampled import LARGEST, here
from ci_eval.statistics.student import NORMAL
from ci_eval.workspace import Workspace


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
    """Return what is known so far of the headline's difference in one metric; None if a side has none yet.

    `metrics`: those that are judged together. `sessions`: all that there are, of which `asked` were asked so far.
    """
    paired = pair(base, new, metrics, filters, 0)
    headline = filters.over({name: sums.sessions for name, sums in paired.filters.items()}).headline
    sums = paired.filters[headline]
    return pilot_of(sums, metrics, metric, sessions=sessions, asked=asked)


def pilot_of(sums: Sums, metrics: Sequence[Metric], metric: str, *, sessions: int, asked: int) -> Pilot | None:
    """The same, of sums over the sessions asked so far."""
    family = [place for place in range(len(metrics)) if np.all(sums.total[place, [1, 3]] > 0)]
    leading = next((at for at, place in enumerate(family) if metrics[place].info.name == metric), None)
    if leading is None:
        return None
    columns = [4 * place + each for place in family for each in range(4)]
    units = [metrics[place].info.unit for place in family]
    observed = sums.observed[family]
    spread = here(sums.total[family], sums.products[np.ix_(columns, columns)], observed, 0.0, units)
    interval = joint(spread, range(len(family)))[leading]
    count, difference = float(observed[leading]), float(spread.difference[leading])
    squares = float(spread.covariance[leading, leading]) * count**2 + count * difference**2
    noise = noise_of(sums, family)
    return Pilot(
        sessions=sessions,
        asked=asked,
        observed=count,
        variance=mean_square(squares, count, LARGEST[units[leading]]),
        noise=float(noise.variance[leading]),
        df=float(noise.df[leading]),
        errors=(interval.high - interval.low) / 2 / float(spread.error[leading]),
        tests=len(family),
    )


def detected(base: Manifest, new: Manifest, found: dict[str, Difference]) -> Detected | None:
    """Which difference the sessions asked find; None where neither side was asked just enough for one.

    `found`: name of each metric → its difference over all sessions.
    """
    wanted = base.detection
    if wanted is None or wanted != new.detection or wanted.metric not in found:
        return None
    return Detected(
        metric=wanted.metric,
        wanted=wanted.wanted,
        power=wanted.power,
        most=wanted.most,
        reached=_reached(found[wanted.metric], wanted.power),
    )


def _reached(found: Difference, power: float) -> float | None:
    if found.low is None or found.high is None:
        return None
    reach = (found.high - found.low) / 2
    if found.detectable is None:
        return 0.0
    return reach + (found.detectable - reach) / FOUR_OF_FIVE * NORMAL.inv_cdf(power)
