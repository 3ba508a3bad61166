"""The logs of events and of recorded editing: their files, their lists with our features, and their split."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from ci_eval.ci import Screen
from ci_eval.core import logs
from ci_eval.core.base import stored
from ci_eval.core.base.chance import draw
from ci_eval.core.base.errors import ConfigError, NothingToEvaluate
from ci_eval.core.catalogs import languages
from ci_eval.core.contracts import CaretContext
from ci_eval.core.logs.features import NAMES, OF_PROJECT, Reader
from ci_eval.core.logs.names import NOTHING
from ci_eval.core.model import Suggestion
from ci_eval.core.workspace import Workspace
from ci_eval.fetch.archive import Limits, unpack
from ci_eval.plugins.learning.events import EventLog, Feature, Shown, ShownSession
from ci_eval.plugins.mining.usages import streams
from ci_eval.plugins.mining.usages.recordings import RecordedLookup, Recording

ENDS = {"select": "selected", "typed": "typed", "cancel": "cancelled"}
UNTOLD = frozenset({"score_rank", "kind", *NAMES[OF_PROJECT:]})
"""Features that no recording holds: they come from the engine, or from the project's other files."""
OF_WORD = ("prefix_length", "query", "length", "words", "underscores", "case", "prefix_match", "prefix_share")
OF_LIST = frozenset([*OF_WORD, "list_size", "position", "position_share"])


class Recorded(msgspec.Struct, frozen=True):
    """FORMAT=PATH of the command line."""

    form: str
    path: Path

    @classmethod
    def named(cls, source: Path) -> Recorded | None:
        """Return None without a format. Raises ConfigError."""
        form, _, path = str(source).partition("=")
        # A file name may hold an equals sign, so an existing path wins.
        if not path or form not in streams.names() or source.exists():
            return None
        if streams.CATALOG.load(form).lookups is None:
            having = ", ".join(name for name in streams.names() if streams.CATALOG.load(name).lookups)
            raise ConfigError(
                f"{source}: recordings of the format {form} tell how files were edited, not which lists completion "
                f"showed and what was taken from them; {having} can tell that (docs/recommenders.md)"
            )
        if not Path(path).exists():
            raise ConfigError(f"{path} is not there")
        return cls(form, Path(path))

    def sessions(self, left_out: Counter[str]) -> Iterator[ShownSession]:
        """Yield the sessions that ended. Raises NothingToEvaluate if no list is recorded."""
        lookups = streams.CATALOG.load(self.form).lookups
        assert lookups
        recording = Recording(language="", ends=("",), skipped=left_out)
        known = _Sessions(left_out)
        for lookup in lookups(self.path, recording):
            yield from known.take(lookup)
        yield from known.end()
        if not known.lists:
            raise NothingToEvaluate(
                f"{self.path} has no list that completion showed (`candidates`): edits alone do not tell what was "
                "offered"
            )


class _TypedWord(msgspec.Struct):
    number: int
    reader: Reader
    found: list[tuple[RecordedLookup, Shown]] = msgspec.field(default_factory=list)
    numbers: dict[str, int] = msgspec.field(default_factory=dict)


class _Sessions(msgspec.Struct):
    """A reader that joins the lists displayed while one word was typed, from the same offset."""

    left_out: Counter[str]
    lists: int = 0
    _open: dict[tuple[str, str], _TypedWord] = msgspec.field(default_factory=dict)

    def take(self, lookup: RecordedLookup) -> Iterator[ShownSession]:
        if not lookup.candidates:
            self.left_out["lists without candidates"] += 1
            return
        self.lists += 1
        at = lookup.user, lookup.file
        # A recording has no project whose names could be counted.
        now = self._open.get(at) or _TypedWord(0, Reader(find_keywords(lookup.file), NOTHING.without("")))
        last = now.found[-1][0] if now.found else None
        if last and (last.start != lookup.start or last.outcome in {"select", "cancel"}):
            yield from self._session(now)
            now = _TypedWord(now.number + 1, now.reader)
        self._open[at] = now
        texts = list(dict.fromkeys(lookup.candidates))
        shown = Shown(
            typed=len(lookup.prefix),
            # The same text is the same item in all lists of a session.
            ids=[now.numbers.setdefault(text, len(now.numbers)) for text in texts],
            features=_features(lookup, texts, len(now.found), now.reader),
        )
        now.found.append((lookup, shown))

    def end(self) -> Iterator[ShownSession]:
        for session in self._open.values():
            yield from self._session(session)

    def _session(self, now: _TypedWord) -> Iterable[ShownSession]:
        last, shown = now.found[-1]
        if last.outcome not in ENDS:
            self.left_out["sessions of which no end is recorded"] += 1
            return ()
        item = now.numbers.get(last.item) if last.item and last.outcome != "cancel" else None
        if last.outcome == "select" and item not in shown.ids:
            self.left_out["sessions that took what is not in the list"] += 1
            return ()
        session = ShownSession(
            user=last.user,
            session=f"{last.file} {now.number}",
            lookups=[list_shown for _, list_shown in now.found],
            outcome=ENDS[last.outcome],
            wanted=item,
        )
        return (session,)


def _features(
    lookup: RecordedLookup, texts: Sequence[str], number: int, reader: Reader
) -> Sequence[dict[str, Feature]]:
    caret = CaretContext(path=lookup.file, before=lookup.before or "", prefix=lookup.prefix, query=number)
    rows = reader.rows(caret, [Suggestion(text=text) for text in texts]).tolist()
    known = [name not in UNTOLD and (lookup.before is not None or name in OF_LIST) for name in NAMES]
    return [
        # An unknown feature is None: 0 would be a value.
        {name: value if is_told else None for name, value, is_told in zip(NAMES, row, known, strict=True)}
        for row in rows
    ]


@lru_cache
def _keywords_by_suffix() -> dict[str, frozenset[str]]:
    return {end: language.keywords for language in languages.CATALOG.all() for end in language.suffixes if end}


def find_keywords(file: str) -> frozenset[str]:
    ends = [end for end in _keywords_by_suffix() if file.endswith(end)]
    return _keywords_by_suffix()[max(ends, key=len)] if ends else frozenset()


ENOUGH_USERS = 10
"""A lower number of users is not dealt out; sessions are."""
PERCENT = 70
"""The share of the users or sessions for training, if the logs do not say."""
CHUNK = re.compile(r"(\d+)(?:\.gz)?\Z")


class EventFiles(msgspec.Struct, frozen=True, kw_only=True):
    project: str
    train: Sequence[Path] = ()
    validation: Sequence[Path] = ()
    undivided: Sequence[Path] = ()


class EventSessions(msgspec.Struct, frozen=True, kw_only=True):
    projects: str
    train: Sequence[ShownSession]
    validation: Sequence[ShownSession]


def read(sources: Sequence[Path], seed: int, screen: Screen) -> EventSessions | None:
    """Return None if no source is of events. `seed`: deals out the undivided sessions.

    A source is a workspace whose logs are events alone, its `logs/` folder, a workspace of the plugin or its
    `logs.tar.gz`, a folder of chunks, one file, or FORMAT=PATH. Raises WorkspaceError, ConfigError, NothingToEvaluate.
    """
    recorded, places = [], []
    for source in sources:
        if recording := Recorded.named(source):
            # One that is named twice is read once.
            recorded += [recording] if recording not in recorded else []
            continue
        inside = sorted(path.parent for path in source.glob("*/manifest.json")) if source.is_dir() else []
        places += [source] if (source / "manifest.json").is_file() or not inside else inside
    log = EventLog()
    with tempfile.TemporaryDirectory() as room:
        found = [_find_files(place, Path(room) / str(number)) for number, place in enumerate(places)]
        if not any([*found, *recorded]):
            return None
        of_events = [files for files in found if files]
        if len(of_events) < len(found):
            stranger = places[found.index(None)]
            raise ConfigError(f"{stranger} is no log of events, the others are: give logs of one format")
        train = list(log.sessions(path for files in of_events for path in files.train))
        validation = list(log.sessions(path for files in of_events for path in files.validation))
        undivided = list(log.sessions(path for files in of_events for path in files.undivided))
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
    projects = dict.fromkeys([files.project for files in of_events] + [recording.path.name for recording in recorded])
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
    """Chunks are in LANGUAGE/train/DAY/USER and LANGUAGE/validate/DAY/USER, or directly in the folder."""
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
