"""Runs the stages on a workspace; every job is made of these steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from time import strftime

from msgspec.structs import replace

from ci_eval import __version__, atomic, machine, metrics, reporters
from ci_eval.ci import Screen
from ci_eval.config import Config, dump, load
from ci_eval.errors import (
    CiEvalError,
    ConfigError,
    NothingSuggested,
    NothingToEvaluate,
    TooManyFailures,
    WorkspaceError,
)
from ci_eval.grammar import syntax
from ci_eval.jobs.comparison_rules import metrics_of
from ci_eval.jobs.logs import gather_logs, with_logs
from ci_eval.jobs.preparation import Prepared
from ci_eval.learning.model_file import digest_of
from ci_eval.learning.usermodel import model_of, spelled
from ci_eval.manifest import Manifest, StageRecord, unlike
from ci_eval.model import EngineInfo, Evaluation
from ci_eval.shards import Shard
from ci_eval.stages import actions, interpret, report
from ci_eval.workspace import Workspace


def workspace_for(config: Config, output: Path | None) -> Path:
    """`output`, or a folder named by time below the config's `outputDir`."""
    return output or Path(config.output_dir) / strftime("%Y-%m-%d_%H-%M-%S")


def title_of(config: Config, engine: EngineInfo) -> str:
    """The configured title, or one made of the engine and what was evaluated."""
    return config.reports.evaluation_title or f"{engine.name} {engine.version} {config.interpret.completion_type}"


def begin(prepared: Prepared, folder: Path, jobs: int, shard: Shard | None = None) -> Workspace:
    """A new workspace with its configuration and manifest."""
    workspace = Workspace.create(folder, hint=", or add --resume to take up the run that is there")
    workspace.write_config(dump(prepared.config))
    workspace.write_manifest(replace(new_manifest(prepared, jobs), shard=str(shard) if shard else None))
    return workspace


def new_manifest(prepared: Prepared, jobs: int) -> Manifest:
    """The manifest of a run that is about to begin."""
    config, engine = prepared.config, prepared.installation.info
    return Manifest(
        ci_eval=__version__,
        title=title_of(config, engine),
        language=prepared.language.name,
        completion_type=prepared.ranker.name,
        model=_model(config),
        client=config.interpret.client,
        strategy=actions.spelled(config.actions.strategy, config.interpret.seed, prepared.task),
        filters=actions.spelled_filters(config.actions.strategy.filters),
        files=actions.spelled_files(config.actions),
        user=spelled(model_of(config.user)) if config.user else "",
        task=prepared.task.name,
        unit=prepared.task.unit,
        seed=config.interpret.seed,
        engine=engine,
        project=prepared.project.info,
        dependencies=prepared.environment.packages if prepared.environment else {},
        confined=prepared.confined,
        grammar=syntax.bundle(),
        python=machine.python(),
        os=machine.system(),
        cpu=machine.cpu(),
        jobs=jobs,
        start=machine.now(),
    )


def _model(config: Config) -> str:
    return digest_of(config.interpret.ranking_model) if config.interpret.completion_type == "ML" else ""


def resume(prepared: Prepared, folder: Path, jobs: int, shard: Shard | None = None) -> Workspace:
    """The workspace of an interrupted run with the same configuration, project and engine; a new one if there is
    none."""
    if not (folder / "manifest.json").is_file():
        return begin(prepared, folder, jobs, shard)
    return take_up(Workspace.open(folder), prepared, jobs, shard)


def take_up(workspace: Workspace, prepared: Prepared, jobs: int, shard: Shard | None = None) -> Workspace:
    """That one, made by a run of the same configuration, project and engine. Raises WorkspaceError."""
    folder, manifest = workspace.folder, workspace.manifest()
    if stored_config(workspace) != prepared.config:
        raise WorkspaceError(
            f"{folder} was made with another configuration (see its config.yaml): use another --output"
        )
    now = replace(new_manifest(prepared, jobs), shard=str(shard) if shard else manifest.shard)
    for what, was, is_now in unlike(_same_answers(manifest), _same_answers(now)):
        raise WorkspaceError(
            f"{folder} cannot be taken up: the {what} was {was}, and is {is_now} now; use another --output"
        )
    return workspace


def _same_answers(manifest: Manifest) -> dict[str, object]:
    return {
        **manifest.answering(),
        "shard": manifest.shard,
        "project": manifest.project.checksum,
        "engine's packages": manifest.engine,
        "ci-eval": manifest.ci_eval,
        "Python": manifest.python,
    }


def ask_in_rounds(workspace: Workspace, rounds: int, turns: str = "") -> None:
    """Note in the manifest how often each session will be asked. Raises WorkspaceError where a resumed run did
    otherwise."""
    manifest = workspace.manifest()
    if not manifest.stages:
        workspace.write_manifest(replace(manifest, rounds=rounds, turns=turns))
    elif (manifest.rounds, manifest.turns) != (rounds, turns):
        raise WorkspaceError(
            f"{workspace.folder} cannot be taken up: each session is asked {manifest.rounds} times"
            f"{' in turns with another engine' if manifest.turns else ''}, and would be asked {rounds} times now; give "
            "the same command as then"
        )


# ---------------------------------------------------------------------------------------------------------- stages


def make_actions(workspace: Workspace, prepared: Prepared, jobs: int, screen: Screen) -> None:
    """Run stage 1, unless an earlier run completed it. Raises NothingToEvaluate."""
    manifest = workspace.manifest()
    done = manifest.stages.get("actions")
    if done is None or done.ended is None:
        workspace.clear("actions")
        workspace.clear("errors")
        started = machine.now()
        with screen.steps("Actions", "files") as steps:
            made = actions.generate(
                prepared.project.root,
                prepared.project.info,
                prepared.language,
                prepared.config.actions,
                workspace,
                jobs=jobs,
                task=prepared.task,
                seed=prepared.config.interpret.seed,
                cache=prepared.cache,
                advance=lambda done, of, so_far: steps.show(done, of, f"{so_far.sessions:,} sessions"),
            )
        record = StageRecord(started=started, ended=machine.now(), files=made.files)
        manifest = replace(
            manifest,
            generated=made.sessions,
            unparsable=made.unparsable / made.size if made.size else 0.0,
            stages=manifest.stages | {"actions": record},
        )
        workspace.write_manifest(manifest)
        screen.say(f"Actions: {made.sessions:,} sessions in {made.files:,} files")
    if not manifest.generated:
        raise NothingToEvaluate(_why_nothing(workspace, prepared))


def _why_nothing(workspace: Workspace, prepared: Prepared) -> str:
    troubled = workspace.errors()
    if troubled:
        first = troubled[0]
        return f"no file of {prepared.project.info.name} could be read; the first: {first.path}: {first.message}"
    if workspace.action_files():
        return "no token passes actions.strategy.filters: loosen them"
    suffixes = ", ".join(prepared.language.suffixes)
    return f"{prepared.project.info.name} has no {prepared.language.title} files ({suffixes}) below its evaluationRoots"


def make_sessions(asked: Sequence[tuple[Workspace, Prepared]], jobs: int, screen: Screen) -> None:
    """Run stage 2, or what an earlier run left of it, for one engine or for several in turns. Raises
    NothingToEvaluate."""
    started = machine.now()
    (first, prepared), wanted = asked[0], asked[0][1].config.interpret
    manifest = first.manifest()
    with screen.steps("Sessions", "sessions") as steps:
        made = interpret.in_turns(
            [interpret.EngineSide(workspace, with_logs(of, workspace)) for workspace, of in asked],
            probability=wanted.session_probability,
            limit=wanted.sessions_limit,
            jobs=jobs,
            shard=Shard.parse(manifest.shard) if manifest.shard else None,
            rounds=manifest.rounds,
            advance=lambda done, so_far: steps.show(done, so_far.planned, _failures(so_far.failed)),
        )
    for (workspace, prepared), one in zip(asked, made, strict=True):
        _record(workspace, prepared, one, started, screen)


def _record(workspace: Workspace, prepared: Prepared, made: interpret.Progress, started: str, screen: Screen) -> None:
    manifest = workspace.manifest()
    if not made.planned and manifest.shard is None:
        raise NothingToEvaluate("sessionProbability and sessionsLimit leave no session: raise them")
    record = StageRecord(started=started, ended=machine.now(), files=made.files)
    workspace.write_manifest(
        replace(
            manifest,
            planned=made.planned,
            finished=made.finished,
            statuses={status.value: count for status, count in sorted(made.statuses.items())},
            stages=manifest.stages | {"interpret": record},
            unresolved_imports=_unresolved(workspace, prepared),
            confined=together({manifest.confined, *made.confined}),
            end=machine.now(),
        )
    )
    screen.say(f"Sessions: {made.finished:,} of {made.planned:,} evaluated in {made.files:,} files")
    if prepared.config.interpret.save_logs:
        gather_logs(workspace, prepared)
    workspace.seal()


def _unresolved(workspace: Workspace, prepared: Prepared) -> float | None:
    if prepared.language.imports is None:
        return None
    there = prepared.language.imports(prepared.project.root, prepared.setup.surroundings.environment)
    found = [each for source in workspace.sources() for each in there(source.path, source.text)]
    return found.count(False) / len(found) if found else None


def together(confined: Iterable[str]) -> str:
    """One text for how well engines were confined, in several starts or on several machines."""
    return " / ".join(sorted(set(confined) - {""}))


def _failures(failed: int) -> str:
    return f"{failed:,} failed" if failed else ""


def make_reports(workspace: Workspace, config: Config) -> tuple[Evaluation, dict[str, Path]]:
    """Run stage 3: the figures, and by reporter the path of its report."""
    manifest = workspace.manifest()
    if "interpret" not in manifest.stages:
        raise WorkspaceError(
            f"{workspace.folder} has no complete sessions yet: run `ci-eval interpret {workspace.folder}`"
        )
    writers = [reporters.CATALOG.load(name) for name in reporters.names()]
    return report.report(
        workspace,
        metrics_of(config),
        config.reports.sessions_filters,
        writers,
        shown=config.reports.default_metrics or ((*metrics.of_a_user(), *BESIDE_EFFORT) if config.user else ()),
        lengths=sorted(set(config.actions.strategy.prefix.lengths or ())),
        weights=config.reports.kind_weights,
    )


BESIDE_EFFORT = ("Recall", "LatencyPercentile95")
"""What a headline shows beside what a modelled user saves."""


def trouble(workspace: Workspace, config: Config) -> CiEvalError | None:
    """Why a run counts as failed although its reports are written; None if it does not."""
    manifest = workspace.manifest()
    failed = sum(manifest.statuses.get(name, 0) for name in ("timeout", "engine-crash", "error"))
    if manifest.finished == 0:
        if manifest.shard and manifest.planned == 0:
            # There are fewer files than shards; other shards have the sessions.
            return None
        return NothingToEvaluate(
            f"none of {manifest.planned:,} planned sessions could be evaluated; see errors/ in the workspace"
        )
    allowed, share = config.interpret.allowed_failures, failed / manifest.finished
    if share <= allowed:
        return _emptiness(manifest, config)
    return TooManyFailures(
        f"the engine failed on {failed:,} of {manifest.finished:,} sessions ({share:.1%}), allowed are {allowed:.1%} "
        "(interpret.allowedFailures); the report shows them, errors first"
    )


def _emptiness(manifest: Manifest, config: Config) -> NothingSuggested | None:
    empty, most = manifest.statuses.get("empty", 0), config.interpret.allowed_empty
    if most == 1 or empty < most * manifest.finished or manifest.engine.name == EMPTY:
        return None
    return NothingSuggested(
        f"the engine suggested nothing in {empty:,} of {manifest.finished:,} sessions: "
        "it may lack what the project needs (project.dependencies: true), not know where the project is, or want a "
        "letter typed (actions.strategy.prefix); with interpret.allowedEmpty: 1 the run counts all the same"
    )


EMPTY = "empty"
"""Name of the control that never suggests anything, on purpose."""


def copy_actions(source: Workspace, prepared: Prepared, folder: Path, jobs: int) -> Workspace:
    """A new workspace with the actions of `source`, for another engine or completion type."""
    workspace = begin(prepared, folder, jobs)
    take_actions(source, workspace)
    return workspace


def take_actions(source: Workspace, workspace: Workspace) -> None:
    """Take over the actions of another workspace."""
    for path in source.action_files():
        atomic.copy(path, workspace.folder / "actions" / path.name)
    was = source.manifest()
    manifest = workspace.manifest()
    workspace.write_manifest(
        replace(
            manifest,
            generated=was.generated,
            unparsable=was.unparsable,
            stages={"actions": was.stages["actions"]} if "actions" in was.stages else {},
        )
    )


def of_one_project(workspace: Workspace) -> None:
    """Raises ConfigError where the workspace was merged of several projects: an engine works on one."""
    if workspace.manifest().projects:
        raise ConfigError(f"{workspace.folder} is merged of several projects: use the workspace of one of them")


def stored_config(workspace: Workspace) -> Config:
    """The configuration of a workspace. Raises WorkspaceError where it was changed since it was written."""
    if workspace.manifest().digests:
        workspace.verify("config.yaml", "manifest.json")
    return load(workspace.config_path, environment={}).config


def warnings_of(evaluation: Evaluation) -> Sequence[str]:
    """What a reader must know to judge the figures."""
    whole = evaluation.filters[report.EVERYTHING]
    empty = whole.statuses.get("empty", 0)
    said = []
    if whole.sessions and empty >= MOSTLY * whole.sessions:
        said.append(
            f"the engine answered nothing in {empty:,} of {whole.sessions:,} sessions: it may lack what the project "
            "needs (project.dependencies: true), or not know where the project is"
        )
    return said


MOSTLY = 0.9
"""From this share of sessions without a suggestion on, something other than the engine is likely to be wrong."""
