"""The metrics: one file per family."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_values

from ci_eval.catalog import Catalog
from ci_eval.contracts import Metric
from ci_eval.model import MetricInfo
from ci_eval.observing import recall_within

CATALOG: Catalog[tuple[Metric, ...]] = Catalog(__name__, "METRICS")

ORDER = (
    "Sessions RecallAt1 RecallAt5 Recall Precision SuggestionPrecision FMeasure MeanRank MeanReciprocalRank NDCG "
    "ESaved TypingSaved KeystrokesSaved TotalMoves MovesCountNormalised PerfectLine RightWithin100ms RightWithin200ms "
    "MeanLatency MaxLatency LatencyPercentile50 LatencyPercentile95 FirstCallLatency"
).split()
"""The order in which reports show them; a metric that is not named here comes last."""

OF_A_USER = ("TypingSaved", "KeystrokesSaved")
"""What a modelled user gets out of it: with one, these come first."""


def load(places: Sequence[int] = (), *, user: bool = False) -> tuple[Metric, ...]:
    """All metrics, in the order of reports. `places`: k of more RecallAt{k}. `user`: where a user is modelled."""
    found = {metric.info.name: metric for name in CATALOG.names() for metric in CATALOG.load(name)}
    found |= {metric.info.name: metric for metric in map(recall_within, places)}
    wanted = sorted({1, 5, *places})
    order = [*ORDER[:1], *(f"RecallAt{k}" for k in wanted), *ORDER[3:]]
    first = [found.pop(name) for name in ([*ORDER[:1], *OF_A_USER, *order] if user else order) if name in found]
    every = (*first, *found.values())
    return tuple(map(_of_a_user, every)) if user else every


def _of_a_user(metric: Metric) -> Metric:
    """An engine that is silent until much is typed looks good by the last list of those who had to go on typing."""
    if not metric.of_the_user:
        return metric
    summary = f"{metric.info.summary}; depends on where the modelled user stops"
    return replace(metric, info=with_values(metric.info, summary=summary))


def among(names: Iterable[str]) -> dict[str, MetricInfo]:
    """How to read those of the names that are metrics, in the order of reports, at whatever places k."""
    wanted = set(names)
    places = [int(name.removeprefix("RecallAt")) for name in wanted if re.fullmatch(r"RecallAt[1-9]\d{0,8}", name)]
    return {each.info.name: each.info for each in load(places) if each.info.name in wanted}


def names() -> list[str]:
    """Their names, in the order of reports."""
    return [metric.info.name for metric in load()]
