"""The job `import`: it reads a workspace of the JetBrains plugin, and what that says of itself, into one of ours."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval import __version__
from ci_eval.ci import Screen
from ci_eval.core import actions, model
from ci_eval.core.base import stored
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate, WorkspaceError
from ci_eval.core.catalogs import tasks
from ci_eval.core.config import Config, dump, load
from ci_eval.core.grammar import syntax
from ci_eval.core.logs import names
from ci_eval.core.manifest import Manifest, StageRecord
from ci_eval.core.user_model import build_user_model, encode_user_model
from ci_eval.core.workspace import Workspace, pack_actions, pack_sessions
from ci_eval.jobs import outcome, pipeline
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.plugins.jetbrains import generations
from ci_eval.plugins.jetbrains.fields import plain
from ci_eval.plugins.jetbrains.generation import Generation, normalise_language
from ci_eval.plugins.jetbrains.kept import FOLDER, Kept
from ci_eval.plugins.jetbrains.workspace import Origin, find_actions_files, read_errors, read_files

OWN = "ci-eval"
"""The folder of an exported workspace with its original manifest and configuration."""
NAMED = "%Y-%m-%d_%H-%M-%S"
"""The format of the name that the plugin gives a workspace: the time at which it began."""


@dataclass(frozen=True, kw_only=True)
class Described:
    folder: Path
    generation: Generation
    language: str
    config: Config
    manifest: Manifest
    warnings: tuple[str, ...]


def describe(folder: Path, generation: str | None, engine: str) -> Described:
    """Read the config.json of a workspace of the plugin. `generation`: its name, None = the one that wrote the
    configuration; `engine`: NAME@VERSION. Raises WorkspaceError, ConfigError."""
    path = folder / "config.json"
    if not path.is_file():
        raise WorkspaceError(
            f"{folder} is no workspace of the JetBrains plugin: it has no config.json; give the folder named by a time"
        )
    # The workspace may come from somebody else, and a link could lead to any file of this machine.
    stored.refuse_links(folder)
    raw = plain(path)
    if not isinstance(raw, dict):
        raise WorkspaceError(f"{path} is not an object; fetch the workspace again")
    plugin_generation = (
        generations.CATALOG.load(generation)
        if generation
        else next(known for known in generations.CATALOG.all() if known.wrote(raw))
    )
    actions_ = raw.get("actions")
    strategy = actions_.get("strategy") if isinstance(actions_, Mapping) else None
    if isinstance(strategy, Mapping) and strategy.get("completionGolf"):
        raise ConfigError(f"{folder} is of code golf, whose sessions are not imported: leave it out")
    language = str(raw.get("language") or "Java")
    own = folder / OWN / "manifest.json"
    if own.is_file():
        manifest = stored.decode_json(stored.read(own, stored.MANIFEST), Manifest, own)
        loaded = load(folder / OWN / "config.yaml", environment={})
        config, warnings = loaded.config, loaded.warnings
    else:
        config, warnings = _config(path, raw, normalise_language(language))
        manifest = _describe_run(folder, config, raw, engine)
    return Described(
        folder=folder,
        generation=plugin_generation,
        language=language,
        config=config,
        manifest=manifest,
        warnings=warnings,
    )


def _config(path: Path, raw: Mapping[str, object], language: str) -> tuple[Config, tuple[str, ...]]:
    """Return the keys of the configuration that ci-eval knows, and a warning for the others. Nothing in it is run."""
    try:
        loaded = load(path, environment=_Verbatim())
        config, warnings = loaded.config, loaded.warnings
    except ConfigError as error:
        config, warnings = _least_config(raw), (f"only the strategy of config.json is taken over: {error}",)
    prefix = config.actions.strategy.prefix
    if prefix.emulate_typing and prefix.name == "SimplePrefix":
        every = model.PrefixConfig(name="EveryPrefix", n=prefix.n)
        strategy = replace(config.actions.strategy, prefix=every)
        config = replace(config, actions=replace(config.actions, strategy=strategy))
    # The plugin's lists are stored as they came, without any client's filter.
    interpret = replace(config.interpret, client="raw")
    return replace(config, language=language, interpret=interpret), warnings


class _Verbatim(dict[str, str]):
    """An environment in which `${name}` stands for itself, since it named a property of another machine."""

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return f"${{{name}}}"


def _least_config(raw: Mapping[str, object]) -> Config:
    """Return a configuration of strategy, completion type and title alone; each is left out if it is not understood."""
    config = Config()
    for key, value in _known_sections(raw).items():
        section = {key: value}
        try:
            config = msgspec.convert(_merge(msgspec.to_builtins(config), section), Config)
        # A section that is not understood must not cost the others.
        except msgspec.ValidationError:
            continue
    return config


def _known_sections(raw: Mapping[str, object]) -> dict[str, object]:
    sections_read: dict[str, object] = {}
    sections = {name: value for name, value in raw.items() if isinstance(value, Mapping)}
    below = sections.get("actions", {}).get("strategy")
    strategy = sections.get("strategy") or (below if isinstance(below, Mapping) else {})
    prefix, context = strategy.get("prefix"), strategy.get("context")
    kinds = strategy.get("filters")
    filters = {
        key: [kind for kind in value if kind in set(model.Kind)] if key == "statementTypes" and value else value
        for key, value in (kinds.items() if isinstance(kinds, Mapping) else ())
        if key in {"statementTypes", "isStatic", "isArgument", "packageRegex"}
    }
    sections_read["actions"] = {"strategy": {"prefix": prefix or {}, "context": context or "ALL", "filters": filters}}
    kind = sections.get("interpret", {}).get("completionType") or strategy.get("type")
    sections_read["interpret"] = {"completionType": kind} if kind else {}
    if title := sections.get("reports", {}).get("evaluationTitle"):
        sections_read["reports"] = {"evaluationTitle": title}
    if project := raw.get("projectPath"):
        sections_read["project"] = {"spec": f"path:{project}"}
    return sections_read


def _merge(base: dict[str, object], more: Mapping[str, object]) -> dict[str, object]:
    merged = dict(base)
    for key, value in more.items():
        below = merged.get(key)
        merged[key] = _merge(below, value) if isinstance(below, dict) and isinstance(value, Mapping) else value
    return merged


def _describe_run(folder: Path, config: Config, raw: Mapping[str, object], engine: str) -> Manifest:
    name, _, version = engine.partition("@")
    start = _start_time(folder)
    project = str(raw.get("projectPath") or "").replace("\\", "/").rstrip("/")
    kind = config.interpret.completion_type
    return Manifest(
        ci_eval=__version__,
        title=config.reports.evaluation_title or kind,
        language=config.language,
        completion_type=kind,
        client="raw",
        strategy=actions.spell_task(config.actions.strategy, config.interpret.seed, tasks.CATALOG.load("completion")),
        filters=actions.spelled_filters(config.actions.strategy.filters),
        files=actions.spelled_files(config.actions),
        user=encode_user_model(build_user_model(config.user)) if config.user else "",
        task="completion",
        seed=config.interpret.seed,
        engine=model.EngineInfo(name=name, version=version or "unknown"),
        project=model.ProjectInfo(
            spec=config.project.spec, name=project.rpartition("/")[2] or "unknown", revision="unknown", checksum=""
        ),
        grammar=syntax.bundle(),
        python="",
        os="",
        processor="",
        jobs=1,
        start=start,
        end=start,
    )


def _start_time(folder: Path) -> str:
    """Return the time in the folder's name, taken as UTC, since it has no zone; else the time of its configuration."""
    try:
        start = datetime.strptime(folder.resolve().name[:19], NAMED).replace(tzinfo=timezone.utc)
    except ValueError:
        start = datetime.fromtimestamp((folder / "config.json").stat().st_mtime, tz=timezone.utc)
    return start.replace(microsecond=0).isoformat()


def import_workspace(folder: Path, *, output: Path, generation: str | None, engine: str, screen: Screen) -> Evaluated:
    """Read the workspace at `folder` into a new one at `output`. Raises ConfigError, WorkspaceError, NothingToEvaluate;
    then nothing stays at `output` that could be taken for a workspace."""
    Workspace.check_free(output)
    return import_description(describe(folder, generation, engine), output, screen)


def import_description(described: Described, output: Path, screen: Screen) -> Evaluated:
    """Import a workspace of the plugin whose description was read, and perhaps corrected. Raises as `import_workspace`
    does."""
    folder = described.folder
    for warning in described.warnings:
        screen.warn(warning)
    screen.say(f"Reading {folder} ({described.generation.name}: {described.generation.summary})")
    kept = Kept(folder)
    workspace = Workspace.create(output)
    try:
        workspace.write_config(dump(described.config))
        lost = find_actions_files(described.folder)
        tally = _Tally()
        for file in read_files(_origin(described), dict(lost), kept):
            lost.pop(file.source.path, None)
            workspace.write_sessions(file.source.path, pack_sessions(file.source, file.sessions))
            file_actions = file.actions or _empty_actions(file.source, file.sessions)
            workspace.write_actions(file.source.path, pack_actions(file_actions))
            tally.files += 1
            tally.generated += max(file_actions.sessions, len(file.sessions))
            tally.statuses.update(session.status for session in file.sessions)
        # A shard may have no session, since there may be fewer files than shards.
        if not tally.statuses and described.manifest.shard is None:
            raise NothingToEvaluate(f"{described.folder} has no sessions: see its errors/, and data/files.json")
        missing = {path: actions.sessions for path, actions in lost.items() if actions.sessions}
        for error in read_errors(described.folder, missing, kept):
            workspace.write_error(error)
        names.count(source.text for source in workspace.sources()).save(workspace.names_path)
        kept.write(workspace.folder)
        workspace.write_manifest(_manifest(workspace, described, tally, sum(missing.values())))
        workspace.seal()
    except BaseException:
        # A damaged import leaves nothing that could be taken for a workspace.
        shutil.rmtree(output)
        raise
    for name, count in sorted(kept.unknown.items()):
        screen.warn(f"unknown field in {name} ({count:,} times): kept in {output / FOLDER}, and not used")
    evaluation, reports = pipeline.make_reports(workspace, described.config)
    trouble = outcome.trouble(workspace, described.config)
    return Evaluated(folder=output, evaluation=evaluation, reports=reports, trouble=trouble)


@dataclass
class _Tally:
    files: int = 0
    generated: int = 0
    statuses: Counter[model.Status] = field(default_factory=Counter)


def _manifest(workspace: Workspace, described: Described, tally: _Tally, missing: int) -> Manifest:
    manifest, statuses = described.manifest, tally.statuses
    record = StageRecord(started=manifest.start, ended=manifest.end or manifest.start, files=tally.files)
    planned = statuses.total() + missing
    return replace(
        manifest,
        project=_project(workspace, manifest.project),
        planned=planned,
        finished=statuses.total() - statuses[model.Status.SKIPPED],
        statuses={status.value: count for status, count in sorted(statuses.items()) if count},
        generated=max(tally.generated + missing, planned),
        stages=manifest.stages or {"actions": record, "interpret": record},
        logs=None,
        digests={},
    )


def _origin(described: Described) -> Origin:
    manifest = described.manifest
    return Origin(
        folder=described.folder,
        generation=described.generation,
        project=manifest.project.name,
        strategy=manifest.strategy,
        language=described.language,
        with_user=described.config.user is not None,
    )


def _empty_actions(source: model.SourceFile, sessions: Sequence[model.Session]) -> model.FileActions:
    # Without actions, `rerank` cannot order the suggestions of this file again.
    opened = model.OpenFile(path=source.path, checksum=source.checksum)
    return model.FileActions(
        path=source.path, checksum=source.checksum, sessions=len(sessions), unparsable=0.0, actions=(opened,)
    )


def _project(workspace: Workspace, known: model.ProjectInfo) -> model.ProjectInfo:
    """Return the project. If its checksum is unknown, it gets a checksum over the files that have sessions."""
    if known.checksum:
        return known
    digest = hashlib.sha256()
    for source in sorted(workspace.sources(), key=lambda source_file: source_file.path):
        digest.update(f"{source.path}\0{source.checksum}\0".encode())
    return replace(known, checksum=digest.hexdigest(), revision=digest.hexdigest()[:12])
