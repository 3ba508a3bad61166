"""The job `import`: it reads a workspace of the JetBrains plugin into one of ours, with reports."""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.core.base.errors import NothingToEvaluate
from ci_eval.core.config import dump
from ci_eval.core.logs import names
from ci_eval.core.manifest import Manifest, StageRecord
from ci_eval.core.model import FileActions, OpenFile, ProjectInfo, Session, SourceFile, Status
from ci_eval.core.workspace import Workspace, pack_actions, pack_sessions
from ci_eval.jobs import outcome, pipeline
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.jetbrains.origin import Described, describe
from ci_eval.plugins.jetbrains import reading
from ci_eval.plugins.jetbrains.kept import FOLDER, Kept


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
        lost = reading.find_actions_files(described.folder)
        tally = _Tally()
        for file in reading.read(_origin(described), dict(lost), kept):
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
        for error in reading.errors(described.folder, missing, kept):
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
    """A count of what was read so far."""

    files: int = 0
    generated: int = 0
    """The number of sessions in the actions."""
    statuses: Counter[Status] = field(default_factory=Counter)


def _manifest(workspace: Workspace, described: Described, tally: _Tally, missing: int) -> Manifest:
    manifest, statuses = described.manifest, tally.statuses
    record = StageRecord(started=manifest.start, ended=manifest.end or manifest.start, files=tally.files)
    planned = statuses.total() + missing
    return replace(
        manifest,
        project=_project(workspace, manifest.project),
        planned=planned,
        finished=statuses.total() - statuses[Status.SKIPPED],
        statuses={status.value: count for status, count in sorted(statuses.items()) if count},
        generated=max(tally.generated + missing, planned),
        stages=manifest.stages or {"actions": record, "interpret": record},
        logs=None,
        digests={},
    )


def _origin(described: Described) -> reading.Origin:
    manifest = described.manifest
    return reading.Origin(
        folder=described.folder,
        generation=described.generation,
        project=manifest.project.name,
        strategy=manifest.strategy,
        language=described.language,
        with_user=described.config.user is not None,
    )


def _empty_actions(source: SourceFile, sessions: Sequence[Session]) -> FileActions:
    # Without actions, `rerank` cannot order the suggestions of this file again.
    opened = OpenFile(path=source.path, checksum=source.checksum)
    return FileActions(
        path=source.path, checksum=source.checksum, sessions=len(sessions), unparsable=0.0, actions=(opened,)
    )


def _project(workspace: Workspace, known: ProjectInfo) -> ProjectInfo:
    """Return the project. If its checksum is unknown, it gets a checksum over the files that have sessions."""
    if known.checksum:
        return known
    digest = hashlib.sha256()
    for source in sorted(workspace.sources(), key=lambda source_file: source_file.path):
        digest.update(f"{source.path}\0{source.checksum}\0".encode())
    return replace(known, checksum=digest.hexdigest(), revision=digest.hexdigest()[:12])
