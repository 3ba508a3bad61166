"""The metrics: one file per family."""

from ci_eval.contracts import Metric
from ci_eval.support.catalog import Catalog

CATALOG: Catalog[tuple[Metric, ...]] = Catalog(__name__, "METRICS")

ORDER = (
    "Sessions RecallAt1 RecallAt5 Recall Precision FMeasure MeanRank MeanReciprocalRank NDCG ESaved KeystrokesSaved "
    "TotalMoves MovesCountNormalised PerfectLine MeanLatency MaxLatency LatencyPercentile50 LatencyPercentile95"
).split()
"""The order in which reports show them; a metric that is not named here comes last."""


def load() -> tuple[Metric, ...]:
    """All metrics, in the order of reports."""
    found = {metric.info.name: metric for name in CATALOG.names() for metric in CATALOG.load(name)}
    first = [found.pop(name) for name in ORDER if name in found]
    return (*first, *found.values())


def names() -> list[str]:
    """Their names, in the order of reports."""
    return [metric.info.name for metric in load()]
