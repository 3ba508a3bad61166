"""The job `evaluate` for an engine that evaluates whole projects by itself, and the files that it is to evaluate."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import actions, machine
from ci_eval.core.actions import source_files
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import ConfigError, EngineFailure, Interrupted, NothingToEvaluate, WorkspaceError
from ci_eval.core.base.shards import Shard, deal_whole
from ci_eval.core.catalogs import languages
from ci_eval.core.config import Config
from ci_eval.core.contracts import Surroundings
from ci_eval.core.workspace import Workspace
from ci_eval.fetch import project
from ci_eval.fetch.project import Project
from ci_eval.jobs import runs
from ci_eval.jobs.jetbrains.conversion import Described, describe, import_description
from ci_eval.jobs.pipeline import Evaluated
from ci_eval.jobs.preparation import load_engine
from ci_eval.plugins.adapters.ide.engine import IdeEngine
from ci_eval.plugins.jetbrains import generations, kept
from ci_eval.plugins.jetbrains.kept import whole
from ci_eval.rendering.figures import format_count

ACCOUNT = "of.json"


class Parts(msgspec.Struct, frozen=True):
    """The folder next to the output with the results of interrupted runs, each a workspace of the plugin."""

    folder: Path

    def found(self) -> list[Path]:
        # By name, 10 would come before 9.
        return sorted((path for path in self.folder.glob("*") if path.is_dir()), key=lambda path: int(path.name))

    def next(self) -> Path:
        return self.folder / str(len(self.found()) + 1)

    def done(self) -> frozenset[str]:
        return frozenset().union(*map(kept.find_complete_files, self.found()))

    def of(self, account: bytes, *, resume: bool) -> None:
        """Raises WorkspaceError if the run to `resume` had another account."""
        path = self.folder / ACCOUNT
        if not resume:
            shutil.rmtree(self.folder, ignore_errors=True)
        elif path.is_file() and path.read_bytes() != account:
            raise WorkspaceError(
                f"{self.folder} is of a run with another configuration, IDE, project or shard: give the command as it "
                "was, or leave out --resume to begin anew"
            )
        atomic.write(path, account)


def roots(config: Config, found: Project, shard: Shard | None, done: frozenset[str]) -> Sequence[str]:
    """Return the value of `evaluationRoots`, empty if all are `done`. Raises ConfigError, NothingToEvaluate."""
    if shard is None and not done:
        return config.actions.evaluation_roots or (".",)
    language = languages.CATALOG.load(config.language)
    files = list(source_files(found.root, language, config.actions))
    if shard:
        if config.interpret.sessions_limit is not None:
            raise ConfigError("an IDE takes interpret.sessionsLimit in each shard anew: leave it out, or --shard")
        files = deal_whole({path: (found.root / path).stat().st_size for path in files}, shard.of)[shard.index]
        if not files:
            raise NothingToEvaluate(f"shard {shard} has no file: an IDE evaluates whole files; take fewer shards")
    # Where there are several projects, the plugin writes the name of one before each file.
    known = done | {path.partition(":")[2] for path in done}
    return [path for path in files if path not in known]


TYPES = ("BASIC", "SMART", "ML", "FULL_LINE", "CLANGD")
THEIRS = "plugin"


def find_ide_engine(config: Config) -> IdeEngine | None:
    engine = load_engine(config)
    return engine if isinstance(engine, IdeEngine) else None


def evaluate(
    config: Config, engine: IdeEngine, *, output: Path | None, resume: bool, shard: Shard | None, screen: Screen
) -> Evaluated:
    """Let the IDE evaluate, and import its workspace. `resume`: continue with the remaining files. Raises ConfigError,
    WorkspaceError, PreparationError, NothingToEvaluate, EngineFailure."""
    if config.effective_task != "completion":
        raise ConfigError(f"engine jetbrains is evaluated in the task completion, not {config.effective_task}")
    if config.interpret.completion_type not in TYPES:
        raise ConfigError(
            f"engine jetbrains has the completion types {', '.join(TYPES)}, not {config.interpret.completion_type}"
        )
    if not config.project.spec:
        raise ConfigError("no project: add --project SPEC, for example --project path:.")
    folder = runs.choose_output(config, output)
    # It is next to the output, which stays free until the import.
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
        plugin_config = generation.config(replace(config, output_dir=""), "")
        account = [plugin_config, prepared.info.checksum, installation.info.version, str(shard)]
        parts.of(msgspec.json.encode(account), resume=resume)
        paths = roots(config, prepared, shard, parts.done())
        if paths:
            screen.say(f"Evaluating {prepared.info.name} with {installation.info.version}")
            with _report_progress(parts, folder, screen):
                confined = _run(_set_roots(config, paths), engine, prepared, parts.next(), screen)
        whole(parts.found(), waiting)
        shutil.rmtree(parts.folder)
    described = _describe(waiting, config, engine, prepared, shard)
    described = replace(described, manifest=replace(described.manifest, confined=confined))
    done = import_description(described, folder, screen)
    # The plugin's workspace moves last: --resume needs it as long as the import is not complete.
    shutil.move(waiting, folder / "imported" / THEIRS)
    return done


@contextmanager
def _report_progress(parts: Parts, folder: Path, screen: Screen) -> Iterator[None]:
    """Raises Interrupted if the user interrupts the IDE."""
    try:
        yield
    except (EngineFailure, KeyboardInterrupt) as error:
        if done := parts.done():
            screen.warn(f"evaluated so far: {format_count(len(done), 'file')}; add --resume to go on with the others")
        else:
            shutil.rmtree(parts.folder)
        if isinstance(error, KeyboardInterrupt):
            raise Interrupted(folder) from error
        raise


def _describe(
    theirs: Path, config: Config, engine: IdeEngine, prepared: project.Project, shard: Shard | None
) -> Described:
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
        processor=machine.cpu(),
    )
    changed = _set_roots(described.config, config.actions.evaluation_roots)
    changed = replace(
        changed, engine=config.engine, project=config.project, reports=config.reports, output_dir=config.output_dir
    )
    return replace(described, manifest=manifest, config=changed)


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
