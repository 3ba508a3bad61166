"""The job `import`: a workspace of the JetBrains plugin → one of ours, with reports."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from ci_eval.ci import Screen
from ci_eval.config import dump
from ci_eval.errors import NothingToEvaluate
from ci_eval.exchange import reading
from ci_eval.exchange.kept import FOLDER, Kept
from ci_eval.jobs import outcome, pipeline
from ci_eval.jobs.evaluate import Evaluated
from ci_eval.jobs.exchange.origin import Described, describe
from ci_eval.learning import names
from ci_eval.manifest import StageRecord
from ci_eval.model import FileActions, OpenFile, ProjectInfo, Session, SourceFile, Status
from ci_eval.workspace import Workspace, pack_actions, pack_sessions


def import_workspace(folder: Path, *, output: Path, generation: str | None, engine: str, screen: Screen) -> Evaluated:
    """Read the workspace at `folder` into a new one at `output`. Raises ConfigError, WorkspaceError,
    NothingToEvaluate; then nothing is left at `output` that could be taken for a workspace."""
    Workspace.check_free(output)
    return import_described(describe(folder, generation, engine), output, screen)


def import_described(described: Described, output: Path, screen: Screen) -> Evaluated:
    """The same of a workspace whose own account was read, and perhaps corrected."""
    folder = described.folder
    for warning in described.warnings:
        screen.warn(warning)
    screen.say(f"Reading {folder} ({described.generation.name}: {described.generation.summary})")
    kept = Kept(folder)
    # Read as a whole before anything is written: a damaged file leaves no half workspace.
    files = list(reading.read(_origin(described), kept))
    if not any(file.sessions for file in files):
        raise NothingToEvaluate(f"{folder} has no sessions: see its errors/, and data/files.json")
    workspace = Workspace.create(output)
    workspace.write_config(dump(described.config))
    _write(workspace, files, described, kept)
    kept.write(output)
    for name, count in sorted(kept.unknown.items()):
        screen.warn(f"unknown field in {name} ({count:,} times): kept in {output / FOLDER}, and not used")
    evaluation, reports = pipeline.make_reports(workspace, described.config)
    trouble = outcome.trouble(workspace, described.config)
    return Evaluated(folder=output, evaluation=evaluation, reports=reports, trouble=trouble)


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


def _write(workspace: Workspace, files: Sequence[reading.ReadFile], described: Described, kept: Kept) -> None:
    statuses: Counter[Status] = Counter()
    generated = 0
    for file in files:
        workspace.write_sessions(file.source.path, pack_sessions(file.source, file.sessions))
        found = file.actions or _without_actions(file.source, file.sessions)
        workspace.write_actions(file.source.path, pack_actions(found))
        generated += max(found.sessions, len(file.sessions))
        statuses.update(session.status for session in file.sessions)
    lost = _lost(described, files)
    for error in reading.errors(described.folder, lost, kept):
        workspace.write_error(error)
    names.count(file.source.text for file in files).save(workspace.names_path)
    planned = statuses.total() + sum(lost.values())
    manifest = described.manifest
    record = StageRecord(started=manifest.start, ended=manifest.end or manifest.start, files=len(files))
    workspace.write_manifest(
        replace(
            manifest,
            project=_project(described, files),
            planned=planned,
            finished=statuses.total() - statuses[Status.SKIPPED],
            statuses={status.value: count for status, count in sorted(statuses.items()) if count},
            generated=max(generated + sum(lost.values()), planned),
            stages=manifest.stages or {"actions": record, "interpret": record},
            logs=None,
        )
    )
    workspace.seal()


def _without_actions(source: SourceFile, sessions: Sequence[Session]) -> FileActions:
    """Of a workspace that has none: `rerank` cannot order its suggestions anew."""
    opened = OpenFile(path=source.path, checksum=source.checksum)
    return FileActions(
        path=source.path, checksum=source.checksum, sessions=len(sessions), unparsable=0.0, actions=(opened,)
    )


def _lost(described: Described, files: Sequence[reading.ReadFile]) -> dict[str, int]:
    """The sessions of files that have actions, and were given up: path → how many."""
    there = {file.source.path for file in files}
    return {
        path: each.sessions
        for path, each in reading.actions_by_path(_origin(described), Kept(described.folder)).items()
        if path not in there and each.sessions
    }


def _project(described: Described, files: Sequence[reading.ReadFile]) -> ProjectInfo:
    known = described.manifest.project
    if known.checksum:
        return known
    digest = hashlib.sha256()
    for file in sorted(files, key=lambda each: each.source.path):
        digest.update(f"{file.source.path}\0{file.source.checksum}\0".encode())
    return replace(known, checksum=digest.hexdigest(), revision=digest.hexdigest()[:12])
