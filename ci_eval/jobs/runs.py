"""The workspace of a run: how it is created, resumed or copied, and whether its configuration is trusted."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import strftime
from typing import cast

import msgspec
from msgspec.structs import replace

from ci_eval import __version__
from ci_eval.ci import Screen
from ci_eval.core import actions, interpret, machine
from ci_eval.core.base import atomic
from ci_eval.core.base.catalog import packages
from ci_eval.core.base.errors import ConfigError, Interrupted, NothingToEvaluate, WorkspaceError
from ci_eval.core.base.quoting import short
from ci_eval.core.base.shards import Shard
from ci_eval.core.catalogs import engines, graders
from ci_eval.core.compare.conditions import compare_settings
from ci_eval.core.config import BY_MODEL, Config, dump, load
from ci_eval.core.config.loading import UNCHANGED, View, read_view
from ci_eval.core.contracts import Engine, Ranker, Task
from ci_eval.core.grammar import syntax
from ci_eval.core.manifest import QUERIES, RANKER, Manifest, unlike
from ci_eval.core.model import EngineInfo, ProjectInfo, pick
from ci_eval.core.model.settings import EndpointConfig
from ci_eval.core.user_model import build_user_model, encode_user_model
from ci_eval.core.workspace import Workspace
from ci_eval.fetch.git import read_revision
from ci_eval.jobs.preparation import ON_TOP, Prepared
from ci_eval.plugins.adapters.lsp.custom import find_script
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.learning.rankers import hash_ranker
from ci_eval.rendering.advice import MOST


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    output: Path | None
    jobs: int
    resume: bool
    screen: Screen


def choose_output(config: Config, output: Path | None) -> Path:
    return output or Path(config.output_dir) / strftime("%Y-%m-%d_%H-%M-%S")


def make_title(config: Config, engine: EngineInfo) -> str:
    # The version of a user's own engine is a digest, which does not belong in a title.
    name = engine.name if config.engine.command and not config.engine.version else f"{engine.name} {engine.version}"
    return config.reports.evaluation_title or f"{name} {config.interpret.completion_type}"


def check_place(folder: Path, *, resume: bool) -> None:
    """Check that a run can begin or resume in the folder. Raises WorkspaceError if not."""
    if not (resume and (folder / "manifest.json").is_file()):
        Workspace.check_free(folder, hint=", or add --resume to resume the run there")


@contextmanager
def kept(folder: Path) -> Iterator[None]:
    """Lock the folder of a run. If there is nothing to evaluate, remove the folder if it is new and has neither actions
    nor errors. Raises WorkspaceError if another run uses the folder, and Interrupted (with the folder) for Ctrl-C."""
    # Only folders that this run creates may be removed again.
    made = [missing_folder for missing_folder in (folder, *folder.absolute().parents) if not missing_folder.exists()]
    try:
        with _lock(folder):
            yield
    except NothingToEvaluate:
        # Actions and errors are kept, since they show why there is nothing to evaluate.
        if made and not any(any(folder.glob(f"**/{part}/*")) for part in ("actions", "errors")):
            shutil.rmtree(folder)
            for above in made[1:]:
                above.rmdir()
        raise
    except KeyboardInterrupt as error:
        raise Interrupted(folder) from error


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Lock a folder until the block or this process ends. Raises WorkspaceError if another run holds the lock."""
    atomic.make_folder(folder)
    # The folder itself is locked, since a lock file would outlive a killed run.
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorkspaceError(
                f"another run is working on {folder}: wait until it ends, or give another --output"
            ) from None
        except OSError:
            yield  # this file system has no locks, so the run goes on without one
        else:
            yield
    finally:
        os.close(descriptor)


def begin(
    prepared: Prepared, folder: Path, jobs: int, shard: Shard | None = None, *, resume: bool = False
) -> Workspace:
    """Begin a run, or resume the one in `folder`. Raises WorkspaceError if configuration, project or engine differ."""
    if resume and (folder / "manifest.json").is_file():
        return resume_run(Workspace.open(folder), prepared, jobs, shard)
    manifest = replace(new_manifest(prepared, jobs), shard=str(shard) if shard else None)
    workspace = Workspace.create(folder)
    workspace.write_config(dump(prepared.config))
    # A folder counts as a workspace once it has a manifest, so the manifest comes last.
    workspace.write_manifest(manifest)
    return workspace


def new_manifest(prepared: Prepared, jobs: int) -> Manifest:
    config, engine = prepared.config, prepared.installation.info
    seed, evolution = config.interpret.seed, config.actions.strategy.evolution
    # Whether the queries of records are drawn is only known after the records are read.
    drawn = {
        # Hidden parts are random if only some are hidden; replacements are random if they are other lines.
        "evolution": seed if evolution.share and (evolution.share < 1 or evolution.how == "different") else None,
        "use of each import": seed if prepared.task.of_imports else None,
        "training of the engine": training_seed(prepared.engine),
        RANKER: training_seed(prepared.ranker),
    }
    return replace(
        describe_questions(config, prepared.task, engine, prepared.project.info),
        model=hash_ranker(config.interpret.ranking_model) if config.interpret.completion_type in BY_MODEL else "",
        judge=describe_judge(config),
        run=describe_test_runs(config),
        drawn={name: str(value) for name, value in drawn.items() if value is not None},
        revision=find_revision(config.engine.command),
        sent=prepared.sent,
        around=prepared.around.info if prepared.around else None,
        clustered=(config.find_cluster(prepared.task) or ("",))[-1],
        dependencies=prepared.environment.packages if prepared.environment else {},
        dependencies_left_out=prepared.dependencies_left_out,
        endpoint=config.engine.endpoint or "",
        settings_left_out=(
            prepared.engine.left_out(prepared.setup.surroundings.root) if isinstance(prepared.engine, LspEngine) else ""
        ),
        confined=prepared.confined,
        is_function=getattr(prepared.engine, "is_function", False),
        plugins=packages(),
        python=machine.python(),
        os=machine.system(),
        processor=machine.cpu(),
        jobs=jobs,
        start=machine.now(),
    )


def describe_questions(config: Config, task: Task, engine: EngineInfo, project: ProjectInfo) -> Manifest:
    """Return a manifest of what is asked of which engine, without facts about the machine."""
    strategy, seed = config.actions.strategy, config.interpret.seed
    return Manifest(
        ci_eval=__version__,
        title=make_title(config, engine),
        language=config.language,
        **pick(config.interpret, "completion_type", "client", "seed"),
        strategy=actions.spell_task(strategy, seed, task) + actions.spelled_queries(config.queries),
        filters=actions.spelled_filters(strategy.filters),
        files=actions.spelled_files(config.actions) + ("/generated" if config.project.generated == "include" else ""),
        user=encode_user_model(build_user_model(config.user)) if config.user else "",
        task=task.name,
        unit=task.unit,
        engine=engine,
        project=project,
        grammar=syntax.bundle(),
        python="",
        os="",
        jobs=1,
        start="",
    )


def find_program(command: Sequence[str]) -> Path:
    """Return the script that the command's interpreter runs, else the program."""
    return find_script(command) or Path(command[0])


def find_revision(command: Sequence[str] | None) -> str:
    """Return the commit of the repository of the command's script or program, else of the current folder."""
    program = find_program(command) if command else Path("-")
    tops = (folder for folder in program.resolve().parents if (folder / ".git").exists())
    return read_revision(next(tops, Path.cwd()))


def describe_judge(config: Config) -> str:
    """Return the model that judges, and the version of the judge's question; "" if nothing is judged."""
    if config.judge is None:
        return ""
    judge = cast("graders.Judging", graders.CATALOG.load("judge"))
    return f"{config.judge.model}, question {judge.version}"


def describe_test_runs(config: Config) -> str:
    settings = config.run
    return f"{settings.mutants} mutants, {settings.timeout:g} s a run" if settings.tests else ""


def training_seed(part: Engine | Ranker) -> int | None:
    # Engines that train themselves may have a seed among their options.
    options_seed = getattr(getattr(part, "options", None), "seed", None)
    seed: int | None = getattr(part, "training_seed", options_seed)
    return seed


def resume_run(workspace: Workspace, prepared: Prepared, jobs: int, shard: Shard | None = None) -> Workspace:
    folder, manifest = workspace.folder, workspace.manifest()
    verify_actions(workspace)
    if measured_config(workspace) != prepared.config:
        raise WorkspaceError(
            f"{folder} was made with another configuration (see its config.yaml): give a new folder as --output"
        )
    now = replace(new_manifest(prepared, jobs), shard=str(shard) if shard else manifest.shard)
    for _, change in changed_answers(manifest, now):
        raise WorkspaceError(f"{folder} cannot be resumed: {change}; give a new folder as --output")
    return workspace


def verify_actions(workspace: Workspace) -> None:
    """Raise WorkspaceError if actions of a finished run were lost or changed: their sessions would be missing
    unnoticed."""
    if workspace.manifest().digests:
        workspace.verify("actions")


def changed_answers(was: Manifest, now: Manifest) -> Iterator[tuple[str, str]]:
    """Yield the name of each value of `same_answers` that differs, with a clause about the old and the new value."""
    for name, before, after in unlike(same_answers(was), same_answers(now)):
        differences = (
            compare_settings(was.sent, now.sent, same_kind=True)
            if name == CONFIGURATION and was.sent and now.sent
            else ()
        )
        if differences:
            # Name the settings that differ, since the digests do not.
            changes = []
            for part in differences[:MOST]:
                before_text, now_text = (short(value) if value else "not set" for value in (part.base, part.new))
                changes.append(f"`{part.name}` was {before_text}, and is {now_text} now")
            more = [f"and {len(differences) - MOST:,} more"] if len(differences) > MOST else []
            yield name, f"the {name} differs: {'; '.join(changes + more)}"
        else:
            yield name, f"the {name} was {before}, and is {after} now"


CONFIGURATION = "configuration sent to the engine"


def same_answers(manifest: Manifest) -> dict[str, object]:
    """Return everything that must be equal for a run to be resumed."""
    sent = "unknown"
    # Manifests of earlier versions of ci-eval do not have `sent`.
    if manifest.sent is not None:
        # The configuration itself is too long for a message.
        sent = sha256(msgspec.json.encode(manifest.sent, order="sorted")).hexdigest()[:12]
    return {
        **manifest.answering(),
        "shard": manifest.shard,
        "project": manifest.project.checksum,
        "project around": manifest.around.checksum if manifest.around else "",
        "engine's packages": _packages_text(manifest.engine.packages),
        CONFIGURATION: sent,
        "ci-eval": manifest.ci_eval,
        "set of packages that extend ci-eval": _packages_text(manifest.plugins),
        "dependencies of the project": _packages_text(manifest.dependencies),
        "Python": manifest.python,
    }


def _packages_text(packages: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in packages.items()) or "none"


def ask_in_rounds(workspace: Workspace, rounds: int, turns: str = "") -> None:
    """Store rounds and turns in the manifest. Raises WorkspaceError if a resumed run began with others."""
    manifest = workspace.manifest()
    if not manifest.stages:
        workspace.write_manifest(replace(manifest, rounds=rounds, turns=turns))
    elif (manifest.rounds, manifest.turns) != (rounds, turns):
        raise WorkspaceError(
            f"{workspace.folder} cannot be resumed: each session is asked {manifest.rounds} times"
            f"{' in turns with another engine' if manifest.turns else ''}, and would be asked {rounds} times now; "
            "repeat the command with which it was begun"
        )


def copy_actions(
    source: Workspace, prepared: Prepared, folder: Path, jobs: int, shard: Shard | None = None
) -> Workspace:
    verify_actions(source)
    workspace = begin(prepared, folder, jobs, shard)
    take_actions(source, workspace)
    return workspace


def take_actions(source: Workspace, workspace: Workspace) -> None:
    source.copy_actions(workspace)
    was = source.manifest()
    manifest = workspace.manifest()
    workspace.write_manifest(
        replace(
            manifest,
            **pick(was, "generated", "sampling", "unparsable", "unparsable_files", "vocabulary", "pairs", "histories"),
            # The queries were drawn with the seed of the other workspace.
            drawn=manifest.draws | {name: seed for name, seed in was.draws.items() if name == QUERIES},
            # Only the actions are copied, not the sessions.
            stages={"actions": was.stages["actions"]} if "actions" in was.stages else {},
        )
    )


def assign(setup: interpret.Setup, workspace: Workspace, path: str, sessions: Set[str]) -> interpret.Assignment:
    """Return the assignment to ask these sessions of a file."""
    return interpret.Assignment(
        setup=setup,
        actions=workspace.actions_path(path),
        path=path,
        sessions=len(sessions),
        below=1.0,
        among=frozenset(sessions),
    )


def check_single_project(workspace: Workspace) -> None:
    """Raise ConfigError if the workspace was merged from several projects: an engine works on one project."""
    if workspace.manifest().projects:
        raise ConfigError(f"{workspace.folder} is merged from several projects: use the workspace of one of them")


def stored_config(workspace: Workspace, view: View = UNCHANGED) -> Config:
    """Return the configuration with the stored view. Raises WorkspaceError if the configuration was changed."""
    return _load(workspace, read_view(workspace.view_path, view))


def with_view(config: Config, folder: Path) -> Config:
    workspace = Workspace(folder)
    return stored_config(workspace) if workspace.view_path.exists() else config


def measured_config(workspace: Workspace, view: View = UNCHANGED) -> Config:
    """Return the run's configuration, without the stored view. Raises WorkspaceError if it was changed."""
    return _load(workspace, view.spell())


def _load(workspace: Workspace, view: Sequence[str]) -> Config:
    if workspace.manifest().digests:
        # An interrupted run has no digests yet.
        workspace.verify("config.yaml", "manifest.json")
    return load(workspace.config_path, overrides=view, environment={}).config


def refuse_foreign(
    workspace: Workspace, config: Config, *, trusted: bool, typed: bool = False, instead: str = ""
) -> None:
    """Raise ConfigError if an untrusted workspace's configuration sets a command, an address to send code to, or an
    exception to confinement. If `typed`, the user gave the engine's command. `instead` names another way to choose an
    engine, for the message."""
    stored = stored_config(workspace)
    asked = []
    if stored.engine.command is not None and config.engine.command is not None and not typed:
        asked.append(f"run this command as the engine: {shlex.join(stored.engine.command)}")
    put = [key for key in ON_TOP if getattr(stored.engine, key) and getattr(config.engine, key)]
    name = stored.engine.name
    if put and (
        stored.engine.command is not None
        or (name in engines.names() and isinstance(engines.CATALOG.load(name), LspEngine))
    ):
        # Settings may name programs, and environment variables can make a program run other programs.
        asked.append(f"start the engine with the stored {', '.join(f'engine.{key}' for key in put)}")
    if config.engine.endpoint is not None:
        asked += _addresses(stored.engine)
    if config.judge:
        asked += _addresses(stored.judge)
    if stored.engine.reads and config.engine.reads:
        asked.append(f"let the engine read {', '.join(stored.engine.reads)}")
    if config.run.tests:
        asked += _test_runs(stored)
    if stored.interpret.confine == "off" == config.interpret.confine:
        asked.append("start the engine without a sandbox (interpret.confine: off)")
    _refuse(workspace, asked, f", or {instead}" if instead else "", trusted=trusted)


def refuse_foreign_grading(workspace: Workspace, stored: Config, *, trusted: bool) -> None:
    """Raise ConfigError if grading an untrusted workspace would ask a judge or run tests."""
    _refuse(workspace, [*_addresses(stored.judge), *_test_runs(stored)], "", trusted=trusted)


def _test_runs(stored: Config) -> Iterator[str]:
    if stored.run.tests:
        sandbox = "without a sandbox (interpret.confine: off)" if stored.interpret.confine == "off" else "confined"
        yield f"run the tests in stored answers, {sandbox} (run.tests)"


def _addresses(endpoint: EndpointConfig | None) -> Iterator[str]:
    if endpoint and endpoint.endpoint is not None:
        key = f", with the key in {endpoint.key}" if endpoint.key else ""
        yield f"send code to {endpoint.endpoint}{key}"


def _refuse(workspace: Workspace, asked: Sequence[str], instead: str, *, trusted: bool) -> None:
    if asked and not trusted:
        raise ConfigError(
            f"the configuration in {workspace.folder} would {', and '.join(asked)}. A workspace may come from somebody "
            f"else: add --trust if you know this workspace{instead}"
        )
