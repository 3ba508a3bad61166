"""More than two workspaces → one table over the sessions that all of them have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from msgspec.structs import replace

from ci_eval.contracts import Metric, Observation
from ci_eval.errors import NothingToEvaluate
from ci_eval.manifest import Manifest
from ci_eval.model import FAILED, Difference, Estimate, Ranking, SessionScore, Verdict
from ci_eval.observing import evaluated
from ci_eval.stages.compare.compare import refuse, side_of
from ci_eval.stages.compare.judging import Judge
from ci_eval.stages.compare.pairing import Sums
from ci_eval.stages.compare.population import population
from ci_eval.statistics.clustered import figures
from ci_eval.statistics.population import clusters_of
from ci_eval.statistics.sampled import figure
from ci_eval.statistics.student import Floats
from ci_eval.workspace import Workspace


def rank(workspaces: Sequence[Workspace], metrics: Sequence[Metric], declared: Sequence[str]) -> Ranking:
    """The best first, by the first declared metric. Raises ConfigError, NothingToEvaluate."""
    manifests = [workspace.manifest() for workspace in workspaces]
    for other in manifests[1:]:
        refuse(manifests[0], other)
    metrics = [
        each
        for each in metrics
        if each.of in {manifests[0].unit, "either"} and each.statistic == "ratio" and each.info.unit != "ms"
    ]
    by_name = {each.info.name: each for each in metrics}
    chosen = [by_name[name] for name in declared if name in by_name] or metrics[:1]
    found = _Together(manifests[0], chosen, len(workspaces))
    for path, sides in _common(workspaces):
        found.add(path, sides)
    if not found.files:
        raise NothingToEvaluate("no session is in all of the workspaces: evaluate them on the same project and seed")
    leading = found.total[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.nan_to_num(leading[:, 0] / leading[:, 1])
    sign = -1 if chosen[0].info.better == "lower" else 1
    order = sorted(range(len(workspaces)), key=lambda each: -sign * float(values[each]))
    _, asked = population(workspaces[0], workspaces[1], found.files, same_text=False)
    pairs = {
        metric.info.name: _pairs(found.of(place, order), metric, asked, clusters_of(len(manifests[0].projects)))
        for place, metric in enumerate(chosen)
    }
    verdicts = pairs[chosen[0].info.name]
    return Ranking(
        sides=tuple(side_of(manifests[each], workspaces[each], found.failed[each]) for each in order),
        sessions=sum(found.files.values()),
        files=len(found.files),
        declared=tuple(pairs),
        figures=tuple(found.figures(each, asked) for each in order),
        pairs=pairs,
        ahead=tuple(_count(row, Verdict.BETTER) for row in verdicts),
        behind=tuple(_count(row, Verdict.WORSE) for row in verdicts),
        metrics=tuple(each.info for each in chosen),
    )


class _Together:
    """Adds up the sessions that all workspaces have: of each metric and side the numerators and denominators."""

    def __init__(self, manifest: Manifest, metrics: Sequence[Metric], sides: int) -> None:
        self._manifest = manifest
        self._metrics = metrics
        self.files: dict[str, int] = {}
        """Path → sessions."""
        self.failed = [0] * sides
        self.total = np.zeros((len(metrics), sides, 2))
        self._products = np.zeros((len(metrics), 2 * sides, 2 * sides))
        self._observed = np.zeros(len(metrics))
        self._clusters: dict[str, Floats] = {}

    def add(self, path: str, sides: Sequence[Sequence[SessionScore]]) -> None:
        """Of one file, each side's sessions in the same order."""
        self.files[path] = len(sides[0])
        for number, side in enumerate(sides):
            self.failed[number] += sum(each.status in FAILED for each in side)
        rows = np.zeros_like(self.total)
        for place, metric in enumerate(self._metrics):
            seen = np.array([_sums([metric.observe(each) for each in same]) for same in zip(*sides, strict=True)])
            if metric.found_by_both:
                seen[(seen[:, :, 1] == 0).any(axis=1)] = 0
            flat = seen.reshape(len(seen), -1)
            rows[place] = seen.sum(axis=0)
            self._products[place] += flat.T @ flat
            self._observed[place] += seen[:, :, 1].all(axis=1).sum()
        self.total += rows
        cluster = self._manifest.cluster(path)
        self._clusters[cluster] = self._clusters.get(cluster, 0) + rows

    def of(self, metric: int, order: Sequence[int]) -> list[tuple[Sums, Floats]]:
        """Of one metric, each two sides in that order: the later one is base, the earlier one new."""
        rows = np.stack(list(self._clusters.values()))[:, metric]
        found = []
        for new, base in combinations(order, 2):
            columns = [2 * base, 2 * base + 1, 2 * new, 2 * new + 1]
            sums = Sums(figures=1)
            sums.total = self.total[metric].reshape(-1)[columns].reshape(1, 4)
            sums.products = self._products[metric][np.ix_(columns, columns)]
            sums.observed = self._observed[[metric]]
            found.append((sums, rows.reshape(len(rows), -1)[:, columns][:, None, :]))
        return found

    def figures(self, side: int, asked: float) -> dict[str, Estimate]:
        """Of one side; `asked`: the share of the project's sessions that was asked."""
        rows = np.stack(list(self._clusters.values()))[:, :, side]
        elsewhere = figures(rows, [metric.info.unit for metric in self._metrics])
        found = {}
        for place, metric in enumerate(self._metrics):
            total, own = self.total[place, side], slice(2 * side, 2 * side + 2)
            value, low, high = None, None, None
            if total[1]:
                value = float(total[0] / total[1])
                low, high = figure(
                    total, self._products[place, own, own], float(self._observed[place]), asked, metric.info.unit
                )
            found[metric.info.name] = Estimate(
                value=value, low=low, high=high, n=int(total[1]), elsewhere=elsewhere[place]
            )
        return found


def _sums(sides: Sequence[Sequence[Observation]]) -> list[tuple[float, float]]:
    return [(sum(above for above, _ in seen), sum(below for _, below in seen)) for seen in sides]


def _common(workspaces: Sequence[Workspace]) -> Iterator[tuple[str, list[list[SessionScore]]]]:
    """File by file, its path, and of each workspace the sessions that all have, in the same order."""
    first, *others = workspaces
    for source, sessions in first.sessions(SessionScore):
        if not all(other.has_sessions(source.path) for other in others):
            continue
        sides = [list(filter(evaluated, sessions))]
        sides += [list(filter(evaluated, other.sessions_in(source.path, SessionScore))) for other in others]
        shared = sorted(set.intersection(*({each.id for each in side} for side in sides)))
        if shared:
            by_id = [{each.id: each for each in side} for side in sides]
            yield source.path, [[side[each] for each in shared] for side in by_id]


def _pairs(
    found: Sequence[tuple[Sums, Floats]], metric: Metric, asked: float, kind: str
) -> tuple[tuple[Difference | None, ...], ...]:
    """Row's side - column's side; adjusted for the number of pairs (Bonferroni)."""
    judge = Judge([metric], frozenset(), asked, kind)
    sides = next(count for count in range(2, len(found) + 2) if count * (count - 1) // 2 == len(found))
    table: list[list[Difference | None]] = [[None] * sides for _ in range(sides)]
    for (row, column), (sums, rows) in zip(combinations(range(sides), 2), found, strict=True):
        difference = judge.pair(sums, rows, len(found))
        table[row][column] = difference
        table[column][row] = difference and _reversed(difference)
    return tuple(map(tuple, table))


OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def _reversed(found: Difference) -> Difference:
    there = found.elsewhere
    return replace(
        found,
        base=found.new,
        new=found.base,
        difference=_minus(found.difference),
        low=_minus(found.high),
        high=_minus(found.low),
        verdict=OPPOSITE.get(found.verdict, found.verdict),
        why=_mirrored(found.why),
        elsewhere=replace(
            there,
            low=_minus(there.high),
            high=_minus(there.low),
            verdict=OPPOSITE.get(there.verdict, there.verdict),
            why=_mirrored(there.why),
        ),
    )


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def _mirrored(why: str) -> str:
    swap = {"above 0": "below 0", "below 0": "above 0"}
    return next((why.replace(one, other) for one, other in swap.items() if one in why), why)


def _count(row: Sequence[Difference | None], wanted: Verdict) -> int:
    return sum(each is not None and each.verdict is wanted for each in row)
