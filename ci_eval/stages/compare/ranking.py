"""More than two workspaces → one table over the sessions that all of them have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from ci_eval.contracts import Metric
from ci_eval.errors import NothingToEvaluate
from ci_eval.model import FAILED, Difference, Estimate, Ranking, SessionScore, Verdict
from ci_eval.stages.compare.compare import FLOORS, MARGINS, few_files, refuse, side_of
from ci_eval.stages.compare.turns import NOT_IN_TURNS
from ci_eval.support.observing import evaluated
from ci_eval.support.paired import POWER, Floats, Resampling, holm, verdict
from ci_eval.workspace import Workspace


def rank(workspaces: Sequence[Workspace], metrics: Sequence[Metric], declared: Sequence[str]) -> Ranking:
    """The best first, by the first declared metric. Raises ConfigError, NothingToEvaluate."""
    manifests = [workspace.manifest() for workspace in workspaces]
    for other in manifests[1:]:
        refuse(manifests[0], other)
    metrics = [each for each in metrics if each.of in {manifests[0].unit, "either"} and each.statistic == "ratio"]
    by_name = {each.info.name: each for each in metrics}
    chosen = [by_name[name] for name in declared if name in by_name] or metrics[:1]
    sums, sessions, failed, files = _sums(workspaces, chosen)
    if not sessions:
        raise NothingToEvaluate("no session is in all of the workspaces: evaluate them on the same project and seed")
    total = sums.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = total[:, :, 0] / total[:, :, 1]
    sign = -1 if chosen[0].info.better == "lower" else 1
    order = sorted(range(len(workspaces)), key=lambda each: -sign * float(np.nan_to_num(values[0, each])))
    sums = sums[:, :, order]
    resampling = Resampling(len(sums), manifests[0].seed)
    pairs = _pairs(sums, chosen, resampling)
    verdicts = pairs[chosen[0].info.name]
    return Ranking(
        sides=tuple(side_of(manifests[each], workspaces[each], failed[each]) for each in order),
        sessions=sessions,
        files=files,
        declared=tuple(pairs),
        figures=tuple(_figures(sums[:, :, place], chosen, resampling) for place in range(len(order))),
        pairs=pairs,
        ahead=tuple(_count(row, Verdict.BETTER) for row in verdicts),
        behind=tuple(_count(row, Verdict.WORSE) for row in verdicts),
        metrics=tuple(each.info for each in chosen),
        warnings=tuple(few_files(len(sums), math.comb(len(workspaces), 2))),
    )


def _sums(workspaces: Sequence[Workspace], metrics: Sequence[Metric]) -> tuple[Floats, int, list[int], int]:
    """Per cluster, metric and side the numerator and denominator over common sessions; sessions; failures; files."""
    rows: dict[str, Floats] = {}
    sessions, files, failed, manifest = 0, 0, [0] * len(workspaces), workspaces[0].manifest()
    for path, sides in _common(workspaces):
        row = np.zeros((len(metrics), len(workspaces), 2))
        sessions += len(sides[0])
        files += 1
        for number, side in enumerate(sides):
            failed[number] += sum(each.status in FAILED for each in side)
            for place, metric in enumerate(metrics):
                observed = [seen for each in side for seen in metric.observe(each)]
                row[place, number] = [sum(above for above, _ in observed), sum(below for _, below in observed)]
        cluster = manifest.cluster(path)
        rows[cluster] = rows[cluster] + row if cluster in rows else row
    return np.array(list(rows.values())).reshape(-1, len(metrics), len(workspaces), 2), sessions, failed, files


def _common(workspaces: Sequence[Workspace]) -> Iterator[tuple[str, list[list[SessionScore]]]]:
    """File by file, its path, and of each workspace the sessions that all have."""
    first, *others = workspaces
    for source, sessions in first.sessions(SessionScore):
        if not all(other.has_sessions(source.path) for other in others):
            continue
        sides = [list(filter(evaluated, sessions))]
        sides += [list(filter(evaluated, other.sessions_in(source.path, SessionScore))) for other in others]
        shared = set.intersection(*({each.id for each in side} for side in sides))
        if shared:
            yield source.path, [[each for each in side if each.id in shared] for side in sides]


def _figures(sums: Floats, metrics: Sequence[Metric], resampling: Resampling) -> dict[str, Estimate]:
    # A side against one that is always 0 is the side itself.
    zero = np.stack([np.zeros_like(sums[:, :, 0]), np.ones_like(sums[:, :, 1])], axis=2)
    found = resampling.ratios(np.concatenate([zero, sums], axis=2))
    return {
        metric.info.name: Estimate(value=each.new, low=each.low, high=each.high, n=int(sums[:, place, 1].sum()))
        if each
        else Estimate(value=None)
        for place, (metric, each) in enumerate(zip(metrics, found, strict=True))
    }


def _pairs(
    sums: Floats, metrics: Sequence[Metric], resampling: Resampling
) -> dict[str, tuple[tuple[Difference | None, ...], ...]]:
    """By metric: row's side - column's side."""
    sides = list(combinations(range(sums.shape[2]), 2))
    # Row is new, column is base.
    found = [resampling.ratios(np.concatenate([sums[:, :, b], sums[:, :, a]], axis=2)) for a, b in sides]
    # By metric, over the pairs: [pair][metric].
    adjusted = zip(*(holm([each and each.p for each in column]) for column in zip(*found, strict=True)), strict=True)
    tables: dict[str, list[list[Difference | None]]] = {
        metric.info.name: [[None] * sums.shape[2] for _ in range(sums.shape[2])] for metric in metrics
    }
    for (a, b), row, ps in zip(sides, found, adjusted, strict=True):
        for metric, each, p in zip(metrics, row, ps, strict=True):
            if each is None:
                continue
            info = metric.info
            floor, margin = FLOORS.get(info.unit, 0.0), MARGINS.get(info.unit, 0.0)
            difference = Difference(
                base=each.base,
                new=each.new,
                difference=each.difference,
                low=each.low,
                high=each.high,
                p=p,
                verdict=Verdict.NOT_COMPARABLE
                if metric.timed
                else verdict(each, p, better=info.better, floor=floor, margin=margin),
                why=NOT_IN_TURNS if metric.timed else "",
                detectable=None if each.error is None else POWER * each.error,
                n=int(sums[:, :, a, 1].sum(axis=0)[metrics.index(metric)]),
            )
            tables[info.name][a][b] = difference
            tables[info.name][b][a] = _reversed(difference)
    return {name: tuple(map(tuple, rows)) for name, rows in tables.items()}


OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def _reversed(found: Difference) -> Difference:
    return Difference(
        base=found.new,
        new=found.base,
        difference=None if found.difference is None else -found.difference,
        low=None if found.high is None else -found.high,
        high=None if found.low is None else -found.low,
        p=found.p,
        verdict=OPPOSITE.get(found.verdict, found.verdict),
        detectable=found.detectable,
        n=found.n,
    )


def _count(row: Sequence[Difference | None], wanted: Verdict) -> int:
    return sum(each is not None and each.verdict is wanted for each in row)
