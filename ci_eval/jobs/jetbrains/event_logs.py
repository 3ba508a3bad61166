"""The reader of event logs and recorded editing. It returns sessions with features, for training and for validation."""

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
from ci_eval.plugins.mining.usages.histories import RecordedLookup, Recording

ENDS = {"select": "selected", "typed": "typed", "cancel": "cancelled"}
UNRECORDED = frozenset({"score_rank", "kind", *NAMES[OF_PROJECT:]})
"""Features that no recording holds: they come from the engine, or from the project's other files."""
OF_WORD = ("prefix_length", "query", "length", "words", "underscores", "case", "prefix_match", "prefix_share")
OF_LIST = frozenset([*OF_WORD, "list_size", "position", "position_share"])
"""Features that do not depend on the text before the caret."""


class Recorded(msgspec.Struct, frozen=True):
    """A recording of editing, FORMAT=PATH on the command line."""

    form: str
    path: Path

    @classmethod
    def named(cls, source: Path) -> Recorded | None:
        """Return the recording that a source names; None if the source has no format. Raises ConfigError."""
        form, _, path = str(source).partition("=")
        # A file name may hold an equals sign, so an existing path wins.
        if not path or form not in streams.names() or source.exists():
            return None
        if streams.CATALOG.load(form).lookups is None:
            having = ", ".join(name for name in streams.names() if streams.CATALOG.load(name).lookups)
            raise ConfigError(
                f"{source}: recordings of the format {form} hold edits, but not the lists that completion "
                f"showed; the formats that can hold lists are {having} (docs/recommenders.md)"
            )
        if not Path(path).exists():
            raise ConfigError(f"{path} does not exist: give the path of a recording")
        return cls(form, Path(path))

    def sessions(self, left_out: Counter[str]) -> Iterator[ShownSession]:
        """Yield sessions, each with the lists shown while a word was typed. Raises NothingToEvaluate if there are no
        lists."""
        lookups = streams.CATALOG.load(self.form).lookups
        assert lookups
        words: dict[tuple[str, str], _TypedWord] = {}
        for lookup in lookups(self.path, Recording(ends=("",), skipped=left_out)):
            if not lookup.candidates:
                left_out["lists without candidates"] += 1
                continue
            at = lookup.user, lookup.file
            # A recording has no project whose names could be counted.
            word = words.get(at) or _TypedWord(0, Reader(find_keywords(lookup.file), NOTHING.without("")))
            last = word.lists[-1][0] if word.lists else None
            if last and (last.start != lookup.start or last.outcome in {"select", "cancel"}):
                yield from word.session(left_out)
                word = _TypedWord(word.number + 1, word.reader)
            words[at] = word
            word.add(lookup)
        for word in words.values():
            yield from word.session(left_out)
        if not words:
            raise NothingToEvaluate(
                f"{self.path} has no list that completion showed (`candidates`): edits alone are not enough"
            )


class _TypedWord(msgspec.Struct):
    number: int
    reader: Reader
    lists: list[tuple[RecordedLookup, Shown]] = msgspec.field(default_factory=list)
    ids: dict[str, int] = msgspec.field(default_factory=dict)
    """Item numbers by text. An item has the same number in all lists."""

    def add(self, lookup: RecordedLookup) -> None:
        texts = list(dict.fromkeys(lookup.candidates))
        caret = CaretContext(path=lookup.file, before=lookup.before or "", prefix=lookup.prefix, query=len(self.lists))
        rows = self.reader.rows(caret, [Suggestion(text=text) for text in texts]).tolist()
        # An unknown feature is None: 0 would be a value.
        known = [name not in UNRECORDED and (lookup.before is not None or name in OF_LIST) for name in NAMES]
        features: list[dict[str, Feature]] = [
            {name: value if is_known else None for name, value, is_known in zip(NAMES, row, known, strict=True)}
            for row in rows
        ]
        ids = [self.ids.setdefault(text, len(self.ids)) for text in texts]
        self.lists.append((lookup, Shown(typed=len(lookup.prefix), ids=ids, features=features)))

    def session(self, left_out: Counter[str]) -> Iterable[ShownSession]:
        """Return the session; nothing if its end is not recorded, or if the selected item is not in the list."""
        last, shown = self.lists[-1]
        if last.outcome not in ENDS:
            left_out["sessions without a recorded end"] += 1
            return ()
        item = self.ids.get(last.item) if last.item and last.outcome != "cancel" else None
        if last.outcome == "select" and item not in shown.ids:
            left_out["sessions that took what is not in the list"] += 1
            return ()
        session = ShownSession(
            user=last.user,
            session=f"{last.file} {self.number}",
            lookups=[shown_list for _, shown_list in self.lists],
            outcome=ENDS[last.outcome],
            wanted=item,
        )
        return (session,)


@lru_cache
def find_keywords(file: str) -> frozenset[str]:
    """Return the keywords of a file's language; empty if the language is unknown."""
    keywords = {end: language.keywords for language in languages.CATALOG.all() for end in language.suffixes if end}
    ends = [end for end in keywords if file.endswith(end)]
    return keywords[max(ends, key=len)] if ends else frozenset()


ENOUGH_USERS = 10
"""If there are fewer users, sessions rather than users are divided into training and validation."""
PERCENT = 70
"""The percentage of users or sessions that are for training, if the logs are not divided."""
CHUNK = re.compile(r"(\d+)(?:\.gz)?\Z")


class EventFiles(msgspec.Struct, frozen=True, kw_only=True):
    project: str
    train: Sequence[Path] = ()
    validation: Sequence[Path] = ()
    undivided: Sequence[Path] = ()


def read(
    sources: Sequence[Path], seed: int, screen: Screen
) -> tuple[str, list[ShownSession], list[ShownSession]] | None:
    """Return the names of the projects, and the sessions of all sources for training and for validation; None if no
    source has events. `seed` divides sessions of undivided logs.

    A source is a workspace whose only logs are events, its `logs/` folder, a workspace of the JetBrains plugin or its
    `logs.tar.gz`, a folder of chunks, one file, or FORMAT=PATH. Raises WorkspaceError, ConfigError, NothingToEvaluate.
    """
    recorded, places = [], []
    for source in sources:
        if recording := Recorded.named(source):
            recorded.append(recording)
            continue
        inside = sorted(path.parent for path in source.glob("*/manifest.json")) if source.is_dir() else []
        places += [source] if (source / "manifest.json").is_file() or not inside else inside
    log = EventLog()
    with tempfile.TemporaryDirectory() as folder:
        by_place = [(place, _find_files(place, Path(folder) / str(number))) for number, place in enumerate(places)]
        event_files = [files for _, files in by_place if files]
        if not event_files and not recorded:
            return None
        for place, files in by_place:
            if files is None:
                raise ConfigError(f"{place} is not a log of events, but the other logs are: give logs of one format")
        train = list(log.sessions(path for files in event_files for path in files.train))
        validation = list(log.sessions(path for files in event_files for path in files.validation))
        undivided = list(log.sessions(path for files in event_files for path in files.undivided))
    # A recording that is named twice is read once.
    recorded = list(dict.fromkeys(recorded))
    undivided += [session for recording in recorded for session in recording.sessions(log.left_out)]
    if undivided:
        # Sessions of one user are alike, so validation is only meaningful with users that training has not seen.
        by_user = len({session.user for session in undivided}) >= ENOUGH_USERS
        units = [session.user if by_user else f"{session.user} {session.session}" for session in undivided]
        for session, unit in zip(undivided, units, strict=True):
            (train if draw(seed, f"split {unit}") * 100 < PERCENT else validation).append(session)
        screen.say(f"Logs divided by {'user' if by_user else 'session'}: {PERCENT} % are for training")
    for reason, count in sorted(log.left_out.items()):
        screen.warn(f"left out of the logs: {count:,} {reason}")
    if not (train or validation):
        raise NothingToEvaluate("the logs hold no session that ended: give more logs")
    projects = [files.project for files in event_files] + [recording.path.name for recording in recorded]
    return ", ".join(dict.fromkeys(projects)), train, validation


def _find_files(source: Path, unpacked: Path) -> EventFiles | None:
    """Return the log files of a source; None if it has no events. An archive is unpacked into `unpacked`."""
    if source.is_file():
        if source.name.endswith((".tar.gz", ".tgz")):
            unpacked.mkdir(parents=True)
            unpack(source, unpacked, Limits())
            return _find_chunks(unpacked, source.name)
        return EventFiles(project=source.name, undivided=(source,))
    if (source / "manifest.json").is_file() and (source / "logs").is_dir():
        # If a run also wrote tables, the caller reads these instead.
        record = logs.read_logs_record(source / "logs")
        if record is None or "jetbrains" not in record.formats or "parquet" in record.formats:
            return None
        workspace = Workspace.open(source)
        workspace.verify()
        return _find_chunks(source / "logs", workspace.manifest().project.name)
    if (source / "config.json").is_file() and (source / "logs.tar.gz").is_file():
        return _find_files(source / "logs.tar.gz", unpacked)
    return _find_chunks(source, source.name) if source.is_dir() else None


def _find_chunks(folder: Path, name: str) -> EventFiles | None:
    """Return the files LANGUAGE/train/DAY/USER and LANGUAGE/validate/DAY/USER, else the chunks in the folder itself."""
    # If there are tables, the caller reads these instead.
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
    # Sort by number: by name, chunk 10 would come before chunk 9.
    numbered = sorted(
        (int(match[1]), path.name, path)
        for path in folder.iterdir()
        if path.is_file() and (match := CHUNK.search(path.name))
    )
    return EventFiles(project=name, undivided=[path for *_, path in numbered]) if numbered else None
