"""Finds earlier nightly runs at GitHub: the last good evaluation, all histories, and this week's rankers."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from ci_eval import atomic
from ci_eval.ci import Screen, limits
from ci_eval.ci.repository import Artifact, Repository
from ci_eval.errors import ConfigError, DownloadError, WorkspaceError
from ci_eval.jobs import outcome, runs
from ci_eval.manifest import Manifest, unlike
from ci_eval.stages import compare as stage
from ci_eval.workspace import Workspace

HISTORY = "history-"
MOST_NIGHTS = 30
"""Of runs that ended before they were compared, at most so many are added to the trend, the newest ones."""
MOST_BASES = 10
"""At most so many good runs are fetched to find one that tonight's can be compared with."""


@dataclass(frozen=True, kw_only=True)
class EarlierRun:
    """Where the past was put, and the runs that it is of; None: there is none."""

    base: Path | None
    base_run: int | None


def past(
    repository: Repository,
    evaluation: str,
    *,
    base: Path,
    history: Path,
    run: int | None,
    new: Path | None,
    screen: Screen,
) -> EarlierRun:
    """Fetch the base to compare with and the trend so far. The base is the workspace of `run`, or of the newest night
    in which this evaluation kept its gates.

    It does not matter whether other evaluations of that night failed. A night that `new` cannot be compared with is
    passed over: otherwise, after a change of the configuration, no night would have a base again. Raises DownloadError,
    ArchiveError, WorkspaceError.
    """
    _remember(repository, evaluation, history, screen)
    tonight = Workspace.open(new).manifest() if new else None
    good = (mark.run for mark in _before(repository, f"good-{evaluation}"))
    for number in [run] if run else islice(good, MOST_BASES):
        stored = repository.of_run(number, f"workspace-{evaluation}")
        why = _trouble(repository.fetch(stored, base), tonight) if stored else "its workspace is gone"
        if not why or (run and stored):
            screen.say(f"{evaluation} is compared with run {number}")
            return EarlierRun(base=base, base_run=number)
        screen.say(f"Run {number} is no base: {why}")
        shutil.rmtree(base, ignore_errors=True)
    screen.say(f"There is no good night of {evaluation} before this one: no gate can be judged")
    return EarlierRun(base=None, base_run=None)


def rankers(repository: Repository, names: Sequence[str], screen: Screen) -> tuple[int | None, list[str]]:
    """Return the newest run that left a ranker, and the names for which it left one; all rankers in use are of the same
    run."""
    newest = {name: next(iter(repository.artifacts(f"ranker-{name}")), None) for name in names}
    run = max((each.run for each in newest.values() if each), default=None)
    if run is None:
        screen.warn("generate-ml-logs has left no ranker yet, or all have expired: nothing is evaluated with ML")
    return run, [name for name, each in newest.items() if each and each.run == run]


def histories(repository: Repository, run: int, folder: Path, screen: Screen) -> list[str]:
    """Fetch the newest history of each evaluation into a folder of its name; returns the names.

    They are of the workflow that `run` is of; each may be of another night. Raises DownloadError, ArchiveError.
    """
    workflow_of = cache(repository.workflow_of)
    if not workflow_of(run):
        raise DownloadError(f"there is no run {run} of this repository any more: name a newer night with --run")
    atomic.make_folder(folder)
    found: dict[str, Artifact] = {}
    for artifact in repository.artifacts():
        name = limits.name(artifact.name.removeprefix(HISTORY))
        if artifact.name.startswith(HISTORY) and name not in found and workflow_of(artifact.run) == workflow_of(run):
            found[name] = artifact
    for name, each in sorted(found.items()):
        screen.say(f"{name}: nights up to run {each.run}")
        repository.fetch(each, folder / name)
    return sorted(found)


def _trouble(folder: Path, tonight: Manifest | None) -> str:
    """Why a workspace is no good as a base: too many sessions failed, or it cannot be compared with tonight's; "" if it
    is good.

    Raises WorkspaceError if it is damaged.
    """
    workspace = Workspace.open(folder)
    workspace.verify()
    if tonight:
        for what, was, now in unlike(workspace.manifest().conditions(), tonight.conditions()):
            return f"its {what} is {was or 'none'}, and tonight's {now or 'none'}"
    return str(outcome.trouble(workspace, runs.stored_config(workspace)) or "")


def _before(repository: Repository, name: str, since: int = 0) -> Iterator[Artifact]:
    """Yield the artifacts of that name of earlier runs of this workflow, the newest first; a run that is repeated only
    looks at what was before it.

    Which workflow each is of is asked one by one, as they are needed: GitHub limits the number of requests.
    """
    for artifact in repository.artifacts(name):
        if since < artifact.run < repository.run and repository.is_of_this_workflow(artifact):
            yield artifact


def _remember(repository: Repository, evaluation: str, history: Path, screen: Screen) -> None:
    """Put together the newest history and the nights since then that left a workspace, but no history."""
    kept = next(_before(repository, f"{HISTORY}{evaluation}"), None)
    if kept:
        repository.fetch(kept, history)
    history.mkdir(parents=True, exist_ok=True)
    lost = _before(repository, f"workspace-{evaluation}", since=kept.run if kept else 0)
    for stored in islice(lost, MOST_NIGHTS):
        screen.say(f"Run {stored.run} ended before it was compared: its figures are added to the trend")
        with tempfile.TemporaryDirectory() as temporary:
            try:
                workspace = Workspace.open(repository.fetch(stored, Path(temporary) / "workspace"))
                declared = runs.stored_config(workspace).declared
                for figures in stage.figures_of(workspace):
                    stage.append(history, figures, declared=declared, run=repository.page_of_run(stored.run))
            except (ConfigError, WorkspaceError) as error:
                # It would cause the same trouble every night, so it is left out with a warning.
                screen.warn(f"run {stored.run} is not in the trend: {error}")
