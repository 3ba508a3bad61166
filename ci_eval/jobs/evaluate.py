"""The jobs that run all stages or single ones, and that reorder or regrade stored suggestions without the engine."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core import rerank as stage
from ci_eval.core.base.errors import CiEvalError, ConfigError, NothingToEvaluate, WorkspaceError
from ci_eval.core.base.shards import Shard
from ci_eval.core.catalogs import graders, languages, rankers, tasks
from ci_eval.core.config import Config, dump, patch, set_engine_command
from ci_eval.core.config.loading import UNCHANGED, View, change_view
from ci_eval.core.contracts import Pairing, RunSettings
from ci_eval.core.interpret import Grading, grade_anew
from ci_eval.core.manifest import RANKER
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.rerank import NewOrder
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import phases, pipeline, runs
from ci_eval.jobs.comparison_rules import absolute_gates
from ci_eval.jobs.pipeline import Evaluated
from ci_eval.jobs.preparation import prepare
from ci_eval.jobs.reuse import check_reusable, make_sessions, note_closures
from ci_eval.jobs.runs import RunOptions
from ci_eval.plugins.learning.rankers import hash_ranker


def evaluate(
    config: Config,
    run: RunOptions,
    *,
    shard: Shard | None = None,
    rounds: int = 1,
    reuse: Path | None = None,
    gates: Sequence[str] = (),
    precision: float | None = None,
) -> Evaluated:
    """Run all stages.

    With `shard`, only its files are evaluated. Each session is asked `rounds` times. `reuse` is the workspace of an
    earlier run: its results are reused if all that they depend on is the same. `precision` is the confidence interval's
    half-width at which the run ends. Raises ConfigError, WorkspaceError, PreparationError or NothingToEvaluate.
    """
    folder, jobs, screen = runs.choose_output(config, run.output), run.jobs, run.screen
    runs.check_place(folder, resume=run.resume)
    viewed = runs.with_view(config, folder) if run.resume else config
    rules = absolute_gates(viewed, gates)
    if reuse:
        check_reusable(config, rounds)
    metric = None
    if precision:
        phases.check_drawn("--precision", config, shard=shard, rounds=rounds, reuse=reuse)
        metric = phases.choose_metric(config)
    # All checks come before the preparation, which may take minutes.
    prepared = prepare(config, screen)
    with runs.kept(folder):
        workspace = runs.begin(prepared, folder, jobs, shard, resume=run.resume)
        runs.ask_in_rounds(workspace, rounds)
        phases.note_goal(workspace, precision=precision)
        pipeline.make_actions(workspace, prepared, jobs, screen, may_sample=True)
        note_closures(workspace, prepared)
        if precision and metric:
            phases.reach_precision(workspace, prepared, precision, metric, jobs, screen)
        else:
            make_sessions(reuse, workspace, prepared, jobs, screen)
        return pipeline.make_reports(workspace, viewed, rules)


def only_actions(config: Config, *, output: Path | None, jobs: int, screen: Screen) -> Path:
    folder = runs.choose_output(config, output)
    Workspace.check_free(folder)
    prepared = prepare(config, screen)
    with runs.kept(folder):
        workspace = runs.begin(prepared, folder, jobs)
        pipeline.make_actions(workspace, prepared, jobs, screen)
        # Shards on other machines may fetch this workspace from a store, which accepts only sealed ones.
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
    reuse: Path | None = None,
) -> Path:
    """Run stage 2 on a workspace's actions, and return the folder of the sessions.

    Sessions of another engine, completion type or shard are written to the new workspace `output`. `command` starts a
    language server. `reuse` has the same meaning as in `evaluate`.
    """
    source = Workspace.open(folder)
    runs.check_single_project(source)
    if output is None and source.manifest().precision:
        raise WorkspaceError(
            f"{folder} was begun with --precision: continue with `ci-eval evaluate --precision … --resume --output "
            f"{folder}`, or ask all sessions in a new workspace, with --output"
        )
    # The view of a workspace only changes its reports, so it does not apply here.
    config = patch(runs.measured_config(source), engine=engine, completion_type=completion_type, model=model)
    if command is not None:
        config = set_engine_command(config, command)
    instead = "choose an engine with --engine or --engine-command"
    runs.refuse_foreign(source, config, trusted=trusted, typed=command is not None, instead=instead)
    if output is not None:
        Workspace.check_free(output)
    if reuse:
        check_reusable(config, source.manifest().rounds)
    prepared = prepare(config, screen)
    if output is None:
        workspace = runs.resume_run(source, prepared, jobs)
    else:
        workspace = runs.copy_actions(source, prepared, output, jobs, shard)
    with runs.kept(workspace.folder):
        pipeline.make_actions(workspace, prepared, jobs, screen)
        note_closures(workspace, prepared)
        make_sessions(reuse, workspace, prepared, jobs, screen)
    return workspace.folder


def only_logs(config: Config, run: RunOptions, shard: Shard | None) -> tuple[Workspace, CiEvalError | None]:
    folder = runs.choose_output(config, run.output)
    runs.check_place(folder, resume=run.resume)
    prepared = prepare(config, run.screen)
    with runs.kept(folder):
        workspace = runs.begin(prepared, folder, run.jobs, shard, resume=run.resume)
        pipeline.make_actions(workspace, prepared, run.jobs, run.screen)
        pipeline.make_sessions([(workspace, prepared)], run.jobs, run.screen)
    return workspace, pipeline.find_trouble(workspace, runs.with_view(config, folder))


def only_reports(folders: Sequence[Path], gates: Sequence[str] = (), view: View = UNCHANGED) -> list[Evaluated]:
    """Write the reports again, even of interrupted runs. Each workspace stores the changes in `view`."""
    workspaces = [Workspace.open(folder) for folder in folders]
    for workspace in workspaces:
        change_view(workspace.view_path, workspace.config_path, view)
    done = []
    for workspace in workspaces:
        if workspace.manifest().digests:
            workspace.verify()
        config = runs.stored_config(workspace)
        done.append(pipeline.make_reports(workspace, config, absolute_gates(config, gates)))
    return done


def rerank(
    folder: Path, *, completion_type: str, model: Path | None, output: Path, view: View = UNCHANGED, screen: Screen
) -> Evaluated:
    """Write a workspace with all lists in the new order. Raises ConfigError, WorkspaceError or NothingToEvaluate."""
    source = Workspace.open(folder)
    source.verify()
    manifest = source.manifest()
    task = tasks.CATALOG.load(manifest.task)
    if task.play:
        raise ConfigError(
            f"{manifest.unit} are typed according to the displayed lists: evaluate again with the other completion type"
        )
    if not manifest.planned:
        raise NothingToEvaluate(f"{folder} has no sessions")
    # Check the view now, so that a mistake is reported before anything is ranked.
    runs.stored_config(source, view)
    config = runs.stored_config(source)
    if config.interpret.user_model:
        raise ConfigError(
            f"{folder} has a modelled user, whose choices depend on the order: evaluate again with --completion-type"
        )
    ranker = rankers.CATALOG.load(completion_type).configured(model)
    config = patch(config, completion_type=completion_type, model=model)
    if model is None:
        # If no model is given, `patch` keeps the model of the former completion type.
        config = replace(config, interpret=replace(config.interpret, ranking_model=None))
    target = Workspace.create(output)
    target.write_config(dump(config))
    source.copy_actions(target)
    for error in source.errors():
        # Errors of stage 1 are copied, since the actions are the same.
        target.write_error(error)
    # A lookup's time includes the ranker, so the time is only kept if the lists have the engine's own order.
    is_plain = manifest.completion_type == rankers.ENGINE_ORDER
    order = NewOrder(
        task=task,
        ranker=ranker,
        keywords=languages.CATALOG.load(manifest.language).keywords,
        # A user who emulates typing takes the expected text at any rank.
        taken_wherever=config.user is not None,
        reused=not is_plain,
        grade=Grading(task, manifest.language, machine.cache_folder(), config.judge).session,
    )
    with screen.steps("Ranking", "files") as steps:
        files = manifest.stages["interpret"].files
        stage.rerank(source, target, order, advance=lambda done: steps.show(done, files, ""))
    target.write_manifest(
        replace(
            manifest,
            completion_type=ranker.name,
            model=hash_ranker(model),
            drawn={name: seed for name, seed in manifest.draws.items() if name != RANKER}
            | ({} if (seed := runs.training_seed(ranker)) is None else {RANKER: str(seed)}),
            title=runs.make_title(config, manifest.engine),
            # The logs, and the turns with other engines, belong to the former order.
            logs=None,
            turns="",
            is_function=True,
            reused=manifest.reused if is_plain else manifest.finished,
        )
    )
    target.seal()
    change_view(target.view_path, target.config_path, view)
    return pipeline.make_reports(target, runs.stored_config(target))


def grade_workspace(folder: Path, *, trusted: bool = False) -> Evaluated:
    """Grade all sessions again, or resume an interrupted grading. Raises ConfigError or WorkspaceError."""
    workspace = Workspace.open(folder)
    manifest = workspace.manifest()
    # An interrupted grading leaves a complete run without digests, which this call resumes.
    if manifest.digests or not manifest.complete:
        workspace.verify()
    task = tasks.CATALOG.load(manifest.task)
    if not (task.graders or task.splitting):
        raise ConfigError(f"{folder}: sessions of the task {task.name} have ranks, not grades: there is nothing to do")
    config = runs.stored_config(workspace)
    runs.refuse_foreign_grading(workspace, config, trusted=trusted)
    grading = Grading(task, manifest.language, machine.cache_folder(), config.judge, config.running)
    # Remove the digests, since the workspace is not complete until all sessions are graded.
    workspace.write_manifest(replace(manifest, digests={}))
    grade_anew(workspace, grading)
    workspace.write_manifest(
        replace(manifest, digests={}, judge=runs.describe_judge(config), run=runs.describe_test_runs(config))
    )
    # Seal the workspace: `verify` rejects a workspace without digests as unfinished.
    workspace.seal()
    return only_reports([folder])[0]


def grade_pairs(
    grader: str, path: Path, judge: EndpointConfig | None = None, run: RunSettings | None = None
) -> Iterator[bytes]:
    """Yield a line `{"scores": {...}}` for each line `{"reference", "hypothesis", "language"?, "record"?}`. Raises
    ConfigError, PreparationError, or EngineFailure if a pair cannot be graded."""
    (chosen,) = graders.ready([grader], machine.cache_folder(), judge, run)
    try:
        file = path.open("rb")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    with file:
        for number, line in enumerate(file, 1):
            try:
                scores = chosen.grade(msgspec.json.decode(line.removeprefix(codecs.BOM_UTF8), type=Pairing))
            # JSON that is nested too deeply raises a RecursionError.
            except (msgspec.MsgspecError, RecursionError) as error:
                raise ConfigError(
                    f'{path}, line {number}: {error}; a line is {{"reference": "…", "hypothesis": "…"}}, with '
                    '"language" if the grader reads code'
                ) from error
            except CiEvalError as error:
                raise type(error)(f"{path}, line {number}: {error}") from error
            yield msgspec.json.encode({"scores": scores})
