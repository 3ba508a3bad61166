"""The job `rerank`: orders the stored suggestions by another completion type, without asking the engine."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import machine
from ci_eval.core import rerank as stage
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.catalogs import languages, rankers, tasks
from ci_eval.core.config import dump, patch
from ci_eval.core.config.loading import UNCHANGED, View, change_view
from ci_eval.core.interpret import Grading
from ci_eval.core.manifest import RANKER
from ci_eval.core.rerank import NewOrder
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import outcome, pipeline, runs
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.plugins.learning.model_file import hash_ranker


def rerank(
    folder: Path, *, completion_type: str, model: Path | None, output: Path, view: View = UNCHANGED, screen: Screen
) -> Evaluated:
    """Make a new workspace from `folder`: its sessions with each list in the new order, and reports. `view`: the view
    of the new workspace, which stores it. Raises ConfigError, WorkspaceError or NothingToEvaluate."""
    source = Workspace.open(folder)
    source.verify()
    manifest = source.manifest()
    task = tasks.CATALOG.load(manifest.task)
    if task.play:
        raise ConfigError(
            f"{manifest.unit} are typed by what was shown: evaluate them again with the other completion type"
        )
    if not manifest.planned:
        raise NothingToEvaluate(f"{folder} has no sessions")
    # A mistake in the view fails before anything is ranked.
    runs.stored_config(source, view)
    config = runs.stored_config(source)
    if config.interpret.user_model:
        raise ConfigError(
            f"{folder} has a modelled user, whose choices depend on the order: evaluate again with --completion-type"
        )
    ranker = rankers.CATALOG.load(completion_type).configured(model)
    config = patch(config, completion_type=completion_type, model=model)
    if model is None:
        # If no model is given, `patch` keeps that of the former completion type.
        config = replace(config, interpret=replace(config.interpret, ranking_model=None))
    target = Workspace.create(output)
    target.write_config(dump(config))
    for path in source.action_files():
        atomic.copy(path, output / "actions" / path.name)
    for error in source.errors():
        # Errors of stage 1 belong to the actions, which are the same.
        target.write_error(error)
    # A lookup's time is that of the engine and of the ranker together.
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
            # The logs are of the former order, and the engines were asked in turns in that order.
            logs=None,
            turns="",
            is_function=True,
            reused=manifest.reused if is_plain else manifest.finished,
        )
    )
    target.seal()
    change_view(target.view_path, target.config_path, view)
    config = runs.stored_config(target)
    evaluation, reports = pipeline.make_reports(target, config)
    return Evaluated(folder=output, evaluation=evaluation, reports=reports, trouble=outcome.trouble(target, config))
