"""The preparation of a run on this machine: engine, project, dependencies."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import actions, interpret, logs, machine
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError, EngineFailure, PreparationError
from ci_eval.core.catalogs import engines, graders, languages, rankers, tasks
from ci_eval.core.config import Config, EngineConfig, patch
from ci_eval.core.contracts import Configurable, Engine, Installation, Language, Ranker, Splitter, Surroundings, Task
from ci_eval.core.model import UNREFERRING, ActionsConfig, QueriesConfig, StrategyConfig, pick
from ci_eval.core.model.engine import SentConfiguration
from ci_eval.core.records import choose_splitter, has_carets, read_hole, takes_dataset
from ci_eval.core.statistics import footprint
from ci_eval.core.user_model import build_user_model
from ci_eval.fetch import dataset, project, sealed
from ci_eval.fetch.project import Project
from ci_eval.jobs.comparison_rules import judging, load_metrics
from ci_eval.jobs.models import import_recordings
from ci_eval.plugins.adapters import environments
from ci_eval.plugins.adapters.driven import DrivenEngine
from ci_eval.plugins.adapters.endpoints.engine import make_endpoint_engine
from ci_eval.plugins.adapters.engine import Closure
from ci_eval.plugins.adapters.lsp.custom import calls_itself, custom, find_script, is_called
from ci_eval.plugins.adapters.lsp.engine import NO_COMPLETION, LspEngine
from ci_eval.plugins.adapters.lsp.overlay import NEVER, Overlay
from ci_eval.plugins.adapters.place import Configured, measure_confinement
from ci_eval.plugins.adapters.process import NOTHING_OPEN
from ci_eval.plugins.adapters.recipes import InstalledEngine, Renewable

ON_TOP = ("settings", "options", "arguments", "environment", "capabilities")


def servers() -> Iterator[LspEngine]:
    return (engine for engine in engines.CATALOG.all() if isinstance(engine, LspEngine))


def named_engine(config: Config) -> Engine:
    """Return the engine that `engine.name` names. Raises ConfigError if its options do not fit."""
    engine_config = config.engine
    # Names of engines have no space, but commands do.
    if " " in engine_config.name:
        raise ConfigError(
            f"{engine_config.name!r} is not the name of an engine: did you mean --engine-command for a command?"
        )
    engine = engines.CATALOG.load(engine_config.name)
    if isinstance(engine, LspEngine):
        return _set_auto_import(replace(engine, own=make_overlay(engine_config)), config)
    usual = engine.auto_import if isinstance(engine, DrivenEngine) else NEVER
    usual.chosen(config.interpret.auto_import, engine.name)
    for key in (key for key in ON_TOP if key != "options" and getattr(engine_config, key)):
        raise ConfigError(
            f"`engine.{key}` is for language servers, and {engine.name} is not a language server: remove the key"
        )
    if not engine_config.options:
        return engine
    if isinstance(engine, Configurable):
        return engine.configured(engine_config.options)
    able = ", ".join(candidate.name for candidate in engines.CATALOG.all() if isinstance(candidate, Configurable))
    raise ConfigError(
        f"`engine.options` has no effect on {engine.name}; options are for language servers, a `command`, {able}"
    )


def engine_of_command(config: Config, name: str, like: LspEngine | None = None) -> LspEngine:
    engine_config = config.engine
    assert engine_config.command
    own, like = make_overlay(engine_config), like or find_similar_engine(engine_config)
    server = custom(name, engine_config.command, language_id=engine_config.language_id, own=own, like=like)
    return _set_auto_import(server, config)


def find_similar_engine(given: EngineConfig) -> LspEngine | None:
    """Return the known server that `engine.like` or the command's program names, or None. Raises ConfigError."""
    if given.like is None:
        return next((engine for engine in servers() if is_called(given.command or ("",), engine)), None)
    engine = engines.CATALOG.load(given.like)
    if isinstance(engine, LspEngine):
        return engine
    possible = ", ".join(server.name for server in servers())
    raise ConfigError(
        f"`engine.like` is {engine.name}, which is not a language server; language servers are {possible}"
    )


def identify_engine(
    server: LspEngine, installation: Installation, surroundings: Surroundings, config: Config, screen: Screen
) -> LspEngine:
    """Find the known engine that a server is like, and give the server its settings. Raises PreparationError."""
    evidence = "engine.like" if config.engine.like else f"the name of its program, {server.name}"
    if not server.like or not config.engine.like:
        try:
            name, completes = server.introduce(installation, surroundings)
        except EngineFailure as error:
            # This is only a warning: the sessions will fail for the same reason, which the reports show first.
            screen.warn(f"{server.name} did not start in a trial: {error}")
            return server
        if not completes:
            raise PreparationError(NO_COMPLETION.format(server.name))
        if not server.like and (
            model := next((candidate for candidate in servers() if calls_itself(name, candidate)), None)
        ):
            server = engine_of_command(config, server.name, model)
            evidence = f"the name that it gives, {name}"
    if server.like:
        screen.say(
            f"{server.name} gets the settings and waiting times of {server.like}, because of {evidence}; "
            "--engine-like NAME chooses another engine"
        )
    return server


def make_overlay(given: EngineConfig) -> Overlay:
    return Overlay(**{key: getattr(given, key) for key in ON_TOP})


def _set_auto_import(server: LspEngine, config: Config) -> LspEngine:
    """Return the server with the setting of auto-import. Raises ConfigError if the server does not support it."""
    setting = config.interpret.auto_import
    server.auto_import.chosen(setting, server.like or server.name)
    # With auto-import, an answer may contain names from any file.
    closure = server.closure if server.auto_import.state(setting) == "off" else Closure.PROJECT
    return replace(server, auto_imports=setting, closure=closure)


def make_sent_configuration(
    engine: Engine, installation: Installation, surroundings: Surroundings, config: Config, *, has_dependencies: bool
) -> SentConfiguration:
    """Return the configuration that the engine gets, as the manifest stores it. Raises ConfigError."""
    if isinstance(engine, Configured):
        made = engine.sent(installation, surroundings)
    else:
        endpoint_options = {}
        if config.engine.endpoint is not None:
            # The options have the name of the key's variable, never the key itself.
            own, usual = msgspec.to_builtins(config.engine), msgspec.to_builtins(EngineConfig())
            endpoint_options = {key: own[key] for key in own if own[key] != usual[key] and key not in ON_TOP}
        limits = {"timeout": surroundings.timeout}
        made = SentConfiguration(
            options=config.engine.options | endpoint_options or None, auto_import="none", limits=limits
        )
    limits = made.limits | {"suggestions": float(config.interpret.max_suggestions)}
    dependencies = made.dependencies if has_dependencies else "none"
    return replace(made, limits=limits, dependencies=dependencies)


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    config: Config
    language: Language
    engine: Engine
    installation: Installation
    ranker: Ranker
    task: Task
    project: project.Project
    records: actions.Records | None = None
    """The records, if the task has a dataset; `project` is then the folder with the files of the records."""
    around: Project | None = None
    texts: Path | None = None
    environment: InstalledEngine | None = None
    dependencies_left_out: bool = False
    confined: str = ""
    sent: SentConfiguration = msgspec.field(default_factory=SentConfiguration)
    cache: Path = msgspec.field(default_factory=machine.cache_folder)

    @property
    def setup(self) -> interpret.Setup:
        settings, kinds = self.config.interpret, self.config.actions.strategy.filters.statement_types
        root = (self.around or self.project).root
        return interpret.Setup(
            **pick(self, "engine", "installation", "ranker", "task", "texts"),
            surroundings=Surroundings(
                root=root,
                language=self.language.name,
                **pick(self.language, "keywords", "suffixes", "word"),
                initialize=self.config.engine.initialize_timeout,
                ready=self.config.engine.ready,
                ignored=frozenset(self.config.actions.ignore_file_names),
                cache=self.cache,
                timeout=settings.timeout,
                memory=settings.memory_limit,
                environment=self.environment.folder if self.environment else None,
                confine=settings.confine,
                reads=tuple(Path(folder).expanduser().absolute() for folder in self.config.engine.reads),
                kinds=frozenset(kinds) if kinds else None,
                sources=tuple(root / folder for folder in self.config.project.source_roots) or None,
                grammars=languages.list_grammars(self.language.name) if self.config.engine.endpoint else {},
            ),
            settings=settings,
            user=build_user_model(self.config.user) if self.config.user else None,
            judge=self.config.judge,
            run=self.config.running,
            is_paid=self.config.engine.endpoint is not None,
            files=self.project.root,
        )


def prepare(config: Config, screen: Screen) -> Prepared:
    """Check the configuration, and install and download what it names. Raises ConfigError or PreparationError."""
    with sealed.care(report=screen.warn):
        if config.projects:
            raise ConfigError("`projects` are for evaluate and compare-engines; here, name one project: --project SPEC")
        language = languages.CATALOG.load(config.language)
        task = load_task(config)
        engine = load_engine(config)
        config = at_newest(config, engine, screen)
        if not engine.verified and config.engine.command is None:
            screen.warn(f"the tests of ci-eval do not run {engine.name}: a failure may be a bug in ci-eval")
        model = config.interpret.ranking_model
        ranker = rankers.CATALOG.load(config.interpret.completion_type).configured(Path(model) if model else None)
        for form in map(logs.formats.CATALOG.load, config.interpret.log_format):
            # A format may need an extra package, but only if logs are written.
            if config.interpret.save_logs:
                form.check()
        _check_names(config, task, language, engine)
        cache = machine.cache_folder()
        try:
            cache.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PreparationError(f"cannot create the cache {cache}: {error.strerror}; set CI_EVAL_CACHE") from error
        import_recordings(config)
        wanted_graders = interpret.list_graders(task, config.judge, config.running)
        graders.ready(wanted_graders, cache, config.judge, config.running)
        screen.say(f"Preparing {config.dataset.spec or config.project.spec}")
        prepare_project = partial(project.prepare, config.project.spec, cache=cache, name=config.project.name)
        if config.dataset.spec:
            target, records, texts = _read_dataset(config, task, engine, cache)
            # If records belong to a project, engines see this project.
            around = prepare_project() if config.project.spec else None
        else:
            target, records, texts, around = prepare_project(), None, None, None
        seen = around or target
        for folder in config.project.source_roots:
            whole = seen.root
            if not (whole / folder).is_dir() or not (whole / folder).resolve().is_relative_to(whole.resolve()):
                raise ConfigError(
                    f"project.sourceRoots: {folder!r} is not a folder of the project; give its path from the root"
                )
        if config.project.spec and not project.lasts(config.project.spec):
            # The version is stored so that a resumed run and the other engine of a comparison see the same files.
            screen.say(f"{config.project.spec} is {seen.info.spec.partition('#')[0]}, the newest version")
            config = patch(config, project=seen.info.spec)
        needs, left_out = _dependencies(config, language, engine, seen, cache, screen)
        version = f" {config.engine.version}" if config.engine.version else ""
        screen.say(f"Preparing engine {engine.name}{version}")
        installation = engine.install(config.engine.version, cache)
        prepared = Prepared(
            config=config,
            language=language,
            engine=engine,
            installation=installation,
            ranker=ranker,
            task=task,
            project=target,
            records=records,
            around=around,
            texts=texts,
            environment=needs,
            dependencies_left_out=left_out,
            confined=_check_confinement(config, engine, screen),
            cache=cache,
        )
        surroundings = prepared.setup.surroundings
        if isinstance(engine, LspEngine) and config.engine.command is not None:
            # The program is started once, to find out whether ci-eval has settings for it.
            engine = identify_engine(engine, installation, surroundings, config, screen)
        full = bool(needs and needs.packages)
        sent = make_sent_configuration(engine, installation, surroundings, config, has_dependencies=full)
        return replace(prepared, engine=engine, sent=sent)


def _dependencies(
    config: Config, language: Language, engine: Engine, target: project.Project, cache: Path, screen: Screen
) -> tuple[InstalledEngine | None, bool]:
    """Return the environment, and whether installable dependencies were left out. If nothing asks for dependencies,
    they are installed if that is safe and cheap. Raises PreparationError if requested dependencies cannot be
    installed."""
    kind, configured = language.dependencies, config.project.dependencies
    wanted = engine.needs_dependencies or bool(config.project.dependency_groups)
    is_asked = wanted if configured is None else configured
    try_anyway = configured is None and engine.own_process
    try:
        if is_asked or (try_anyway and environments.can_install_safely(kind, target.root, target.info)):
            screen.say(f"Preparing the dependencies of {target.info.name}")
            groups, spec = config.project.dependency_groups, target.info
            sources = [target.root / folder for folder in config.project.source_roots]
            needs = environments.prepare(
                kind, target.root, spec, dependencies=True, cache=cache, groups=groups, sources=sources
            )
            return needs, False
    except PreparationError as error:
        if is_asked:
            raise
        screen.warn(f"the dependencies of {target.info.name} are not installed: {error} (--no-dependencies skips them)")
    left_out = engine.own_process and kind in environments.ENVIRONMENTS
    return environments.prepare(kind, target.root, target.info, dependencies=False, cache=cache), left_out


LATEST = "latest"


def at_newest(config: Config, engine: Engine, screen: Screen) -> Config:
    """Replace the engine's version `latest` with its newest version. Raises ConfigError or PreparationError."""
    if config.engine.version != LATEST or config.engine.command is not None:
        return config
    if not isinstance(engine, Renewable):
        raise ConfigError(
            f"engine {engine.name!r} comes with ci-eval and has no {LATEST} version: leave the version out"
        )
    version = engine.newest()
    screen.say(f"{engine.name}@{LATEST} is {engine.name}@{version}, the newest version")
    # The workspace stores this version, so that all of its sessions use the same engine.
    return replace(config, engine=replace(config.engine, version=version))


def _read_dataset(
    config: Config, task: Task, engine: Engine, cache: Path
) -> tuple[project.Project, actions.Records, Path | None]:
    """Return the folder of the records as a project, the records, and the folder of their texts if the engine needs
    texts. Raises ConfigError or PreparationError."""
    source = dataset.prepare(config.dataset.spec, cache=cache)
    if task.takes_holes:
        split: Splitter = partial(read_hole, endings=languages.list_endings())
    else:
        split = choose_splitter(task, source.lines(), config.queries, config.interpret.seed)
    records = actions.read_records(source.lines(), split, config.find_cluster(task))
    root = dataset.lay_out({file.path: file.text for file in records.files}, cache=cache)
    texts = None
    if has_carets(task) and not engine.takes_records:
        if not records.texts:
            raise ConfigError(
                f"engine {engine.name!r} completes at a caret, and {config.dataset.spec} does not store the texts and "
                "positions of its objects: build the dataset with `ci-eval dataset usages --git … --texts`"
            )
        texts = dataset.lay_out(records.texts, cache=cache)
    return project.Project(root=root, info=source.info), records, texts


def _check_names(config: Config, task: Task, language: Language, engine: Engine) -> None:
    if takes_dataset(task) and not engine.takes_records and not has_carets(task):
        capable = ", ".join(candidate.name for candidate in engines.CATALOG.all() if candidate.takes_records)
        raise ConfigError(
            f"engine {engine.name!r} completes at a caret, and the task {task.name} has no carets: choose {capable}"
        )
    if engine.languages is not None and language.name not in engine.languages:
        known = sorted(engine.languages)
        raise ConfigError(
            f"engine {engine.name!r} does not know {language.title}; it knows {', '.join(known)}: "
            f"add `--language {known[0]}`, or choose an engine of `ci-eval list engines`"
        )
    is_laid_out = config.project.source_roots or config.project.dependency_groups
    if is_laid_out and language.dependencies not in ("python", "node"):
        raise ConfigError(f"project.sourceRoots and dependencyGroups have no effect on {language.title}: remove them")
    metrics = load_metrics(config)
    figures = [*(metric.info.name for metric in metrics), *footprint.INFOS]
    for name in config.reports.default_metrics or ():
        if name not in figures:
            raise ConfigError(
                f"reports.defaultMetrics: unknown metric {name!r}{guess(name, figures)}; known are {', '.join(figures)}"
            )
    judging(config, metrics=metrics)
    if not (config.project.spec or config.dataset.spec):
        raise ConfigError("no project: add --project SPEC, for example --project pypi:flask==3.0.3 or --project path:.")


def _check_confinement(config: Config, engine: Engine, screen: Screen) -> str:
    """Test and describe the confinement of the engine. Raises PreparationError if it is required and incomplete."""
    if not engine.own_process:
        return ""
    level = config.interpret.confine
    offered = measure_confinement(level)
    if level == "required" and not offered.endswith(NOTHING_OPEN):
        raise PreparationError(
            f"`interpret.confine` is `required`, but on this machine an engine is {offered}. See `ci-eval doctor`. "
            "With `auto`, the engine is confined as much as possible, and the reports say how much"
        )
    screen.say(f"Confinement: {offered}")
    if level == "auto" and offered.startswith("not confined"):
        screen.warn(f"the engine is {offered}: it can read your files and reach the network")
    return offered


def load_task(config: Config) -> Task:
    task, strategy, usual = tasks.CATALOG.load(config.effective_task), config.actions.strategy, StrategyConfig()
    if task.configured:
        task = task.configured(task, strategy)
    of_dataset, is_about_code = bool(config.dataset.spec), not (takes_dataset(task) or task.takes_holes)
    types, own_way = task.play or task.of_imports, f"which types {task.unit} in its own way"
    for key, is_set, why in (
        ("actions.strategy.span", strategy.span is not None and not task.configured, "whose spans are fixed"),
        ("judge", config.judge and not task.judge, "which no language model judges"),
        ("run.tests", config.run.tests and not task.runner, "whose answers are not tests"),
        ("queries", config.queries != QueriesConfig() and not task.splitting, "which asks about no histories"),
        ("dataset", of_dataset and is_about_code, "which is about source code"),
        ("project", of_dataset and config.project.spec and not has_carets(task), "which takes records"),
        ("actions", of_dataset and config.actions != ActionsConfig(), "which takes records as they are"),
        ("interpret.saveLogs", types and config.interpret.save_logs, own_way),
        ("interpret.userModel", types and config.interpret.user_model is not None, own_way),
        ("actions.strategy.prefix", types and strategy.prefix != usual.prefix, own_way),
        ("actions.strategy.context", task.of_imports and strategy.context != usual.context, own_way),
        ("actions.strategy.evolution", task.of_imports and strategy.evolution != usual.evolution, own_way),
    ):
        if is_set:
            raise ConfigError(f"`{key}` has no effect on the task {task.name}, {why}: remove it")
    if config.user and task.span != "word":
        raise ConfigError(
            f"`{'interpret.userModel' if config.interpret.user_model else 'actions.strategy.prefix.emulateTyping'}` is "
            f"for tasks with lists of words, and the task {task.name} suggests {task.unit} in one piece: remove it "
            "(the metric AcceptanceRate has its own user model)"
        )
    kinds = frozenset(strategy.filters.statement_types or ())
    if not (task.every_token or task.of_silence) and kinds and kinds <= UNREFERRING:
        raise ConfigError(
            f"`actions.strategy.filters.statementTypes` is {', '.join(sorted(kinds))}, which only the task tokens "
            "asks for: add `task: tokens`, or other kinds"
        )
    if takes_dataset(task) and not of_dataset:
        raise ConfigError(f"the task {task.name} takes records: add --dataset FILE, or `dataset:` to the configuration")
    if of_dataset and task.takes_holes and config.engine.window.other_files:
        # Several holes may be in one text: the text of one would show the answer of another.
        raise ConfigError(
            "`engine.window.otherFiles` shows files of a project, and a dataset of holes has no project: remove the key"
        )
    if task.of_imports and not languages.CATALOG.load(config.language).import_syntax:
        possible = ", ".join(language.name for language in languages.CATALOG.all() if language.import_syntax)
        raise ConfigError(
            f"the task {task.name} removes imports from files, which ci-eval can do in {possible}, not in "
            f"{config.language}"
        )
    return task


def load_engine(config: Config) -> Engine:
    """Return the engine that the configuration gives by name, command or endpoint. Raises ConfigError."""
    settings = config.engine
    own_name = settings.name if settings.name != EngineConfig().name else None
    if settings.endpoint is not None:
        return make_endpoint_engine(settings, own_name, holes=not takes_dataset(load_task(config)))
    if settings.command is None:
        return named_engine(config)
    script = find_script(settings.command)
    return engine_of_command(config, own_name or (script.name if script else Path(settings.command[0]).stem))
