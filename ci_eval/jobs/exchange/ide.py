"""The job `evaluate` with an engine that evaluates whole projects by itself."""

from __future__ import annotations

import shutil
from dataclasses import replace as dataclass_replace
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval import atomic, machine
from ci_eval.adapters.ide.engine import IdeEngine
from ci_eval.ci import Screen
from ci_eval.config import Config
from ci_eval.contracts import Surroundings
from ci_eval.errors import ConfigError
from ci_eval.exchange import generations
from ci_eval.fetch import project
from ci_eval.jobs import runs
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.exchange.importing import import_described
from ci_eval.jobs.exchange.origin import describe
from ci_eval.jobs.preparation import engine_of
from ci_eval.model import EngineInfo
from ci_eval.workspace import Workspace

TYPES = ("BASIC", "SMART", "ML", "FULL_LINE", "CLANGD")
"""Completion types of the plugin."""
THEIRS = "plugin"
"""Folder, below the output, of the plugin's own workspace."""


def wanted(config: Config) -> IdeEngine | None:
    """The engine, if it is one that evaluates whole projects by itself."""
    engine = engine_of(config)
    return engine if isinstance(engine, IdeEngine) else None


def evaluate(config: Config, engine: IdeEngine, *, output: Path | None, resume: bool, screen: Screen) -> Evaluated:
    """Let the IDE evaluate, and import what it made. `resume`: import what an interrupted run has left, if the IDE was
    through. Raises ConfigError, WorkspaceError, PreparationError, EngineFailure."""
    _check(config)
    folder = runs.workspace_for(config, output)
    waiting = folder.with_name(f"{folder.name}.{THEIRS}")
    if not (resume and (waiting / "config.json").is_file()):
        Workspace.check_free(folder)
        shutil.rmtree(waiting, ignore_errors=True)
    installation = engine.install(config.engine.version, machine.cache_folder())
    found = project.prepare(config.project.spec, cache=machine.cache_folder())
    confined = ""
    if not (waiting / "config.json").is_file():
        screen.warn("no test of ci-eval drives a real IDE: where it fails, that may be ci-eval's fault, too")
        screen.say(f"Evaluating {found.info.name} with {installation.info.version}")
        confined = _run(config, engine, found, waiting, screen)
    described = describe(waiting, engine.options.generation, "jetbrains")
    info = EngineInfo(name=engine.name, version=installation.info.version)
    started = described.manifest.start
    manifest = replace(
        described.manifest,
        engine=info,
        project=found.info,
        confined=confined,
        title=runs.title_of(config, info),
        start=started,
        end=machine.now(),
        os=machine.system(),
        cpu=machine.cpu(),
    )
    kept = replace(described.config, engine=config.engine, project=config.project, reports=config.reports)
    done = import_described(dataclass_replace(described, manifest=manifest, config=kept), folder, screen)
    shutil.move(waiting, folder / "imported" / THEIRS)
    return done


def _check(config: Config) -> None:
    if config.played != "completion":
        raise ConfigError(f"engine jetbrains is evaluated in the task completion, not {config.played}")
    if config.interpret.completion_type not in TYPES:
        raise ConfigError(
            f"engine jetbrains has the completion types {', '.join(TYPES)}, not {config.interpret.completion_type}"
        )
    if not config.project.spec:
        raise ConfigError("no project: add --project SPEC, for example --project path:.")


def _run(config: Config, engine: IdeEngine, found: project.Project, waiting: Path, screen: Screen) -> str:
    generation = generations.CATALOG.load(engine.options.generation)
    limits = config.interpret
    surroundings = Surroundings(
        root=found.root,
        language=config.language,
        keywords=frozenset(),
        cache=machine.cache_folder(),
        timeout=limits.timeout,
        memory=limits.memory_limit,
        confine=limits.confine,
        reads=tuple(Path(each).expanduser().absolute() for each in config.engine.reads),
    )

    def write(path: Path, root: Path, out: Path) -> None:
        raw = generation.config(replace(config, output_dir=str(out)), str(root))
        atomic.write(path, msgspec.json.format(msgspec.json.encode(raw), indent=2))

    with screen.steps("IDE", "percent") as steps:
        return engine.evaluate(
            surroundings, write, waiting, lambda told: steps.show(told.percent, 100, f"{told.title}: {told.text}")
        )
