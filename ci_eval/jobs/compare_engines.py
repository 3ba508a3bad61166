"""The job `compare-engines`: engines answer the same actions in turns, so that their times can be compared."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace
from pathlib import Path
from uuid import uuid4

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base.errors import CiEvalError, ConfigError
from ci_eval.core.config import limit_sessions
from ci_eval.core.model import FAILED
from ci_eval.core.model.comparison import Detection
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import outcome, pipeline, runs
from ci_eval.jobs.compare import Outcome, compare, slug
from ci_eval.jobs.comparison_rules import judging
from ci_eval.jobs.engine.configuring import check_same_configuration
from ci_eval.jobs.engine.sides import Side, check_same_sessions
from ci_eval.jobs.preparation import Prepared, prepare
from ci_eval.jobs.sampling import phases

ROUNDS = 3
"""The default number of rounds. With three, the median leaves out one disturbed round, and the reports can show how far
rounds differ."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    folder: Path
    outcome: Outcome | None
    """The result of the comparison; None if one of the engines failed in each session."""
    trouble: CiEvalError | None
    """The reason why the job fails although its reports are written; None if it does not."""


def compare_engines(
    sides: Sequence[Side],
    *,
    rounds: int,
    gates: Sequence[str],
    output: Path | None,
    jobs: int,
    resume: bool,
    screen: Screen,
    detect: float | None = None,
    power: float = phases.POWER,
    usual: bool = False,
    allow_conditions: bool = False,
) -> Asked:
    """Ask all sides in turns, and compare each with each. One folder gets the workspaces and `comparison`.

    `detect`: ask only as many sessions as it takes to find a difference of that size with that power, between two
    sides. `usual`: ask as many as it takes to find two points, or 1,000 if sessions cannot be sampled for that.
    `allow_conditions`: let the engines be configured differently even if nobody asked for the difference.

    Raises the errors of `evaluate` and `compare`.
    """
    check_same_sessions(sides)
    # A mistake in the gates fails before anything is asked.
    judging(sides[-1].config, gates)
    detection = _plan_detection(sides, detect, power, usual=usual)
    if usual and not detection:
        sides = [dataclass_replace(side, config=limit_sessions(side.config)) for side in sides]
    folder = runs.choose_output(sides[0].config, output)
    names = name_folders(sides)
    # All folders are checked before anything is prepared, which may take minutes.
    for name in names:
        runs.check_place(folder / name, resume=resume)
    prepared = prepare_sides(sides, screen)
    if not allow_conditions:
        # Otherwise a difference in configuration would be taken for one between the engines.
        first, *others = ((side.config, side.engine, side.sent) for side in prepared)
        for other in others:
            check_same_configuration(first, other)
    if resume:
        # The comparison is made last, from all workspaces. An interrupted run may have left half of it.
        shutil.rmtree(folder / "comparison", ignore_errors=True)
    with runs.kept(folder):
        folders = [folder / name for name in names]
        workspaces = begun(prepared, folders, rounds, jobs, resume=resume, screen=screen, detection=detection)
        asked = list(zip(workspaces, prepared, strict=True))
        if detection:
            phases.find_difference(asked, folder / "phases", detection, jobs, screen)
        else:
            pipeline.make_sessions(asked, jobs, screen)
    for workspace, side in asked:
        pipeline.make_reports(workspace, runs.with_view(side.config, workspace.folder))
    trouble = next(filter(None, (_trouble(*sided) for sided in asked)), None)
    manifests = [workspace.manifest() for workspace in workspaces]
    failed = [sum(manifest.statuses.get(status.value, 0) for status in FAILED) for manifest in manifests]
    if trouble and any(count == manifest.finished for count, manifest in zip(failed, manifests, strict=True)):
        # An engine that never answered has nothing to compare.
        return Asked(folder=folder, outcome=None, trouble=trouble)
    comparison = compare(
        folders, gates=gates, output=folder / "comparison", history=None, each_with_each=True, screen=screen
    )
    return Asked(folder=folder, outcome=comparison, trouble=trouble or comparison.trouble)


def _plan_detection(sides: Sequence[Side], detect: float | None, power: float, *, usual: bool) -> Detection | None:
    """Return the difference that decides how many sessions are asked; None if their number is fixed."""
    if detect and len(sides) > 2:
        raise ConfigError(f"--detect is about the difference of two sides, and here are {len(sides)}: leave it out")
    if usual:
        return phases.plan_usual_detection(sides[0].config) if len(sides) == 2 else None
    return phases.plan_detection(sides[0].config, detect, power) if detect else None


def name_folders(sides: Sequence[Side]) -> list[str]:
    """Return the names of the folders of the sides: base and new, or a number and the engine of each if there are
    more."""
    if len(sides) == 2:
        return ["base", "new"]
    return [f"{number:02}-{slug(side.name)}" for number, side in enumerate(sides, 1)]


def prepare_sides(sides: Sequence[Side], screen: Screen) -> list[Prepared]:
    """Return the prepared sides. The first one pins a project without a version, or of a branch, for all."""
    prepared = [prepare(sides[0].config, screen)]
    pinned = prepared[0].config.project
    for side in sides[1:]:
        own = replace(pinned, dependencies=side.config.project.dependencies)
        prepared.append(prepare(replace(side.config, project=own), screen))
    return prepared


def _trouble(workspace: Workspace, side: Prepared) -> CiEvalError | None:
    error = outcome.trouble(workspace, runs.with_view(side.config, workspace.folder))
    if error is None:
        return None
    return type(error)(f"{workspace.folder.name}, {workspace.manifest().title} ({workspace.folder}): {error}")


def begun(
    sides: Sequence[Prepared],
    folders: Sequence[Path],
    rounds: int,
    jobs: int,
    *,
    resume: bool,
    screen: Screen,
    detection: Detection | None = None,
) -> list[Workspace]:
    """Return the workspaces of the sides, with the same actions and the id of this run as `turns`."""
    begin = runs.resume if resume else runs.begin
    workspaces = [begin(side, folder, jobs) for side, folder in zip(sides, folders, strict=True)]
    for workspace in workspaces:
        phases.note_detection(workspace, detection)
    base, *others = workspaces
    known = base.manifest().revision
    if sides[0].config.engine.command and known in [new.manifest().revision for new in others]:
        # One checkout cannot have built both: where the base was built is not known.
        base.write_manifest(replace(base.manifest(), revision=""))
    # A resumed run keeps its id.
    turns = base.manifest().turns or uuid4().hex
    runs.ask_in_rounds(base, rounds, turns)
    pipeline.make_actions(base, sides[0], jobs, screen)
    for new in others:
        if "actions" not in new.manifest().stages:
            runs.take_actions(base, new)
            new.write_manifest(replace(new.manifest(), rounds=rounds, turns=turns))
        runs.ask_in_rounds(new, rounds, turns)
    return workspaces
