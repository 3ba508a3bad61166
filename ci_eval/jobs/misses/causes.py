"""The job that says what to fix first, by the stored lists of a workspace."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from ci_eval.core.base.errors import NothingToEvaluate, WorkspaceError
from ci_eval.core.catalogs import languages, reporters
from ci_eval.core.config.loading import View
from ci_eval.core.model import SessionScore
from ci_eval.core.model.causes import Causes
from ci_eval.core.report.causes import find_causes, read_ranks
from ci_eval.core.scoring import evaluated
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import runs
from ci_eval.jobs.comparison_rules import load_metrics


def list_causes(
    folder: Path, *, base: Path | None, others: Sequence[Path], output: Path | None, view: View
) -> tuple[Causes, dict[str, Path]]:
    """Find the clusters of misses, or of what is worse than in `base`, and write them. Return them, and by reporter the
    file to open first. `others`: workspaces with the same sessions. Raises WorkspaceError or NothingToEvaluate."""
    workspace = _open(folder)
    manifest, config = workspace.manifest(), runs.stored_config(workspace, view)
    if "RecallAt1" not in {metric.info.name for metric in load_metrics(config) if metric.of in manifest.figures}:
        raise NothingToEvaluate(
            f"{folder}: the task {manifest.task} has no RecallAt1, so that there are no ranks to explain"
        )
    filters = config.report_filters
    weights = [
        filters.leading.weight(session)
        for _, sessions in workspace.sessions(SessionScore)
        for session in sessions
        if evaluated(session)
    ]
    if not weights:
        raise NothingToEvaluate(f"{folder} has no session that was asked: there is no miss to explain")
    own = read_ranks(workspace)
    compared = {folder: _read_paired(folder, own, workspace.folder) for folder in (*others, *([base] if base else []))}
    causes = find_causes(
        workspace,
        languages.CATALOG.load(manifest.language) if manifest.language in languages.CATALOG.names() else None,
        (filters if any(weights) else filters.led_by_all()).leading,
        title=view.title or manifest.title,
        others=dict(compared[other] for other in others),
        base=compared[base] if base else None,
    )
    return causes, reporters.write(causes, None, output or folder / "reports")


def _open(folder: Path) -> Workspace:
    workspace = Workspace.open(folder)
    if workspace.manifest().digests:
        workspace.verify()
    return workspace


def _read_paired(folder: Path, own: Collection[str], workspace: Path) -> tuple[str, dict[str, int | None]]:
    """Return the title of another run, and its ranks. Raises WorkspaceError if it has none of the `own` sessions."""
    other = _open(folder)
    ranks = read_ranks(other)
    if ranks.keys().isdisjoint(own):
        raise WorkspaceError(
            f"{folder} has none of the sessions of {workspace}: evaluate the same project with the same seed and "
            "strategy"
        )
    return other.manifest().title, ranks
