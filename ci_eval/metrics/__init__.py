"""The metrics: one file per family."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_values

from ci_eval.catalog import Catalog, lacks
from ci_eval.contracts import Metric
from ci_eval.errors import ConfigError
from ci_eval.model import MetricInfo
from ci_eval.observing import recall_within

CATALOG: Catalog[tuple[Metric, ...]] = Catalog(__name__, "METRICS", group="metrics", kind=tuple)


def load(places: Sequence[int] = (), *, user: bool = False) -> tuple[Metric, ...]:
    """Return all metrics in the order of reports.

    `places`: k of more RecallAt{k}. `user`: whether a user is modelled. Raises ConfigError.
    """
    metrics = _all()
    metrics |= {metric.info.name: metric for metric in map(recall_within, places)}
    if not user:
        return tuple(sorted(metrics.values(), key=lambda metric: metric.order))
    return tuple(map(_of_a_user, sorted(metrics.values(), key=lambda metric: metric.order_of_a_user or metric.order)))


def _all() -> dict[str, Metric]:
    """Return name → metric of all families. Raises ConfigError if two families have a metric of one name."""
    metrics: dict[str, Metric] = {}
    for family in CATALOG.names():
        for metric in CATALOG.load(family):
            if problem := lacks(metric, Metric):
                raise ConfigError(f"the metrics {family!r} of an installed package cannot be used: {problem}")
            if metric.info.name in metrics:
                raise ConfigError(f"the metrics {family!r} have {metric.info.name!r}, as others do: rename it there")
            metrics[metric.info.name] = metric
    return metrics


def _of_a_user(metric: Metric) -> Metric:
    """An engine that is silent until much is typed looks good by the last list of those who had to go on typing."""
    if not metric.of_the_user:
        return metric
    summary = f"{metric.info.summary}; depends on where the modelled user stops"
    return replace(metric, info=with_values(metric.info, summary=summary))


def named(names: Iterable[str]) -> dict[str, Metric]:
    """Those of the names that are metrics, in the order of reports, at whatever places k."""
    wanted = set(names)
    places = [int(name.removeprefix("RecallAt")) for name in wanted if re.fullmatch(r"RecallAt[1-9]\d{0,8}", name)]
    return {each.info.name: each for each in load(places) if each.info.name in wanted}


def among(names: Iterable[str]) -> dict[str, MetricInfo]:
    """How to read those of the names that are metrics; see `named`."""
    return {name: metric.info for name, metric in named(names).items()}


def names() -> list[str]:
    """Their names, in the order of reports."""
    return [metric.info.name for metric in load()]


def of_a_user() -> list[str]:
    """The names of those that say what a modelled user gets out of completion, in the order of reports."""
    return [metric.info.name for metric in load(user=True) if metric.order_of_a_user]
