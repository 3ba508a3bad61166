"""The best run of a sweep, chosen in one half of the files, with its figures in the other half."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ci_eval.core.base.chance import draw
from ci_eval.core.catalogs import metrics
from ci_eval.core.config import Config
from ci_eval.core.filters import EVERYTHING, ReportFilter, ReportFilters
from ci_eval.core.model import Evaluation, FilterFigures, HeldOut, MetricInfo
from ci_eval.core.report.report import evaluate
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.comparison_rules import load_metrics
from ci_eval.jobs.evaluate import Evaluated

CHOOSING, HELD_OUT = "choosing", "held out"


def split_files(paths: Sequence[str], seed: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return a random half of the files, the larger one if their number is odd, and the others."""
    ordered = sorted(paths, key=lambda path: (draw(seed, f"hold out {path}"), path))
    half = (len(ordered) + 1) // 2
    return frozenset(ordered[:half]), frozenset(ordered[half:])


def hold_out(done: Sequence[Evaluated], config: Config, infos: Mapping[str, MetricInfo]) -> HeldOut | None:
    """Return the run that is best in one half of the files, with its figures in the other half; None if all sessions
    are in one file, or no run has a figure.

    The first of the `infos` (metrics by name) decides. Sessions are those of the filter that leads the first run.
    """
    first = done[0].evaluation
    paths = list(first.filters[first.headline].files)
    if len(paths) < 2:
        return None
    choosing, others = split_files(paths, config.interpret.seed)
    leading = next(part for part in config.report_filters.all if part.name == first.headline)
    parts = (
        replace(leading, name=CHOOSING, files=choosing, detailed=False),
        replace(leading, name=HELD_OUT, files=others, detailed=False),
    )
    sides = [_evaluate_parts(run, config, infos, parts) for run in done]
    metric = next(iter(infos.values()))
    sign = -1 if metric.better == "lower" else 1
    figures = [before.metrics[metric.name].value for before, _ in sides]
    known = [(sign * figure, -number) for number, figure in enumerate(figures) if figure is not None]
    if not known:
        return None
    # Of equally good runs, the first one is chosen.
    winner = -max(known)[1]
    return HeldOut(
        metric=metric.name,
        winner=winner,
        choosing=tuple(figures),
        choosing_files=len(choosing),
        files=len(others),
        sessions=sides[winner][1].sessions,
        figures=sides[winner][1].metrics,
        first=sides[0][1].metrics,
    )


def _evaluate_parts(
    run: Evaluated, config: Config, infos: Mapping[str, MetricInfo], parts: tuple[ReportFilter, ReportFilter]
) -> tuple[FilterFigures, FilterFigures]:
    declared = [metric for metric in load_metrics(config) if metric.info.name in infos]
    filters = ReportFilters(all=(ReportFilter(name=EVERYTHING, detailed=False), *parts), headline=EVERYTHING)
    evaluation: Evaluation = evaluate(Workspace(run.folder), declared, filters, metrics.select_metrics)
    return evaluation.filters[CHOOSING], evaluation.filters[HELD_OUT]
