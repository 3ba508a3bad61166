"""Compute figures with 95 % intervals from observations: for this project, and for other code like this project."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from math import fsum, sqrt
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ci_eval.core.contracts import Metric, Observation
from ci_eval.core.model import Estimate, PromptFigures, PromptSpread, SessionScore, State
from ci_eval.core.scoring import observe_metrics
from ci_eval.core.statistics.clustered import figures
from ci_eval.core.statistics.population import Stratum
from ci_eval.core.statistics.repeated import DETERMINISTIC, Repeats, SecondQuestions, Wavering
from ci_eval.core.statistics.sampled import effective_sessions, pool, sum_powers
from ci_eval.core.statistics.sampled import figure as sampled_figure
from ci_eval.core.statistics.student import Floats
from ci_eval.core.statistics.timing import nearest_rank

Numbers = NDArray[np.int64]

AT_ONCE = 4096
"""The number of sessions, and of observations, that are summed together. The last digits of sums depend on it."""
MOST_FACTS = 10_000
"""The limit of remembered observations; in a run of 1,000 sessions, 75 facts differ (status, rank, …)."""


def pack_location(file: int, kind: int = 0, stratum: int = 0) -> int:
    """Pack three numbers into one: a file, a stratum (below 2^20), and a kind of token (below 2^12)."""
    # One int64 per observation takes a third of the memory of three int64.
    return file << 32 | stratum << 12 | kind


def _strata(places: Numbers) -> Numbers:
    return places >> 12 & (1 << 20) - 1


def _kinds(places: Numbers) -> Numbers:
    return places & (1 << 12) - 1


class Collected(msgspec.Struct, frozen=True):
    """The observations of a metric, without the metric: sums by kind, and the rows of `Observations` (one part)."""

    sums: dict[int, _Sums]
    parts: list[tuple[Numbers, Floats]]


class Observations:
    """The observations of one metric. For ratios and counts, only sums are stored, to save memory."""

    def __init__(self, metric: Metric, strata: Sequence[Stratum] = (), like: Observations | None = None) -> None:
        """`strata`: the strata of the sample if their sessions have different weights, else empty. `like`: another
        instance that gets the same observations and stores them for both: quantiles need all of them."""
        self.metric = metric
        self.strata = strata if metric.statistic != "count" else ()
        # Strata are numbered from 1; 0 stands for sessions without a stratum.
        weights = [0.0, *(stratum.weight for stratum in self.strata)]
        self._stands_for = np.array(weights) if self.strata else None
        self._sums: dict[int, _Sums] = {}
        self._waiting = 0
        self.is_summed = metric.statistic in {"ratio", "count"}
        self._is_shared = like is not None and not self.is_summed
        self._parts: list[tuple[Numbers, Floats]] = like._parts if like and self._is_shared else []

    def add(self, places: Numbers, seen: Floats) -> None:
        """Add observations: their locations (`pack_location`), and rows of value and weight."""
        if self._is_shared:
            return
        # Quantiles need all values of a million sessions, but no weights.
        self._parts.append((places, seen[:, :1].copy() if self.metric.statistic == "quantile" else seen))
        self._waiting += len(seen)
        if self._waiting >= AT_ONCE and self.is_summed:
            self._sum_up()

    def collected(self) -> Collected:
        if self.is_summed:
            self._sum_up()
        return Collected(self._sums, [] if self.is_summed or self._is_shared else [self._rows()])

    def merge_observations(self, collected: Collected, files: int) -> None:
        """Add the observations of another instance. `files`: the number of files before its first file."""
        for kind, sums in collected.sums.items():
            self._sums.setdefault(kind, _Sums(len(self.strata))).add_all(sums, files)
        # The file is the highest part of a location, so the addition changes neither stratum nor kind.
        self._parts += [(places + pack_location(files), seen) for places, seen in collected.parts]

    def _sum_up(self) -> None:
        places, seen = self._rows()
        files, strata, kinds = places >> 32, _strata(places), _kinds(places)
        for kind in np.unique(kinds).tolist():
            own, sums = kinds == kind, self._sums.setdefault(kind, _Sums(len(self.strata)))
            if self._stands_for is None:
                sums.add(files[own], seen[own])
                continue
            sums.add(files[own], seen[own] * self._stands_for[strata[own]][:, None])
            for number in np.unique(strata[own]).tolist():
                values, weights = seen[own & (strata == number)].T
                squares, _ = sum_powers(values, weights)
                sums.strata[number - 1] += values.sum(), weights.sum(), *squares, (weights != 0).sum()
        self._parts, self._waiting = [], 0

    def _rows(self) -> tuple[Numbers, Floats]:
        """Return locations, and rows of value and weight (quantiles: only of value), one per observation."""
        if len(self._parts) != 1:
            width = 1 if self.metric.statistic == "quantile" else 2
            empty = np.zeros(0, dtype=np.int64), np.zeros((0, width))
            places, seen = (np.concatenate(parts) for parts in zip(empty, *self._parts, strict=True))
            # The parts may be shared, and they are not needed any more.
            self._parts[:] = [(places, seen)]
        return self._parts[0]

    def sums(self, kind: int | None = None) -> _Sums:
        self._sum_up()
        total = _Sums(len(self.strata))
        for number in sorted(self._sums) if kind is None else [kind] if kind in self._sums else []:
            total.add_all(self._sums[number])
        return total

    def seen(self, kind: int | None = None) -> tuple[Floats, Floats | None]:
        """Return value and weight of each observation, and the number of sessions that each represents (None: one)."""
        places, seen = self._rows()
        own = slice(None) if kind is None else _kinds(places) == kind
        return seen[own], self._weigh(places[own])

    def list_figures(self, groups: Sequence[Sequence[int]]) -> list[float | None]:
        """Return the figure of each group of files."""
        files = max((file + 1 for group in groups for file in group), default=0)
        if self.is_summed:
            sums = self.sums()
            sums.reach(files)
            return [_figure_of_sums(self.metric, sums.rows[list(group)].sum(axis=0)) for group in groups]
        places, seen = self._rows()
        numbers = places >> 32
        order = np.argsort(numbers, kind="stable")
        parts = np.split(order, numbers[order].searchsorted(np.arange(1, files)))
        # One group at a time, since folders contain each other.
        members = (np.concatenate([parts[file] for file in group]) for group in groups)
        return [_figure_of_rows(self.metric, seen[own], self._weigh(places[own])) for own in members]

    def _weigh(self, places: Numbers) -> Floats | None:
        return None if self._stands_for is None else self._stands_for[_strata(places)]


class Columns(NamedTuple):
    """Sessions and their observations: a row per session, and a column per metric."""

    places: Numbers
    counts: Numbers
    """The number of observations in each column of each session."""
    firsts: Numbers
    """The index in `rows` at which the observations of each column of each session begin."""
    rows: Floats
    metrics: Numbers
    """The column of each metric."""

    def sum_up(self) -> tuple[Floats, Numbers]:
        """Return the sum of each metric's observations in each session (sessions x metrics x 2), and their number."""
        cells = np.repeat(np.arange(self.counts.size), self.counts.ravel())
        sums = [np.bincount(cells, column, self.counts.size).reshape(self.counts.shape) for column in self.rows.T]
        by_column: Floats = np.stack(sums, axis=-1)
        return by_column[:, self.metrics], self.counts[:, self.metrics]

    def pass_on(self, observations: Sequence[Observations], own: Numbers, places: Numbers) -> None:
        """Pass on the observations of the sessions `own`, whose locations are `places`."""
        # Sessions keep their order, since the last digits of a sum depend on the order of addition.
        for begin in range(0, len(own), AT_ONCE):
            part, at = own[begin : begin + AT_ONCE], places[begin : begin + AT_ONCE]
            for of_metric, column in zip(observations, self.metrics.tolist(), strict=True):
                count, first = self.counts[part, column], self.firsts[part, column]
                before = np.cumsum(count) - count
                rows = np.repeat(first - before, count) + np.arange(count.sum())
                of_metric.add(np.repeat(at, count), self.rows[rows])


class _Alike:
    """Metrics that observe the same in sessions with equal facts (`Metric.facts`)."""

    def __init__(self, facts: Callable[[SessionScore], Hashable], metrics: Sequence[Metric]) -> None:
        self._facts, self._metrics = facts, metrics
        self._known: dict[Hashable, tuple[array[int], array[float]]] = {}

    def observe(self, session: SessionScore) -> tuple[array[int], array[float]]:
        """Return the number of each metric's observations, and all observations."""
        facts = self._facts(session)
        if (observed := self._known.get(facts)) is None:
            if len(self._known) == MOST_FACTS:
                self._known.clear()
            seen = [metric.observe(session) for metric in self._metrics]
            observed = array("q", map(len, seen)), array("d", chain.from_iterable(chain.from_iterable(seen)))
            self._known[facts] = observed
        return observed


class Collector:
    """A buffer of observations for several metrics, since passing them on one by one takes longer than observing."""

    def __init__(self, observations: Sequence[Observations]) -> None:
        self._observations = observations
        self._metrics = [seen.metric for seen in observations]
        by_facts: dict[Callable[[SessionScore], Hashable] | None, list[int]] = defaultdict(list)
        for number, metric in enumerate(self._metrics):
            by_facts[metric.facts].append(number)
        alone = by_facts.pop(None, [])
        # The columns are in another order than the metrics, so that metrics with the same facts are side by side.
        self._order = [*chain.from_iterable(by_facts.values()), *alone]
        self._alike = [
            _Alike(facts, [self._metrics[number] for number in numbers]) for facts, numbers in by_facts.items() if facts
        ]
        self._alone = [self._metrics[number].observe for number in alone]
        self._forget()

    def _forget(self) -> None:
        self._places: array[int] = array("q")
        # `_counts`: the number of observations in each column of each session. `_numbers`: all observations in order.
        self._counts: array[int] = array("q")
        self._numbers: array[float] = array("d")

    def __len__(self) -> int:
        return len(self._places)

    def add(self, place: int, seen: Sequence[Sequence[Observation]]) -> None:
        """Add the observations of each metric in a session."""
        self._places.append(place)
        self._extend([seen[number] for number in self._order])

    def observe(self, place: int, session: SessionScore) -> None:
        if session.courses or session.reused:
            self.add(place, observe_metrics(self._metrics, session))
            return
        self._places.append(place)
        for alike in self._alike:
            counts, numbers = alike.observe(session)
            self._counts.extend(counts)
            self._numbers.extend(numbers)
        self._extend([observe(session) for observe in self._alone])

    def _extend(self, seen: Sequence[Sequence[Observation]]) -> None:
        self._counts.extend(map(len, seen))
        self._numbers.extend(chain.from_iterable(chain.from_iterable(seen)))

    def take(self) -> Columns:
        """Return the sessions so far, and forget them."""
        places, rows = np.array(self._places), np.array(self._numbers).reshape(-1, 2)
        counts = np.array(self._counts).reshape(len(places), len(self._order))
        self._forget()
        firsts = (np.cumsum(counts) - counts.ravel()).reshape(counts.shape)
        return Columns(places, counts, firsts, rows, np.argsort(self._order))

    def flush_observations(self) -> None:
        columns = self.take()
        columns.pass_on(self._observations, np.arange(len(columns.places)), columns.places)


class _Sums:
    def __init__(self, strata: int = 0) -> None:
        self.strata = np.zeros((strata, 6))
        """Sums by stratum: value, weight, `sum_powers`, count. If there are strata, all other sums are weighted."""
        self.rows: Floats = np.zeros((0, 3))
        """Sums by file: values (numerators), weights (denominators), count."""
        self.squares = np.zeros(3)
        self.fourths = np.zeros(5)
        self.observed = 0
        """The number of observations whose weight is not 0."""

    def add(self, files: Numbers, seen: Floats) -> None:
        first, last = int(files.min()), int(files.max())
        values, weights = seen.T
        columns = [np.bincount(files - first, column) for column in (values, weights, np.ones(len(seen)))]
        self.reach(last + 1)
        self.rows[first : last + 1] += np.stack(columns, axis=-1)
        squares, fourths = sum_powers(values, weights)
        self.squares += squares
        self.fourths += fourths
        self.observed += int((weights != 0).sum())

    def add_all(self, other: _Sums, files: int = 0) -> None:
        """Add other sums, with their files shifted by `files`."""
        self.strata += other.strata
        self.reach(files + len(other.rows))
        self.rows[files : files + len(other.rows)] += other.rows
        self.squares += other.squares
        self.fourths += other.fourths
        self.observed += other.observed

    def reach(self, files: int) -> None:
        if files > len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros((files - len(self.rows), 3))])

    @property
    def total(self) -> Floats:
        return np.asarray(self.rows.sum(axis=0))


def estimate(
    observations: Observations,
    asked: float,
    wavering: Wavering | None = None,
    *,
    kind: int | None = None,
    clusters: Sequence[int] | None = None,
    repeats: Repeats = DETERMINISTIC,
    again: SecondQuestions | None = None,
) -> Estimate:
    """Return a figure with 95 % intervals for this project (`sampled.figure`) and for other code (`clustered.figures`).

    `asked`: the asked share of the project's sessions. `wavering`: None if there was one round. `kind`: the kind of
    token to include; if None, all kinds. `clusters`: the cluster of each file. Counts and quantiles have no intervals.
    Neither do times, except CPU times: a busy machine slows all sessions together, which no sample shows.
    """
    metric, unit = observations.metric, observations.metric.info.unit
    timed = metric.timed or unit == "ms"
    state = "noisy" if timed else tell_state(repeats, asked, weighted=bool(observations.strata))
    if not observations.is_summed:
        seen, stands_for = observations.seen(kind)
        value = _figure_of_rows(metric, seen, stands_for)
        return Estimate(value=value, n=len(seen), state="none" if value is None else state)
    sums = observations.sums(kind)
    value, count = _figure_of_sums(metric, sums.total), int(sums.total[2])
    plain = Estimate(value=value, n=count, state="none" if value is None else state)
    if value is None or metric.statistic != "ratio" or (timed and metric.timed != "cpu") or not sums.total[1]:
        return plain
    if metric.timed == "cpu":
        # Another process would take another time for each lookup, so times count as a sample of infinitely many.
        asked, repeats, again = 0.0, Repeats(whole=False), None
    seen_in = sums.rows[:, 2] > 0
    rows = sums.rows[seen_in, :2]
    numbers = np.arange(len(sums.rows)) if clusters is None else np.array(clusters)[: len(sums.rows)]
    _, members = np.unique(numbers[seen_in], return_inverse=True)
    of_clusters: Floats = np.stack([np.bincount(members, column) for column in rows.T], axis=-1)
    limits, span = metric.info.limits, metric.info.span
    plain = replace(plain, elsewhere=figures(of_clusters[:, None, :], [limits])[0])
    total, noise, unseen, strata = sums.total[:2], None, 0.0, observations.strata
    products, size, drawn = sums.squares[[[0, 1], [1, 2]]], float(sums.observed), not asked
    if repeats.whole:
        if wavering is not None:
            noise = wavering.variance(np.array([[1 / total[1], -total[0] / total[1] ** 2]]))
        unseen = 0.0 if noise and noise.variance[0] else repeats.unseen
    elif again is None or not again.files.asked or span is None:
        # Answers of an engine that was asked once may vary, so they count as a sample of infinitely many.
        asked = 0.0
    else:
        noise = again.bound(rows[:, 1], span)
    if strata:
        own: list[int] = np.flatnonzero(sums.strata.any(axis=1)).tolist()
        sample, moments = [strata[number] for number in own], sums.strata[own]
        # `asked` is the smallest share of all strata. Here, it becomes the smallest of the strata with observations.
        asked *= min(stratum.share for stratum in sample) / min(stratum.share for stratum in strata)
        if len(own) == 1:
            # All sessions that have the figure are in one stratum, so they have the same weight.
            plain = replace(plain, state=tell_state(repeats, asked, weighted=False))
        else:
            weights, squares = np.array([stratum.weight for stratum in sample]), moments[:, [[2, 3], [3, 4]]]
            products, sizes = pool(sample, weights, moments[:, :2], squares, moments[:, 5:], finite=asked > 0)
            size = float(sizes[0])
    if drawn:
        # One random draw may change all sessions of a file together, so the larger variance is used.
        residual = np.array([1, -value])
        products = max(products, rows.T @ rows, key=lambda squares: float(residual @ squares @ residual))
    lowest, highest = limits
    bounded = lowest is not None and highest is not None and lowest <= value <= highest
    # Only figures without bounds need the effective number of sessions, which takes long to compute.
    worth = 0.0 if bounded else effective_sessions(sums.squares, sums.fourths, total)
    low, high = sampled_figure(total, products, size, asked, limits, noise, worth, unseen)
    return replace(plain, low=low, high=high)


def tell_state(repeats: Repeats, asked: float, *, weighted: bool) -> State:
    if weighted:
        return "weighted"
    if repeats.differed:
        return "noisy"
    if asked < 1:
        return "sampled"
    return "exact" if repeats.whole else "once"


def _figure_of_sums(metric: Metric, total: Floats) -> float | None:
    value, weight, count = map(float, total)
    if not count or (metric.statistic == "ratio" and not weight):
        return metric.without
    return value if metric.statistic == "count" else value / weight


def _figure_of_rows(metric: Metric, seen: Floats, stands_for: Floats | None = None) -> float | None:
    if not len(seen):
        return metric.without
    if metric.statistic == "auc":
        return area(seen[:, 0], seen[:, 1] > 0, stands_for)
    return nearest_rank(seen[:, 0], metric.quantile, stands_for)


def area(scores: Floats, right: NDArray[np.bool_], stands_for: Floats | None = None) -> float | None:
    """Return the area under the ROC curve; None unless there are right and wrong items.

    The area is the share of pairs in which the right item has the higher score; equal scores count half (Mann and
    Whitney's U / number of pairs). `stands_for`: how often each item counts; if None, once.
    """
    counts = np.ones(len(scores)) if stands_for is None else stands_for
    pairs = float(counts[right].sum()) * float(counts[~right].sum())
    if not pairs:
        return None
    _, positions = np.unique(scores, return_inverse=True)
    good, bad = (np.bincount(positions, counts * own, positions.max() + 1) for own in (right, ~right))
    # Each right item counts the wrong items with a lower score, and half of those with the same score.
    return float(good @ (np.cumsum(bad) - bad / 2)) / pairs


MOST = 100
"""A dataset with more prompts has no table by prompt: it has a prompt for each sample."""
LEAST = 1.5
"""A dataset with fewer sessions per prompt has no table by prompt: most samples have a prompt of their own."""
UNITS = ("share", "score", "number")


class Prompts:
    def __init__(self, metrics: Sequence[Metric]) -> None:
        self._numbers = [
            number
            for number, metric in enumerate(metrics)
            if metric.statistic == "ratio" and not metric.timed and metric.info.unit in UNITS
        ]
        self._names = [metrics[number].info.name for number in self._numbers]
        # Prompt → a row of sums for each metric: n, x, w, xx, xw, ww of numerators x and denominators w.
        self._sums: dict[str, Floats] = {}
        self._sessions: Counter[str] = Counter()

    def add(self, session: SessionScore, seen: Sequence[Sequence[Observation]]) -> None:
        prompt = session.properties.prompt
        if prompt is None:
            return
        self._sessions[prompt] += 1
        sums = self._sums.setdefault(prompt, np.zeros((len(self._numbers), 6)))
        for row, number in enumerate(self._numbers):
            if seen[number]:
                x, w = map(fsum, zip(*seen[number], strict=True))
                sums[row] += (1, x, w, x * x, x * w, w * w)

    def add_all(self, prompts: Prompts) -> None:
        self._sessions += prompts._sessions
        for prompt, sums in prompts._sums.items():
            self._sums[prompt] = self._sums[prompt] + sums if prompt in self._sums else sums

    def figures(self) -> PromptFigures | None:
        """Return the figures by prompt; None if all samples share one prompt, or if most have a prompt of their own."""
        if not 2 <= len(self._sums) <= min(MOST, sum(self._sessions.values()) / LEAST):
            return None
        names = sorted(self._sums)
        metrics: dict[str, PromptSpread] = {}
        for row, metric in enumerate(self._names):
            if spread := measure_spread({name: self._sums[name][row] for name in names}):
                metrics[metric] = spread
        return PromptFigures(sessions={name: self._sessions[name] for name in names}, metrics=metrics)


def measure_spread(sums: dict[str, Floats]) -> PromptSpread | None:
    """Return the figures x / w by prompt, and their spread; None for fewer than two figures. `sums`: prompt → n, x, w,
    xx, xw, ww. The standard error is that of a ratio (Cochran, Sampling Techniques, 1977, equation 2.39)."""
    values: dict[str, float] = {}
    variances: list[float | None] = []
    for prompt, (n, x, w, xx, xw, ww) in sums.items():
        if w:
            ratio = x / w
            values[prompt] = float(ratio)
            residuals = max(xx - 2 * ratio * xw + ratio**2 * ww, 0.0)
            variances.append(float(n / (n - 1) * residuals / w**2) if n > 1 else None)
    if len(values) < 2:
        return None
    known = [variance for variance in variances if variance is not None]
    return PromptSpread(
        values=values,
        low=min(values.values()),
        high=max(values.values()),
        deviation=float(np.std([*values.values()], ddof=1)),
        # If prompts made no difference, the figures would vary by the mean of their sampling variances.
        by_chance=sqrt(fsum(known) / len(known)) if len(known) == len(values) else None,
    )
