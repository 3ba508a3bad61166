"""Compare start-up times and memory of any two runs, and other times only if one run asked both engines in turns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from msgspec.structs import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.contracts import Metric
from ci_eval.core.filters import ReportFilter
from ci_eval.core.manifest import Manifest
from ci_eval.core.model import Difference, Elsewhere, Estimate, MetricInfo, SessionScore, Status, Verdict
from ci_eval.core.scoring import evaluated, expect_metrics
from ci_eval.core.statistics.footprint import INFOS, figures
from ci_eval.core.statistics.paired import clip_interval
from ci_eval.core.statistics.sampled import FEWEST_OBSERVED
from ci_eval.core.statistics.timing import GROUPS, Observed, Timed, compare_timing
from ci_eval.core.workspace import Workspace

NOT_IN_TURNS = (
    "times are judged only where both engines were asked in turns (ci-eval compare-engines): a busy machine slows a "
    "whole run"
)
ONE_LOOKUP = "this is the time of a single lookup, which says nothing about others"
OF_THIS_MACHINE = "times are those of this machine and this project"
NO_FIGURE = "nothing was observed on one side"

Sides = tuple[list[Observed], list[Observed]]
"""The observations of one metric in each round: of base, then of new."""


def is_alternating(base: Manifest, new: Manifest) -> bool:
    """Return whether one run asked both engines in turns over several rounds."""
    return bool(base.turns) and base.turns == new.turns and base.rounds == new.rounds > 1


def compare_times(
    base: Workspace, new: Workspace, metrics: Sequence[Metric], filters: Sequence[ReportFilter]
) -> dict[str, dict[str, Difference]]:
    manifest = base.manifest()
    chosen = [metric for metric in metrics if metric.timed and metric.timed != "cpu"]
    rounds = range(manifest.rounds)
    seen: dict[str, list[Sides]] = {
        report_filter.name: [([Observed() for _ in rounds], [Observed() for _ in rounds]) for _ in chosen]
        for report_filter in filters
    }
    pairs, wavers = 0, False
    for source, sessions in base.sessions(SessionScore):
        if not new.has_sessions(source.path):
            continue
        theirs = {session.id: session for session in filter(evaluated, new.decode_sessions(source.path, SessionScore))}
        for session in filter(evaluated, sessions):
            if partner := theirs.get(session.id):
                pairs += 1
                wavers = wavers or session.differing > 0 or partner.differing > 0
                # Sessions are divided into random groups. A session is in the same group on both sides.
                group = int(GROUPS * draw(manifest.seed, f"{session.id} group"))
                through = [seen[report_filter.name] for report_filter in filters if report_filter.passes(session)]
                for number, side in product(rounds, (0, 1)) if through else ():
                    observed = expect_metrics(chosen, at_round(partner if side else session, number))
                    for by_metric, index in product(through, range(len(chosen))):
                        by_metric[index][side][number].add(group, list(observed[index]))
    asked = pairs / max(manifest.generated, pairs, 1)
    # Shares depend on answers, too, which are those of the first round. Those of a wavering engine are a sample.
    shares = 0.0 if wavers else asked
    # No time is declared, so a reader may pick any metric that changed: all are adjusted together (Bonferroni).
    tests = sum(not metric.is_maximum for metric in chosen)
    return {
        name: {
            metric.info.name: _compare_rounds(metric, sides, shares if metric.info.unit == "share" else asked, tests)
            for metric, sides in zip(chosen, by_metric, strict=True)
        }
        for name, by_metric in seen.items()
    }


def _compare_rounds(metric: Metric, sides: Sides, asked: float, tests: int) -> Difference:
    timing = compare_timing(metric, *sides, asked=asked, tests=tests)
    if timing is None:
        return Difference(base=None, new=None, difference=None, why=NO_FIGURE)
    base, new, outside = timing.base, timing.new, Elsewhere(why=OF_THIS_MACHINE)
    plain = Difference(base=base, new=new, difference=timing.difference, n=timing.n, elsewhere=outside)
    # A maximum is the time of a single lookup, which has no interval.
    if metric.is_maximum:
        return replace(plain, why=ONE_LOOKUP)
    if timing.n < FEWEST_OBSERVED:
        return replace(plain, why=f"an interval takes {FEWEST_OBSERVED} observations; there are {timing.n}")
    verdict, why = _judge_times(timing, metric.info, len(sides[0]))
    # The highest rank of few lookups is the slowest one's.
    if metric.statistic == "quantile" and timing.n * (1 - metric.quantile) < 1 - 1e-9:
        verdict, why = Verdict.NOT_SHOWN, ONE_LOOKUP
    low, high = clip_interval(metric.info.difference_limits, timing.low, timing.high, timing.difference)
    return replace(plain, low=low, high=high, p=timing.p, detectable=timing.detectable, verdict=verdict, why=why)


def _judge_times(timing: Timed, info: MetricInfo, rounds: int) -> tuple[Verdict, str]:
    floor = timing.floor(info.unit)
    small = f"{floor:.2g} ms" if info.unit == "ms" else f"{100 * floor:g} points"
    if -floor < timing.low and timing.high < floor:
        return Verdict.EQUIVALENT, f"a difference of {small} is ruled out by {rounds} rounds"
    if timing.low > floor or timing.high < -floor:
        better = (timing.difference > 0) == (info.better == "higher")
        return (Verdict.BETTER if better else Verdict.WORSE), f"by more than {small} in {rounds} rounds, asked in turns"
    if timing.low > 0 or timing.high < 0:
        return Verdict.NOT_SHOWN, f"the difference may be below {small}, as between processes of one program"
    return Verdict.NOT_SHOWN, f"the {rounds} rounds differ from each other by as much: more --rounds show more"


def at_round(session: SessionScore, number: int) -> SessionScore:
    """Return the session with the latencies of one round; the status is ERROR if the round lacks a lookup."""
    lookups = [
        replace(lookup, latency=latency)
        for lookup in session.lookups
        for latency in lookup.latencies[number : number + 1]
        if latency is not None
    ]
    status = Status.ERROR if len(lookups) < len(session.lookups) else session.status
    return replace(session, lookups=tuple(lookups), status=status)


OF_THIS_RUN = "measured on this machine, in this run: no sample shows how much other runs would differ"
NOT_KNOWN = "at least one side has no figure"


def compare_footprints(base: Manifest, new: Manifest) -> dict[str, Difference]:
    """Return the difference of each metric of start-up and memory that at least one side has."""
    ours, theirs = align_figures([base, new])
    both = {}
    for name, was in ours.items():
        now, n = theirs[name], min(was.n, theirs[name].n)
        difference = now.value - was.value if was.value is not None and now.value is not None else None
        outside = Elsewhere(why=NOT_KNOWN if difference is None else OF_THIS_RUN)
        both[name] = Difference(
            base=was.value, new=now.value, difference=difference, why=outside.why, n=n, elsewhere=outside
        )
    return both


def align_figures(manifests: Sequence[Manifest]) -> list[dict[str, Estimate]]:
    """Return the start-up times and memory of each run. If any run has a figure, all have it, perhaps without value."""
    footprints = [manifest.footprint for manifest in manifests]
    if not all(footprint.of_worker for footprint in footprints):
        # A worker's memory, which includes ci-eval, cannot be compared with the memory of an engine's own processes.
        footprints = [replace(footprint, memory=None) if footprint.of_worker else footprint for footprint in footprints]
    sides = [figures(footprint) for footprint in footprints]
    known = [name for name in INFOS if any(name in side for side in sides)]
    return [{name: side.get(name, Estimate(value=None)) for name in known} for side in sides]
