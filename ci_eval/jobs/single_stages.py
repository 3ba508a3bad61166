"""The jobs that run single stages on a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.core.base.errors import CiEvalError, WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.config import Config, patch, set_engine_command
from ci_eval.core.config.view import UNCHANGED, View, change_view
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import outcome, pipeline, runs
from ci_eval.jobs import trust as trusting
from ci_eval.jobs.cluster.choosing import Choice, note
from ci_eval.jobs.comparison_rules import absolute_gates, make_gate_error
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.nights.reuse import check_reusable, note_closures, reuse_sessions
from ci_eval.jobs.preparation import prepare


def only_actions(config: Config, *, output: Path | None, jobs: int, screen: Screen) -> Path:
    """Run stage 1 into a new workspace, and return its folder."""
    folder = runs.choose_output(config, output)
    Workspace.check_free(folder)
    prepared = prepare(config, screen)
    with runs.kept(folder):
        workspace = runs.begin(prepared, folder, jobs)
        pipeline.make_actions(workspace, prepared, jobs, screen)
        # Shards on other machines may take stage 1 from a store, which takes sealed workspaces only.
        workspace.seal()
    return workspace.folder


def only_sessions(
    folder: Path,
    *,
    engine: str | None,
    command: str | None = None,
    completion_type: str | None,
    model: Path | None,
    trusted: bool,
    output: Path | None,
    jobs: int,
    screen: Screen,
    shard: Shard | None = None,
    cluster: Choice | None = None,
    reuse: Path | None = None,
) -> Path:
    """Run stage 2 on a workspace's actions, and return the folder of the sessions.

    Sessions of another engine, completion type or shard go into the new workspace `output`. `command`: the command of a
    language server, which is then the engine. `cluster`: the machines that ask; None = this machine alone. `reuse`: as
    in `evaluate`.
    """
    source = Workspace.open(folder)
    runs.check_single_project(source)
    if output is None and source.manifest().precision:
        raise WorkspaceError(
            f"{folder} asks just enough sessions for its precision: go on with `ci-eval evaluate --precision … "
            f"--resume --output {folder}`, or ask all into a new workspace, with --output"
        )
    # The view of a workspace is about its reports, and is not taken over.
    config = patch(runs.measured_config(source), engine=engine, completion_type=completion_type, model=model)
    if command is not None:
        config = set_engine_command(config, command)
    trusting.refuse_foreign(source, config, trusted=trusted, typed=command is not None)
    if output is not None:
        Workspace.check_free(output)
    if cluster:
        cluster.check(config)
    if reuse:
        check_reusable(config, source.manifest().rounds)
    prepared = prepare(config, screen)
    if output is None:
        workspace = runs.take_up(source, prepared, jobs)
    else:
        workspace = runs.copy_actions(source, prepared, output, jobs, shard)
    with runs.kept(workspace.folder):
        pipeline.make_actions(workspace, prepared, jobs, screen)
        note_closures(workspace, prepared)
        executor = cluster.cluster(workspace, prepared, screen) if cluster else None
        if reuse:
            reuse_sessions(reuse, workspace, prepared, jobs, screen, executor)
        else:
            pipeline.make_sessions([(workspace, prepared)], jobs, screen, executor)
        if executor:
            note(workspace, executor)
    return workspace.folder


def only_logs(
    config: Config, *, output: Path | None, jobs: int, resume: bool, shard: Shard | None, screen: Screen
) -> tuple[Workspace, CiEvalError | None]:
    """Run stages 1 and 2. Return the workspace, and why the run counts as failed, if it does."""
    folder = runs.choose_output(config, output)
    runs.check_place(folder, resume=resume)
    prepared = prepare(config, screen)
    with runs.kept(folder):
        workspace = (runs.resume if resume else runs.begin)(prepared, folder, jobs, shard)
        pipeline.make_actions(workspace, prepared, jobs, screen)
        pipeline.make_sessions([(workspace, prepared)], jobs, screen)
    return workspace, outcome.trouble(workspace, runs.with_view(config, folder))


def only_reports(folders: Sequence[Path], gates: Sequence[str] = (), view: View = UNCHANGED) -> list[Evaluated]:
    """Run stage 3 on each of the workspaces, also on what an interrupted run has left.

    `gates`: rules about figures. `view`: a change of the view of each workspace, which stores it.
    """
    workspaces = [Workspace.open(folder) for folder in folders]
    for workspace in workspaces:
        change_view(workspace.view_path, workspace.config_path, view)
    return [_report(workspace, gates) for workspace in workspaces]


def _report(workspace: Workspace, gates: Sequence[str]) -> Evaluated:
    if workspace.manifest().digests:
        workspace.verify()
    config = runs.stored_config(workspace)
    evaluation, reports = pipeline.make_reports(workspace, config, absolute_gates(config, gates))
    # An interrupted run has too few sessions to count as failed.
    ended = outcome.trouble(workspace, config) if workspace.manifest().complete else None
    trouble = ended or make_gate_error(evaluation.gates)
    return Evaluated(folder=workspace.folder, evaluation=evaluation, reports=reports, trouble=trouble)
