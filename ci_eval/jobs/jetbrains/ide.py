"""The job `evaluate` for an engine that evaluates whole projects by itself."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace as dataclass_replace
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import actions, machine
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, EngineFailure, Interrupted
from ci_eval.core.base.shards import Shard
from ci_eval.core.config import Config
from ci_eval.core.contracts import Surroundings
from ci_eval.core.fetch import project
from ci_eval.core.rendering.figures import format_count
from ci_eval.core.workspace import Workspace
from ci_eval.jobs import runs
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.jetbrains.ide_files import Parts, make_account, roots
from ci_eval.jobs.jetbrains.importing import import_description
from ci_eval.jobs.jetbrains.origin import Described, describe
from ci_eval.jobs.preparation import load_engine
from ci_eval.plugins.adapters.ide.engine import IdeEngine
from ci_eval.plugins.jetbrains import generations
from ci_eval.plugins.jetbrains.parts import whole

TYPES = ("BASIC", "SMART", "ML", "FULL_LINE", "CLANGD")
"""The completion types of the plugin."""
THEIRS = "plugin"
"""The folder of the plugin's own workspace, below the output."""


def find_ide_engine(config: Config) -> IdeEngine | None:
    """Return the engine if it is one that evaluates whole projects by itself; else None."""
    engine = load_engine(config)
    return engine if isinstance(engine, IdeEngine) else None


def evaluate(
    config: Config, engine: IdeEngine, *, output: Path | None, resume: bool, shard: Shard | None, screen: Screen
) -> Evaluated:
    """Let the IDE evaluate, and import the workspace that it made.

    `resume`: continue an interrupted run with its remaining files. `shard`: evaluate only its files. Raises
    ConfigError, WorkspaceError, PreparationError, NothingToEvaluate, EngineFailure.
    """
    if config.effective_task != "completion":
        raise ConfigError(f"engine jetbrains is evaluated in the task completion, not {config.effective_task}")
    if config.interpret.completion_type not in TYPES:
        raise ConfigError(
            f"engine jetbrains has the completion types {', '.join(TYPES)}, not {config.interpret.completion_type}"
        )
    if not config.project.spec:
        raise ConfigError("no project: add --project SPEC, for example --project path:.")
    folder = runs.choose_output(config, output)
    # It is beside the output, which stays free until the import.
    waiting = folder.with_name(f"{folder.name}.{THEIRS}")
    resumed = resume and (waiting / "config.json").is_file()
    if not resumed:
        Workspace.check_free(folder)
        shutil.rmtree(waiting, ignore_errors=True)
    installation = engine.install(config.engine.version, machine.cache_folder())
    prepared = project.prepare(config.project.spec, cache=machine.cache_folder())
    confined = ""
    if not resumed:
        screen.warn("no test of ci-eval drives a real IDE: where it fails, that may be ci-eval's fault, too")
        parts = Parts(folder.with_name(f"{folder.name}.parts"))
        generation = generations.CATALOG.load(engine.options.generation)
        parts.of(make_account(config, generation, prepared, installation.info.version, shard), resume=resume)
        paths = roots(config, prepared, shard, parts.done())
        if paths:
            screen.say(f"Evaluating {prepared.info.name} with {installation.info.version}")
            with _report_progress(parts, folder, screen):
                confined = _run(_set_roots(config, paths), engine, prepared, parts.next(), screen)
        whole(parts.found(), waiting)
        parts.remove()
    described = _describe(waiting, config, engine, prepared, shard)
    described = dataclass_replace(described, manifest=replace(described.manifest, confined=confined))
    done = import_description(described, folder, screen)
    # The plugin's workspace moves last: --resume needs it as long as the import is not complete.
    shutil.move(waiting, folder / "imported" / THEIRS)
    return done


@contextmanager
def _report_progress(parts: Parts, folder: Path, screen: Screen) -> Iterator[None]:
    """Wrap the work of the IDE: if it fails, say what is stored of it. Raises Interrupted if the user interrupts it."""
    try:
        yield
    except (EngineFailure, KeyboardInterrupt) as error:
        if done := parts.done():
            screen.warn(f"evaluated so far: {format_count(len(done), 'file')}; add --resume to go on with the others")
        else:
            parts.remove()
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(folder) from error
        raise


def _describe(
    theirs: Path, config: Config, engine: IdeEngine, prepared: project.Project, shard: Shard | None
) -> Described:
    """Return the workspace of the plugin, with the facts that are known better here."""
    described = describe(theirs, engine.options.generation, engine.name)
    info = engine.install(config.engine.version, machine.cache_folder()).info
    manifest = replace(
        described.manifest,
        engine=info,
        project=prepared.info,
        files=actions.spelled_files(config.actions),
        shard=str(shard) if shard else None,
        own_actions=shard is not None,
        title=runs.make_title(config, info),
        end=machine.now(),
        os=machine.system(),
        cpu=machine.cpu(),
    )
    changed = _set_roots(described.config, config.actions.evaluation_roots)
    changed = replace(
        changed, engine=config.engine, project=config.project, reports=config.reports, output_dir=config.output_dir
    )
    return dataclass_replace(described, manifest=manifest, config=changed)


def _set_roots(config: Config, roots: Sequence[str]) -> Config:
    return replace(config, actions=replace(config.actions, evaluation_roots=tuple(roots)))


def _run(config: Config, engine: IdeEngine, prepared: project.Project, waiting: Path, screen: Screen) -> str:
    generation = generations.CATALOG.load(engine.options.generation)
    limits = config.interpret
    surroundings = Surroundings(
        root=prepared.root,
        language=config.language,
        keywords=frozenset(),
        cache=machine.cache_folder(),
        timeout=limits.timeout,
        memory=limits.memory_limit,
        confine=limits.confine,
        reads=tuple(Path(path).expanduser().absolute() for path in config.engine.reads),
    )

    def write(path: Path, root: Path, out: Path) -> None:
        raw = generation.config(replace(config, output_dir=str(out)), str(root))
        atomic.write(path, msgspec.json.format(msgspec.json.encode(raw), indent=2))

    with screen.steps("IDE", "percent") as steps:
        return engine.evaluate(
            surroundings,
            write,
            waiting,
            lambda progress: steps.show(progress.percent, 100, f"{progress.title}: {progress.text}"),
        )
