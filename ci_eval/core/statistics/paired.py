"""Compute intervals of differences and of means over projects, and judge them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import median

import msgspec
import numpy as np
from msgspec.structs import replace

from ci_eval.core.model import Difference, MetricInfo, OverProjects, Verdict
from ci_eval.core.statistics.student import NORMAL, Floats, critical_values, tails

LEVEL = 0.95
Limits = tuple[float | None, float | None]
"""The smallest and the largest value of a session (`MetricInfo.limits`); None if it has no bound."""
FOUR_OF_FIVE = NORMAL.inv_cdf(0.8)
FLOORS = {"share": 0.001, "score": 0.001, "rank": 0.01, "ms": 0.5, "count": 0.0}
"""Unit → the smallest difference that may be called better or worse."""
MARGINS = {"share": 0.005, "score": 0.005, "rank": 0.1, "ms": 2.0, "count": 0.0}
"""Unit → the margin: two sides are equivalent if they are shown to differ by less."""


class Spread(msgspec.Struct, frozen=True):
    """Differences (new - base) with standard errors, one element per figure."""

    difference: Floats
    center: Floats
    """The middle of each interval; not always the difference itself."""
    error: Floats
    """NaN or infinite if there is no standard error."""
    df: Floats
    """Degrees of freedom of t; infinite for the normal distribution."""
    widen: Floats
    """The widening of both ends of the interval: answers may differ although all that were seen agree."""


class Interval(msgspec.Struct, frozen=True):
    """A 95 % interval. `p` is below 5 % if and only if the interval excludes 0."""

    low: float
    high: float
    p: float
    detectable: float
    """The smallest true difference that the interval would show with a power of 80 %."""


def make_intervals(spread: Spread, tests: int = 1) -> list[Interval]:
    """Return 95 % intervals that are adjusted for the number of `tests` (Bonferroni)."""
    reach = critical_values((1 - LEVEL) / tests, spread.df) * spread.error
    distance = np.maximum(np.abs(spread.center) - spread.widen, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        # Without an error, the difference is exact: p is 1 or 0.
        alone = np.where(spread.error > 0, tails(distance / spread.error, spread.df), distance == 0)
    reach = reach + spread.widen
    low, high, detectable = spread.center - reach, spread.center + reach, reach + FOUR_OF_FIVE * spread.error
    numbers = zip(low, high, np.minimum(alone * tests, 1), detectable, strict=True)
    return [Interval(*map(float, of_figure)) for of_figure in numbers]


def holm(p_values: Sequence[float]) -> float:
    """Return the largest p-value that is significant by Holm's procedure (1979), or -1 if none is."""
    largest = -1.0
    for rank, p in enumerate(sorted(p_values)):
        if p * (len(p_values) - rank) >= 1 - LEVEL:
            break
        largest = p
    return largest


def verdict(interval: Interval, difference: float, unit: str, better: str, *, stretch: float = 1.0) -> Verdict:
    """Return the verdict on a difference. `stretch`: the interval is widened by this factor to test equivalence."""
    if better == "neither":
        return Verdict.NOT_COMPARABLE
    if (interval.low > 0 or interval.high < 0) and abs(difference) >= FLOORS.get(unit, 0.0):
        return Verdict.BETTER if (difference > 0) == (better == "higher") else Verdict.WORSE
    low, high = stretch_interval(interval.low, interval.high, stretch)
    margin = MARGINS.get(unit, 0.0)
    return Verdict.EQUIVALENT if -margin < low and high < margin else Verdict.NOT_SHOWN


def stretch_interval(low: float, high: float, times: float) -> tuple[float, float]:
    middle, half = (low + high) / 2, (high - low) / 2 * times
    return middle - half, middle + half


def clip_interval(limits: Limits, low: float, high: float, value: float) -> tuple[float, float]:
    """Return the part of an interval within the limits, extended to include `value`."""
    lowest, highest = limits
    # A symmetric interval may reach beyond the limits, and one around a shrunken centre may miss the figure.
    low, high = (low if lowest is None else max(low, lowest)), (high if highest is None else min(high, highest))
    return min(low, value), max(high, value)


def expected_maximum(count: int) -> float:
    """Return the expected largest value of `count` independent standard normal variables."""
    # Beyond 8 standard errors, the normal density is below 1e-14.
    points = [place / 100 for place in range(-800, 801)]
    return sum(x * count * NORMAL.pdf(x) * NORMAL.cdf(x) ** (count - 1) for x in points) / 100


def winners_bias(differences: Iterable[Difference | None], count: int) -> float | None:
    """Return by how much the best of `count` equally good evaluations looks too good; None if nothing is uncertain."""
    # A difference without an interval, or without uncertainty, has no standard error.
    errors = [
        (of.detectable - (of.high - of.low) / 2) / FOUR_OF_FIVE
        for of in differences
        if of and of.low is not None and of.high is not None and of.detectable is not None
    ]
    errors = list(filter(None, errors))
    # If all figures have equal and independent errors, a difference has √2 times the error of a figure.
    return expected_maximum(count) * median(errors) / sqrt(2) if errors and count > 2 else None


def bias_text(bias: float | None, count: int, unit: str, *, what: Sequence[str] = ("evaluation", "evaluations")) -> str:
    if not bias:
        return ""
    size = f"{bias * 100:.2f} points" if unit == "share" else f"{bias:.3g}"
    return (
        f"if all {count} {what[1]} were equally good, the best one would look about {size} better than it is, only "
        f"because it was picked: evaluate that {what[0]} again on other sessions (another interpret.seed) before you "
        "quote its figure"
    )


FEWEST_PROJECTS = 5
"""An interval needs at least this many projects: with fewer, it is too wide, and figures may not be normal."""
FEWEST_PROJECTS_ALIKE = 60
"""The verdict "equivalent" needs this many projects, which likely show a loss in one of twenty (rule of three)."""


def over_projects(
    values: Mapping[str, Sequence[float]], infos: Sequence[MetricInfo], *, judged: bool = False
) -> dict[str, OverProjects]:
    """Return each metric's mean over projects. Intervals are adjusted for the number of metrics (Bonferroni). `judged`:
    True if the values are differences (new - base), which get a verdict."""
    return {info.name: _over_projects(values[info.name], info, len(infos), judged=judged) for info in infos}


def _over_projects(values: Sequence[float], info: MetricInfo, tests: int, *, judged: bool) -> OverProjects:
    count = len(values)
    # Projects are the sample, so they have equal weights, whatever their numbers of sessions.
    plain = OverProjects(mean=float(np.mean(values)) if count else None, n=count)
    if plain.mean is None or count < FEWEST_PROJECTS:
        return replace(plain, why=f"an interval takes {FEWEST_PROJECTS} projects with this figure; there are {count}")
    mean, error, df = plain.mean, float(np.std(values, ddof=1) / np.sqrt(count)), count - 1
    if not error > 0:
        return replace(plain, why="the figure is the same in all projects, which does not show how far others differ")
    reach = float(critical_values((1 - LEVEL) / tests, df)) * error
    limits = info.difference_limits if judged else info.limits
    low, high = clip_interval(limits, mean - reach, mean + reach, mean)
    plain = replace(plain, low=low, high=high)
    if not judged:
        return plain
    p = min(1.0, float(tails(abs(mean) / error, df)) * tests)
    judgement, why = verdict(Interval(mean - reach, mean + reach, p, reach), mean, info.unit, info.better), ""
    if judgement is Verdict.EQUIVALENT and count < FEWEST_PROJECTS_ALIKE:
        judgement = Verdict.NOT_SHOWN
        why = f"equivalent in these {count} projects; a verdict on other projects takes {FEWEST_PROJECTS_ALIKE}"
    return replace(plain, p=p, verdict=judgement, why=why)
