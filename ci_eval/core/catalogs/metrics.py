"""The catalog of metrics."""

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ci_eval.core.base.catalog import Catalog, lacks
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.contracts import Metric
from ci_eval.core.model import MetricInfo
from ci_eval.core.scoring import recall_within

CATALOG: Catalog[tuple[Metric, ...]] = Catalog("ci_eval.plugins.metrics", "METRICS", group="metrics", kind=tuple)


def load(places: Sequence[int] = (), *, user: bool = False, emulated: bool = False) -> tuple[Metric, ...]:
    """Return all metrics in the order of reports. `places`: each k for which RecallAt{k} is added. `user`: a user is
    modelled, or typing is `emulated`. Raises ConfigError if a plugin's metrics are invalid or reuse a name."""
    metrics: dict[str, Metric] = {}
    for family in CATALOG.names():
        for metric in CATALOG.load(family):
            if problem := lacks(metric, Metric):
                raise ConfigError(f"the metrics {family!r} of an installed package cannot be used: {problem}")
            if metric.info.name in metrics:
                raise ConfigError(
                    f"the metrics {family!r} define {metric.info.name!r}, which exists already: rename that metric"
                )
            metrics[metric.info.name] = metric
    # Metrics that exist already, such as RecallAt1, are replaced by equal ones.
    metrics |= {metric.info.name: metric for metric in map(recall_within, places)}
    if not user:
        return tuple(sorted(metrics.values(), key=lambda metric: metric.order))
    of_user = []
    for metric in sorted(metrics.values(), key=lambda metric: metric.order_of_a_user or metric.order):
        summary = metric.summary_of_a_user or metric.info.summary
        # The modelled user decides which list is the last, so summaries of metrics of the last list say so.
        if metric.of_the_user:
            location = "" if metric.summary_of_a_user else "in the last list, which "
            summary = (
                f"{summary}; {location}depends on where {'emulated typing' if emulated else 'the modelled user'} stops"
            )
        bounds = metric.bounds_of_a_user or metric.info.bounds
        of_user.append(replace(metric, info=replace(metric.info, summary=summary, bounds=bounds)))
    return tuple(of_user)


def select_metrics(names: Iterable[str]) -> dict[str, Metric]:
    """Return the named metrics, including RecallAt{k} for any k, in the order of reports. Unknown names are ignored."""
    requested = set(names)
    places = [int(name.removeprefix("RecallAt")) for name in requested if re.fullmatch(r"RecallAt[1-9]\d{0,8}", name)]
    return {metric.info.name: metric for metric in load(places) if metric.info.name in requested}


def among(names: Iterable[str]) -> dict[str, MetricInfo]:
    return {name: metric.info for name, metric in select_metrics(names).items()}


def names() -> list[str]:
    return [metric.info.name for metric in load()]


def list_user_metrics() -> list[str]:
    """Return the names of the metrics that measure what a modelled user gains, in the order of reports."""
    return [metric.info.name for metric in load(user=True) if metric.order_of_a_user]
