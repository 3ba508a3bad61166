"""Judge differences from sums over sessions: for this project, and for other code like this project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from ci_eval.core.compare.resources import NO_FIGURE, NOT_IN_TURNS
from ci_eval.core.compare.sums import FilterSums, Sums
from ci_eval.core.contracts import Metric
from ci_eval.core.model import Difference, Elsewhere, MetricInfo, Subset, Verdict
from ci_eval.core.model.units import change
from ci_eval.core.statistics.clustered import FEWEST_ALIKE, STRETCH, estimate_other_code, jackknife
from ci_eval.core.statistics.detection import MOST_NEEDED, POINT, Pilot
from ci_eval.core.statistics.nonparametric import sign_test
from ci_eval.core.statistics.paired import MARGINS, Interval, Spread, clip_interval, make_intervals, verdict
from ci_eval.core.statistics.repeated import DETERMINISTIC, RULE_OF_THREE, NoiseVariance, Repeats, SecondQuestions
from ci_eval.core.statistics.sampled import (
    FEWEST_OBSERVED,
    FEWEST_RANKS,
    estimate_project,
    figure,
    influence,
    largest_gains,
)
from ci_eval.core.statistics.stats import tell_state
from ci_eval.core.statistics.student import Floats
from ci_eval.core.statistics.timing import FLOOR, estimate_quantile

FEWEST_RANKS_ALIKE = 1_000
"""An unbounded figure, such as the mean rank, needs at least this many sessions to be called equivalent."""
FEWEST_CHANGES = 12
"""An unbounded figure has an interval only if the effective number of changed sessions is at least this."""
FEWEST_FILES, FEWEST_SESSIONS = 3, 8
"""If engines were asked once, a verdict needs this many changed files and sessions: a crash may change a few."""
MOST_PARTS, FEWEST_IN_PART = 20, 20
"""At most this many parts of a dimension get a verdict, and each part has at least this many sessions."""
MOST_FILES = 1000
OF_THE_ENGINE = "every session was asked: the interval is of answers that differ from round to round"
ALSO_OF_THE_ENGINE = "the interval also covers answers that differ from round to round"


def estimate_noise(sums: Sums, places: Sequence[int]) -> NoiseVariance:
    wide = influence(sums.total[list(places)])
    weights = np.array([wide[4 * at : 4 * at + 4, at] for at in range(len(places))])
    return NoiseVariance.of([side.variance(weights, places) for side in sums.wavering])


class _Selection:
    """The sums of the figures at `places`."""

    def __init__(
        self, sums: Sums, places: Sequence[int], infos: Sequence[MetricInfo], asked: float, repeats: Repeats
    ) -> None:
        at, columns = list(places), [4 * index + column for index in places for column in range(4)]
        self.infos = infos
        self.total, self.observed, self.moved = sums.total[at], sums.observed[at], sums.moved[at]
        self.changes, self.changed_files, self.fourths = sums.changes[at], sums.changed_files[at], sums.fourths[at]
        self.base, self.new = self.total[:, 0] / self.total[:, 1], self.total[:, 2] / self.total[:, 3]
        self.noise = estimate_noise(sums, at)
        self.rows = np.stack(sums.rows)[:, at]
        """The sums of each file (files x figures x 4)."""
        self.weighted = bool(sums.sample)
        self.asked = asked if sums.asked is None or not asked else sums.asked
        """The asked share of sessions; 0 if answers depend on random draws, whose number has no limit."""
        # A single file cannot show how answers vary between files, so sessions are assumed to vary independently.
        self.endless = not self.asked or (not repeats.whole and len(sums.rows) == 1)
        """True if the asked sessions count as a sample of infinitely many."""
        products, sizes = sums.pool(finite=not self.endless)
        self.products, self.sizes = products[np.ix_(columns, columns)], sizes[at]

    def spread(self, repeats: Repeats) -> Spread:
        changed, spans = self.changes > 0, largest_gains([info.span for info in self.infos])
        share = 0.0 if self.endless else self.asked
        center, sampling = estimate_project(self.total, self.products, self.sizes, share, spans, changed)
        if repeats.whole and self.asked > 0:
            error, df = self.noise.add_sampling(sampling)
            widen = np.where(self.noise.variance > 0, 0.0, repeats.unseen * spans)
            return Spread(self.new - self.base, center, error, df, widen)
        between, files = jackknife(self.rows)
        error = np.sqrt(np.fmax(sampling, between))
        # If none of n answers differs between base and new, at most a share of 3/n may differ (rule of three).
        widen = np.where(changed, 0.0, RULE_OF_THREE * spans / np.maximum(self.observed, 1))
        return Spread(self.new - self.base, center, error, np.maximum(np.nan_to_num(files) - 1, 1), widen)

    def too_few(self, at: int) -> str:
        """Return why a figure has no interval; "" if it has one. An unbounded figure needs more sessions."""
        if self.observed[at] < FEWEST_OBSERVED:
            return f"an interval takes {FEWEST_OBSERVED} sessions; there are {self.observed[at]:,.0f}"
        if self.infos[at].span is not None:
            return ""
        if self.observed[at] < FEWEST_RANKS:
            return f"too few sessions for a figure without a bound: {self.observed[at]:,.0f}, {FEWEST_RANKS:,} needed"
        weights = influence(self.total[[at]])[:, 0]
        block = self.products[4 * at : 4 * at + 4, 4 * at : 4 * at + 4]
        squares = float(weights @ block @ weights) * float(self.total[at, 1]) ** 2
        effective = squares**2 / self.fourths[at] if self.fourths[at] else 0.0
        if effective >= FEWEST_CHANGES:
            return ""
        return f"a few sessions decide: all changes count as {effective:.0f} equal ones, {FEWEST_CHANGES} needed"

    def changed_too_little(self, at: int, repeats: Repeats, compared_files: int) -> str:
        # If second answers were all alike, a project of one or two files does not need three changed files.
        few_files = compared_files if repeats.asked >= FEWEST_SESSIONS and not repeats.differed else FEWEST_FILES
        if self.changed_files[at] >= min(FEWEST_FILES, few_files) and self.changes[at] >= FEWEST_SESSIONS:
            return ""
        files = f"{self.changed_files[at]:,.0f} file{'' if self.changed_files[at] == 1 else 's'}"
        return (
            f"{self.changes[at]:,.0f} sessions in {files} changed, too few to rule out that answers vary "
            f"({FEWEST_SESSIONS} in {FEWEST_FILES} files needed): --repeat 2 shows whether they do"
        )


class Judge(msgspec.Struct, frozen=True):
    """Gives differences their verdicts.

    `asked`: the share of all sessions that was asked. `kind`: the sampling unit of other code, such as "files".
    `of_new`: like `repeats`, but of new's engine alone. `pairs`: how many of the `population` of sessions are compared.
    `unjudged`: why nothing is judged, or "". `processors`: why CPU times are not judged, or "".
    """

    metrics: Sequence[Metric]
    asked: float
    kind: str = "files"
    repeats: Repeats = DETERMINISTIC
    pairs: int = 0
    population: int | None = None
    of_new: Repeats = DETERMINISTIC
    again: SecondQuestions = msgspec.field(default_factory=SecondQuestions)
    unjudged: str = ""
    processors: str = ""
    files: int = FEWEST_FILES
    """The number of the project's compared files."""

    def filter(self, sums: FilterSums) -> dict[str, Difference]:
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
            of_project = self._judge_project(sums, places)
            of_code = self._judge_other_code(sums.by_cluster[:, places], infos)
            for index, name, difference, more in zip(places, names, of_project, of_code, strict=True):
                over = "found by both" if self.metrics[index].found_by_both else ""
                differences[name] = replace(difference, elsewhere=more, over=over)
        return differences

    def _times(self, index: int, sums: FilterSums) -> Difference:
        metric = self.metrics[index]
        if not metric.timed:
            return Difference(base=None, new=None, difference=None, why=NO_FIGURE)
        if metric.timed == "cpu":
            return self._cpu(index, sums)
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

    def _cpu(self, index: int, sums: FilterSums) -> Difference:
        """Return the difference of a CPU time, judged by how much it varies between files."""
        metric = self.metrics[index]
        if metric.statistic != "ratio" or not np.all(sums.total[index, [1, 3]] > 0):
            why = NO_FIGURE if metric.statistic == "ratio" else "only means of CPU times are compared"
            return Difference(base=None, new=None, difference=None, why=why)
        own = _Selection(sums, [index], [metric.info], 0.0, self.repeats)
        between, files = jackknife(own.rows)
        degrees, center = np.maximum(np.nan_to_num(files) - 1, 1), own.new - own.base
        (interval,) = make_intervals(Spread(center, center, np.sqrt(between), degrees, np.zeros(1)))
        base, floor = float(own.base[0]), FLOOR * float(own.base[0])
        plain = Difference(
            base=base, new=float(own.new[0]), difference=float(center[0]), state="noisy", n=int(own.observed[0])
        )
        if lack := self.processors or own.too_few(0) or ("" if len(own.rows) > 1 else "an interval takes two files"):
            return replace(plain, verdict=Verdict.NOT_COMPARABLE if self.processors else Verdict.NOT_SHOWN, why=lack)
        conclusion = Verdict.EQUIVALENT if max(-interval.low, interval.high) < floor else Verdict.NOT_SHOWN
        if interval.low > floor or interval.high < -floor:
            conclusion = Verdict.WORSE if center[0] > 0 else Verdict.BETTER
        why = f"two processes of one program may differ by {FLOOR:.0%}: {change(floor, 'ms').lstrip('+')}"
        return replace(plain, low=interval.low, high=interval.high, p=interval.p, verdict=conclusion, why=why)

    def pair(self, index: int, sums: FilterSums, tests: int) -> Difference | None:
        """Return the difference of one metric; None if a side has no figure. `tests`: see `make_intervals`."""
        if not np.all(sums.total[index, [1, 3]] > 0):
            return None
        if self.metrics[index].timed:
            return self._times(index, sums)
        (of_project,) = self._judge_project(sums, [index], tests)
        # The memory layout decides the order of additions, which decides the last digits of the sums.
        rows = np.asfortranarray(sums.by_cluster[:, index])[:, None]
        (of_code,) = self._judge_other_code(rows, [self.metrics[index].info], tests)
        return replace(of_project, elsewhere=of_code)

    def _judge_project(self, sums: Sums, places: Sequence[int], tests: int = 1) -> list[Difference]:
        own = _Selection(sums, places, [self.metrics[index].info for index in places], self.asked, self.repeats)
        spread = own.spread(self.repeats)
        return [
            self._judge_figure(own, at, interval, exact=not spread.error[at] and self.repeats.alike)
            for at, interval in enumerate(make_intervals(spread, tests))
        ]

    def _judge_figure(self, own: _Selection, at: int, interval: Interval, *, exact: bool) -> Difference:
        info, base, new, noise = own.infos[at], own.base[at], own.new[at], own.noise.variance[at]
        # If no session changed, the computed difference is a rounding error.
        difference = float(new - base) if own.changes[at] else 0.0
        up, down = map(int, own.moved[at])
        better, worse = (down, up) if info.better == "lower" else (up, down)
        low, high = self._new_interval(own, at)
        plain = Difference(
            base=float(base),
            new=float(new),
            difference=difference,
            state=tell_state(self.repeats, own.asked, weighted=own.weighted),
            sign=sign_test(up, down) if own.asked >= 1 and up + down else None,
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
        reason = explain_verdict(conclusion, interval, info)
        if conclusion is Verdict.EQUIVALENT and info.span is None and not exact:
            conclusion = conclusion if own.observed[at] >= FEWEST_RANKS_ALIKE else Verdict.NOT_SHOWN
        if exact:
            reason = "exact: every session was asked"
            if self.repeats.unseen:
                reason += f", in rounds that agreed (at most {self.repeats.unseen:.2%} may differ unseen)"
        elif not self.repeats.whole:
            if conclusion in {Verdict.BETTER, Verdict.WORSE} and (
                lack := own.changed_too_little(at, self.repeats, self.files)
            ):
                conclusion, reason = Verdict.NOT_SHOWN, lack
            if own.asked >= 1 and info.better != "neither":
                signs = f", sign test p = {plain.sign:.2g}" if plain.sign is not None else ""
                signs = f"{better:,} better, {worse:,} worse{signs}; " if signs else ""
                asked, differed, again = self.repeats.asked, self.repeats.differed, "nothing was asked twice"
                if asked:
                    again = f"{differed:,} of {asked:,} sessions asked twice were answered differently"
                reason += f"; {signs}every session was asked once, and the interval covers what differs from file to "
                reason += f"file: {again}"
        low_end, high_end = clip_interval(info.difference_limits, interval.low, interval.high, difference)
        if noise:
            reason += f"; {OF_THE_ENGINE if own.asked >= 1 else ALSO_OF_THE_ENGINE}"
        return replace(
            plain,
            low=low_end,
            high=high_end,
            p=None if exact else interval.p,
            verdict=conclusion,
            why=reason,
            detectable=None if exact else interval.detectable,
            needed=self._estimate_sessions(own, at, info),
        )

    def _new_interval(self, own: _Selection, at: int) -> tuple[float | None, float | None]:
        """Return the interval of new's own figure, which absolute gates need; (None, None) if there is none."""
        info = own.infos[at]
        if info.span is None and (own.asked < 1 or not self.of_new.alike):
            return None, None
        columns = slice(4 * at + 2, 4 * at + 4)
        moved = NoiseVariance(np.zeros(1), np.full(1, np.inf)) if self.of_new.whole else None
        noise = moved or self.again.bound(own.rows[:, at, 3], info.span or 1.0)
        unseen = self.of_new.unseen if self.of_new.whole else 0.0
        total, products, size = own.total[at, 2:], own.products[columns, columns], float(own.sizes[at])
        return figure(total, products, size, own.asked, info.limits, noise, unseen=unseen)

    def _estimate_sessions(self, own: _Selection, at: int, info: MetricInfo) -> int | None:
        """Estimate how many sessions, over all filters, would show a true difference of one point; at most all of them.
        Return None if the metric has no bound, or if no session was observed."""
        observed, span = float(own.observed[at]), info.span
        if span is None or not observed:
            return None
        weights, block = influence(own.total[[at]])[:, 0], slice(4 * at, 4 * at + 4)
        square = max(float(weights @ own.products[block, block] @ weights), 0.0) * observed
        seen = abs(float(own.new[at] - own.base[at]))
        # A true difference of one point changes one session in a hundred, in addition to those that change in both
        # directions. The part of the measured difference beyond one standard error is already counted.
        square += span * (POINT - max(seen - np.sqrt(square / observed), 0))
        measured, noise = self.repeats.whole and own.asked > 0, float(own.noise.variance[at])
        between, files = (float(of[0]) for of in jackknife(own.rows[:, [at]]))
        whole = min(round(observed / own.asked), MOST_NEEDED) if own.asked else MOST_NEEDED
        enough = Pilot(
            sessions=whole,
            asked=round(observed),
            observed=observed,
            variance=max(square, POINT * span) - POINT**2,
            noise=noise if measured else np.nan_to_num(between),
            df=float(own.noise.df[at]) if measured else max(min(files, len(own.rows)) - 1, 1),
            widen=self.repeats.unseen * span if measured and not noise else 0.0,
            changes=None if measured else max(float(own.changes[at]), POINT * observed),
        ).enough(POINT, 0.8, least=1)
        return self.population if enough == whole else int(np.ceil(enough * max(self.pairs, observed) / observed))

    def _judge_other_code(self, rows: Floats, infos: Sequence[MetricInfo], tests: int = 1) -> list[Elsewhere]:
        (spread, clusters), judged = estimate_other_code(rows), []
        for index, (info, interval) in enumerate(zip(infos, make_intervals(spread, tests), strict=True)):
            effective, difference = float(clusters[index]), float(spread.difference[index])
            if self.unjudged or not np.isfinite(spread.error[index]):
                conclusion = Verdict.NOT_SHOWN if info.better != "neither" else Verdict.NOT_COMPARABLE
                reason = self.unjudged or f"a sample of one says nothing about other {self.kind}"
                judged.append(Elsewhere(verdict=conclusion, why=reason, effective=effective))
                continue
            conclusion = verdict(interval, difference, info.unit, info.better, stretch=STRETCH)
            reason = explain_verdict(conclusion, interval, info, STRETCH)
            if conclusion is Verdict.EQUIVALENT and effective < FEWEST_ALIKE:
                conclusion = Verdict.NOT_SHOWN
                reason += f", but that takes {FEWEST_ALIKE} effective {self.kind}; there are {effective:.0f}"
            elif conclusion is Verdict.EQUIVALENT:
                reason += f"; a change in fewer than {3 / effective:.1%} of such files may be missing here"
            low, high = clip_interval(info.difference_limits, interval.low, interval.high, difference)
            # No true difference is larger than the span of the metric.
            detectable = None if info.span and interval.detectable > info.span else interval.detectable
            judged.append(
                Elsewhere(
                    low=low,
                    high=high,
                    p=interval.p,
                    verdict=conclusion,
                    why=reason,
                    effective=effective,
                    detectable=detectable,
                )
            )
        return judged

    def parts(
        self, parts: Mapping[tuple[str, str], Sums], divided: Mapping[str, int], leading: int
    ) -> Iterator[Subset]:
        """Yield the largest parts of each dimension with verdicts, which are adjusted for the number of parts in the
        dimension (Bonferroni). `divided`: the number of sessions by dimension."""
        metric = self.metrics[leading]
        for dimension in sorted({dimension for dimension, _ in parts}):
            fewest, most, below = FEWEST_IN_PART, MOST_PARTS, divided[dimension]
            # A part with all sessions would repeat the headline, so it is not listed, unless it is a file.
            if dimension == "file":
                fewest, most, below = 1, MOST_FILES, divided[dimension] + 1
            same = [(key[1], sums) for key, sums in parts.items() if key[0] == dimension]
            same = [(value, sums) for value, sums in same if fewest <= sums.sessions < below]
            same = sorted(same, key=lambda part: (-part[1].sessions, part[0]))[:most]
            for value, sums in same:
                if metric.timed or not np.all(sums.total[0, [1, 3]] > 0):
                    reason = NOT_IN_TURNS if metric.timed else NO_FIGURE
                    difference = Difference(base=None, new=None, difference=None, why=reason)
                else:
                    (difference,) = replace(self, metrics=[metric])._judge_project(sums, [0], len(same))
                yield Subset(
                    dimension=dimension,
                    value=value,
                    sessions=sums.sessions,
                    files=len(sums.rows),
                    wins=sums.wins,
                    losses=sums.losses,
                    difference=difference,
                )


def explain_verdict(said: Verdict, interval: Interval, info: MetricInfo, stretch: float = 1.0) -> str:
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
        return f"it may be 0, but {inside} is not inside ±{margin}"
    return f"it may be 0, and it may be more than {margin}"
