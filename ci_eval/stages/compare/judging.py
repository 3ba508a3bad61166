"""Turns sums over sessions into differences with intervals, and these into verdicts: for this project (here), and for
other code like it (elsewhere)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from msgspec.structs import replace

from ci_eval.contracts import Metric
from ci_eval.model import Difference, Elsewhere, MetricInfo, Subset, Verdict
from ci_eval.rendering.figures import change
from ci_eval.stages.compare.pairing import FilterSums, PartSums, Sums
from ci_eval.stages.compare.turns import NO_FIGURE, NOT_IN_TURNS
from ci_eval.statistics.clustered import FEWEST, FEWEST_ALIKE, STRETCH, elsewhere
from ci_eval.statistics.latencies import quantile_of
from ci_eval.statistics.paired import MARGINS, Interval, joint, singly, verdict
from ci_eval.statistics.sampled import NoiseVariance, here, influence
from ci_eval.statistics.student import Floats

OF_THE_ENGINE = "every session was asked: the interval is of answers that differ from round to round"
ALSO_OF_THE_ENGINE = "the interval holds answers that differ from round to round, too"


def noise_of(sums: Sums, places: Sequence[int]) -> NoiseVariance:
    """The engines' own noise in the differences of the figures with these indices."""
    wide = influence(sums.total[list(places)])
    weights = np.array([wide[4 * at : 4 * at + 4, at] for at in range(len(places))])
    sides = [side.variance(weights, places) for side in sums.wavering]
    return NoiseVariance.of(sides, sums.rounds)


@dataclass(frozen=True)
class Judge:
    """Judges the differences of metrics.

    `declared`: names of the metrics whose verdicts count. `asked`: the share of the project's sessions that was asked.
    `kind`: what the sample of other code consists of, "files" or "projects".
    """

    metrics: Sequence[Metric]
    declared: frozenset[str]
    asked: float
    kind: str = "files"

    def filter(self, sums: FilterSums) -> dict[str, Difference]:
        """The difference of each metric under one filter, by name. Only the declared ones are adjusted for how many
        they are."""
        found = {metric.info.name: self._times(place, sums) for place, metric in enumerate(self.metrics)}
        places = [
            place
            for place, metric in enumerate(self.metrics)
            if not metric.timed and np.all(sums.total[place, [1, 3]] > 0)
        ]
        names = [self.metrics[place].info.name for place in places]
        infos = [self.metrics[place].info for place in places]
        if places:
            family = [at for at, name in enumerate(names) if name in self.declared]
            of_project = self._here(sums, places, family)
            of_code = self._elsewhere(np.stack(sums.rows)[:, places], infos, family)
            for place, name, difference, more in zip(places, names, of_project, of_code, strict=True):
                over = "found by both" if self.metrics[place].found_by_both else ""
                found[name] = replace(difference, elsewhere=more, over=over)
        return found

    def _times(self, place: int, sums: FilterSums) -> Difference:
        """A difference without a verdict: that of a metric that depends on times, or that has no figure on one side."""
        metric = self.metrics[place]
        if not metric.timed:
            return Difference(base=None, new=None, difference=None, why=NO_FIGURE)
        if metric.statistic == "quantile":
            base, new = (quantile_of(side, metric.quantile) for side in sums.latencies)
        else:
            total = sums.total[place]
            base, new = (float(total[at] / total[at + 1]) if total[at + 1] else None for at in (0, 2))
        if base is None or new is None:
            return Difference(base=None, new=None, difference=None, why=NO_FIGURE)
        n = int(min(sums.latencies.sum(axis=1)) if metric.statistic == "quantile" else sums.observed[place])
        return Difference(
            base=base, new=new, difference=new - base, why=NOT_IN_TURNS, n=n, elsewhere=Elsewhere(why=NOT_IN_TURNS)
        )

    def pair(self, sums: Sums, rows: Floats, tests: int) -> Difference | None:
        """The difference of the first metric between two sides; None where one of them has no figure.

        `rows`: the sums of each cluster (clusters x 1 x 4). `tests`: how many pairs of sides are judged (Bonferroni).
        """
        if not np.all(sums.total[0, [1, 3]] > 0):
            return None
        if self.metrics[0].timed:
            base, new = (float(sums.total[0, at] / sums.total[0, at + 1]) for at in (0, 2))
            return Difference(base=base, new=new, difference=new - base, why=NOT_IN_TURNS)
        (of_project,) = self._here(sums, [0], [], tests)
        (of_code,) = self._elsewhere(rows, [self.metrics[0].info], [], tests)
        return replace(of_project, elsewhere=of_code)

    def _here(self, sums: Sums, places: Sequence[int], family: Sequence[int], tests: int = 1) -> list[Difference]:
        infos = [self.metrics[place].info for place in places]
        columns = [4 * place + each for place in places for each in range(4)]
        observed = sums.observed[places]
        products = sums.products[np.ix_(columns, columns)]
        noise = noise_of(sums, places)
        spread = here(sums.total[places], products, observed, self.asked, [info.unit for info in infos], noise)
        intervals = singly(spread, tests)
        if noise.variance.any():
            # A few rounds do not tell how noise moves figures together: Bonferroni instead of the joint intervals.
            adjusted = singly(spread, max(len(family), 1))
            together = [adjusted[place] for place in family]
        else:
            together = joint(spread, family) if family else []
        for place, interval in zip(family, together, strict=True):
            intervals[place] = interval
        return [
            self._judged(info, spread.base[at], spread.new[at], intervals[at], observed[at], noise.variance[at])
            for at, info in enumerate(infos)
        ]

    def _judged(
        self, info: MetricInfo, base: float, new: float, interval: Interval, n: float, noise: float
    ) -> Difference:
        difference = float(new - base)
        said = verdict(interval, difference, info.unit, info.better)
        exact = self.asked >= 1 and not noise
        reason = "exact: every session was asked" if exact else why(said, interval, info)
        if noise:
            reason += f"; {OF_THE_ENGINE if self.asked >= 1 else ALSO_OF_THE_ENGINE}"
        return Difference(
            base=float(base),
            new=float(new),
            difference=difference,
            low=difference if exact else interval.low,
            high=difference if exact else interval.high,
            p=None if exact else interval.p,
            verdict=said,
            why=reason,
            detectable=None if exact else interval.detectable,
            noise=float(np.sqrt(noise)) if noise else None,
            n=int(n),
        )

    def _elsewhere(
        self, rows: Floats, infos: Sequence[MetricInfo], family: Sequence[int], tests: int = 1
    ) -> list[Elsewhere]:
        found = elsewhere(rows)
        enough = (found.effective >= FEWEST) & np.isfinite(found.spread.error)
        intervals: dict[int, Interval] = dict(enumerate(singly(found.spread, tests)))
        together = [place for place in family if enough[place]]
        intervals |= dict(zip(together, joint(found.spread, together) if together else [], strict=True))
        return [
            self._of_code(info, intervals[place], float(found.spread.difference[place]), float(found.effective[place]))
            if enough[place]
            else Elsewhere(
                verdict=Verdict.NOT_SHOWN if info.better != "neither" else Verdict.NOT_COMPARABLE,
                why=too_few(len(rows), float(found.effective[place]), self.kind),
                effective=float(found.effective[place]),
            )
            for place, info in enumerate(infos)
        ]

    def _of_code(self, info: MetricInfo, interval: Interval, difference: float, effective: float) -> Elsewhere:
        said = verdict(interval, difference, info.unit, info.better, stretch=STRETCH)
        reason = why(said, interval, info, STRETCH)
        if said is Verdict.EQUIVALENT and effective < FEWEST_ALIKE:
            said = Verdict.NOT_SHOWN
            reason += (
                f", but that takes {FEWEST_ALIKE} {self.kind} of equal size or their worth; here are {effective:.0f}"
            )
        elif said is Verdict.EQUIVALENT:
            reason += f"; what sits in fewer than {3 / effective:.1%} of such files may be there unseen"
        return Elsewhere(
            low=interval.low,
            high=interval.high,
            p=interval.p,
            verdict=said,
            why=reason,
            effective=effective,
            detectable=interval.detectable,
        )

    def parts(self, chosen: Sequence[tuple[tuple[str, str], PartSums]], leading: int) -> Iterator[Subset]:
        """The difference of the leading metric in each part, for this project alone; the parts of one dimension are
        adjusted for how many they are (Bonferroni)."""
        metric = self.metrics[leading]
        for dimension, group in groupby(chosen, key=lambda each: each[0][0]):
            same = list(group)
            for (_, value), sums in same:
                yield Subset(
                    dimension=dimension,
                    value=value,
                    sessions=sums.sessions,
                    files=sums.files,
                    wins=sums.wins,
                    losses=sums.losses,
                    difference=self._part(metric, sums, len(same)),
                )

    def _part(self, metric: Metric, sums: PartSums, tests: int) -> Difference:
        info = metric.info
        if metric.timed or not np.all(sums.total[0, [1, 3]] > 0):
            reason = NOT_IN_TURNS if metric.timed else NO_FIGURE
            return Difference(base=None, new=None, difference=None, why=reason)
        noise = noise_of(sums, [0])
        spread = here(sums.total, sums.products, sums.observed, self.asked, [info.unit], noise)
        (interval,) = singly(spread, tests)
        return self._judged(info, spread.base[0], spread.new[0], interval, sums.observed[0], noise.variance[0])


def why(said: Verdict, interval: Interval, info: MetricInfo, stretch: float = 1.0) -> str:
    """The reason for a verdict, as reports show it."""
    size = MARGINS.get(info.unit, 0.0)
    margin = change(size, info.unit).lstrip("+")
    side = "above" if interval.low > 0 else "below"
    if said is Verdict.NOT_COMPARABLE:
        return f"no value of {info.name} is better than another"
    if said in {Verdict.BETTER, Verdict.WORSE}:
        return f"the whole interval is {side} 0"
    inside = "an interval half as wide again" if stretch > 1 else "the whole interval"
    if said is Verdict.EQUIVALENT:
        return f"{inside} is inside ±{margin}"
    if interval.low > 0 or interval.high < 0:
        return f"the whole interval is {side} 0, but the difference is too small to matter"
    if -size < interval.low and interval.high < size:
        return f"the interval holds 0, and {inside} is not inside ±{margin}"
    return f"the interval holds 0 and reaches beyond ±{margin}"


def too_few(clusters: int, effective: float, kind: str) -> str:
    """The reason where too few clusters were seen to say anything of other code."""
    one = kind.partition(" ")[0].removesuffix("s")
    return (
        f"too few {kind}: {clusters:,}, worth {effective:.0f} of equal size; it takes {FEWEST}, or what changes in one "
        f"{one} of twenty may not be among them"
    )
