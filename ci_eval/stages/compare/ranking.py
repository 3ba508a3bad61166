"""Ranks more than two workspaces, over the sessions that all of them have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import combinations, permutations

import numpy as np
from msgspec.structs import replace

from ci_eval.contracts import Metric, Observation
from ci_eval.errors import ConfigError, NothingToEvaluate
from ci_eval.filters import ReportFilters
from ci_eval.manifest import Manifest
from ci_eval.model import FAILED, Difference, Estimate, Ranking, SessionScore, Verdict
from ci_eval.observing import evaluated
from ci_eval.rendering.verdicts import COSTS, TRENDS
from ci_eval.stages.compare.compare import refuse, repeats_of, side_of
from ci_eval.stages.compare.footprints import of_each
from ci_eval.stages.compare.judging import Judge
from ci_eval.stages.compare.population import population, sessions_of
from ci_eval.stages.compare.sums import Sums, by_token, directions_of
from ci_eval.statistics.clustered import figures
from ci_eval.statistics.footprint import INFOS
from ci_eval.statistics.paired import bias_text, winners_bias
from ci_eval.statistics.population import project_of
from ci_eval.statistics.repeated.repeats import Repeats
from ci_eval.statistics.sampled import figure
from ci_eval.statistics.stats import Collector, Observations, estimate, placed
from ci_eval.statistics.student import Floats
from ci_eval.statistics.weighted import unequal
from ci_eval.workspace import Workspace


def rank(
    workspaces: Sequence[Workspace], metrics: Sequence[Metric], filters: ReportFilters, declared: Sequence[str]
) -> Ranking:
    """Rank workspaces by the first declared metric over the headline's sessions, the best first. Raises ConfigError,
    NothingToEvaluate."""
    manifests = [workspace.manifest() for workspace in workspaces]
    for other in manifests[1:]:
        refuse(manifests[0], other)
    chosen = _chosen(metrics, declared, manifests[0].figures)
    has_models = any(manifest.endpoint for manifest in manifests)
    timed = [each for each in metrics if each.info.name in (*TRENDS, *(COSTS if has_models else ()))]
    found = _Together(manifests[0], chosen, timed, len(workspaces))
    headline = filters.leading
    if not any(headline.weight(session) for _, (first, *_) in _common(workspaces) for session in first):
        headline = filters.led_by_all().leading
    common: dict[str, int] = {}
    for path, sides in _common(workspaces):
        common[path] = len(sides[0])
        leading = [number for number, session in enumerate(sides[0]) if headline.weight(session)]
        if leading:
            found.add(path, [[side[number] for number in leading] for side in sides])
    if not found.files:
        raise NothingToEvaluate("no session is in all of the workspaces: evaluate them on the same project and seed")
    order = _best_first(found.total[0], chosen[0])
    _refuse_unequal(manifests[0], workspaces, common)
    _, asked = population(workspaces[0], workspaces[1], common, same_text=False)
    kind = manifests[0].clusters
    repeats = [[repeats_of([manifests[one], manifests[other]]) for other in order] for one in order]
    pairs = {each.info.name: _pairs(found, number, order, asked, kind, repeats) for number, each in enumerate(chosen)}
    of_run = of_each(manifests)
    info = chosen[0].info
    bias = winners_bias((each for row in pairs[info.name] for each in row), len(workspaces))
    said = bias_text(bias, len(workspaces), info.unit)
    verdicts = pairs[chosen[0].info.name]
    return Ranking(
        sides=tuple(side_of(manifests[each], workspaces[each], found.failed[each]) for each in order),
        order=tuple(order),
        sessions=sum(found.files.values()),
        files=len(found.files),
        headline=headline.name,
        declared=tuple(pairs),
        figures=tuple(found.figures(each, asked) for each in order),
        times=tuple(found.times(each) | of_run[each] for each in order),
        pairs=pairs,
        ahead=tuple(_count(row, Verdict.BETTER) for row in verdicts),
        behind=tuple(_count(row, Verdict.WORSE) for row in verdicts),
        warnings=(f"{info.name}: {said}",) if said else (),
        metrics=(*(each.info for each in (*chosen, *timed)), *(INFOS[name] for name in of_run[0])),
    )


def _refuse_unequal(manifest: Manifest, workspaces: Sequence[Workspace], common: Mapping[str, int]) -> None:
    """Raise ConfigError if the workspaces are of merged projects that were asked in unequal shares."""
    if not manifest.projects:
        return
    known = sessions_of(workspaces[0], workspaces[1], merged=True)
    asked: Counter[str] = Counter()
    for path, sessions in common.items():
        asked[project_of(path, merged=True)] += sessions
    if unequal([asked[name] / max(known[name], asked[name]) for name in asked]):
        raise ConfigError(
            "a ranking does not weight projects, and those that were merged here were asked in unequal shares: compare "
            "two at a time, which does, or evaluate all sessions of each project"
        )


def _chosen(metrics: Sequence[Metric], declared: Sequence[str], figures: Container[str]) -> list[Metric]:
    """The declared metrics that these sessions can be ranked by; the first one there is, if none is declared."""
    possible = {
        each.info.name: each
        for each in metrics
        if each.of in figures and each.statistic == "ratio" and each.info.unit != "ms"
    }
    return [possible[name] for name in declared if name in possible] or list(possible.values())[:1]


def _best_first(total: Floats, metric: Metric) -> list[int]:
    """The sides' indices; `total` (sides x 2): the sums of the metric's numerators and denominators."""
    with np.errstate(invalid="ignore", divide="ignore"):
        values = total[:, 0] / total[:, 1]
    sign = -1 if metric.info.better == "lower" else 1
    # A side without a figure is the last.
    ranked = np.nan_to_num(sign * values, nan=-np.inf, neginf=-np.inf)
    return sorted(range(len(total)), key=lambda side: -float(ranked[side]))


class _Together:
    """Adds up the sessions that all workspaces have: the numerators and denominators of each metric and side."""

    def __init__(self, manifest: Manifest, metrics: Sequence[Metric], timed: Sequence[Metric], sides: int) -> None:
        self._manifest = manifest
        self.metrics = metrics
        self.files: dict[str, int] = {}
        """Path → sessions."""
        self.failed = [0] * sides
        """Sessions of each side on which the engine failed."""
        self._times = [[Observations(metric) for metric in timed] for _ in range(sides)]
        self.total = np.zeros((len(metrics), sides, 2))
        """(metrics x sides x 2): sums of numerators and denominators."""
        self._products = np.zeros((len(metrics), 2 * sides, 2 * sides))
        self._by_token = np.zeros_like(self._products)
        self._moved = np.zeros((len(metrics), sides, sides, 2))
        self._changes = np.zeros((len(metrics), sides, sides))
        self._observed = np.zeros(len(metrics))
        self._clusters: dict[str, Floats] = {}

    def add(self, path: str, sides: Sequence[Sequence[SessionScore]]) -> None:
        """Add the sessions of one file: of each side the same ones, in the same order."""
        self.files[path] = len(sides[0])
        for number, side in enumerate(sides):
            self.failed[number] += sum(each.status in FAILED for each in side)
        for side, times in zip(sides, self._times, strict=True):
            collector = Collector(times)
            for session in side:
                collector.add(placed(len(self.files) - 1), [each.metric.observe(session) for each in times])
            collector.hand_on()
        of_file = np.zeros_like(self.total)
        tokens = np.array([session.offset for session in sides[0]], dtype=np.int64)
        for number, metric in enumerate(self.metrics):
            # (sessions x sides x 2)
            seen = np.array([_sums([metric.observe(each) for each in same]) for same in zip(*sides, strict=True)])
            if metric.found_by_both:
                seen[(seen[:, :, 1] == 0).any(axis=1)] = 0
            flat = seen.reshape(len(seen), -1)
            of_file[number] = seen.sum(axis=0)
            self._products[number] += flat.T @ flat
            self._add_changes(number, seen, by_token(seen, tokens))
            self._observed[number] += seen[:, :, 1].all(axis=1).sum()
        self.total += of_file
        cluster = self._manifest.cluster(path)
        self._clusters[cluster] = self._clusters.get(cluster, 0) + of_file

    def _add_changes(self, metric: int, seen: Floats, whole: Floats) -> None:
        """`seen`: (sessions x sides x 2); `whole`: the same token by token."""
        flat = whole.reshape(len(whole), -1)
        self._by_token[metric] += flat.T @ flat
        for base, new in permutations(range(seen.shape[1]), 2):
            self._changes[metric, base, new] += (seen[:, base] != seen[:, new]).any(axis=1).sum()
            directions = directions_of(np.concatenate([whole[:, base], whole[:, new]], axis=1)[:, None])
            self._moved[metric, base, new] += (directions > 0).sum(), (directions < 0).sum()

    def pair(self, metric: int, *, base: int, new: int) -> tuple[Sums, Floats]:
        """The sums of one metric over two sides, and the same cluster by cluster (clusters x 1 x 4)."""
        columns = [2 * base, 2 * base + 1, 2 * new, 2 * new + 1]
        sums = Sums(figures=1)
        sums.total = self.total[metric].reshape(-1)[columns].reshape(1, 4)
        sums.products = self._products[metric][np.ix_(columns, columns)]
        sums.observed = self._observed[[metric]]
        sums.by_token = self._by_token[metric][np.ix_(columns, columns)]
        sums.moved = self._moved[[metric], base, new]
        sums.changes = self._changes[[metric], base, new]
        rows = np.stack(list(self._clusters.values()))[:, metric]
        return sums, rows.reshape(len(rows), -1)[:, columns][:, None, :]

    @property
    def sessions(self) -> int:
        """All sessions that were added."""
        return sum(self.files.values())

    def times(self, side: int) -> dict[str, Estimate]:
        """The times of one side, by metric."""
        return {each.metric.info.name: estimate(each, 1.0) for each in self._times[side]}

    def figures(self, side: int, asked: float) -> dict[str, Estimate]:
        """The figures of one side; `asked`: the share of the project's sessions that was asked."""
        rows = np.stack(list(self._clusters.values()))[:, :, side]
        elsewhere = figures(rows, [metric.info.unit for metric in self.metrics])
        found = {}
        for number, metric in enumerate(self.metrics):
            total, own = self.total[number, side], slice(2 * side, 2 * side + 2)
            value, low, high = None, None, None
            if total[1]:
                value = float(total[0] / total[1])
                low, high = figure(
                    total, self._products[number, own, own], float(self._observed[number]), asked, metric.info.unit
                )
            found[metric.info.name] = Estimate(
                value=value, low=low, high=high, n=int(total[1]), elsewhere=elsewhere[number]
            )
        return found


def _sums(sides: Sequence[Sequence[Observation]]) -> list[tuple[float, float]]:
    """Per side: the sums of the numerators and of the denominators."""
    return [(sum(above for above, _ in seen), sum(below for _, below in seen)) for seen in sides]


def _common(workspaces: Sequence[Workspace]) -> Iterator[tuple[str, list[list[SessionScore]]]]:
    """Of each file: its path, and per workspace the sessions that all of them have, in the same order."""
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
    found: _Together,
    metric: int,
    order: Sequence[int],
    asked: float,
    kind: str,
    repeats: Sequence[Sequence[Repeats]],
) -> tuple[tuple[Difference | None, ...], ...]:
    """The table of one metric: row's side - column's side, both in `order`; adjusted for the number of pairs and of
    metrics (Bonferroni). Each pair is judged once, with the row's side as new, and mirrored. `repeats`: of each pair,
    in `order`."""
    table: list[list[Difference | None]] = [[None] * len(order) for _ in order]
    pairs = list(combinations(range(len(order)), 2))
    for row, column in pairs:
        sums, rows = found.pair(metric, base=order[column], new=order[row])
        judge = Judge([found.metrics[metric]], frozenset(), asked, kind, repeats[row][column], found.sessions)
        difference = judge.pair(sums, rows, len(pairs) * len(found.metrics))
        table[row][column] = difference
        table[column][row] = difference and _reversed(difference)
    return tuple(map(tuple, table))


OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def _reversed(found: Difference) -> Difference:
    """The same difference with the sides exchanged."""
    there = found.elsewhere
    return replace(
        found,
        base=found.new,
        new=found.base,
        difference=_minus(found.difference),
        low=_minus(found.high),
        high=_minus(found.low),
        better=found.worse,
        worse=found.better,
        new_low=None,
        new_high=None,
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
