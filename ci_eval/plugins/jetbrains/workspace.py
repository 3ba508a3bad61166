"""A workspace of the plugin → the source files, sessions, actions and errors of one of ours, and back."""

from __future__ import annotations

import gzip
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from html import escape
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.grammar.document import Document, checksum
from ci_eval.core.model import (
    Action,
    CallCompletion,
    DeleteRange,
    FileActions,
    FileError,
    FinishSession,
    Lookup,
    MoveCaret,
    PlayItem,
    PrintText,
    Session,
    SourceFile,
    Status,
    Suggestion,
)
from ci_eval.core.model.sessions import status
from ci_eval.plugins.jetbrains.fields import Fields, numbered_files, read_gzip_json
from ci_eval.plugins.jetbrains.generation import Generation, Listed
from ci_eval.plugins.jetbrains.kept import SUGGESTIONS, Kept

BASIC = 0xFFFF
"""The last code point that is one UTF-16 unit; later ones are two."""


def is_plain(text: str) -> bool:
    return text.isascii() or max(text, default="") <= chr(BASIC)


def to_units(text: str, offset: int) -> int:
    return offset + sum(character > chr(BASIC) for character in text[:offset])


def to_points(text: str, units: int) -> int:
    """Return the offset before a pair if it is within the pair. Raises ValueError if the text is too short."""
    left = units
    for count, character in enumerate(text):
        width = 1 + (character > chr(BASIC))
        if left < width:
            return count
        left -= width
    if left:
        raise ValueError(f"offset {units} is after the end of the text")
    return len(text)


def convert_actions(
    text: str, actions: Sequence[Action], convert: Callable[[str, int], int], *, ours: bool
) -> list[Action]:
    """Convert each offset in the text as it is then. `ours`: offsets count code points. Raises WorkspaceError if the
    actions do not fit the text."""
    # In most files both counts are equal, and nothing need be replayed.
    if is_plain(text) and all(is_plain(action.text) for action in actions if isinstance(action, PrintText)):
        return list(actions)
    document, converted = Document(text), []
    try:
        for action in actions:
            now = document.text
            match action:
                case MoveCaret():
                    changed: Action = replace(action, offset=convert(now, action.offset))
                case DeleteRange():
                    changed = replace(action, begin=convert(now, action.begin), end=convert(now, action.end))
                case CallCompletion() | PlayItem():
                    # The offset of a call is that in the file as it is on disk.
                    changed = replace(action, offset=convert(text, action.offset))
                case _:
                    changed = action
            converted.append(changed)
            # The document counts code points, so it takes whichever action does.
            played = action if ours else changed
            if isinstance(played, MoveCaret | DeleteRange | PrintText):
                document.apply(played)
    except ValueError as error:
        raise WorkspaceError(f"the actions do not fit the text: {error}") from error
    return converted


NOTHING = object()
OURS = "ciEval"
"""Holds the parts of our sessions that the plugin cannot hold."""
END = ".json.gz"


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    generation: Generation
    project: str
    strategy: str
    """One word, as in the manifest."""
    language: str
    with_user: bool


class ActionsFile(msgspec.Struct, frozen=True, kw_only=True):
    file: Path
    sessions: int


class ReadFile(msgspec.Struct, frozen=True, kw_only=True):
    source: SourceFile
    sessions: Sequence[Session]
    actions: FileActions | None


def read_files(origin: Origin, actions: Mapping[str, ActionsFile], kept: Kept) -> Iterator[ReadFile]:
    """Yield one source file with sessions at a time. Raises WorkspaceError."""
    for listed in origin.generation.listed(origin.folder / "data"):
        yield _file(origin, listed, actions.get(listed.path), kept)


def find_actions_files(folder: Path) -> dict[str, ActionsFile]:
    files: dict[str, ActionsFile] = {}
    for path in numbered_files(folder / "actions", END):
        fields = Fields(read_gzip_json(path), path)
        files[fields.text("path")] = ActionsFile(file=path, sessions=fields.number("sessionsCount", 0))
    return files


def read_errors(folder: Path, lost: dict[str, int], kept: Kept) -> Iterator[FileError]:
    """`lost`: the number of missing sessions by path."""
    for path in numbered_files(folder / "errors", END):
        fields = Fields(read_gzip_json(path), path)
        name = fields.text("path")
        yield FileError(
            path=name,
            stage="interpret",
            message=fields.text("message", ""),
            sessions=lost.get(name, 0),
            trace=fields.text("stackTrace", ""),
        )
        kept.take(fields)


class Identities:
    """Ids as stage 1 gives them, so that runs of the plugin and ours are paired."""

    def __init__(self, origin: Origin, source: SourceFile) -> None:
        parts = [origin.project, source.path, source.checksum, origin.strategy, ""]
        self._base = blake2b("\0".join(parts).encode(), digest_size=8)
        self._seen: Counter[tuple[int, str]] = Counter()

    def next(self, offset: int, text: str) -> str:
        """The first id at an offset is that of stage 1."""
        number = self._seen[offset, text]
        self._seen[offset, text] += 1
        identity = self._base.copy()
        identity.update("\0".join([str(offset), text, *([str(number)] if number else [])]).encode())
        return identity.hexdigest()


def _file(origin: Origin, listed: Listed, actions: ActionsFile | None, kept: Kept) -> ReadFile:
    fields = Fields(read_gzip_json(listed.file), listed.file)
    if (path := fields.text("filePath")) != listed.path:
        raise fields.wrong(f"it holds the sessions of {path}, and files.json names {listed.path}")
    text = fields.text("text")
    source = SourceFile(path=path, checksum=checksum(text), text=text)
    ids = Identities(origin, source)
    sessions = [_session(origin, session_fields, source, ids) for session_fields in fields.objects("sessions")]
    kept.take(fields)
    if actions is None:
        return ReadFile(source=source, sessions=sessions, actions=None)
    fields = Fields(read_gzip_json(actions.file), actions.file)
    stored = origin.generation.read_actions(fields)
    kept.take(fields)
    if stored.checksum != source.checksum:
        raise WorkspaceError(
            f"{origin.folder}: the actions of {source.path} are of another text (SHA-256 {stored.checksum[:12]}…) "
            f"than its sessions ({source.checksum[:12]}…); fetch the workspace again"
        )
    ours = convert_actions(source.text, stored.actions, to_points, ours=False)
    converted = FileActions(
        path=source.path,
        checksum=source.checksum,
        sessions=stored.sessions,
        unparsable=0.0,
        actions=tuple(_assign_sessions(ours, Identities(origin, source), sessions)),
    )
    return ReadFile(source=source, sessions=sessions, actions=converted)


def _assign_sessions(actions: Sequence[Action], ids: Identities, sessions: Sequence[Session]) -> Iterator[Action]:
    """Calls that were not chosen get a new id."""
    asked: dict[tuple[int, str, str], deque[str]] = {}
    for session_asked in sessions:
        first = session_asked.lookups[0].prefix if session_asked.lookups else ""
        asked.setdefault((session_asked.offset, session_asked.expected_text, first), deque()).append(session_asked.id)
    session = ""
    for action in actions:
        if isinstance(action, FinishSession):
            session = ""
        if not isinstance(action, CallCompletion):
            yield action
            continue
        if not session:
            # Chosen sessions count as well, or the next one at this offset would get an id that is taken.
            fresh = ids.next(action.offset, action.expected_text)
            candidates = asked.get((action.offset, action.expected_text, action.prefix))
            session = candidates.popleft() if candidates else fresh
        yield replace(action, session=session)


def _session(origin: Origin, fields: Fields, source: SourceFile, ids: Identities) -> Session:
    expected = fields.text("expectedText")
    if not expected:
        raise fields.wrong("`expectedText` is empty")
    try:
        offset = to_points(source.text, fields.number("offset"))
    except ValueError as error:
        raise fields.wrong(str(error)) from None
    stored_lookups = fields.objects("_lookups" if "_lookups" in fields else "lookups")
    lookups = tuple(_lookup(origin, lookup_fields, expected) for lookup_fields in stored_lookups)
    known = origin.generation.read_properties(
        fields.section(origin.generation.properties if origin.generation.properties in fields else "properties")
    )
    if OURS in fields:
        return _restored_session(fields, source, offset, expected, lookups)
    return Session(
        id=ids.next(offset, expected),
        file=source.path,
        offset=offset,
        expected_text=expected,
        properties=known,
        status=status(lookups) if lookups else Status.SKIPPED,
        message="" if lookups else "no lookup is stored",
        typed=len(lookups[0].prefix) if lookups else 0,
        lookups=lookups,
    )


def _lookup(origin: Origin, fields: Fields, expected: str) -> Lookup:
    shown = fields.rows("suggestions")
    suggestions = [Suggestion(text=text) for text in _texts(fields, shown)]
    relevant = [row.get("isRelevant") for row in shown]
    flags = [flag if isinstance(flag, bool) else None for flag in relevant]
    rank = origin.generation.rank(origin.language, expected, suggestions, flags)
    prefix = fields.text(origin.generation.prefix)
    # The plugin counts positions from 0, our ranks begin at 1.
    taken = fields.peek("selectedPosition") == (rank or 0) - 1 if origin.with_user else True
    # Without a modelled user, the text is taken if that needs fewer keys than typing it.
    worth_it = origin.with_user or (rank or 0) < len(expected) - len(prefix)
    return Lookup(
        prefix=prefix,
        total=len(suggestions),
        rank=rank,
        latency=fields.amount("latency"),
        selected=rank is not None and taken and worth_it,
        suggestions=tuple(suggestions),
    )


def _texts(fields: Fields, shown: Sequence[Mapping[str, object]]) -> list[str]:
    """Everything else is left over, unless it repeats the text."""
    texts, left_over = list[str](), list[dict[str, object]]()
    for place, row in enumerate(shown):
        text = row.get("text")
        if not isinstance(text, str):
            raise fields.wrong(f"suggestions[{place}] has no `text`")
        texts.append(text)
        repeated = {"text": text, "presentationText": text}
        left_over.append({name: value for name, value in row.items() if value != repeated.get(name, NOTHING)})
    if any(left_over):
        fields.leave(SUGGESTIONS, left_over)
    return texts


def _restored_session(
    fields: Fields, source: SourceFile, offset: int, expected: str, lookups: Sequence[Lookup]
) -> Session:
    whole = {"file": source.path, "offset": offset, "expectedText": expected}
    try:
        ours = msgspec.convert(fields.plain(OURS), dict[str, object])
        our_lookups = msgspec.convert(ours.pop("lookups", []), list[dict[str, object]])
        filled = [_fill(our_lookup, lookup) for our_lookup, lookup in zip(our_lookups, lookups, strict=True)]
        return msgspec.convert({**ours, **whole, "lookups": filled}, Session)
    except ValueError as error:
        raise fields.wrong(f"`{OURS}` is damaged: {error}") from error


def _fill(our_lookup: dict[str, object], lookup: Lookup) -> dict[str, object]:
    more = msgspec.convert(our_lookup.pop("suggestions", []), list[dict[str, object]])
    texts = [suggestion.text for suggestion in lookup.suggestions]
    shown = [{**fields, "text": text} for fields, text in zip(more or [{} for _ in texts], texts, strict=True)]
    return {**our_lookup, "prefix": lookup.prefix, "suggestions": shown}


LEVEL = 6
"""The level of Java's own streams. Level 9 took 1.6 times as long, to save a twentieth."""
PLACED = ("file", "offset", "expectedText", "record")


class Writer:
    def __init__(self, folder: Path, generation: Generation) -> None:
        self._folder = folder
        self._generation = generation
        self._listed: dict[str, str] = {}
        self._written: Counter[str] = Counter()
        for name in ("actions", "data/files", "errors", "logs", "reports"):
            atomic.make_folder(folder / name)

    def sessions(self, source: SourceFile, sessions: Sequence[Session]) -> None:
        name = f"{Path(source.path).name}({len(self._listed)}){END}"
        # The plugin of 2019 names paths below `data`, later ones below `data/files`.
        self._listed[source.path] = f"files/{name}" if self._generation.first_errors is None else name
        body = {
            "filePath": source.path,
            "text": source.text,
            "sessions": [_write_session(self._generation, source, session) for session in sessions],
        }
        _write(self._folder / "data/files" / name, body)

    def actions(self, actions: FileActions, text: str) -> None:
        self._written["actions"] += 1
        converted = [
            replace(action, session=identity(action.session)) if isinstance(action, CallCompletion) else action
            for action in convert_actions(text, actions.actions, to_units, ours=True)
        ]
        body = {
            "path": actions.path,
            "checksum": actions.checksum,
            "sessionsCount": actions.sessions,
            "actions": self._generation.write_actions(converted),
        }
        _write(self._folder / "actions" / f"{Path(actions.path).name}({self._written['actions']}){END}", body)

    def error(self, error: FileError) -> None:
        """The plugin of 2019 holds one error of each file name."""
        name, first = Path(error.path).name, self._generation.first_errors
        number = (first or 0) + self._written[f"error {name}"]
        self._written[f"error {name}"] += 1
        shown = f"{name}({number})" if first is not None or number else name
        body = {"path": error.path, "message": error.message, "stackTrace": error.trace}
        _write(self._folder / "errors" / f"{shown}{END}", body)

    def close(self, config: dict[str, object]) -> None:
        # Both come last: without them, the folder is no workspace.
        atomic.write(self._folder / "data/files.json", msgspec.json.encode(self._listed))
        atomic.write(self._folder / "config.json", msgspec.json.format(msgspec.json.encode(config), indent=2))


def _write(path: Path, body: object) -> None:
    # Without a time in it, the same content has the same bytes.
    atomic.write(path, gzip.compress(msgspec.json.encode(body), LEVEL, mtime=0))


def identity(session: str) -> str:
    """Return the same UUID for one of our ids every time."""
    return str(uuid5(NAMESPACE_URL, f"ci-eval:{session}"))


def _write_session(generation: Generation, source: SourceFile, session: Session) -> dict[str, object]:
    # gson passes over fields that it does not know, so ours do not disturb the plugin.
    whole: dict[str, object] = msgspec.to_builtins(session)
    remaining = {name: value for name, value in whole.items() if name not in PLACED}
    lookups = [
        {
            generation.prefix: lookup.prefix,
            "suggestions": [
                {
                    "text": suggestion.text + suggestion.tail,
                    "presentationText": escape(suggestion.text, quote=False).replace("&lt;", "<").replace("&gt;", ">"),
                    **generation.write_suggestion(suggestion, lookup, place),
                }
                for place, suggestion in enumerate(lookup.suggestions, 1)
            ],
            "latency": round(lookup.latency),
            **generation.write_lookup(lookup, number),
        }
        for number, lookup in enumerate(session.lookups)
    ]
    return {
        "offset": to_units(source.text, session.offset),
        "expectedText": session.expected_text,
        generation.properties: generation.write_properties(session.properties),
        "_lookups": lookups,
        "id": identity(session.id),
        **generation.write_session(session),
        OURS: {**remaining, "lookups": [_our_lookup(lookup) for lookup in session.lookups]},
    }


def _our_lookup(lookup: Lookup) -> dict[str, object]:
    whole: dict[str, object] = msgspec.to_builtins(lookup)
    shown = [
        {name: value for name, value in msgspec.to_builtins(suggestion).items() if name != "text"}
        for suggestion in lookup.suggestions
    ]
    remaining = {name: value for name, value in whole.items() if name not in {"prefix", "suggestions"}}
    return remaining | ({"suggestions": shown} if any(shown) else {})
