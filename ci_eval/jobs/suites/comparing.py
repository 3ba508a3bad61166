"""Two suites that were evaluated: a comparison for each project that both have, and one verdict over all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import strftime

from ci_eval import atomic, stored
from ci_eval.ci import Screen
from ci_eval.errors import WorkspaceError
from ci_eval.jobs import compare as compare_job
from ci_eval.jobs.suites.suite import Suited, compared, written
from ci_eval.model import Suite
from ci_eval.workspace import Workspace

NAME = "suite.json"


def is_suite(folder: Path) -> bool:
    """Whether a suite was evaluated, or compared, there."""
    return (folder / NAME).is_file() and not (folder / "manifest.json").exists()


def compare_suites(
    base: Path, new: Path, *, gates: Sequence[str], output: Path | None, user: str | None, screen: Screen
) -> Suited:
    """Compare the projects that both suites have, and write the table of all. Raises WorkspaceError if a suite is none
    of evaluations, or none of the projects is in both; else as `compare` of one project does."""
    mine, theirs = _workspaces(base), _workspaces(new)
    both = [spec for spec in mine if spec in theirs]
    if not both:
        raise WorkspaceError(
            f"no project is in both suites: {base} has {', '.join(mine)}; {new} has {', '.join(theirs)}. Projects "
            "are the same where `projects` names them alike, versions included"
        )
    for side, left in ((base, mine.keys() - theirs.keys()), (new, theirs.keys() - mine.keys())):
        if left:
            screen.warn(f"left out, since they are in {side} alone: {', '.join(sorted(left))}")
    folder = atomic.empty_folder(output or Path("ci-eval-comparison") / strftime("%Y-%m-%d_%H-%M-%S"))
    done = {}
    for number, spec in enumerate(both, 1):
        screen.say(f"Project {number} of {len(both)}: {spec}")
        sides = (mine[spec], theirs[spec])
        where = folder / theirs[spec].name
        done[where.name] = compare_job.compare(sides, gates=gates, output=where, history=None, user=user, screen=screen)
    troubles = [each.trouble for each in done.values()]
    found = {name: each.comparisons[0].comparison for name, each in done.items()}
    return written(compared(found, troubles), folder, troubles)


def _workspaces(folder: Path) -> dict[str, Path]:
    """Spec of each project → its workspace."""
    path = folder / NAME
    suite = stored.decoded(stored.read(path, stored.FIGURES), Suite, path)
    if suite.compared:
        raise WorkspaceError(f"{folder} holds comparisons: give suites that `ci-eval evaluate` made")
    try:
        found = {project.project.spec: folder / stored.inside(project.folder) for project in suite.projects}
    except ValueError as error:
        raise WorkspaceError(f"{path} is damaged: {error}; evaluate again") from error
    for each in found.values():
        Workspace.open(each)
    return found
