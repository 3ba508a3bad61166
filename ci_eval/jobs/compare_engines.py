"""The job `compare-engines`: two engines answer the same actions in turns, so that their times can be compared."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base.errors import CiEvalError
from ci_eval.core.config import Config, limit_sessions, patch, set_engine_command
from ci_eval.core.model import FAILED
from ci_eval.core.model.detection import Detection
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import outcome, pipeline, runs
from ci_eval.jobs.compare import Outcome, compare
from ci_eval.jobs.comparison_rules import judging, load_metrics
from ci_eval.jobs.engine.configuring import check_same_configuration
from ci_eval.jobs.preparation import Prepared, prepare
from ci_eval.jobs.sampling import detecting

ROUNDS = 3
"""The default number of rounds. With three, the median leaves out one disturbed round, and the reports can show how far
rounds differ."""
TIMES = ("LatencyPercentile50", "LatencyPercentile95")
"""The metrics that are judged beside those of the configuration, if it names none that depends on times."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The result of the job."""

    folder: Path
    outcome: Outcome | None
    """The result of the comparison; None if one of the engines failed in each session."""
    trouble: CiEvalError | None
    """The reason why the job fails although its reports are written; None if it does not."""


def compare_engines(
    config: Config,
    engines: Sequence[str],
    *,
    rounds: int,
    gates: Sequence[str],
    output: Path | None,
    jobs: int,
    resume: bool,
    screen: Screen,
    detect: float | None = None,
    power: float = detecting.POWER,
    usual: bool = False,
    like: str | None = None,
    allow_conditions: bool = False,
) -> Asked:
    """Ask base and new in turns, and compare them. One folder gets the workspaces `base` and `new`, and `comparison`.

    `engines`: each a NAME[@VERSION], or the command of a language server. `detect`: ask only as many sessions as it
    takes to find a difference of that size with that power. `usual`: ask as many as it takes to find two points, or
    1,000 if sessions cannot be sampled for that. `like`: the named engine that commands are like. `allow_conditions`:
    let the engines be configured differently even if nobody asked for the difference.

    Raises the errors of `evaluate` and `compare`.
    """
    # A mistake in the gates fails before anything is asked.
    judging(config, gates)
    detection = detecting.plan_detection(config, detect, power) if detect else None
    if usual:
        detection = detecting.usual(config)
        config = config if detection else limit_sessions(config)
    folder = runs.choose_output(config, output)
    # Both folders are checked before anything is prepared, which may take minutes.
    for name in ("base", "new"):
        runs.check_place(folder / name, resume=resume)
    sides = [prepare(swap_engine(config, engines[0], like), screen)]
    # The first engine pins a project without a version, or of a branch, for all engines.
    config = replace(config, project=sides[0].config.project)
    sides += [prepare(swap_engine(config, engine, like), screen) for engine in engines[1:]]
    if not allow_conditions:
        # Otherwise a difference in configuration would be taken for one between the engines.
        check_same_configuration(*((side.config, side.engine, side.sent) for side in sides))
    if resume:
        # The comparison is made last, from both workspaces. An interrupted run may have left half of it.
        shutil.rmtree(folder / "comparison", ignore_errors=True)
    with runs.kept(folder):
        base, new = begun(sides, folder, rounds=rounds, jobs=jobs, resume=resume, screen=screen, detection=detection)
        asked = [(base, sides[0]), (new, sides[1])]
        if detection:
            detecting.make_sessions(asked, folder / "phases", detection, jobs, screen)
        else:
            pipeline.make_sessions(asked, jobs, screen)
    for workspace, side in zip((base, new), sides, strict=True):
        pipeline.make_reports(workspace, runs.with_view(side.config, workspace.folder))
    trouble = next(filter(None, map(_trouble, ("base", "new"), (base, new), sides)), None)
    if trouble and any(map(_has_only_failures, (base, new))):
        # An engine that never answered has nothing to compare.
        return Asked(folder=folder, outcome=None, trouble=trouble)
    comparison = compare(
        (base.folder, new.folder), gates=gates, output=folder / "comparison", history=None, screen=screen
    )
    return Asked(folder=folder, outcome=comparison, trouble=trouble or comparison.trouble)


def _trouble(name: str, workspace: Workspace, side: Prepared) -> CiEvalError | None:
    """Return why one side of the comparison counts as failed, with its name; None if it does not."""
    error = outcome.trouble(workspace, runs.with_view(side.config, workspace.folder))
    if error is None:
        return None
    return type(error)(f"{name}, {workspace.manifest().title} ({workspace.folder}): {error}")


def _has_only_failures(workspace: Workspace) -> bool:
    """Return whether the engine failed in each session that it was asked."""
    manifest = workspace.manifest()
    failed = sum(manifest.statuses.get(status.value, 0) for status in FAILED)
    return failed == manifest.finished


def swap_engine(config: Config, engine: str, like: str | None = None) -> Config:
    """Return the configuration with another engine, and with times among the metrics that are judged.

    `engine`: NAME, NAME@VERSION, or (if it has a blank or a slash) the command of a language server. `like`: the named
    engine that a command is like. Raises ConfigError.
    """
    declared = config.declared
    if not any(metric.timed for metric in load_metrics(config) if metric.info.name in declared):
        config = replace(config, comparison=replace(config.comparison, metrics=(*declared, *TIMES)))
    if not (" " in engine or "/" in engine):
        return patch(config, engine=engine)
    return set_engine_command(config, engine, like)


def begun(
    sides: Sequence[Prepared],
    folder: Path,
    *,
    rounds: int,
    jobs: int,
    resume: bool,
    screen: Screen,
    detection: Detection | None = None,
) -> tuple[Workspace, Workspace]:
    """Return the workspaces of base and new, with the same actions and the id of this run as `turns`."""
    begin = runs.resume if resume else runs.begin
    base, new = (begin(side, folder / name, jobs) for side, name in zip(sides, ("base", "new"), strict=True))
    for workspace in (base, new):
        detecting.note(workspace, detection)
    # A resumed run keeps its id.
    turns = base.manifest().turns or uuid4().hex
    runs.ask_in_rounds(base, rounds, turns)
    pipeline.make_actions(base, sides[0], jobs, screen)
    if "actions" not in new.manifest().stages:
        runs.take_actions(base, new)
        new.write_manifest(replace(new.manifest(), rounds=rounds, turns=turns))
    runs.ask_in_rounds(new, rounds, turns)
    return base, new
