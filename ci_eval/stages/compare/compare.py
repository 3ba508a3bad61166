"""Pairs two workspaces, and says of each metric what may be said."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from ci_eval.contracts import Metric
from ci_eval.errors import ConfigError, NothingToEvaluate
from ci_eval.model import Comparison, Difference, Part, SessionScore, SessionsFilter, Side
from ci_eval.stages.compare.pairing import BANDS, Paired, PartSums, Sums, pair
from ci_eval.stages.compare.turns import NOT_IN_TURNS, in_turns, times
from ci_eval.support.noise import noise_of, noise_text
from ci_eval.support.paired import (
    FEW,
    LEVEL,
    POWER,
    Finding,
    Resampling,
    benjamini_hochberg,
    holm,
    mcnemar,
    quantile_of,
    verdict,
)
from ci_eval.workspace import Manifest, Workspace, unlike

EVERYTHING = "ALL"
FLOORS = {"share": 0.001, "score": 0.001, "rank": 0.01, "ms": 0.5, "count": 0.0}
"""By unit: a smaller difference is never called one."""
MARGINS = {"share": 0.005, "score": 0.005, "rank": 0.1, "ms": 2.0, "count": 0.0}
"""By unit: equivalent is what is shown to differ by less."""
MOST_PARTS = 20
MOST_FILES = 1000
"""Of one dimension: those with the most sessions."""
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
FEWEST = 20
"""Sessions a part needs to be looked at by itself."""


def refuse(base: Manifest, new: Manifest) -> None:
    """Raises ConfigError where figures of the two would not mean the same."""
    for what, ours, theirs in unlike(base.conditions(), new.conditions()):
        raise ConfigError(
            f"not comparable: the {what} is {ours!r} in base and {theirs!r} in new; evaluate one of them again as "
            "the other, for example with `ci-eval interpret BASE --engine … --output NEW`"
        )


def compare(
    base: Workspace,
    new: Workspace,
    metrics: Sequence[Metric],
    filters: Sequence[SessionsFilter],
    declared: Sequence[str],
) -> Comparison:
    """Session by session. Raises ConfigError, NothingToEvaluate."""
    ours, theirs = base.manifest(), new.manifest()
    refuse(ours, theirs)
    metrics = [metric for metric in metrics if metric.of in {ours.unit, "either"} and metric.statistic != "count"]
    by_name = {metric.info.name: place for place, metric in enumerate(metrics)}
    declared = [name for name in declared if name in by_name] or [metrics[0].info.name]
    leading = by_name[declared[0]]
    everything = SessionsFilter(name=EVERYTHING)
    paired = pair(base, new, metrics, (everything, *filters), leading)
    if not paired.pairs:
        raise NothingToEvaluate(_why_none(ours, theirs, paired))
    warnings = _warnings(ours, theirs, paired)
    warnings += few_files(len(paired.files), len(declared))
    judge = _Judge(metrics, declared, ours.seed)
    sides = side_of(ours, base, paired.failed_base), side_of(theirs, new, paired.failed_new)
    if in_turns(ours, theirs):
        timed = times(base, new, metrics, (everything, *filters), declared)
        warnings += [f"{side.title}: {noise_text(side.noise)}" for side in sides if side.noise and side.noise.differing]
    else:
        timed = {}
    return Comparison(
        base=sides[0],
        new=sides[1],
        paired=paired.pairs,
        only_base=paired.only_base,
        only_new=paired.only_new,
        changed_text=paired.changed_text,
        files=len(paired.files),
        declared=tuple(declared),
        filters={name: judge.filter(sums) | timed.get(name, {}) for name, sums in paired.filters.items()},
        wins=paired.wins,
        losses=paired.losses,
        parts=judge.parts(paired, leading),
        transitions={before: {after: paired.transitions[before, after] for after in BANDS} for before in BANDS},
        latencies=_latencies(paired.filters[EVERYTHING]),
        regressions=tuple(change for *_, change in sorted(paired.regressions, key=lambda e: (-e[0], e[1]))),
        improvements=tuple(change for *_, change in sorted(paired.improvements, key=lambda e: (-e[0], e[1]))),
        warnings=tuple(warnings),
        gates=(),
        metrics=tuple(metric.info for metric in metrics),
    )


def _latencies(sums: Sums) -> dict[str, tuple[float, float]]:
    sides = [np.sum(side, axis=0)[None, :] for side in (sums.base_latencies, sums.new_latencies)]
    if not all(side.sum() for side in sides):
        return {}
    return {f"{share:.0%}": (quantile_of(sides[0], share)[0], quantile_of(sides[1], share)[0]) for share in SHARES}


def side_of(manifest: Manifest, workspace: Workspace, failed: int) -> Side:
    """What a reader must know of one of the evaluations."""
    return Side(
        title=manifest.title,
        workspace=workspace.folder.name,
        engine=manifest.engine,
        project=manifest.project,
        completion_type=manifest.completion_type,
        started=manifest.start,
        sessions=manifest.finished,
        failed=failed,
        noise=noise_of((each for _, of in workspace.sessions(SessionScore) for each in of), manifest.rounds),
    )


def _why_none(base: Manifest, new: Manifest, paired: Paired) -> str:
    if base.project.checksum != new.project.checksum:
        return (
            f"no session is on both sides: base completed {base.project.spec}, new {new.project.spec}; "
            "evaluate both on the same project"
        )
    return (
        f"no session is on both sides ({paired.only_base:,} only in base, {paired.only_new:,} only in new): "
        "evaluate both with the same interpret.sessionProbability, sessionsLimit and seed"
    )


def _warnings(base: Manifest, new: Manifest, paired: Paired) -> list[str]:
    """What a reader must know."""
    found = []
    different = [
        f"{what} ({ours} and {theirs})"
        for what, ours, theirs in (
            ("CPU", base.cpu, new.cpu),
            ("operating system", base.os, new.os),
            ("Python", base.python, new.python),
            ("workers", str(base.jobs), str(new.jobs)),
        )
        if ours != theirs
    ]
    if different:
        found.append(f"latencies are not comparable: {', '.join(different)} differ")
    if base.grammar != new.grammar:
        found.append(f"the grammars differ ({base.grammar} and {new.grammar}): some tokens are on one side only")
    if base.model != new.model and base.completion_type == new.completion_type:
        found.append(f"the ranking models differ ({base.model[:12]} and {new.model[:12]})")
    if base.dependencies != new.dependencies:
        found.append("the engines saw different dependencies of the project")
    alone = paired.only_base + paired.only_new + paired.changed_text
    if alone > paired.pairs / 10:
        found.append(
            f"{alone:,} sessions have no partner, {paired.pairs:,} have: the difference is one of the latter only"
        )
    return found


def few_files(files: int, tests: int) -> list[str]:
    """A warning where there are too few files for differences to be shown, each being one of so many tests (Holm)."""
    if files == 1:
        return ["only one file: its sessions are no sample, nothing is comparable, and gates on differences fail"]
    # There are 2**files ways to swap sides, and two of them are as extreme as can be.
    fewest = math.floor(math.log2(2 * tests / (1 - LEVEL))) + 1
    if files < fewest:
        return [
            f"only {files} files: no difference can be shown, and no gate on one can break; evaluate {fewest} or more"
        ]
    return [f"only {files} files: with so few, differences must be large to be shown"] if files < FEW else []


class _Judge:
    """Turns sums into findings, and findings into verdicts."""

    def __init__(self, metrics: Sequence[Metric], declared: Sequence[str], seed: int) -> None:
        self._metrics = metrics
        self._declared = frozenset(declared)
        self._seed = seed

    def filter(self, sums: Sums) -> dict[str, Difference]:
        """Every metric under one filter. Only the declared ones are adjusted for their number."""
        found = self._findings(sums)
        names = [metric.info.name for metric in self._metrics]
        chosen = [each.info.name for each in self._metrics if each.info.name in self._declared and not each.timed]
        of = dict(zip(names, found, strict=True))
        adjusted = dict(zip(chosen, holm([_p(of[name]) for name in chosen]), strict=True))
        return {
            metric.info.name: self._difference(
                metric,
                of[metric.info.name],
                adjusted.get(metric.info.name, _p(of[metric.info.name])),
                int(sums.observed[place].min()),
            )
            for place, metric in enumerate(self._metrics)
        }

    def _findings(self, sums: Sums) -> list[Finding | None]:
        """One per metric."""
        if not sums.rows:
            return [None for _ in self._metrics]
        resampling = Resampling(len(sums.rows), self._seed)
        ratios = resampling.ratios(np.stack(sums.rows))
        timed = [place for place, metric in enumerate(self._metrics) if metric.statistic == "quantile"]
        wanted = [self._metrics[place].quantile for place in timed]
        quantiles = resampling.quantiles(np.stack(sums.base_latencies), np.stack(sums.new_latencies), wanted)
        for place, finding in zip(timed, quantiles, strict=True):
            if finding and self._metrics[place].is_maximum:
                finding = replace(finding, low=None, high=None, p=None, error=None)
            ratios[place] = finding
        return ratios

    def _difference(self, metric: Metric, found: Finding | None, p: float | None, n: int) -> Difference:
        if found is None:
            return Difference(base=None, new=None, difference=None)
        info = metric.info
        if metric.timed:
            return Difference(base=found.base, new=found.new, difference=found.difference, why=NOT_IN_TURNS, n=n)
        margin = MARGINS.get(info.unit, 0.0)
        said = verdict(found, p, better=info.better, floor=FLOORS.get(info.unit, 0.0), margin=margin)
        return Difference(
            base=found.base,
            new=found.new,
            difference=found.difference,
            low=found.low,
            high=found.high,
            p=p,
            verdict=said,
            detectable=None if found.error is None else POWER * found.error,
            n=n,
        )

    def parts(self, paired: Paired, leading: int) -> tuple[Part, ...]:
        """By dimension, those with the most sessions first; adjusted over all of them (Benjamini-Hochberg)."""
        dimensions = sorted({dimension for dimension, _ in paired.parts})
        chosen = list(chain.from_iterable(_largest(paired, dimension) for dimension in dimensions))
        found = [self._part(sums) for _, sums in chosen]
        adjusted = benjamini_hochberg([_p(each) for each in found])
        return tuple(
            Part(
                dimension=dimension,
                value=value,
                sessions=sums.sessions,
                files=sums.files,
                wins=sums.wins,
                losses=sums.losses,
                by_session=mcnemar(sums.wins, sums.losses),
                difference=self._difference(self._metrics[leading], finding, p, sums.sessions),
            )
            for ((dimension, value), sums), finding, p in zip(chosen, found, adjusted, strict=True)
        )

    def _part(self, sums: PartSums) -> Finding | None:
        rows = np.zeros((len(sums.clusters), 1, 4))
        for place, row in enumerate(sums.clusters.values()):
            rows[place, 0] = row
        return Resampling(len(sums.clusters), self._seed).ratios(rows)[0]


def _p(found: Finding | None) -> float | None:
    return None if found is None else found.p


def _largest(paired: Paired, dimension: str) -> list[tuple[tuple[str, str], PartSums]]:
    """Those of a dimension that are neither too small nor the whole; of files, all that there is room for."""
    fewest, most = (1, MOST_FILES) if dimension == "file" else (FEWEST, MOST_PARTS)
    of = [
        (key, sums)
        for key, sums in paired.parts.items()
        if key[0] == dimension and fewest <= sums.sessions and (dimension == "file" or sums.sessions < paired.pairs)
    ]
    return sorted(of, key=lambda each: (-each[1].sessions, each[0]))[:most]
