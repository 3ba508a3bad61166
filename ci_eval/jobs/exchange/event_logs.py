"""Logs of events: where they are, and which of their sessions are for training."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ci_eval import stored
from ci_eval.chance import draw
from ci_eval.ci import Screen
from ci_eval.errors import ConfigError, NothingToEvaluate
from ci_eval.fetch.archive import Limits, unpack
from ci_eval.jobs.exchange.recorded import Recorded
from ci_eval.learning import logs
from ci_eval.learning.logs.events import EventLog, ShownSession
from ci_eval.workspace import Workspace

ENOUGH_USERS = 10
"""From so many on, users are dealt out as wholes; sessions of fewer users are."""
PERCENT = 70
"""Of the users or sessions that are for training, where the logs do not say."""
CHUNK = re.compile(r"(\d+)(?:\.gz)?\Z")


@dataclass(frozen=True, kw_only=True)
class EventFiles:
    """The files of one source."""

    project: str
    train: Sequence[Path] = ()
    validation: Sequence[Path] = ()
    undivided: Sequence[Path] = ()
    """Those of which nothing says for what they are."""


@dataclass(frozen=True, kw_only=True)
class EventSessions:
    """The sessions of all sources."""

    projects: str
    train: Sequence[ShownSession]
    validation: Sequence[ShownSession]


def read(sources: Sequence[Path], seed: int, screen: Screen) -> EventSessions | None:
    """Return the sessions in these sources; None if none of them is of events. `seed`: deals out what is not divided.

    A source is a workspace whose logs are events alone, its `logs/` folder, a workspace of the plugin or its
    `logs.tar.gz`, a folder of chunks, one file, or recorded editing: FORMAT=PATH. Raises WorkspaceError, ConfigError,
    NothingToEvaluate.
    """
    named = {source: Recorded.named(source) for source in sources}
    recorded = [each for each in named.values() if each]
    sources = [each for source in sources if named[source] is None for each in _below(source)]
    with tempfile.TemporaryDirectory() as room:
        found = [_files(source, Path(room) / str(number)) for number, source in enumerate(sources)]
        if not any([*found, *recorded]):
            return None
        if not all(found):
            other = sources[found.index(None)]
            raise ConfigError(f"{other} is no log of events, the others are: give logs of one format")
        return _read([each for each in found if each], recorded, seed, screen)


def _below(source: Path) -> list[Path]:
    """Return the source, or the workspaces directly below it."""
    inside = sorted(path.parent for path in source.glob("*/manifest.json")) if source.is_dir() else []
    return [source] if (source / "manifest.json").is_file() or not inside else inside


def _read(found: Sequence[EventFiles], recorded: Sequence[Recorded], seed: int, screen: Screen) -> EventSessions:
    log = EventLog()
    train = list(log.sessions(path for each in found for path in each.train))
    validation = list(log.sessions(path for each in found for path in each.validation))
    rest = list(log.sessions(path for each in found for path in each.undivided))
    rest += [session for each in recorded for session in each.sessions(log.left_out)]
    if rest:
        by_user = len({each.user for each in rest}) >= ENOUGH_USERS
        units = [each.user if by_user else f"{each.user} {each.session}" for each in rest]
        chosen = [draw(seed, f"split {unit}") * 100 < PERCENT for unit in units]
        train += [each for each, is_it in zip(rest, chosen, strict=True) if is_it]
        validation += [each for each, is_it in zip(rest, chosen, strict=True) if not is_it]
        screen.say(f"Dealt out by {'user' if by_user else 'session'}: {PERCENT} % for training")
    _tell(log.left_out, screen)
    if not (train or validation):
        raise NothingToEvaluate("the logs hold no session that ended: give more of them")
    projects = dict.fromkeys([each.project for each in found] + [each.path.name for each in recorded])
    return EventSessions(projects=", ".join(projects), train=train, validation=validation)


def _tell(left_out: Counter[str], screen: Screen) -> None:
    for why, count in sorted(left_out.items()):
        screen.warn(f"left out of the logs: {count:,} {why}")


def _files(source: Path, room: Path) -> EventFiles | None:
    if source.is_file():
        if source.name.endswith((".tar.gz", ".tgz")):
            room.mkdir(parents=True)
            unpack(source, room, Limits())
            return _in_folder(room, source.name)
        return EventFiles(project=source.name, undivided=(source,))
    if (source / "manifest.json").is_file() and (source / "logs").is_dir():
        return _in_workspace(source)
    if (source / "config.json").is_file() and (source / "logs.tar.gz").is_file():
        return _files(source / "logs.tar.gz", room)
    return _in_folder(source, source.name) if source.is_dir() else None


def _in_workspace(source: Path) -> EventFiles | None:
    """Of a run that logged events alone; where it wrote tables as well, these are read."""
    record = logs.record_of(source / "logs")
    if record is None or "jetbrains" not in record.formats or "parquet" in record.formats:
        return None
    workspace = Workspace.open(source)
    workspace.verify()
    return _in_folder(source / "logs", workspace.manifest().project.name)


def _in_folder(folder: Path, name: str) -> EventFiles | None:
    """LANGUAGE/train/DAY/USER and LANGUAGE/validate/DAY/USER, as the plugin lays them out; else its chunks."""
    if (folder / "train.parquet").is_file():
        return None
    stored.refuse_links(folder)
    sides = {
        side: sorted(path for path in folder.rglob("*") if path.is_file() and path.parts[-3:-2] == (side,))
        for side in ("train", "validate")
    }
    if sides["train"] or sides["validate"]:
        return EventFiles(project=name, train=sides["train"], validation=sides["validate"])
    chunks = sorted((path for path in folder.iterdir() if path.is_file() and CHUNK.search(path.name)), key=_number)
    return EventFiles(project=name, undivided=chunks) if chunks else None


def _number(path: Path) -> tuple[int, str]:
    found = CHUNK.search(path.name)
    return int(found[1]) if found else -1, path.name
