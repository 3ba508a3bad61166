"""The figures of a report with their 95 % intervals: for this project, and for other code like it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from ci_eval.contracts import Metric, Observation
from ci_eval.model import Determinism, Estimate, State
from ci_eval.model.sampling import Sampling
from ci_eval.statistics.clustered import figures
from ci_eval.statistics.repeated.wavering import Wavering
from ci_eval.statistics.sampled import FEWEST_RANKS, LARGEST, NoiseVariance, effective_sessions, powers
from ci_eval.statistics.sampled import figure as sampled_figure
from ci_eval.statistics.weighted import interval, moments

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]

AT_ONCE = 4096
"""Sessions that are handed on in one go, and observations that are summed up."""


def placed(file: int, kind: int = 0, stratum: int = 0) -> int:
    """Where a session belongs, as one number: its file, its stratum (below 2^20), and a third number, such as that of
    its kind of token (below 2^12)."""
    return file << 32 | stratum << 12 | kind


@dataclass(frozen=True)
class Collected:
    """What a metric observed, without the metric: sums by kind, and observations as in `add`."""

    sums: dict[int, _Sums]
    places: Numbers
    seen: Floats


class Observations:
    """What a metric observed in sessions, by where these belong.

    Of ratios and counts only sums are kept, so that a million sessions take little memory.
    """

    def __init__(self, metric: Metric, sampling: Sampling | None = None) -> None:
        """`sampling`: how the sessions were drawn, where they do not all count the same."""
        self.metric = metric
        self.sampling = sampling if metric.statistic == "ratio" else None
        self.left_out = sampling is not None and metric.statistic in {"quantile", "auc"}
        """Whether it has no figure, since its sessions would have to be weighted and cannot be."""
        self._stands_for = np.array([0.0, *(each.weight for each in self.sampling.strata)]) if self.sampling else None
        self._sums: dict[int, _Sums] = {}
        self._forget()

    def _forget(self) -> None:
        self._parts: list[tuple[Numbers, Floats]] = []
        self._waiting = 0

    def add(self, places: Numbers, seen: Floats) -> None:
        """Add observations, a row each: where it belongs, as `placed` gives it; its value and weight."""
        self._parts.append((places, seen))
        self._waiting += len(seen)
        if self._waiting >= AT_ONCE and self.is_summed:
            self._sum_up()

    def collected(self) -> Collected:
        """What was added so far."""
        if self.is_summed:
            self._sum_up()
        return Collected(self._sums, *self._not_summed())

    def add_collected(self, found: Collected, files: int) -> None:
        """Add what another one collected; `files`: how many files are before its first."""
        for kind, sums in found.sums.items():
            self._sums.setdefault(kind, self._no_sums()).add_all(sums, files)
        if len(found.seen):
            self._parts.append((found.places + placed(files), found.seen))

    @property
    def is_summed(self) -> bool:
        """Whether sums are all that its figure takes."""
        return self.metric.statistic in {"ratio", "count"}

    def _sum_up(self) -> None:
        files, strata, kinds, seen = self._unsummed()
        for kind in np.unique(kinds).tolist():
            own, sums = kinds == kind, self._sums.setdefault(kind, self._no_sums())
            if self._stands_for is None:
                sums.add(files[own], seen[own])
            else:
                sums.add(files[own], seen[own] * self._stands_for[strata[own]][:, None])
                sums.add_strata(strata[own], seen[own])
        self._forget()

    def _no_sums(self) -> _Sums:
        return _Sums(len(self.sampling.strata) if self.sampling else 0)

    def _unsummed(self) -> tuple[Numbers, Numbers, Numbers, Floats]:
        """Numbers of files, strata and kinds, and values beside weights; one row per observation."""
        places, seen = self._not_summed()
        return places >> 32, places >> 12 & (1 << 20) - 1, places & (1 << 12) - 1, seen

    def _not_summed(self) -> tuple[Numbers, Floats]:
        """The rows that were added, but for those that are summed up."""
        places = np.concatenate([np.zeros(0, dtype=np.int64), *(each for each, _ in self._parts)])
        return places, np.concatenate([np.zeros((0, 2)), *(each for _, each in self._parts)])

    def sums(self, kind: int | None = None) -> _Sums:
        """Of a ratio or a count, over all kinds or one."""
        self._sum_up()
        found = self._no_sums()
        for each in sorted(self._sums) if kind is None else [kind] if kind in self._sums else []:
            found.add_all(self._sums[each])
        return found

    def seen(self, kind: int | None = None) -> Floats:
        """Of other statistics: values beside weights, one row per observation, of all kinds or one."""
        _, _, kinds, seen = self._unsummed()
        return seen if kind is None else seen[kinds == kind]

    def by_file(self, files: int) -> list[float | None]:
        """The figure of each of so many files."""
        if self.is_summed:
            rows = np.zeros((files, 3))
            found = self.sums().rows
            rows[: len(found)] = found
            return [_of_sums(self.metric, row) for row in rows]
        if self.left_out:
            return [None] * files
        numbers, _, _, seen = self._unsummed()
        order = np.argsort(numbers, kind="stable")
        ends = numbers[order].searchsorted(np.arange(1, files))
        return [_of_seen(self.metric, each) for each in np.split(seen[order], ends)]

    def by_group(self, groups: Sequence[Sequence[int]]) -> list[float | None]:
        """The figure of each group of files."""
        if self.is_summed:
            rows = self.sums().rows
            members = [[file for file in group if file < len(rows)] for group in groups]
            return [_of_sums(self.metric, rows[each].sum(axis=0)) for each in members]
        numbers, _, _, seen = self._unsummed()
        return [_of_seen(self.metric, seen[np.isin(numbers, group)]) for group in groups]


class Collector:
    """Hands on to several metrics what they observed, many sessions in one go: one by one would take longer than to
    observe it."""

    def __init__(self, observations: Sequence[Observations]) -> None:
        self._observations = observations
        self._forget()

    def _forget(self) -> None:
        self._places: array[int] = array("q")
        # How often each metric observed something in each session, and all that was observed, one after the other.
        self._counts: array[int] = array("q")
        self._numbers: array[float] = array("d")

    def add(self, place: int, seen: Sequence[Sequence[Observation]]) -> None:
        """What each of the metrics observed in a session; `place` as `placed` gives it."""
        self._places.append(place)
        self._counts.extend(map(len, seen))
        self._numbers.extend(chain.from_iterable(chain.from_iterable(seen)))
        if len(self._places) == AT_ONCE:
            self.hand_on()

    def hand_on(self) -> None:
        """Add what was collected to the observations, of each in the sessions' order: in another one, the last digit of
        its sum would depend on what other metrics observed, such as times."""
        places, rows = np.array(self._places), np.array(self._numbers).reshape(-1, 2)
        counts = np.array(self._counts).reshape(len(places), len(self._observations))
        # Where in `rows` each metric's observations of each session begin.
        firsts = (np.cumsum(counts) - counts.ravel()).reshape(counts.shape)
        for observations, count, first in zip(self._observations, counts.T, firsts.T, strict=True):
            before = np.cumsum(count) - count
            own = np.repeat(first - before, count) + np.arange(count.sum())
            observations.add(np.repeat(places, count), rows[own])
        self._forget()


class _Sums:
    """The sums over all observations of a ratio or a count."""

    def __init__(self, strata: int = 0) -> None:
        self.strata = np.zeros((strata, 5))
        """Of each stratum of the sample: see `weighted.moments`; the other sums are then over weighted sessions."""
        self.rows = np.zeros((0, 3))
        """By file: of values (numerators), of weights (denominators), and how many."""
        self.squares = np.zeros(3)
        """See `sampled.powers`, as of `fourths`."""
        self.fourths = np.zeros(5)
        self.observed = 0
        """Observations whose weight is not 0."""

    def add(self, files: Numbers, seen: Floats) -> None:
        first, last = int(files.min()), int(files.max())
        values, weights = seen.T
        columns = [np.bincount(files - first, each) for each in (values, weights, np.ones(len(seen)))]
        self._reach(last + 1)
        self.rows[first : last + 1] += np.stack(columns, axis=-1)
        squares, fourths = powers(values, weights)
        self.squares += squares
        self.fourths += fourths
        self.observed += int((weights != 0).sum())

    def add_strata(self, strata: Numbers, seen: Floats) -> None:
        """`strata`: their numbers, from 1."""
        for number in np.unique(strata).tolist():
            self.strata[number - 1] += moments(*seen[strata == number].T)

    def add_all(self, other: _Sums, files: int = 0) -> None:
        """`files`: how many are before the other's first."""
        self.strata += other.strata
        self._reach(files + len(other.rows))
        self.rows[files : files + len(other.rows)] += other.rows
        self.squares += other.squares
        self.fourths += other.fourths
        self.observed += other.observed

    def _reach(self, files: int) -> None:
        if files > len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros((files - len(self.rows), 3))])

    @property
    def total(self) -> Floats:
        """Over all files."""
        return np.asarray(self.rows.sum(axis=0))


def figure(observations: Observations, kind: int | None = None) -> float | None:
    """The metric's figure, without intervals; None where there is none."""
    metric = observations.metric
    if observations.is_summed:
        return _of_sums(metric, observations.sums(kind).total)
    return _of_seen(metric, observations.seen(kind))


def estimate(
    observations: Observations,
    asked: float,
    wavering: Wavering | None = None,
    *,
    kind: int | None = None,
    clusters: Sequence[int] | None = None,
    repeats: Determinism | None = None,
) -> Estimate:
    """The metric's figure with its 95 % intervals: for this project (`sampled.figure`), and for other code like it
    (`clustered.figures`).

    `asked`: the share of the project's sessions that was asked. `wavering`: the engine's noise in this metric, where
    there were several rounds. `kind`: only its observations. `clusters`: the number of the cluster of each file, if
    several are one. `repeats`: of the sessions that were asked twice, how many differed. Counts and quantiles have no
    intervals, and times have none either: a busy machine slows all sessions together, which no sample of sessions would
    show.
    """
    found = _estimated(observations, asked, wavering, kind, clusters, repeats)
    return replace(found, state=_state(observations, found, asked, repeats))


def _state(observations: Observations, found: Estimate, asked: float, repeats: Determinism | None) -> State:
    if found.value is None:
        return "none"
    if observations.sampling:
        return "weighted"
    # A busy machine slows all sessions together, so that a time is never exact.
    if observations.metric.timed or observations.metric.info.unit == "ms" or (repeats and repeats.differed):
        return "noisy"
    if asked < 1:
        return "sampled"
    return "exact" if repeats else "partial"


def _estimated(
    observations: Observations,
    asked: float,
    wavering: Wavering | None,
    kind: int | None,
    clusters: Sequence[int] | None,
    repeats: Determinism | None,
) -> Estimate:
    metric, unit = observations.metric, observations.metric.info.unit
    if not observations.is_summed:
        seen = observations.seen(kind)
        if observations.left_out:
            return Estimate(value=None, n=len(seen))
        return Estimate(value=_of_seen(metric, seen), n=len(seen))
    sums = observations.sums(kind)
    value, count = _of_sums(metric, sums.total), int(sums.total[2])
    if value is None or metric.statistic != "ratio" or metric.timed or unit == "ms" or not sums.total[1]:
        return Estimate(value=value, n=count)
    rows = sums.rows[sums.rows[:, 2] > 0, :2]
    if clusters is not None:
        _, members = np.unique(np.array(clusters)[: len(sums.rows)][sums.rows[:, 2] > 0], return_inverse=True)
        rows = np.stack([np.bincount(members, column) for column in rows.T], axis=-1)
    (elsewhere,) = figures(rows[:, None, :], [unit])
    total = sums.total[:2]
    noise = _noise(wavering, total) if wavering and wavering.rounds > 1 else None
    if noise is None and repeats and repeats.differed:
        if unit not in LARGEST:
            return Estimate(value=value, n=count, elsewhere=elsewhere)
        noise = wavers(repeats, sums.observed)
    worth = effective_sessions(sums.squares, sums.fourths, total)
    if observations.sampling:
        bounded = unit in LARGEST
        given = bounded or sums.observed >= FEWEST_RANKS
        found = interval(sums.strata, observations.sampling, bounded=bounded) if given else None
        low, high = found or (None, None)
        return Estimate(value=value, low=low, high=high, n=count, elsewhere=elsewhere)
    products = sums.squares[[[0, 1], [1, 2]]]
    low, high = sampled_figure(total, products, sums.observed, asked, unit, noise, worth)
    return Estimate(value=value, low=low, high=high, n=count, elsewhere=elsewhere)


def wavers(repeats: Determinism, observed: float) -> NoiseVariance:
    """Return the variance of a mean over so many sessions that comes from answers that differ, at most.

    A session that is answered differently half of the time, from 0 to 1, has a variance of 1/4; asked twice, it differs
    half of the time. One more session is taken to differ: that few of a sample did may be luck.
    """
    share = (repeats.differed + 1) / (repeats.asked + 1)
    return NoiseVariance(np.array([share / 2 / max(observed, 1)]), np.array([np.inf]))


def _noise(wavering: Wavering, total: Floats) -> NoiseVariance:
    variance = wavering.variance(np.array([[1 / total[1], -total[0] / total[1] ** 2]]))
    return NoiseVariance.of([variance], [wavering.rounds])


def _of_sums(metric: Metric, total: Floats) -> float | None:
    value, weight, count = map(float, total)
    if not count or (metric.statistic == "ratio" and not weight):
        return metric.without
    return value if metric.statistic == "count" else value / weight


def _of_seen(metric: Metric, seen: Floats) -> float | None:
    if not len(seen):
        return metric.without
    values, weights = seen.T
    return area(values, weights > 0) if metric.statistic == "auc" else float(nearest_rank(values, metric.quantile))


def area(scores: Floats, right: NDArray[np.bool_]) -> float | None:
    """The area under the ROC curve: how often something right has a higher score than something wrong, equal scores
    counting half (Mann and Whitney's U / number of pairs). None where there is only one of both.
    """
    pairs = int(right.sum()) * int((~right).sum())
    if not pairs:
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]
    wins = float(ranks[right].sum()) - right.sum() * (right.sum() + 1) / 2
    return float(wins / pairs)


def nearest_rank(values: Floats, quantile: float) -> float:
    """The smallest value that at least that share of the values does not exceed: the ceil(q·n)-th smallest."""
    rank = max(int(np.ceil(quantile * len(values) - 1e-9)), 1)
    return float(np.partition(values, rank - 1)[rank - 1])
