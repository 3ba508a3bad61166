"""The jobs `import` (from workspaces of the JetBrains plugin) and `export` (to such workspaces, or to tables)."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core import model
from ci_eval.core.base import atomic, stored
from ci_eval.core.base.catalog import guess
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate, WorkspaceError
from ci_eval.core.catalogs import tasks
from ci_eval.core.config import Config, add_filters, dump, load
from ci_eval.core.config.loading import UNCHANGED, View
from ci_eval.core.filters import collect_letters, resolve
from ci_eval.core.logs import names
from ci_eval.core.manifest import Manifest, StageRecord
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace, pack_actions, pack_sessions
from ci_eval.jobs import pipeline, runs
from ci_eval.jobs.pipeline import Evaluated
from ci_eval.plugins.exports import tables
from ci_eval.plugins.exports.run import open_workspace
from ci_eval.plugins.jetbrains import generations
from ci_eval.plugins.jetbrains import workspace as plugin_files
from ci_eval.plugins.jetbrains.fields import read_json
from ci_eval.plugins.jetbrains.generation import normalise_language, strategy_of

OWN = "ci-eval"
FOLDER_NAME = "%Y-%m-%d_%H-%M-%S"


class _Verbatim(dict[str, str]):
    """An environment that does not replace `${name}`, since this names a property of another machine."""

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, name: str) -> str:
        return f"${{{name}}}"


def _read_config(path: Path, raw: Mapping[str, object], language: str) -> tuple[Config, tuple[str, ...]]:
    """Return the configuration of the known keys, and warnings about the others. No command in it is run."""
    try:
        loaded = load(path, environment=_Verbatim())
        config, warnings = loaded.config, loaded.warnings
    except ConfigError as error:
        config, accepted = Config(), dict[str, object]()
        warnings = (f"only the strategy is read from config.json: {error}",)
        for key, section in _known_sections(raw).items():
            # An invalid section must not prevent the others from being read.
            with suppress(msgspec.ValidationError):
                config = msgspec.convert({**accepted, key: section}, Config)
                accepted[key] = section
    prefix = config.actions.strategy.prefix
    if prefix.emulate_typing and prefix.name == "SimplePrefix":
        every = model.PrefixConfig(name="EveryPrefix", n=prefix.n)
        strategy = replace(config.actions.strategy, prefix=every)
        config = replace(config, actions=replace(config.actions, strategy=strategy))
    # The plugin stores lists as the engine returned them, without the filter of any client.
    interpret = replace(config.interpret, client="raw")
    return replace(config, language=language, interpret=interpret), warnings


def _known_sections(raw: Mapping[str, object]) -> dict[str, object]:
    """Convert strategy, completion type, title and project, if given, to sections of our configuration."""
    sections = {name: value for name, value in raw.items() if isinstance(value, Mapping)}
    strategy = sections.get("strategy") or strategy_of(raw)
    kinds = strategy.get("filters")
    filters = {
        key: [kind for kind in value if kind in set(model.Kind)] if key == "statementTypes" and value else value
        for key, value in (kinds.items() if isinstance(kinds, Mapping) else ())
        if key in {"statementTypes", "isStatic", "isArgument", "packageRegex"}
    }
    prefix, context = strategy.get("prefix") or {}, strategy.get("context") or "ALL"
    kind = sections.get("interpret", {}).get("completionType") or strategy.get("type")
    known: dict[str, object] = {
        "actions": {"strategy": {"prefix": prefix, "context": context, "filters": filters}},
        "interpret": {"completionType": kind} if kind else {},
    }
    if title := sections.get("reports", {}).get("evaluationTitle"):
        known["reports"] = {"evaluationTitle": title}
    if project := raw.get("projectPath"):
        known["project"] = {"spec": f"path:{project}"}
    return known


def _describe_run(folder: Path, config: Config, raw: Mapping[str, object], engine: str) -> Manifest:
    name, _, version = engine.partition("@")
    # The name of the folder is a time without a time zone, which is taken as UTC.
    try:
        began = datetime.strptime(folder.resolve().name[:19], FOLDER_NAME).replace(tzinfo=timezone.utc)
    except ValueError:
        began = datetime.fromtimestamp((folder / "config.json").stat().st_mtime, tz=timezone.utc)
    start = began.replace(microsecond=0).isoformat()
    project = str(raw.get("projectPath") or "").replace("\\", "/").rstrip("/")
    info = model.ProjectInfo(
        spec=config.project.spec, name=project.rpartition("/")[2] or "unknown", revision="unknown", checksum=""
    )
    plugin = model.EngineInfo(name=name, version=version or "unknown")
    manifest = runs.describe_questions(config, tasks.CATALOG.load("completion"), plugin, info)
    title = config.reports.evaluation_title or config.interpret.completion_type
    return replace(manifest, title=title, start=start, end=start)


def import_workspace(folder: Path, *, output: Path, engine: str, screen: Screen) -> Evaluated:
    """Import a workspace of the plugin. `engine` is NAME@VERSION. Raises ConfigError, WorkspaceError,
    NothingToEvaluate."""
    Workspace.check_free(output)
    path = folder / "config.json"
    if not path.is_file():
        raise WorkspaceError(
            f"{folder} is not a workspace of the JetBrains plugin: it has no config.json; give the folder "
            "whose name is a time"
        )
    # The workspace may come from somebody else, and a link could lead to any file of this machine.
    stored.refuse_links(folder)
    raw = read_json(path)
    if not isinstance(raw, dict):
        raise WorkspaceError(f"{path} is not an object; fetch the workspace again")
    generation = next(known for known in generations.CATALOG.all() if known.wrote(raw))
    if strategy_of(raw).get("completionGolf"):
        raise ConfigError(f"{folder} holds sessions of code golf, which cannot be imported: leave the folder out")
    language = str(raw.get("language") or "Java")
    own = folder / OWN / "manifest.json"
    if own.is_file():
        manifest = stored.decode_json(stored.read(own, stored.MANIFEST), Manifest, own)
        loaded = load(folder / OWN / "config.yaml", environment={})
        config, warnings = loaded.config, loaded.warnings
    else:
        config, warnings = _read_config(path, raw, normalise_language(language))
        manifest = _describe_run(folder, config, raw, engine)
    for warning in warnings:
        screen.warn(warning)
    screen.say(f"Reading {folder} ({generation.name}: {generation.summary})")
    origin = plugin_files.Origin(
        folder=folder,
        generation=generation,
        project=manifest.project.name,
        strategy=manifest.strategy,
        language=language,
        with_user=config.user is not None,
    )
    kept = plugin_files.Kept(folder)
    workspace = Workspace.create(output)
    try:
        workspace.write_config(dump(config))
        _import_results(origin, manifest, kept, workspace)
        workspace.seal()
    except BaseException:
        # A failed import must not leave a folder that could be mistaken for a workspace.
        shutil.rmtree(output)
        raise
    for name, count in sorted(kept.unknown.items()):
        screen.warn(
            f"unknown field in {name} ({count:,} times): stored in {output / plugin_files.FOLDER}, but not used"
        )
    return pipeline.make_reports(workspace, config)


def _import_results(
    origin: plugin_files.Origin, manifest: Manifest, kept: plugin_files.Kept, workspace: Workspace
) -> None:
    """Write the plugin's sessions into the workspace. Raises WorkspaceError, and NothingToEvaluate without sessions."""
    lost = plugin_files.find_actions_files(origin.folder)
    files, generated, statuses = 0, 0, Counter[model.Status]()
    for file in plugin_files.read_files(origin, dict(lost), kept):
        path = file.source.path
        lost.pop(path, None)
        workspace.write_sessions(path, pack_sessions(file.source, file.sessions))
        # If the plugin stored no actions, the only action opens the file, and `rerank` cannot reorder suggestions.
        file_actions = file.actions or model.FileActions(
            path=path,
            checksum=file.source.checksum,
            sessions=len(file.sessions),
            unparsable=0.0,
            actions=(model.OpenFile(path=path, checksum=file.source.checksum),),
        )
        workspace.write_actions(path, pack_actions(file_actions))
        files += 1
        generated += max(file_actions.sessions, len(file.sessions))
        statuses.update(session.status for session in file.sessions)
    # A shard may have no session, since there may be fewer files than shards.
    if not statuses and manifest.shard is None:
        raise NothingToEvaluate(f"{origin.folder} has no sessions: see errors/ and data/files.json in it")
    missing = {path: sessions for path, (_, sessions) in lost.items() if sessions}
    for error in plugin_files.read_errors(origin.folder, missing, kept):
        workspace.write_error(error)
    names.count(source.text for source in workspace.sources()).save(workspace.names_path)
    kept.write(workspace.folder)
    project = manifest.project
    if not project.checksum:
        digest = hashlib.sha256()
        for source in sorted(workspace.sources(), key=lambda source_file: source_file.path):
            digest.update(f"{source.path}\0{source.checksum}\0".encode())
        project = replace(project, checksum=digest.hexdigest(), revision=digest.hexdigest()[:12])
    record = StageRecord(started=manifest.start, ended=manifest.end or manifest.start, files=files)
    planned = statuses.total() + sum(missing.values())
    workspace.write_manifest(
        replace(
            manifest,
            project=project,
            planned=planned,
            finished=statuses.total() - statuses[model.Status.SKIPPED],
            statuses={status.value: count for status, count in sorted(statuses.items()) if count},
            generated=max(generated + sum(missing.values()), planned),
            stages=manifest.stages or {"actions": record, "interpret": record},
            logs=None,
            digests={},
        )
    )


def export_workspace(folder: Path, *, to: str, output: Path, view: View = UNCHANGED) -> None:
    """Write a workspace of the plugin's generation `to`. Raises ConfigError, WorkspaceError, NothingToEvaluate."""
    generation = generations.CATALOG.load(to)
    source = Workspace.open(folder)
    source.verify()
    manifest = source.manifest()
    if manifest.task != "completion":
        raise ConfigError(f"{folder} is of the task {manifest.task}; workspaces of the plugin hold only completion")
    if not manifest.planned:
        raise NothingToEvaluate(f"{folder} has no sessions")
    config = runs.stored_config(source, view)
    atomic.empty_folder(output)
    writer = plugin_files.Writer(output, generation)
    texts: dict[str, str] = {}
    for file, sessions in source.sessions(Session):
        texts[file.path] = file.text
        writer.sessions(file, list(sessions))
    for file_actions in source.actions():
        # The text of a file is stored with its sessions, so the actions of a file without sessions cannot be exported.
        if file_actions.path in texts:
            writer.actions(file_actions, texts[file_actions.path])
    for error in source.errors():
        writer.error(error)
    # Also store our manifest, which `import` reads: it has facts that the plugin's files lack.
    atomic.write(output / OWN / "manifest.json", (source.folder / "manifest.json").read_bytes())
    atomic.copy(source.config_path, output / OWN / "config.yaml")
    writer.close(generation.config(config, manifest.project.spec.removeprefix("path:")))


def export_tables(
    folder: Path, *, form: str, output: Path, filters: Sequence[str] = (), screen: Screen
) -> dict[Path, int]:
    """Write the tables of a workspace, and return the number of rows by file. Raises ConfigError, WorkspaceError."""
    source = open_workspace(folder)
    if form == "parquet":
        # A missing package is reported before anything is written.
        tables.arrow()
    known = {part.name: part for part in add_filters(runs.stored_config(source), filters).report_filters.all}
    chosen = []
    for name in filters:
        resolved = resolve(name, collect_letters(known))
        if resolved not in known:
            raise ConfigError(
                f"there is no filter {name!r}{guess(name, [*known])}; known are {', '.join(known)}, and expressions "
                "such as prefix=1"
            )
        chosen.append(known[resolved])
    if not source.manifest().complete:
        screen.warn(f"{folder} is unfinished: only the sessions of finished files are written")

    def passes(session: Session) -> bool:
        return not chosen or any(part.passes(session) for part in chosen)

    return tables.write(source, atomic.empty_folder(output), form, passes)
