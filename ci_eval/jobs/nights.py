"""The nights before this one, at GitHub: the last good evaluation, and the figures of all of them."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from ci_eval.errors import WorkspaceError
from ci_eval.jobs import pipeline
from ci_eval.stages import compare as stage
from ci_eval.support.ci import Screen
from ci_eval.support.ci.repository import Artifact, Repository
from ci_eval.workspace import Workspace

MOST_NIGHTS = 30
"""So many nights that ended before they were compared are added to the trend; older ones are not looked for."""


@dataclass(frozen=True, kw_only=True)
class Past:
    """Where the past lies now, and from which runs it is; None = there is none."""

    base: Path | None
    base_run: int | None


def past(
    repository: Repository, evaluation: str, *, base: Path, history: Path, run: int | None, screen: Screen
) -> Past:
    """The workspace of `run`, or of the newest night whose gates this evaluation kept; and the trend so far.

    A night whose other evaluations are red counts all the same. Raises DownloadError, ArchiveError, WorkspaceError.
    """
    _remember(repository, evaluation, history, screen)
    good = run or _last_good(repository, evaluation, screen)
    stored = repository.of_run(good, f"workspace-{evaluation}") if good else None
    if stored is None:
        screen.say(f"There is no good night of {evaluation} before this one: no gate can be judged")
        return Past(base=None, base_run=None)
    screen.say(f"{evaluation} is compared with run {stored.run}, of {stored.created}")
    return Past(base=repository.fetch(stored, base), base_run=stored.run)


def _last_good(repository: Repository, evaluation: str, screen: Screen) -> int | None:
    """The run of the newest mark whose workspace still exists, is whole, and has not too many failed sessions."""
    for mark in _before(repository, f"good-{evaluation}"):
        stored = repository.of_run(mark.run, f"workspace-{evaluation}")
        if stored and not (why := _trouble(repository, stored)):
            return mark.run
        screen.say(f"Run {mark.run} is no base: {why if stored else 'its workspace is gone'}")
    return None


def _trouble(repository: Repository, stored: Artifact) -> str:
    with tempfile.TemporaryDirectory() as temporary:
        workspace = Workspace.open(repository.fetch(stored, Path(temporary) / "workspace"))
        workspace.verify()
        return str(pipeline.trouble(workspace, pipeline.stored_config(workspace)) or "")


def _before(repository: Repository, name: str) -> list[Artifact]:
    """Of earlier runs of this workflow, the newest first; a run that is repeated looks at what was before it."""
    found = [each for each in repository.artifacts(name) if each.run < repository.run]
    return [each for each in found if repository.is_of_this_workflow(each)]


def _remember(repository: Repository, evaluation: str, history: Path, screen: Screen) -> None:
    """The newest history, and the nights since then that have a workspace and no history."""
    kept = next(iter(_before(repository, f"history-{evaluation}")), None)
    if kept:
        repository.fetch(kept, history)
    history.mkdir(parents=True, exist_ok=True)
    since = kept.run if kept else 0
    lost = [each for each in _before(repository, f"workspace-{evaluation}")[:MOST_NIGHTS] if each.run > since]
    for stored in reversed(lost):
        screen.say(f"Run {stored.run} ended before it was compared: its figures are added to the trend")
        with tempfile.TemporaryDirectory() as temporary:
            try:
                workspace = Workspace.open(repository.fetch(stored, Path(temporary) / "workspace"))
                for figures in stage.figures_of(workspace):
                    stage.append(history, figures)
            except WorkspaceError as error:
                # It would be in the way every night.
                screen.warn(f"run {stored.run} is not in the trend: {error}")
