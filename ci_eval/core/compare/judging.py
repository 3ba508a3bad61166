"""The verdicts: sums over sessions become differences with intervals, and these become verdicts.

One verdict is for this project (here), one for other code like it (elsewhere).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from msgspec.structs import replace

from ci_eval.core.compare.sums import FilterSums, PartSums, Sums
from ci_eval.core.compare.turns import NO_FIGURE, NOT_IN_TURNS
from ci_eval.core.contracts import Metric
from ci_eval.core.model import Determinism, Difference, Elsewhere, MetricInfo, State, Subset, Verdict
from ci_eval.core.model.units import change
from ci_eval.core.statistics.clustered import FEWEST, FEWEST_ALIKE, STRETCH, elsewhere
from ci_eval.core.statistics.latencies import estimate_quantile
from ci_eval.core.statistics.paired import FOUR_OF_FIVE, MARGINS, Interval, Spread, joint, singly, verdict
from ci_eval.core.statistics.repeated.repeats import DETERMINISTIC, Repeats, sign_test
from ci_eval.core.statistics.sampled import (
    FEWEST_OBSERVED,
    FEWEST_RANKS,
    NoiseVariance,
    figure,
    here,
    influence,
    largest_gains,
    within,
)
from ci_eval.core.statistics.stats import wavers
from ci_eval.core.statistics.student import NORMAL, Floats
from ci_eval.core.statistics.weighted import ProjectSums, covariance

ALIKE = Determinism()
"""The determinism of an engine that answered nothing differently."""
POINT = 0.01
"""The difference of a share that `needed` is about."""
FEWEST_RANKS_ALIKE = 1_000
"""The number of sessions from which on a figure without a bound, such as the mean rank, may be called equivalent."""
FEWEST_CHANGES = 12
"""The effective number of changes that the interval of such a figure needs."""
OF_THE_ENGINE = "every session was asked: the interval is of answers that differ from round to round"
ALSO_OF_THE_ENGINE = "the interval holds answers that differ from round to round, too"


def estimate_noise(sums: Sums, places: Sequence[int]) -> NoiseVariance:
    """Return the engines' own noise in the differences of the figures with these indices."""
    wide = influence(sums.total[list(places)])
    weights = np.array([wide[4 * at : 4 * at + 4, at] for at in range(len(places))])
    sides = [side.variance(weights, places) for side in sums.wavering]
    return NoiseVariance.of(sides, sums.rounds)


@dataclass(frozen=True, kw_only=True)
class _Own:
    """The sums of the figures that are judged, one element for each figure."""

    infos: Sequence[MetricInfo]
    total: Floats
    by_session: Floats
    by_token: Floats
    observed: Floats
    moved: Floats
    changes: Floats
    fourths: Floats
    noise: NoiseVariance
    strata: Sequence[ProjectSums]
    """The projects, if their sessions are weighted."""

    @classmethod
    def of(cls, sums: Sums, places: Sequence[int], infos: Sequence[MetricInfo], *, drawn: bool) -> _Own:
        """Pick the figures with these indices. `drawn`: whether draws may have moved the sessions of a file
        together."""
        at, columns = list(places), [4 * index + column for index in places for column in range(4)]
        by_token = sums.by_token[np.ix_(columns, columns)]
        if drawn and isinstance(sums, FilterSums):
            flat, wide = np.stack(sums.rows)[:, at].reshape(len(sums.rows), -1), influence(sums.total[at])
            ours, theirs = (np.diag(wide.T @ squares @ wide) for squares in (by_token, flat.T @ flat))
            factors = np.sqrt(np.maximum(1, np.divide(theirs, ours, out=np.ones_like(ours), where=ours > 0)))
            by_token = by_token * np.outer(np.repeat(factors, 4), np.repeat(factors, 4))
        return cls(
            infos=infos,
            total=sums.total[at],
            by_session=sums.products[np.ix_(columns, columns)],
            by_token=by_token,
            observed=sums.observed[at],
            moved=sums.moved[at],
            changes=sums.changes[at],
            fourths=sums.fourths[at],
            noise=estimate_noise(sums, at),
            strata=[
                ProjectSums(
                    project.sessions, project.asked, project.total[at], project.products[np.ix_(columns, columns)]
                )
                for project in (sums.strata if isinstance(sums, FilterSums) else ())
            ],
        )

    @property
    def base(self) -> Floats:
        """Return the figures of base, one element for each."""
        return np.asarray(self.total[:, 0] / self.total[:, 1])

    @property
    def new(self) -> Floats:
        """Return the figures of new, one element for each."""
        return np.asarray(self.total[:, 2] / self.total[:, 3])

    def spread(self, asked: Floats) -> Spread:
        """Return the differences and their errors. `asked`: the share of the population that each is a sample of."""
        spans = [info.span for info in self.infos]
        if self.strata:
            most = largest_gains(spans) / self.total[:, 1]
            weights, changed = influence(self.total), self.changes > 0
            shared = covariance(self.strata, weights, most, finite=bool(asked.all())) * np.outer(changed, changed)
            sampling = np.where(changed, shared.diagonal(), 0.0)
            # A figure that did not change shows no spread of its own, so the bound is its error.
            bound = covariance(self.strata, np.zeros_like(weights), most, finite=bool(asked.all())).diagonal()
            error, df = self.noise.add_sampling(np.where(changed, sampling, bound))
            center = np.where(changed, self.new - self.base, 0.0)
            return Spread(self.base, self.new, center, error, df, shared)
        # If the population has no end, answers may vary, and those for one token may vary together.
        products = self.by_session if asked.all() else self.by_token
        return here(self.total, products, self.observed, asked, spans, self.noise, self.changes > 0)

    def too_few(self, at: int) -> str:
        """Return why a figure has no interval; "" if it has one. A figure without a bound needs more."""
        if self.observed[at] < FEWEST_OBSERVED:
            return f"an interval takes {FEWEST_OBSERVED} sessions; there are {self.observed[at]:,.0f}"
        if self.infos[at].span is not None:
            return ""
        if self.observed[at] < FEWEST_RANKS:
            return f"too few sessions for a figure without a bound: {self.observed[at]:,.0f}, {FEWEST_RANKS:,} needed"
        weights = influence(self.total[[at]])[:, 0]
        block = self.by_session[4 * at : 4 * at + 4, 4 * at : 4 * at + 4]
        squares = float(weights @ block @ weights) * float(self.total[at, 1]) ** 2
        effective = squares**2 / self.fourths[at] if self.fourths[at] else 0.0
        if effective >= FEWEST_CHANGES:
            return ""
        return (
            f"a few sessions decide: {effective:.0f} effective sessions changed (as many as if all changes were of "
            f"equal size), {FEWEST_CHANGES} needed"
        )


@dataclass(frozen=True)
class Judge:
    """A judge of the differences of metrics.

    `declared`: names of the metrics whose verdicts count. `asked`: the share of the project's sessions that was asked.
    `kind`: the units that the sample of other code consists of, "files" or "projects". `repeats`: how far the engines
    answer alike. `pairs`: the sessions that were compared, under any filter. `of_new`: how far new's engine alone
    answers alike. `unjudged`: the reason why nothing is judged, if nothing is.
    """

    metrics: Sequence[Metric]
    declared: frozenset[str]
    asked: float
    kind: str = "files"
    repeats: Repeats = DETERMINISTIC
    pairs: int = 0
    of_new: Determinism = ALIKE
    unjudged: str = ""

    def filter(self, sums: FilterSums) -> dict[str, Difference]:
        """Return the difference of each metric under one filter, by name."""
        differences = {metric.info.name: self._times(index, sums) for index, metric in enumerate(self.metrics)}
        places = [
            index
            for index, metric in enumerate(self.metrics)
            # Columns 1 and 3 are the denominators of base and new.
            if not metric.timed and np.all(sums.total[index, [1, 3]] > 0)
        ]
        names = [self.metrics[index].info.name for index in places]
        infos = [self.metrics[index].info for index in places]
        if places:
            # Only the declared metrics are adjusted for their number.
            family = [at for at, name in enumerate(names) if name in self.declared]
            of_project = self._here(sums, places, family)
            of_code = self._elsewhere(np.stack(sums.rows)[:, places], infos, family)
            for index, name, difference, more in zip(places, names, of_project, of_code, strict=True):
                over = "found by both" if self.metrics[index].found_by_both else ""
                differences[name] = replace(difference, elsewhere=more, over=over)
        return differences

    def _times(self, index: int, sums: FilterSums) -> Difference:
        """Return a difference without a verdict: that of a metric that depends on times, or that has no figure on one
        side."""
        metric = self.metrics[index]
        if not metric.timed:
            return Difference(base=None, new=None, difference=None, why=NO_FIGURE)
        if metric.statistic == "quantile":
            base, new = (estimate_quantile(side, metric.quantile) for side in sums.latencies)
        else:
            total = sums.total[index]
            base, new = (float(total[at] / total[at + 1]) if total[at + 1] else None for at in (0, 2))
        if base is None or new is None:
            return Difference(base=None, new=None, difference=None, why=NO_FIGURE)
        n = int(min(sums.latencies.sum(axis=1)) if metric.statistic == "quantile" else sums.observed[index])
        return Difference(
            base=base, new=new, difference=new - base, why=NOT_IN_TURNS, n=n, elsewhere=Elsewhere(why=NOT_IN_TURNS)
        )

    def pair(self, sums: Sums, rows: Floats, tests: int) -> Difference | None:
        """Return the difference of the first metric between two sides; None if one of them has no figure.

        `rows`: the sums of each cluster (clusters x 1 x 4). `tests`: the number of pairs of sides that are judged
        (Bonferroni).
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
        """Return the differences of the figures with these indices. `family`: those of them that are judged
        together."""
        own = _Own.of(sums, places, [self.metrics[index].info for index in places], drawn=not self.asked)
        certain = np.array([self._certain(own, at) for at in range(len(places))])
        # Without certainty the interval must also hold what the engines might have answered instead.
        intervals = self._intervals(own, family, np.where(certain, self.asked, 0.0), tests)
        return [self._judge_figure(own, at, intervals[at], certain=bool(certain[at])) for at in range(len(places))]

    def _certain(self, own: _Own, at: int) -> bool:
        """Return whether the engines' own variation is measured, or was shown not to exist."""
        if self.repeats.whole and own.noise.variance[at]:
            return True
        return self.repeats.shows_determinism(float(own.changes[at]), float(own.observed[at]))

    def _intervals(self, own: _Own, family: Sequence[int], asked: Floats, tests: int) -> list[Interval]:
        """Return the interval of each figure. `asked`: the share of the population by figure; 0 if variation is not
        ruled out."""
        spread = own.spread(asked)
        intervals = singly(spread, tests)
        if own.noise.variance.any():
            # A few rounds do not tell how noise moves figures together: Bonferroni instead of the joint intervals.
            adjusted = singly(spread, max(len(family), 1))
            together = [adjusted[index] for index in family]
        else:
            together = joint(spread, family) if family else []
        for index, interval in zip(family, together, strict=True):
            intervals[index] = interval
        return intervals

    def _judge_figure(self, own: _Own, at: int, interval: Interval, *, certain: bool) -> Difference:
        info, base, new, noise = own.infos[at], own.base[at], own.new[at], own.noise.variance[at]
        # Without a changed session, only rounding is left of the difference.
        difference = float(new - base) if own.changes[at] else 0.0
        state = "weighted" if own.strata else self._state(certain=certain, noisy=bool(noise))
        exact = self.asked >= 1 and certain and not noise
        up, down = map(int, own.moved[at])
        better, worse = (down, up) if info.better == "lower" else (up, down)
        low, high = self._new_interval(own, at)
        plain = Difference(
            base=float(base),
            new=float(new),
            difference=difference,
            state=state,
            sign=sign_test(up, down) if self.asked >= 1 and up + down else None,
            better=better,
            worse=worse,
            new_low=low,
            new_high=high,
            noise=float(np.sqrt(noise)) if noise else None,
            n=int(own.observed[at]),
        )
        lack = self.unjudged or ("" if exact else own.too_few(at))
        if lack:
            conclusion = Verdict.NOT_SHOWN if info.better != "neither" else Verdict.NOT_COMPARABLE
            return replace(plain, verdict=conclusion, why=lack)
        conclusion = verdict(interval, difference, info.unit, info.better)
        if (
            conclusion is Verdict.EQUIVALENT
            and info.span is None
            and not exact
            and own.observed[at] < FEWEST_RANKS_ALIKE
        ):
            conclusion = Verdict.NOT_SHOWN
        reason = self._exact_reason(plain) if exact else self._why(conclusion, interval, info, plain, certain=certain)
        low_end, high_end = difference, difference
        if not exact:
            low_end, high_end = within(info.difference_limits, interval.low, interval.high, difference)
        if noise:
            reason += f"; {OF_THE_ENGINE if self.asked >= 1 else ALSO_OF_THE_ENGINE}"
        return replace(
            plain,
            low=low_end,
            high=high_end,
            p=None if exact else interval.p,
            verdict=conclusion,
            why=reason,
            detectable=None if exact else interval.detectable,
            needed=self._estimate_sessions(own, at, interval, info, certain=certain),
        )

    def _new_interval(self, own: _Own, at: int) -> tuple[float | None, float | None]:
        """Return the interval of new's own figure, for gates about it; (None, None) if it has none."""
        info = own.infos[at]
        if info.span is None:
            return (float(own.new[at]),) * 2 if self.asked >= 1 and not self.of_new.differed else (None, None)
        if own.strata:
            # The report of new has the interval of a figure over weighted sessions.
            return None, None
        noise = wavers(self.of_new, float(own.observed[at])) if self.of_new.differed else None
        columns = slice(4 * at + 2, 4 * at + 4)
        products = own.by_session[columns, columns]
        return figure(own.total[at, 2:], products, float(own.observed[at]), self.asked, info.limits, noise)

    def _state(self, *, certain: bool, noisy: bool) -> State:
        if noisy or self.repeats.differed:
            return "noisy"
        if self.asked < 1:
            return "sampled"
        return "exact" if certain else "partial"

    def _exact_reason(self, difference: Difference) -> str:
        reason = "exact: every session was asked"
        if difference.sign is None or self.repeats.whole:
            return reason
        return f"{reason}; {_signs(difference)}"

    def _why(
        self, conclusion: Verdict, interval: Interval, info: MetricInfo, difference: Difference, *, certain: bool
    ) -> str:
        reason = why(conclusion, interval, info)
        if certain or self.asked < 1 or conclusion is Verdict.NOT_COMPARABLE:
            return reason
        asked = f"{self.repeats.differed:,} of {self.repeats.asked:,} sessions asked twice were answered differently"
        if not self.repeats.checked:
            asked = "nothing was asked twice"
        elif not self.repeats.differed:
            asked = f"only {self.repeats.asked:,} sessions were asked twice; --repeat 2 asks all"
        signs = f"{_signs(difference)}; " if difference.sign is not None else ""
        return f"{reason}; {signs}every session was asked, and the interval holds what an engine may vary by: {asked}"

    def _estimate_sessions(
        self, own: _Own, at: int, interval: Interval, info: MetricInfo, *, certain: bool
    ) -> int | None:
        """Return about how many sessions of the whole project, of all filters, show one point four times out of
        five."""
        if info.span is None or not own.observed[at]:
            return None
        spread = own.spread(np.zeros(len(own.infos)))
        # The number of standard errors from the difference to the end of this comparison's interval.
        reach = (interval.high - interval.low) / 2
        seen = interval.detectable - reach
        errors = reach / seen * FOUR_OF_FIVE if seen > 0 else NORMAL.inv_cdf(1 - 0.025)
        observed = float(own.observed[at])
        needed = ((errors + FOUR_OF_FIVE) / POINT * float(spread.error[at])) ** 2 * observed
        if certain and not own.noise.variance[at]:
            # A finite population needs fewer: n / (1 + n / N).
            needed /= 1 + needed * self.asked / observed
        return int(np.ceil(needed * max(self.pairs, observed) / observed))

    def _elsewhere(
        self, rows: Floats, infos: Sequence[MetricInfo], family: Sequence[int], tests: int = 1
    ) -> list[Elsewhere]:
        sample = elsewhere(rows)
        enough = (sample.effective >= FEWEST) & np.isfinite(sample.spread.error)
        intervals: dict[int, Interval] = dict(enumerate(singly(sample.spread, tests)))
        together = [index for index in family if enough[index]]
        intervals |= dict(zip(together, joint(sample.spread, together) if together else [], strict=True))
        return [
            self._judge_code(
                info, intervals[index], float(sample.spread.difference[index]), float(sample.effective[index])
            )
            if enough[index] and not self.unjudged
            else Elsewhere(
                verdict=Verdict.NOT_SHOWN if info.better != "neither" else Verdict.NOT_COMPARABLE,
                why=self.unjudged or too_few(float(sample.effective[index]), self.kind),
                effective=float(sample.effective[index]),
            )
            for index, info in enumerate(infos)
        ]

    def _judge_code(self, info: MetricInfo, interval: Interval, difference: float, effective: float) -> Elsewhere:
        conclusion = verdict(interval, difference, info.unit, info.better, stretch=STRETCH)
        reason = why(conclusion, interval, info, STRETCH)
        if conclusion is Verdict.EQUIVALENT and effective < FEWEST_ALIKE:
            conclusion = Verdict.NOT_SHOWN
            reason += f", but that takes {FEWEST_ALIKE} effective {self.kind}; there are {effective:.0f}"
        elif conclusion is Verdict.EQUIVALENT:
            reason += f"; what sits in fewer than {3 / effective:.1%} of such files may be there unseen"
        low, high = within(info.difference_limits, interval.low, interval.high, difference)
        return Elsewhere(
            low=low,
            high=high,
            p=interval.p,
            verdict=conclusion,
            why=reason,
            effective=effective,
            detectable=interval.detectable,
        )

    def parts(self, chosen: Sequence[tuple[tuple[str, str], PartSums]], leading: int) -> Iterator[Subset]:
        """Yield the difference of the leading metric in each part, for this project alone. The parts of one dimension
        are adjusted for their number (Bonferroni)."""
        metric = self.metrics[leading]
        # `chosen` comes dimension by dimension, as groupby needs it.
        for dimension, group in groupby(chosen, key=lambda part: part[0][0]):
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
        if metric.timed or not np.all(sums.total[0, [1, 3]] > 0):
            reason = NOT_IN_TURNS if metric.timed else NO_FIGURE
            return Difference(base=None, new=None, difference=None, why=reason)
        (difference,) = dataclasses.replace(self, metrics=[metric])._here(sums, [0], [], tests)
        return difference


def _signs(difference: Difference) -> str:
    moved = f"{difference.better or 0:,} better, {difference.worse or 0:,} worse"
    return f"{moved}, sign test p = {difference.sign:.2g}" if difference.sign is not None else moved


def why(said: Verdict, interval: Interval, info: MetricInfo, stretch: float = 1.0) -> str:
    """Return the reason for a verdict, as reports show it."""
    size = MARGINS.get(info.unit, 0.0)
    margin = change(size, info.unit).lstrip("+")
    side = "above" if interval.low > 0 else "below"
    if said is Verdict.NOT_COMPARABLE:
        return f"no value of {info.name} is better than another"
    if said in {Verdict.BETTER, Verdict.WORSE}:
        return f"the whole interval is {side} 0"
    inside = "an interval 1.5 times as wide" if stretch > 1 else "the whole interval"
    if said is Verdict.EQUIVALENT:
        return f"{inside} is inside ±{margin}"
    if interval.low > 0 or interval.high < 0:
        return f"the whole interval is {side} 0, but the difference is too small to matter"
    if -size < interval.low and interval.high < size:
        return f"the interval holds 0, and {inside} is not inside ±{margin}"
    return f"the interval holds 0 and reaches beyond ±{margin}"


def too_few(effective: float, kind: str) -> str:
    """Return the reason why there is no verdict on other code. `effective`: the effective number of clusters."""
    singular = kind.partition(" ")[0].removesuffix("s")
    return (
        f"not enough {kind} to generalise: {effective:.0f} effective {kind} of the {FEWEST} needed; with fewer, a "
        f"change in one {singular} of twenty may be missed"
    )
