"""Compare two workspaces session by session, and give each metric a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

import numpy as np
from msgspec.structs import asdict, replace

from ci_eval.core import model
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.catalogs import tasks
from ci_eval.core.compare.conditions import conditions, explain_draws
from ci_eval.core.compare.judging import Judge, estimate_noise
from ci_eval.core.compare.pairing import ListedChange, Pairing, explain_classes, pair
from ci_eval.core.compare.resources import compare_footprints, compare_times, is_alternating
from ci_eval.core.compare.sums import Sums
from ci_eval.core.contracts import Metric
from ci_eval.core.filters import EVERYTHING, ReportFilters
from ci_eval.core.manifest import Manifest, unlike
from ci_eval.core.scoring import FAILED_BAND, UNGRADED_BAND
from ci_eval.core.statistics.detection import Pilot, mean_square
from ci_eval.core.statistics.footprint import INFOS
from ci_eval.core.statistics.nonparametric import sign_test
from ci_eval.core.statistics.paired import FOUR_OF_FIVE, holm
from ci_eval.core.statistics.repeated import Repeats, measure_noise, noise_text
from ci_eval.core.statistics.sampled import influence, largest_gains
from ci_eval.core.statistics.student import NORMAL
from ci_eval.core.statistics.timing import estimate_quantile
from ci_eval.core.workspace import Workspace

SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
LEVEL_OF_FAILURES = 0.05

BUSY = "the machine was busy while"
EXCEPT_SETTINGS = attrgetter("engine", "project.checksum", "completion_type", "model", "dependencies", "grammar")
"""If these fields of two runs are equal, the runs differ only in the configuration sent to their engines."""


def refuse(base: Manifest, new: Manifest) -> None:
    """Raise ConfigError if the figures of two evaluations are not comparable."""
    for what, ours, theirs in unlike(base.conditions(), new.conditions()):
        raise ConfigError(
            f"not comparable: the {what} is {ours!r} in base and {theirs!r} in new; evaluate one side again with the "
            "other side's value, for example with `ci-eval interpret BASE --engine … --output NEW`"
        )


def compare(
    base: Workspace, new: Workspace, metrics: Sequence[Metric], filters: ReportFilters, declared: Sequence[str]
) -> model.Comparison:
    """Compare two evaluations; parts use the first metric of `declared`. Raises ConfigError or NothingToEvaluate."""
    ours, theirs = base.manifest(), new.manifest()
    refuse(ours, theirs)
    if sampled := next((side.folder for side in (base, new) if side.manifest().precision), None):
        raise ConfigError(
            f"{sampled} asked only as many sessions as its own figure needed (--precision), so the sessions that both "
            "sides have are not a random sample: compare runs of all sessions, or with one `interpret.sessionsLimit`"
        )
    figures = ours.figures & theirs.figures
    metrics = [metric for metric in metrics if metric.of in figures and metric.compared]
    names = [metric.info.name for metric in metrics]
    untimed = [metric.info.name for metric in metrics if not metric.timed]
    # A time gets a verdict only if both engines were asked in turns, so the default metric is not a time.
    declared = [name for name in declared if name in names] or untimed[:1]
    leading = names.index(declared[0])
    pairing = pair(base, new, metrics, filters, leading)
    if (chosen := filters.over({name: sums.sessions for name, sums in pairing.filters.items()})) != filters:
        # The headline's filter has no session. Changes and parts depend on the headline, so pairs are read again.
        filters, pairing = chosen, pair(base, new, metrics, chosen, leading)
    if not pairing.pairs:
        raise NothingToEvaluate(_why_none(ours, theirs, pairing))
    # If answers depend on random draws, whose number has no limit, the asked share counts as 0.
    asked = 0.0 if ours.draws or theirs.draws else pairing.strata.share(pairing.asked)
    repeats, why = count_repeats([ours, theirs]), explain_draws(ours, theirs) or explain_classes(base, new)
    judge = Judge(
        metrics=metrics,
        asked=asked,
        kind=ours.clusters,
        repeats=repeats,
        pairs=pairing.pairs,
        population=pairing.strata.total(pairing.asked),
        of_new=count_repeats([theirs]),
        again=pairing.again,
        unjudged=why,
        files=len(pairing.files),
        processors=_explain_processors(ours, theirs),
    )
    base_side, new_side = (
        replace(describe_side(manifest, workspace, failed.first), failures=failed.failures())
        for manifest, workspace, failed in zip((ours, theirs), (base, new), pairing.failed, strict=True)
    )
    leader = pairing.filters[filters.headline]
    quantiles = {f"{share:.0%}": [estimate_quantile(side, share) for side in leader.latencies] for share in SHARES}
    latencies = {share: (was, now) for share, (was, now) in quantiles.items() if was is not None and now is not None}
    timed = compare_times(base, new, metrics, filters.all) if is_alternating(ours, theirs) else {}
    of_run = compare_footprints(ours, theirs)
    by_filter = {name: judge.filter(sums) | timed.get(name, {}) for name, sums in pairing.filters.items()}
    # Transitions count the sessions for each pair of a band in base and a band in new.
    bands = [*(band.name for band in tasks.CATALOG.load(ours.task).bands), FAILED_BAND]
    bands += [UNGRADED_BAND] if any(UNGRADED_BAND in moved for moved in pairing.transitions) else []
    warnings = _warnings(ours, theirs, pairing)
    if timed:
        sides = (base_side, new_side)
        warnings += [f"{side.title}: {noise_text(side.noise)}" for side in sides if side.noise and side.noise.differing]
    failures = None
    if any(count.sessions for count in pairing.failed):
        failures = failure_verdict(*(count.alone for count in pairing.failed))
    by_filter, failures = mark_verdicts(by_filter, declared, filters.headline, failures)
    return model.Comparison(
        task=ours.task,
        base=base_side,
        new=new_side,
        paired=pairing.pairs,
        population=pairing.strata.total(pairing.asked),
        population_estimated=bool(ours.sampling or theirs.sampling),
        only_base=pairing.only_base,
        only_new=pairing.only_new,
        changed_text=pairing.changed_text,
        files=len(pairing.files),
        declared=tuple(declared),
        # Figures of the whole run, such as memory, have no filter and are stored under ALL.
        filters=by_filter | {EVERYTHING: by_filter[EVERYTHING] | of_run},
        counts={
            name: model.PairCounts(sessions=sums.sessions, wins=sums.wins, losses=sums.losses)
            for name, sums in pairing.filters.items()
        },
        headline=filters.headline,
        wins=leader.wins,
        losses=leader.losses,
        parts=tuple(judge.parts(pairing.parts, pairing.divided, leading)),
        transitions={before: {after: pairing.transitions[before, after] for after in bands} for before in bands},
        latencies=latencies,
        regressions=_largest_first(pairing.regressions),
        improvements=_largest_first(pairing.improvements),
        warnings=tuple(warnings),
        conditions=(differing := conditions(ours, theirs)),
        only_told=bool(differing) and EXCEPT_SETTINGS(ours) == EXCEPT_SETTINGS(theirs),
        gates=(),
        metrics=(*(metric.info for metric in metrics), *(INFOS[name] for name in of_run)),
        unseen=repeats.unseen if asked >= 1 and repeats.alike else None,
        failures=failures,
        detection=measure_detection(ours, theirs, by_filter[filters.headline]),
    )


def count_repeats(sides: Sequence[Manifest]) -> Repeats:
    return Repeats.of((side.is_function, side.rounds, side.state) for side in sides)


def _largest_first(changes: Sequence[ListedChange]) -> tuple[model.Change, ...]:
    return tuple(change for *_, change in sorted(changes, key=lambda entry: (-entry[0], entry[1])))


def describe_side(manifest: Manifest, workspace: Workspace, failed: int) -> model.Side:
    return model.Side(
        **model.pick(manifest, "title", "engine", "revision", "project", "completion_type"),
        workspace=workspace.folder.name,
        started=manifest.start,
        sessions=manifest.finished,
        failed=failed,
        noise=measure_noise(
            (session for _, sessions in workspace.sessions(model.SessionScore) for session in sessions), manifest.rounds
        ),
    )


def _explain_processors(base: Manifest, new: Manifest) -> str:
    """Return why the CPU times of two runs are not compared; "" if they are."""
    if base.processor != new.processor:
        return "the processors differ, so CPU times are not compared"
    # At load 14 on two cores, zuban took 15 to 19 % more CPU than at load 4.
    only_one = base.machine.busy != new.machine.busy
    return "only one run had a busy machine, which raises CPU times by up to a fifth" if only_one else ""


def _why_none(base: Manifest, new: Manifest, pairing: Pairing) -> str:
    alone = f"no session is on both sides ({pairing.only_base:,} only in base, {pairing.only_new:,} only in new)"
    names = (side.project.identity_name for side in (base, new))
    was, now = (repr(name) if name else "nothing" for name in names)
    folders = base.project.spec.startswith("path:") and new.project.spec.startswith("path:")
    if was != now and (folders or base.project.checksum == new.project.checksum):
        return (
            f"{alone}, since session ids depend on the project's name: {was} in base, {now} in new. Evaluate both with "
            "the same `project.name`"
        )
    if base.project.checksum != new.project.checksum:
        return (
            f"no session is on both sides: base completed {base.project.spec}, new {new.project.spec}; "
            "evaluate both on the same project"
        )
    if base.is_sample or new.is_sample:
        return (
            f"{alone}: the sides asked different samples. Evaluate both with the same "
            "`interpret.sessionProbability`, `interpret.sessionsLimit` and `interpret.seed`"
        )
    if base.ci_eval != new.ci_eval:
        return (
            f"{alone}: the runs are from ci-eval {base.ci_eval} and {new.ci_eval}, which may find different tokens. "
            "Evaluate both with the same version"
        )
    why = "were the sides made from different shards? Merge the shards of each side first (ci-eval merge)"
    for side, manifest in (("new", new), ("base", base)):
        if not manifest.finished:
            end = manifest.given_up or f"its sessions by status: {manifest.statuses or 'none was asked'}"
            why = f"{side} has no evaluated session; {end}"
    return f"{alone}, although project and strategy are the same: {why}"


def _warnings(base: Manifest, new: Manifest, pairing: Pairing) -> list[str]:
    warnings = []
    machines = [
        {"CPU": side.processor, "operating system": side.os, "Python": side.python, "workers": side.jobs}
        for side in (base, new)
    ]
    if different := [f"{what} ({ours} and {theirs})" for what, ours, theirs in unlike(*machines)]:
        warnings.append(f"latencies are not comparable: {', '.join(different)} differ")
    busy = [name for name, side in (("base", base), ("new", new)) if side.machine.busy]
    if busy and not is_alternating(base, new):
        warnings.append(f"{BUSY} {' and '.join(busy)} ran: their times measure the machine rather than the engines")
    if base.grammar != new.grammar:
        warnings.append(f"the grammars differ ({base.grammar} and {new.grammar}): some tokens are on one side only")
    if base.plugins != new.plugins:
        warnings.append("the runs were extended by different packages (see `plugins` in both manifests)")
    if pairing.weighted and base.projects:
        warnings.append(
            "the projects were asked in unequal shares: each session also counts for the sessions of its "
            "project that were not asked, and intervals are of the projects; counts and times are not weighted"
        )
    if base.model != new.model and base.completion_type == new.completion_type:
        warnings.append(f"the ranking models differ ({base.model[:12]} and {new.model[:12]})")
    if base.dependencies != new.dependencies:
        warnings.append("the engines saw different dependencies of the project")
    alone = pairing.only_base + pairing.only_new + pairing.changed_text
    if alone > pairing.pairs / 10:
        warnings.append(
            f"{alone:,} sessions have no partner: the difference is over the {pairing.pairs:,} sessions that have one"
        )
    if (failed := sum(count.sessions for count in pairing.failed)) and min(pairing.rounds) == 1:
        warnings.append(
            f"the engines failed on {failed:,} of the sessions, which count as misses; next time, other "
            "sessions may fail, which no interval includes: only repeated runs (--repeat 2) show that"
        )
    return warnings


def failure_verdict(base: int, new: int) -> model.FailureVerdict:
    """Judge failures by an exact sign test. `base`, `new`: the number of sessions on which only that engine failed."""
    p = sign_test(base, new)
    shown = model.Verdict.BETTER if new < base else model.Verdict.WORSE
    return model.FailureVerdict(verdict=shown if p < LEVEL_OF_FAILURES else model.Verdict.NOT_SHOWN, p=p)


def mark_verdicts(
    filters: Mapping[str, Mapping[str, model.Difference]],
    declared: Sequence[str],
    headline: str,
    failures: model.FailureVerdict | None = None,
) -> tuple[dict[str, dict[str, model.Difference]], model.FailureVerdict | None]:
    """Mark the verdicts on declared metrics and failures that hold after Holm's correction for the whole page."""
    p_values = [of.p for figures in filters.values() for name, of in figures.items() if name in declared]
    # Pages show verdicts on code outside this project for the headline only.
    p_values += [filters[headline][name].elsewhere.p for name in declared if name in filters[headline]]
    p_values += [failures.p] if failures else []
    level = holm([p for p in p_values if p is not None])

    def marks(of: model.Difference | model.Elsewhere | model.FailureVerdict, *, shown: bool) -> bool:
        # A difference without a p-value is exact.
        return of.verdict in {model.Verdict.BETTER, model.Verdict.WORSE} and (of.p is None or (shown and of.p <= level))

    marked: dict[str, dict[str, model.Difference]] = {}
    for part, figures in filters.items():
        marked[part] = {}
        for name, of in figures.items():
            is_shown = name in declared
            outside = replace(of.elsewhere, marked=marks(of.elsewhere, shown=is_shown and part == headline))
            marked[part][name] = replace(of, marked=marks(of, shown=is_shown), elsewhere=outside)
    return marked, failures and replace(failures, marked=marks(failures, shown=True))


def pilot(
    base: Workspace,
    new: Workspace,
    metrics: Sequence[Metric],
    filters: ReportFilters,
    metric: str,
    *,
    sessions: int,
    asked: int,
) -> Pilot | None:
    """Measure the differences of `metric` in the asked sessions. Return None if a side has no figure yet. `metrics`:
    all that are judged together. `sessions`: the number of all sessions, of which `asked` were asked."""
    by_filter = pair(base, new, metrics, filters, 0).filters
    headline = filters.over({name: sums.sessions for name, sums in by_filter.items()}).headline
    return make_pilot(by_filter[headline], metrics, metric, sessions=sessions, asked=asked)


def make_pilot(sums: Sums, metrics: Sequence[Metric], metric: str, *, sessions: int, asked: int) -> Pilot | None:
    at = next(index for index, own in enumerate(metrics) if own.info.name == metric)
    if not np.all(sums.total[at, [1, 3]] > 0):
        return None
    base_above, base_below, new_above, new_below = sums.total[at]
    count, difference = float(sums.observed[at]), float(new_above / new_below - base_above / base_below)
    weights, own = influence(sums.total[[at]])[:, 0], slice(4 * at, 4 * at + 4)
    # Differences are squared about 0, not about their mean: swapping the engines changes nothing (docs/statistics.md).
    squares = float(weights @ sums.products[own, own] @ weights) * count**2 + count * difference**2
    noise = estimate_noise(sums, [at])
    return Pilot(
        sessions=sessions,
        asked=asked,
        observed=count,
        variance=mean_square(squares, count, largest_gains([metrics[at].info.span])[0]),
        noise=float(noise.variance[0]),
        df=float(noise.df[0]),
    )


def measure_detection(base: Manifest, new: Manifest, differences: dict[str, model.Difference]) -> model.Detected | None:
    """Return the goal of the comparison, and the smallest true difference that the asked sessions can find. Return None
    if a side has no goal, if the goals differ, or if the goal's metric has no difference."""
    request = base.detection
    if request is None or request != new.detection or request.metric not in differences:
        return None
    difference, reached = differences[request.metric], None
    if difference.low is not None and difference.high is not None:
        reach, at_80_percent = (difference.high - difference.low) / 2, difference.detectable
        # `detectable` (None for an exact difference) is for a power of 80 %, and is converted to the requested power.
        beyond = NORMAL.inv_cdf(request.power) / FOUR_OF_FIVE
        reached = 0.0 if at_80_percent is None else reach + (at_80_percent - reach) * beyond
    return model.Detected(**asdict(request), reached=reached)
