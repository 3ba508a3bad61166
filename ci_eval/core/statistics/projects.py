"""The inference from several projects to projects like them: the mean, with equal weights, and Student's t."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ci_eval.core.model import MetricInfo, OverProjects, Verdict
from ci_eval.core.statistics.paired import LEVEL, Interval, verdict
from ci_eval.core.statistics.sampled import within
from ci_eval.core.statistics.student import critical_values, tails

FEWEST_PROJECTS = 5
"""The projects that an interval needs: with fewer, it would be too wide to be of use, and its assumption (that figures
of projects are about normally distributed) could not be judged."""
FEWEST_ALIKE = 60
"""The projects needed to call projects like these equivalent: among so many, a loss in one of twenty is likely to be
seen (rule of three)."""


def over_projects(figures: Mapping[str, Sequence[float]], infos: Sequence[MetricInfo]) -> dict[str, OverProjects]:
    """Return the mean of each metric's figures (one per project that has one), with its interval, adjusted for the
    number of metrics (Bonferroni)."""
    return {info.name: _mean(figures[info.name], info, len(infos)) for info in infos}


def differences_over_projects(
    differences: Mapping[str, Sequence[float]], infos: Sequence[MetricInfo], pairs: int = 1
) -> dict[str, OverProjects]:
    """Return the same for differences (new - base), with the verdict for projects like these.

    `pairs`: the number of pairs of sides that are judged, for which intervals are adjusted, too.
    """
    return {info.name: _judge(differences[info.name], info, len(infos) * pairs) for info in infos}


def _mean(values: Sequence[float], info: MetricInfo, tests: int) -> OverProjects:
    interval = _interval(values, tests)
    mean = float(np.mean(values)) if len(values) else None
    if interval is None or mean is None:
        return OverProjects(mean=mean, n=len(values), why=_why_none(values))
    low, high = within(info.limits, interval.low, interval.high, mean)
    return OverProjects(mean=mean, n=len(values), low=low, high=high)


def _judge(values: Sequence[float], info: MetricInfo, tests: int) -> OverProjects:
    interval = _interval(values, tests)
    mean = float(np.mean(values)) if len(values) else None
    if interval is None or mean is None:
        return OverProjects(mean=mean, n=len(values), why=_why_none(values))
    judgement, why = verdict(interval, mean, info.unit, info.better), ""
    if judgement is Verdict.EQUIVALENT and len(values) < FEWEST_ALIKE:
        judgement, why = (
            Verdict.NOT_SHOWN,
            f"alike in these {len(values)} projects; to say so of others takes {FEWEST_ALIKE}",
        )
    low, high = within(info.difference_limits, interval.low, interval.high, mean)
    return OverProjects(mean=mean, n=len(values), low=low, high=high, p=interval.p, verdict=judgement, why=why)


def _why_none(values: Sequence[float]) -> str:
    if len(values) < FEWEST_PROJECTS:
        return f"{len(values)} of the projects have it, an interval takes {FEWEST_PROJECTS}"
    return "it is the same in all projects, which does not tell how far others differ"


def _interval(values: Sequence[float], tests: int) -> Interval | None:
    count = len(values)
    error = float(np.std(values, ddof=1) / np.sqrt(count)) if count >= FEWEST_PROJECTS else 0.0
    if not error > 0:
        return None
    # Projects weigh the same, however many sessions they have: they are the sample.
    mean, df = float(np.mean(values)), count - 1
    reach = float(critical_values((1 - LEVEL) / tests, df)) * error
    p = min(1.0, float(tails(abs(mean) / error, df)) * tests)
    return Interval(low=mean - reach, high=mean + reach, p=p, detectable=reach)
