"""Rank three or more workspaces over their common sessions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, permutations
from math import inf
from typing import TypeVar

import numpy as np
from msgspec.structs import replace

from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.compare.compare import count_repeats, describe_side, refuse
from ci_eval.core.compare.conditions import explain_draws
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.pairing import explain_classes, population
from ci_eval.core.compare.resources import align_figures
from ci_eval.core.compare.sums import FilterSums
from ci_eval.core.contracts import Metric
from ci_eval.core.filters import ReportFilters
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import FAILED, Comparison, Difference, Elsewhere, Estimate, Ranking, SessionScore, Verdict
from ci_eval.core.model.units import COSTS, TRENDS
from ci_eval.core.scoring import evaluated, expect_metrics
from ci_eval.core.statistics.footprint import INFOS
from ci_eval.core.statistics.paired import LEVEL, bias_text, winners_bias
from ci_eval.core.statistics.population import Key
from ci_eval.core.statistics.repeated import Repeats, SecondQuestions
from ci_eval.core.statistics.stats import Collector, Observations, estimate, pack_location
from ci_eval.core.statistics.student import Floats
from ci_eval.core.workspace import Workspace


def rank(
    workspaces: Sequence[Workspace], metrics: Sequence[Metric], filters: ReportFilters, declared: Sequence[str]
) -> Ranking:
    """Rank workspaces over their common sessions. Raises ConfigError, or NothingToEvaluate if no session is common."""
    manifests = [workspace.manifest() for workspace in workspaces]
    for manifest in manifests[1:]:
        refuse(manifests[0], manifest)
    possible = {
        metric.info.name: metric
        for metric in metrics
        if metric.of in manifests[0].figures and metric.statistic == "ratio" and metric.info.unit != "ms"
    }
    # Rank by the declared metrics that apply to these sessions. If none applies, use the first possible metric.
    chosen = [possible[name] for name in declared if name in possible] or list(possible.values())[:1]
    has_models = any(manifest.endpoint for manifest in manifests)
    timed = [metric for metric in metrics if metric.info.name in (*TRENDS, *(COSTS if has_models else ()))]
    totals = _CommonSums(manifests[0], chosen, timed, len(workspaces))
    headline = filters.leading
    if not any(headline.passes(session) for _, (first, *_) in _read_common(workspaces) for session in first):
        # If the headline has no session, the ranking is over all sessions.
        headline = filters.led_by_all().leading
    strata = population(workspaces[0], workspaces[1], same_text=False)
    common, touched = Counter[Key](), set[Key]()
    for path, sides in _read_common(workspaces):
        keys = [strata.find(session) for session in sides[0]]
        common.update(keys)
        leading = [number for number, session in enumerate(sides[0]) if headline.passes(session)]
        touched |= {keys[number] for number in leading}
        for again, side in zip(totals.again, sides, strict=True):
            again.add([session for session in side if session.again])
        if leading:
            totals.add(path, [[side[number] for number in leading] for side in sides])
    if not totals.files:
        raise NothingToEvaluate("no session is in all of the workspaces: evaluate them on the same project and seed")
    if strata.weighted(common, touched):
        raise ConfigError(
            "a ranking cannot weight sessions, but the sessions of this filter were asked in unequal shares (projects "
            "were merged, or a limited sample favours the headline): compare two runs at a time, or ask all sessions"
        )
    # If answers depend on random draws, whose number has no limit, the asked share counts as 0.
    asked = 0.0 if any(manifest.draws for manifest in manifests) else strata.share(common, touched)
    of_sides = [totals.figures(side, asked, count_repeats([manifest])) for side, manifest in enumerate(manifests)]
    figures, times = zip(*of_sides, strict=True)
    info = chosen[0].info
    # The best side comes first; a side without a figure comes last.
    values, sign = [of_side[info.name].value for of_side in figures], 1 if info.better == "lower" else -1
    order = sorted(range(len(values)), key=lambda at: inf if (value := values[at]) is None else sign * value)
    pairs = _judge_pairs(totals, manifests, order, asked, explain_classes(*workspaces))
    of_run = align_figures(manifests)
    bias = winners_bias((difference for row in pairs[info.name] for difference in row), len(workspaces))
    bias_warning = bias_text(bias, len(workspaces), info.unit)
    verdicts = pairs[info.name]
    return Ranking(
        sides=tuple(describe_side(manifests[side], workspaces[side], totals.failed[side]) for side in order),
        order=tuple(order),
        sessions=sum(totals.files.values()),
        files=len(totals.files),
        headline=headline.name,
        declared=tuple(pairs),
        figures=tuple(figures[side] for side in order),
        times=tuple(times[side] | of_run[side] for side in order),
        pairs=pairs,
        ahead=tuple(_count(row, Verdict.BETTER) for row in verdicts),
        behind=tuple(_count(row, Verdict.WORSE) for row in verdicts),
        warnings=(f"{info.name}: {bias_warning}",) if bias_warning else (),
        metrics=(*(metric.info for metric in (*chosen, *timed)), *(INFOS[name] for name in of_run[0])),
    )


def take_verdicts(ranking: Ranking, comparisons: Mapping[tuple[int, int], Comparison]) -> Ranking:
    """Replace the verdicts of pairs by those of `comparisons`, whose keys are the indices of base and new."""
    tables = {name: [list(row) for row in table] for name, table in ranking.pairs.items()}
    infos, times = {info.name: info for info in ranking.metrics}, [dict(of_side) for of_side in ranking.times]
    for (base, new), comparison in comparisons.items():
        row, column = ranking.order.index(new), ranking.order.index(base)
        infos = {info.name: info for info in comparison.metrics} | infos
        for name in comparison.declared:
            difference = comparison.filters.get(ranking.headline, {}).get(name)
            if row == column or difference is None or (name not in tables and difference.low is None):
                continue
            table = tables.setdefault(name, [[None] * len(ranking.order) for _ in ranking.order])
            table[row][column], table[column][row] = difference, _reverse(difference)
            for side, value in ((row, difference.new), (column, difference.base)):
                # Show the times of all rounds, since the comparison's verdict is about all rounds.
                times[side] |= {name: Estimate(value=value)} if name in times[side] else {}
    leading = tables[ranking.declared[0]]
    return replace(
        ranking,
        pairs={name: tuple(map(tuple, table)) for name, table in tables.items()},
        ahead=tuple(_count(row, Verdict.BETTER) for row in leading),
        behind=tuple(_count(row, Verdict.WORSE) for row in leading),
        times=tuple(times),
        metrics=tuple(infos.values()),
    )


class _CommonSums:
    def __init__(self, manifest: Manifest, metrics: Sequence[Metric], timed: Sequence[Metric], sides: int) -> None:
        self._manifest = manifest
        self.metrics = metrics
        self.files: dict[str, int] = {}
        self.failed = [0] * sides
        self._timed = timed
        self._observations = [[Observations(metric) for metric in (*metrics, *timed)] for _ in range(sides)]
        self.again = [SecondQuestions() for _ in range(sides)]
        """The second questions about all common sessions, not only the headline's."""
        self._pairs = {pair: FilterSums(len(metrics)) for pair in permutations(range(sides), 2)}
        self._clusters: dict[str, int] = {}
        self._cluster_of_file: list[int] = []
        self._rows: list[Floats] = []
        """Numerators and denominators, summed over each file (metrics x sides x 2)."""

    def add(self, path: str, sides: Sequence[Sequence[SessionScore]]) -> None:
        """Add the sessions of one file: the same sessions in the same order for each side."""
        self.files[path] = len(sides[0])
        self._cluster_of_file.append(self._clusters.setdefault(self._manifest.cluster(path), len(self._clusters)))
        place = pack_location(len(self.files) - 1)
        observed = [[expect_metrics(self.metrics, session) for session in side] for side in sides]
        # The shape is (sessions x metrics x sides x 2).
        seen = np.array(
            [
                [
                    [(sum(above for above, _ in pairs), sum(below for _, below in pairs)) for pairs in of_metric]
                    for of_metric in zip(*same, strict=True)
                ]
                for same in zip(*observed, strict=True)
            ],
            dtype=np.float64,
        )
        # A metric that is `found_by_both` counts a session only if every side has a value.
        by_all = np.array([metric.found_by_both for metric in self.metrics])
        counted = ~(by_all & (seen[:, :, :, 1] == 0).any(axis=2))
        seen[~counted] = 0
        for number, (side, observations) in enumerate(zip(sides, self._observations, strict=True)):
            self.failed[number] += sum(session.status in FAILED for session in side)
            collector = Collector(observations)
            for session, of_session, counts in zip(side, observed[number], counted.tolist(), strict=True):
                known = [pairs if does else () for pairs, does in zip(of_session, counts, strict=True)]
                collector.add(place, [*known, *expect_metrics(self._timed, session)])
            collector.flush_observations()
        for pair, sums in self._pairs.items():
            sums.add(seen[:, :, pair].reshape(len(seen), -1, 4))
        self._rows.append(seen.sum(axis=0))

    def pair(self, base: int, new: int) -> FilterSums:
        sums = self._pairs[base, new]
        sums.rows = [row[:, (base, new)].reshape(-1, 4) for row in self._rows]
        sums.clusters = self._cluster_of_file
        return sums

    def figures(self, side: int, asked: float, repeats: Repeats) -> tuple[dict[str, Estimate], dict[str, Estimate]]:
        """Return a side's figures by metric, and those that are times or costs."""
        # Other rounds are not read, so the sessions count as a sample of infinitely many if rounds differ.
        asked = 0.0 if repeats.whole and repeats.differed else asked
        again, clusters = self.again[side], self._cluster_of_file
        figures = [
            (seen.metric.info.name, estimate(seen, asked, clusters=clusters, repeats=repeats, again=again))
            for seen in self._observations[side]
        ]
        return dict(figures[: len(self.metrics)]), dict(figures[len(self.metrics) :])


def _read_common(workspaces: Sequence[Workspace]) -> Iterator[tuple[str, list[list[SessionScore]]]]:
    """Yield the path of each file, and its common sessions in each workspace, always in the same order."""
    first, *others = workspaces
    for source, sessions in first.sessions(SessionScore):
        if not all(workspace.has_sessions(source.path) for workspace in others):
            continue
        read = (sessions, *(other.decode_sessions(source.path, SessionScore) for other in others))
        sides = [{session.id: session for session in filter(evaluated, side)} for side in read]
        # The order of a set of strings differs between processes, and the last digits of sums depend on the order.
        if shared := sorted(set.intersection(*map(set, sides))):
            yield source.path, [[side[session_id] for session_id in shared] for side in sides]


def _judge_pairs(
    totals: _CommonSums, manifests: Sequence[Manifest], order: Sequence[int], asked: float, unjudged: str
) -> dict[str, tuple[tuple[Difference | None, ...], ...]]:
    """Return a table by metric: the differences row - column, with the sides in `order`. `unjudged`: see `Judge`."""
    sides, metrics, sessions = len(order), totals.metrics, sum(totals.files.values())
    tables: list[list[list[Difference | None]]] = [[[None] * sides for _ in order] for _ in metrics]
    pairs = list(combinations(range(sides), 2))
    for row, column in pairs:
        base, new = manifests[order[column]], manifests[order[row]]
        repeats, why = count_repeats([new, base]), explain_draws(base, new) or unjudged
        judge = Judge(metrics, asked, base.clusters, repeats, sessions, unjudged=why, files=len(totals.files))
        sums = totals.pair(order[column], order[row])
        for number, table in enumerate(tables):
            # Each pair is judged once, with the row's side as new, and then mirrored. The level is adjusted for the
            # number of metrics (Bonferroni), but not of pairs, which a comparison of two sides does not know.
            difference = judge.pair(number, sums, len(metrics))
            if difference and difference.verdict in OPPOSITE:
                # The mark ▲ or ▼ is adjusted for the number of pairs, too.
                is_marked = difference.p is None or difference.p * len(pairs) < 1 - LEVEL
                difference = replace(difference, marked=is_marked)
            table[row][column], table[column][row] = difference, difference and _reverse(difference)
    return {metric.info.name: tuple(map(tuple, table)) for metric, table in zip(metrics, tables, strict=True)}


Judged = TypeVar("Judged", Difference, Elsewhere)
OPPOSITE = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}


def _reverse(difference: Difference) -> Difference:
    """Return the difference with base and new swapped."""
    return replace(
        _mirror(difference),
        base=difference.new,
        new=difference.base,
        difference=_minus(difference.difference),
        better=difference.worse,
        worse=difference.better,
        # These would be the interval of base's own figure, which is not known.
        new_low=None,
        new_high=None,
        elsewhere=_mirror(difference.elsewhere),
    )


def _mirror(of: Judged) -> Judged:
    """Return the interval and its verdict with the opposite sign."""
    swap = {"above 0": "below 0", "below 0": "above 0"}
    why = next((of.why.replace(side, opposite) for side, opposite in swap.items() if side in of.why), of.why)
    verdict = OPPOSITE.get(of.verdict, of.verdict)
    return replace(of, low=_minus(of.high), high=_minus(of.low), verdict=verdict, why=why)


def _minus(value: float | None) -> float | None:
    return None if value is None else -value


def _count(row: Sequence[Difference | None], verdict: Verdict) -> int:
    return sum(difference is not None and difference.verdict is verdict for difference in row)
