"""The jobs that run single stages on a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.core.base.errors import CiEvalError, ConfigError, WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.config import Config, keys, override, patch, set_engine_command
from ci_eval.core.config.loading import UNCHANGED, View, change_view, complete_key
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import outcome, pipeline, runs
from ci_eval.jobs import trust as trusting
from ci_eval.jobs.comparison_rules import absolute_gates, make_gate_error
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.nights.reuse import check_reusable, note_closures, reuse_sessions
from ci_eval.jobs.preparation import Prepared, prepare

STAGE = ("interpret", "engine")
"""The sections of the configuration that stage 2 reads."""


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
    settings: Sequence[str] = (),
    trusted: bool,
    output: Path | None,
    jobs: int,
    screen: Screen,
    shard: Shard | None = None,
    reuse: Path | None = None,
) -> Path:
    """Run stage 2 on a workspace's actions, and return the folder of the sessions.

    Sessions of another engine, completion type or shard, or with other `settings` (KEY=VALUE of stage 2), go into the
    new workspace `output`. `command`: the command of a
    language server, which is then the engine. `reuse`: as
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
    config = _change_stage(config, settings)
    trusting.refuse_foreign(source, config, trusted=trusted, typed=command is not None)
    if output is not None:
        Workspace.check_free(output)
    if reuse:
        check_reusable(config, source.manifest().rounds)
    prepared = prepare(config, screen)
    _check_actions(source, prepared)
    if output is None:
        workspace = runs.take_up(source, prepared, jobs)
    else:
        workspace = runs.copy_actions(source, prepared, output, jobs, shard)
    with runs.kept(workspace.folder):
        pipeline.make_actions(workspace, prepared, jobs, screen)
        note_closures(workspace, prepared)
        if reuse:
            reuse_sessions(reuse, workspace, prepared, jobs, screen)
        else:
            pipeline.make_sessions([(workspace, prepared)], jobs, screen)
    return workspace.folder


def _change_stage(config: Config, settings: Sequence[str]) -> Config:
    """Return the configuration with other settings KEY=VALUE of stage 2. Raises ConfigError for those of other
    stages."""
    known = {key.name for key in keys()}
    spelled = []
    for setting in settings:
        name, equals, value = setting.partition("=")
        # A seed is that of stage 2 here, although language models have one, too.
        own = f"interpret.{name.strip()}"
        key = own if own in known else complete_key(name.strip())
        spelled.append(f"{key}{equals}{value}")
        if key.partition(".")[0] not in STAGE:
            raise ConfigError(
                f"`{key}` is no setting of stage 2, whose settings are those of {' and '.join(STAGE)}: the actions "
                "were made without it, and reports take theirs from `ci-eval report --set`"
            )
    changed = override(config, spelled)
    if changed.actions != config.actions:
        raise ConfigError(
            "a modelled user is asked at every prefix, and the actions of this workspace have other ones: make them "
            "with `ci-eval actions --set 'actions.strategy.prefix={name: EveryPrefix}'`"
        )
    return changed


def _check_actions(source: Workspace, prepared: Prepared) -> None:
    """Raise ConfigError if actions would be other ones with the seed of stage 2."""
    was, seed = source.manifest(), prepared.config.interpret.seed
    if seed == was.seed:
        return
    sampled = prepared.records or prepared.task.of_imports
    if sampled or was.strategy != runs.new_manifest(prepared, jobs=1).strategy:
        raise ConfigError(
            f"the actions of {source.folder} were sampled with the seed {was.seed}, and others belong to {seed}: "
            f"`ci-eval actions --set interpret.seed={seed}` makes them"
        )


def only_logs(
    config: Config, *, output: Path | None, jobs: int, resume: bool, shard: Shard | None, screen: Screen
) -> tuple[Workspace, CiEvalError | None]:
    folder = runs.choose_output(config, output)
    runs.check_place(folder, resume=resume)
    prepared = prepare(config, screen)
    with runs.kept(folder):
        workspace = (runs.resume if resume else runs.begin)(prepared, folder, jobs, shard)
        pipeline.make_actions(workspace, prepared, jobs, screen)
        pipeline.make_sessions([(workspace, prepared)], jobs, screen)
    return workspace, outcome.trouble(workspace, runs.with_view(config, folder))


def only_reports(folders: Sequence[Path], gates: Sequence[str] = (), view: View = UNCHANGED) -> list[Evaluated]:
    """Run stage 3 on each of the workspaces, also on what an interrupted run has left. `gates`: rules about figures.
    `view`: a change of the view of each workspace, which stores it."""
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
    trouble = ended or make_gate_error([("", gate) for gate in evaluation.gates])
    return Evaluated(folder=workspace.folder, evaluation=evaluation, reports=reports, trouble=trouble)
