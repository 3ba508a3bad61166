"""The comparison of two evaluated suites: one for each project that is in both, and one verdict over all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import strftime

from ci_eval.ci import Screen
from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import CiEvalError, WorkspaceError
from ci_eval.core.config.view import UNCHANGED, View
from ci_eval.core.model import Suite
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import compare as compare_job
from ci_eval.jobs.suites.suite import Suited, tabulate_comparisons, written

NAME = "suite.json"


def is_suite(folder: Path) -> bool:
    """Return whether the folder holds an evaluated or compared suite."""
    # A workspace is never taken for a suite.
    return (folder / NAME).is_file() and not (folder / "manifest.json").exists()


def compare_suites(
    base: Path,
    new: Path,
    *,
    gates: Sequence[str],
    output: Path | None,
    user: str | None,
    first_night: bool = False,
    view: View = UNCHANGED,
    screen: Screen,
) -> Suited:
    """Compare the projects that both suites have, and write the table of all.

    Gates were not judged for a project in one suite alone: that is a failure, unless it is the `first_night` of a
    project in `new`. Raises WorkspaceError if a suite holds no evaluations, or if no project is in both; else as
    `compare` of one project does.
    """
    mine, theirs = _workspaces(base), _workspaces(new)
    both = [spec for spec in mine if spec in theirs]
    if not both:
        raise WorkspaceError(
            f"no project is in both suites: {base} has {', '.join(mine)}; {new} has {', '.join(theirs)}. Projects "
            "are the same where `projects` names them alike, versions included"
        )
    alone = {base: sorted(mine.keys() - theirs.keys()), new: sorted(theirs.keys() - mine.keys())}
    for side, missing in alone.items():
        if missing:
            screen.warn(f"left out, since they are in {side} alone: {', '.join(missing)}")
    unjudged = alone[base] + ([] if first_night else alone[new])
    folder = atomic.empty_folder(output or Path("ci-eval-comparison") / strftime("%Y-%m-%d_%H-%M-%S"))
    done = {}
    for number, spec in enumerate(both, 1):
        screen.say(f"Project {number} of {len(both)}: {spec}")
        sides = (mine[spec], theirs[spec])
        project_folder = folder / theirs[spec].name
        done[project_folder.name] = compare_job.compare(
            sides, gates=gates, output=project_folder, history=None, user=user, view=view, screen=screen
        )
    troubles: list[CiEvalError | None] = [outcome.trouble for outcome in done.values()]
    comparisons = {name: outcome.comparisons[0].comparison for name, outcome in done.items()}
    table = tabulate_comparisons(comparisons, troubles)
    if unjudged and any(comparison.gates for comparison in comparisons.values()):
        rules = [gate.rule for gate in next(iter(comparisons.values())).gates]
        why = f"one suite lacks {', '.join(unjudged)}"
        troubles.append(compare_job.unjudged_error(rules, why, "evaluate these in both, or remove them from both"))
    return written(table, folder, troubles)


def _workspaces(folder: Path) -> dict[str, Path]:
    """Return the workspace of each project, by the project's spec."""
    path = folder / NAME
    suite = stored.decode_json(stored.read(path, stored.FIGURES), Suite, path)
    if suite.compared:
        raise WorkspaceError(f"{folder} holds comparisons: give suites that `ci-eval evaluate` made")
    try:
        # Somebody else may have written the file, and a path in it could lead out of the folder.
        workspaces = {project.project.spec: folder / stored.inside(project.folder) for project in suite.projects}
    except ValueError as error:
        raise WorkspaceError(f"{path} is damaged: {error}; evaluate again") from error
    for workspace in workspaces.values():
        Workspace.open(workspace)
    return workspaces
