"""The logs of events: their files, and which of their sessions are for training."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval.ci import Screen
from ci_eval.core import logs
from ci_eval.core.base import stored
from ci_eval.core.base.chance import draw
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.fetch.archive import Limits, unpack
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.jetbrains.recorded import Recorded
from ci_eval.plugins.learning.events import EventLog, ShownSession

ENOUGH_USERS = 10
"""The least number of users that are dealt out as wholes; with fewer, sessions are dealt out."""
PERCENT = 70
"""The share of the users or sessions that are for training if the logs do not say."""
CHUNK = re.compile(r"(\d+)(?:\.gz)?\Z")


@dataclass(frozen=True, kw_only=True)
class EventFiles:
    """The log files of one source."""

    project: str
    train: Sequence[Path] = ()
    validation: Sequence[Path] = ()
    undivided: Sequence[Path] = ()
    """The files whose purpose is not given."""


@dataclass(frozen=True, kw_only=True)
class EventSessions:
    """The sessions of all sources, for training and for validation."""

    projects: str
    train: Sequence[ShownSession]
    validation: Sequence[ShownSession]


def read(sources: Sequence[Path], seed: int, screen: Screen) -> EventSessions | None:
    """Return the sessions in these sources; None if none of them is of events. `seed`: deals out the undivided
    sessions.

    A source is a workspace whose logs are events alone, its `logs/` folder, a workspace of the plugin or its
    `logs.tar.gz`, a folder of chunks, one file, or recorded editing: FORMAT=PATH. Raises WorkspaceError, ConfigError,
    NothingToEvaluate.
    """
    named = {source: Recorded.named(source) for source in sources}
    recorded = [recording for recording in named.values() if recording]
    sources = [path for source in sources if named[source] is None for path in _expand(source)]
    with tempfile.TemporaryDirectory() as room:
        files_of_sources = [_find_files(source, Path(room) / str(number)) for number, source in enumerate(sources)]
        if not any([*files_of_sources, *recorded]):
            return None
        if not all(files_of_sources):
            stranger = sources[files_of_sources.index(None)]
            raise ConfigError(f"{stranger} is no log of events, the others are: give logs of one format")
        return _read([files for files in files_of_sources if files], recorded, seed, screen)


def _expand(source: Path) -> list[Path]:
    """Return the source, or the workspaces directly below it."""
    inside = sorted(path.parent for path in source.glob("*/manifest.json")) if source.is_dir() else []
    return [source] if (source / "manifest.json").is_file() or not inside else inside


def _read(
    files_of_sources: Sequence[EventFiles], recorded: Sequence[Recorded], seed: int, screen: Screen
) -> EventSessions:
    log = EventLog()
    train = list(log.sessions(path for files in files_of_sources for path in files.train))
    validation = list(log.sessions(path for files in files_of_sources for path in files.validation))
    undivided = list(log.sessions(path for files in files_of_sources for path in files.undivided))
    undivided += [session for recording in recorded for session in recording.sessions(log.left_out)]
    if undivided:
        # Sessions of one user are alike: whole users on one side make the validation honest.
        by_user = len({session.user for session in undivided}) >= ENOUGH_USERS
        units = [session.user if by_user else f"{session.user} {session.session}" for session in undivided]
        chosen = [draw(seed, f"split {unit}") * 100 < PERCENT for unit in units]
        train += [session for session, is_it in zip(undivided, chosen, strict=True) if is_it]
        validation += [session for session, is_it in zip(undivided, chosen, strict=True) if not is_it]
        screen.say(f"Dealt out by {'user' if by_user else 'session'}: {PERCENT} % for training")
    for reason, count in sorted(log.left_out.items()):
        screen.warn(f"left out of the logs: {count:,} {reason}")
    if not (train or validation):
        raise NothingToEvaluate("the logs hold no session that ended: give more of them")
    projects = dict.fromkeys(
        [files.project for files in files_of_sources] + [recording.path.name for recording in recorded]
    )
    return EventSessions(projects=", ".join(projects), train=train, validation=validation)


def _find_files(source: Path, room: Path) -> EventFiles | None:
    if source.is_file():
        if source.name.endswith((".tar.gz", ".tgz")):
            room.mkdir(parents=True)
            unpack(source, room, Limits())
            return _find_chunks(room, source.name)
        return EventFiles(project=source.name, undivided=(source,))
    if (source / "manifest.json").is_file() and (source / "logs").is_dir():
        # Of a run that also wrote tables, these are read.
        record = logs.read_logs_record(source / "logs")
        if record is None or "jetbrains" not in record.formats or "parquet" in record.formats:
            return None
        workspace = Workspace.open(source)
        workspace.verify()
        return _find_chunks(source / "logs", workspace.manifest().project.name)
    if (source / "config.json").is_file() and (source / "logs.tar.gz").is_file():
        return _find_files(source / "logs.tar.gz", room)
    return _find_chunks(source, source.name) if source.is_dir() else None


def _find_chunks(folder: Path, name: str) -> EventFiles | None:
    """Return the chunks in LANGUAGE/train/DAY/USER and LANGUAGE/validate/DAY/USER, as the plugin lays them out; else
    the chunks directly in the folder; None if there are none."""
    # If there are tables, these are read instead.
    if (folder / "train.parquet").is_file():
        return None
    # Logs may come from somebody else, and a link could lead to any file of this machine.
    stored.refuse_links(folder)
    sides = {
        side: sorted(path for path in folder.rglob("*") if path.is_file() and path.parts[-3:-2] == (side,))
        for side in ("train", "validate")
    }
    if sides["train"] or sides["validate"]:
        return EventFiles(project=name, train=sides["train"], validation=sides["validate"])
    # By name, chunk 10 would come before chunk 9.
    chunks = sorted((path for path in folder.iterdir() if path.is_file() and CHUNK.search(path.name)), key=_number)
    return EventFiles(project=name, undivided=chunks) if chunks else None


def _number(path: Path) -> tuple[int, str]:
    match = CHUNK.search(path.name)
    return int(match[1]) if match else -1, path.name
