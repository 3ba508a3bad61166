"""The job `site`: it builds a static site of the trends in the histories of evaluations."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path

from ci_eval.core import compare as stage
from ci_eval.core import machine
from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.catalogs import metrics
from ci_eval.core.model import Line, Lines, pick
from ci_eval.core.model.units import TRENDS
from ci_eval.jobs.pipeline import Done
from ci_eval.rendering import plaintext, reporters
from ci_eval.rendering.figures import headline
from ci_eval.rendering.htmlpages import page_name

MOST_LINES = 1_000
"""The maximum number of evaluations of a site. A job matrix at GitHub has at most 256."""
MOST_NIGHTS = 1_000
"""The maximum number of nights of an evaluation, nearly three years. Older nights are not shown."""


def site(folders: Sequence[Path], *, output: Path) -> Done[Lines]:
    """Write the site. Raises WorkspaceError if a folder is not a valid history, or if `output` is not empty."""
    figures: dict[tuple[str, ...], dict[str, stage.Figures]] = {}
    histories: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise WorkspaceError(f"there is no folder {folder}: give folders that `ci-eval compare --history` writes")
        # Histories come from artifacts, and a link in one could lead to any file of this machine.
        stored.refuse_links(folder)
        manifests = {path.parent for path in folder.glob("*/manifest.json")}
        below = {path.parent for path in folder.glob("*/*.json")} - manifests
        histories += [folder] if any(folder.glob("*.json")) else sorted(below) or [folder]
    for history in histories:
        past = stage.read(history)
        if past.damaged:
            # This is an error, not a warning: the folder may have come from an artifact, and the site is public.
            raise WorkspaceError(past.damaged[0])
        # The name is cleaned: the folder may have come from an artifact, and pages show its name.
        name = plaintext.line(history.resolve().name)
        # A history is empty before the first night.
        if not past.evaluations and any(history.iterdir()):
            raise WorkspaceError(f"{history} holds no history: give folders that `ci-eval compare --history` writes")
        for evaluation in past.evaluations:
            # An evaluation that several histories hold counts once.
            figures.setdefault((name, *evaluation.series), {})[evaluation.started] = evaluation
    if len(figures) > MOST_LINES:
        raise WorkspaceError(
            f"there are {len(figures):,} evaluations, and a site has {MOST_LINES:,}: give fewer folders"
        )
    lines = []
    for key, nights in figures.items():
        shown = [nights[night] for night in sorted(nights, key=machine.seconds)][-MOST_NIGHTS:]
        newest = shown[-1]
        leading = [night.filters[newest.headline] for night in shown if newest.headline in night.filters]
        known = {name for figures in leading for name, metric in figures.metrics.items() if metric.value is not None}
        infos = metrics.among(known)
        first = newest.declared or [info.name for info in headline(infos.values())]
        chosen = [infos[name] for name in dict.fromkeys((*first, *TRENDS)) if name in infos]
        line = Line(
            name=key[0],
            page=page_name("/".join((*key[1:], key[0]))),
            **pick(newest, "language", "completion_type", "client"),
            trend=stage.trend(shown, newest, chosen, newest.seed),
        )
        of = line.trend.nights[-1]
        key_of_line = (line.language, of.engine.name, line.completion_type, of.project.name, line.name, line.page)
        lines.append((key_of_line, line))
    ordered = tuple(line for _, line in sorted(lines, key=itemgetter(0)))
    target = atomic.empty_folder(output)
    result = Lines(lines=ordered)
    return Done(folder=target, result=result, reports=reporters.write(result, None, target))
