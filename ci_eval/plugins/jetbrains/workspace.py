"""The conversion between the plugin's workspaces and our source files, sessions, actions and errors."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from html import escape
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import msgspec
from msgspec.structs import replace

from ci_eval.core import model
from ci_eval.core.base import atomic
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.grammar.document import Document, checksum
from ci_eval.core.model import Action, FileActions, FileError, Lookup, Session, SourceFile
from ci_eval.core.model.sessions import status
from ci_eval.plugins.jetbrains.fields import Fields, numbered_files, read_gzip_json
from ci_eval.plugins.jetbrains.generation import Generation, find_rank

BASIC = 0xFFFF
"""The last code point that takes one UTF-16 unit. Later code points take two."""


def to_units(text: str, offset: int) -> int:
    """Convert an offset from code points to UTF-16 units."""
    return len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2


def to_points(text: str, units: int) -> int:
    """Convert an offset from UTF-16 units to code points. An offset within a surrogate pair becomes the offset before
    the pair. Raises ValueError if the offset is after the end of the text."""
    data = text.encode("utf-16-le", "surrogatepass")
    if 2 * units > len(data):
        raise ValueError(f"offset {units} is after the end of the text")
    return len(data[: 2 * units].decode("utf-16-le", "ignore"))


def convert_actions(
    text: str, actions: Sequence[Action], convert: Callable[[str, int], int], *, ours: bool
) -> list[Action]:
    """Convert the offset of each action, in the text as it was before the action. `ours`: whether the old offsets count
    code points. Raises WorkspaceError if an offset is outside of the text."""
    # In most files, each code point takes one UTF-16 unit, so offsets need no conversion.
    texts = [text, *(action.text for action in actions if isinstance(action, model.PrintText))]
    if all(text.isascii() or max(text) <= chr(BASIC) for text in texts):
        return list(actions)
    document, converted = Document(text), []
    try:
        for action in actions:
            now = document.text
            match action:
                case model.MoveCaret():
                    changed: Action = replace(action, offset=convert(now, action.offset))
                case model.DeleteRange():
                    changed = replace(action, begin=convert(now, action.begin), end=convert(now, action.end))
                case model.CallCompletion() | model.PlayItem():
                    # The offset of a call refers to the file on disk.
                    changed = replace(action, offset=convert(text, action.offset))
                case _:
                    changed = action
            converted.append(changed)
            # The document counts code points, so replay the action whose offsets are in code points.
            played = action if ours else changed
            if isinstance(played, model.MoveCaret | model.DeleteRange | model.PrintText):
                document.apply(played)
    except ValueError as error:
        raise WorkspaceError(f"the actions do not fit the text: {error}") from error
    return converted


FOLDER = "imported"
"""The folder for the plugin's config.json, and for the fields that our workspaces cannot hold."""
UNSUPPORTED = frozenset(
    "additionalInfo completable completableLength content details features id isNew isRelevant isSelected kind "
    "location offset presentationText projectName selectedPosition source stackTrace success suggestions".split()
)
"""The fields that are known, although our workspaces cannot hold them."""
SUGGESTIONS = "suggestions"
"""The field with one row per suggestion of a lookup, in order."""
COPIED = ("config.json", "stats.json", "evaluation_process.json", "actions.json", "ml_model_version.txt")


class Kept:
    """A store for the parts of the plugin's workspaces that ours cannot hold."""

    def __init__(self, root: Path) -> None:
        self._root = root
        # zlib writes no time into the gzip header, so the same content always gives the same bytes.
        self._compressor = zlib.compressobj(1, wbits=31)  # 31 selects the gzip format
        self._packed: list[bytes] = []
        self.unknown: Counter[str] = Counter()

    def take(self, fields: Fields) -> None:
        """Store the fields that were not requested, including those of inner objects."""
        where = fields.file.relative_to(self._root).as_posix()
        part = where.split("/")[0]
        for place, left in fields.left():
            line = msgspec.json.encode({"file": where, "place": place, "fields": left})
            self._packed.append(self._compressor.compress(line + b"\n"))
            rows = left.get(SUGGESTIONS)
            for row in (left, *(rows if isinstance(rows, list) else [])):
                for name in row.keys() - UNSUPPORTED:
                    self.unknown[f"{part}: {name}"] += 1

    def write(self, folder: Path) -> None:
        target = atomic.make_folder(folder / FOLDER)
        self._packed.append(self._compressor.flush())
        atomic.write(target / "fields.jsonl.gz", b"".join(self._packed))
        copied = (*map(self._root.joinpath, COPIED), *(self._root / "features").rglob("*"))
        for path in filter(Path.is_file, copied):
            atomic.copy(path, atomic.make_folder((target / path.relative_to(self._root)).parent) / path.name)


NOTHING = object()
OURS = "ciEval"
"""The field for the parts of our sessions for which the plugin has no fields."""
END = ".json.gz"


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    folder: Path
    generation: Generation
    project: str
    strategy: str
    """The strategy as one word, as in the manifest."""
    language: str
    with_user: bool
    """Whether the plugin simulated a user who chose from the lists."""


class ReadFile(msgspec.Struct, frozen=True, kw_only=True):
    source: SourceFile
    sessions: Sequence[Session]
    actions: FileActions | None


def read_files(origin: Origin, actions: Mapping[str, tuple[Path, int]], kept: Kept) -> Iterator[ReadFile]:
    """Yield the source files with their sessions. `actions`: see `find_actions_files`. Raises WorkspaceError."""
    for path, file in origin.generation.listed(origin.folder / "data"):
        fields = Fields(read_gzip_json(file), file)
        if (own_path := fields.text("filePath")) != path:
            raise fields.wrong(f"it holds the sessions of {own_path}, but files.json names {path}")
        text = fields.text("text")
        source = SourceFile(path=path, checksum=checksum(text), text=text)
        ids = Identities(origin, source)
        sessions = [_session(origin, session_fields, source, ids) for session_fields in fields.objects("sessions")]
        kept.take(fields)
        if path not in actions:
            yield ReadFile(source=source, sessions=sessions, actions=None)
            continue
        fields = Fields(read_gzip_json(actions[path][0]), actions[path][0])
        stored = origin.generation.read_actions(fields)
        kept.take(fields)
        if stored.checksum != source.checksum:
            raise WorkspaceError(
                f"{origin.folder}: the actions of {path} belong to another text (SHA-256 {stored.checksum[:12]}…) "
                f"than its sessions ({source.checksum[:12]}…); fetch the workspace again"
            )
        converted = convert_actions(text, stored.actions, to_points, ours=False)
        with_ids = tuple(_assign_sessions(converted, Identities(origin, source), sessions))
        yield ReadFile(source=source, sessions=sessions, actions=replace(stored, path=path, actions=with_ids))


def find_actions_files(folder: Path) -> dict[str, tuple[Path, int]]:
    """Return path of a source file → (file with its actions, number of its sessions)."""
    files: dict[str, tuple[Path, int]] = {}
    for path in numbered_files(folder / "actions", END):
        fields = Fields(read_gzip_json(path), path)
        files[fields.text("path")] = path, fields.number("sessionsCount", 0)
    return files


def read_errors(folder: Path, lost: dict[str, int], kept: Kept) -> Iterator[FileError]:
    """Yield the plugin's errors. `lost`: path → the number of missing sessions."""
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
    """The session ids that stage 1 of ci-eval would give, so that sessions of both programs can be paired."""

    def __init__(self, origin: Origin, source: SourceFile) -> None:
        self._parts = (origin.project, source.path, source.checksum, origin.strategy)
        self._seen: Counter[tuple[int, str]] = Counter()

    def next(self, offset: int, text: str) -> str:
        """Return a new id. The first id for an offset and text is the one of stage 1."""
        number = self._seen[offset, text]
        self._seen[offset, text] += 1
        parts = (*self._parts, str(offset), text, *([str(number)] if number else []))
        return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()


def _assign_sessions(actions: Sequence[Action], ids: Identities, sessions: Sequence[Session]) -> Iterator[Action]:
    """Yield the actions with the ids of their sessions. A call without a session in `sessions` gets a new id."""
    asked: dict[tuple[int, str, str], deque[str]] = {}
    for session_asked in sessions:
        first = session_asked.lookups[0].prefix if session_asked.lookups else ""
        asked.setdefault((session_asked.offset, session_asked.expected_text, first), deque()).append(session_asked.id)
    session = ""
    for action in actions:
        if isinstance(action, model.FinishSession):
            session = ""
        if not isinstance(action, model.CallCompletion):
            yield action
            continue
        if not session:
            # Take an id even if it stays unused: otherwise the next new id at this offset would belong to a session.
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
        whole = {"file": source.path, "offset": offset, "expectedText": expected}
        filled = []
        try:
            ours = msgspec.convert(fields.value(OURS), dict[str, object])
            our_lookups = msgspec.convert(ours.pop("lookups", []), list[dict[str, object]])
            for our_lookup, lookup in zip(our_lookups, lookups, strict=True):
                # The prefix and the texts of suggestions are stored only in the plugin's own fields.
                texts = [suggestion.text for suggestion in lookup.suggestions]
                more = msgspec.convert(our_lookup.pop("suggestions", []), list[dict[str, object]]) or [{}] * len(texts)
                shown = [{**fields, "text": text} for fields, text in zip(more, texts, strict=True)]
                filled.append({**our_lookup, "prefix": lookup.prefix, "suggestions": shown})
            return msgspec.convert({**ours, **whole, "lookups": filled}, Session)
        except ValueError as error:
            raise fields.wrong(f"`{OURS}` is damaged: {error}") from error
    return Session(
        id=ids.next(offset, expected),
        file=source.path,
        offset=offset,
        expected_text=expected,
        properties=known,
        status=status(lookups) if lookups else model.Status.SKIPPED,
        message="" if lookups else "no lookup is stored",
        typed=len(lookups[0].prefix) if lookups else 0,
        lookups=lookups,
    )


def _lookup(origin: Origin, fields: Fields, expected: str) -> Lookup:
    suggestions, relevant, left_over = list[model.Suggestion](), list[bool | None](), list[dict[str, object]]()
    for place, row in enumerate(fields.rows(SUGGESTIONS)):
        text, flag = row.get("text"), row.get("isRelevant")
        if not isinstance(text, str):
            raise fields.wrong(f"suggestions[{place}] has no `text`")
        suggestions.append(model.Suggestion(text=text))
        relevant.append(flag if isinstance(flag, bool) else None)
        # Keep all other fields, except those that only repeat the text.
        repeated = {"text": text, "presentationText": text}
        left_over.append({name: value for name, value in row.items() if value != repeated.get(name, NOTHING)})
    if any(left_over):
        fields.leave(SUGGESTIONS, left_over)
    # In 2019, the rules for Kotlin and C++ were not there yet.
    language = origin.language if origin.generation.since_2021 else ""
    rank = find_rank(language, expected, suggestions, relevant if origin.generation.by_relevance else ())
    prefix = fields.text(origin.generation.prefix)
    # The plugin counts positions from 0; our ranks begin at 1.
    taken = fields.peek("selectedPosition") == (rank or 0) - 1 if origin.with_user else True
    # Without a simulated user, the text counts as taken if moving to it needs fewer keys than typing the remainder.
    worth_it = origin.with_user or (rank or 0) < len(expected) - len(prefix)
    return Lookup(
        prefix=prefix,
        total=len(suggestions),
        rank=rank,
        latency=fields.amount("latency"),
        selected=rank is not None and taken and worth_it,
        suggestions=tuple(suggestions),
    )


LEVEL = 6
"""The compression level, which is Java's default. Level 9 took 1.6 times as long and saved only 5 % of the size."""
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
        # The names in files.json are relative to `data` in 2019, and to `data/files` later.
        self._listed[source.path] = name if self._generation.since_2021 else f"files/{name}"
        body = {
            "filePath": source.path,
            "text": source.text,
            "sessions": [_write_session(self._generation, source, session) for session in sessions],
        }
        _write(self._folder / "data/files" / name, body)

    def actions(self, actions: FileActions, text: str) -> None:
        self._written["actions"] += 1
        converted = [
            replace(action, session=identity(action.session)) if isinstance(action, model.CallCompletion) else action
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
        # In 2019, the name of a file's first error had no number.
        name = Path(error.path).name
        number = self._generation.since_2021 + self._written[f"error {name}"]
        self._written[f"error {name}"] += 1
        shown = f"{name}({number})" if number else name
        body = {"path": error.path, "message": error.message, "stackTrace": error.trace}
        _write(self._folder / "errors" / f"{shown}{END}", body)

    def close(self, config: dict[str, object]) -> None:
        # These files are written last: without them, an unfinished folder does not count as a workspace.
        atomic.write(self._folder / "data/files.json", msgspec.json.encode(self._listed))
        atomic.write(self._folder / "config.json", msgspec.json.format(msgspec.json.encode(config), indent=2))


def _write(path: Path, body: object) -> None:
    # Without a time in the header, the same content always gives the same bytes.
    atomic.write(path, gzip.compress(msgspec.json.encode(body), LEVEL, mtime=0))


def identity(session: str) -> str:
    """Return a UUID that depends only on our session id."""
    return str(uuid5(NAMESPACE_URL, f"ci-eval:{session}"))


def _without(fields: dict[str, object], names: Collection[str]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if name not in names}


def _write_session(generation: Generation, source: SourceFile, session: Session) -> dict[str, object]:
    # The plugin reads with gson, which ignores unknown fields, so our field does no harm.
    ours = _without(msgspec.to_builtins(session), PLACED)
    our_lookups = []
    for fields in msgspec.to_builtins(session.lookups):
        shown = [_without(suggestion, {"text"}) for suggestion in fields.get("suggestions", ())]
        our_lookups.append(_without(fields, {"prefix", "suggestions"}) | ({"suggestions": shown} if any(shown) else {}))
    lookups = []
    for number, lookup in enumerate(session.lookups):
        suggestions = []
        for place, suggestion in enumerate(lookup.suggestions, 1):
            presented = escape(suggestion.text, quote=False).replace("&lt;", "<").replace("&gt;", ">")
            row: dict[str, object] = {"text": suggestion.text + suggestion.tail, "presentationText": presented}
            if generation.since_2021:
                right = place == lookup.rank
                row |= {"source": "STANDARD", "details": {}, "kind": "TOKEN"}
                row |= {"isSelected": right and lookup.selected, "isRelevant": right}
            suggestions.append(row)
        written = {generation.prefix: lookup.prefix, "suggestions": suggestions, "latency": round(lookup.latency)}
        if generation.since_2021:
            taken = lookup.rank - 1 if lookup.selected and lookup.rank else -1
            written |= {"offset": len(lookup.prefix), "features": None, "selectedPosition": taken}
            written |= {"isNew": number == 0, "additionalInfo": {}}
        lookups.append(written)
    return {
        "offset": to_units(source.text, session.offset),
        "expectedText": session.expected_text,
        generation.properties: generation.write_properties(session.properties),
        "_lookups": lookups,
        "id": identity(session.id),
        **({"completableLength": len(session.expected_text)} if generation.since_2021 else {}),
        "success": bool(session.lookups) and session.lookups[session.until - 1].rank is not None,
        OURS: {**ours, "lookups": our_lookups},
    }
