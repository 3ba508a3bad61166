"""Our workspaces as the plugin's."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import msgspec
from msgspec.structs import replace

from ci_eval import atomic
from ci_eval.exchange.contract import Generation
from ci_eval.exchange.offsets import moved, to_units
from ci_eval.exchange.reading import END, OURS
from ci_eval.model import Action, CallCompletion, FileActions, FileError, Lookup, Session, SourceFile

LEVEL = 6
"""Of gzip, as Java's own streams have it; level 9 took 1.6 times as long, to save a twentieth."""
PLACED = ("file", "offset", "expectedText", "record")


class Writer:
    """Writes one workspace."""

    def __init__(self, folder: Path, generation: Generation) -> None:
        self._folder = folder
        self._generation = generation
        self._listed: dict[str, str] = {}
        self._written: Counter[str] = Counter()
        for name in ("actions", "data/files", "errors", "logs", "reports"):
            atomic.make_folder(folder / name)

    def sessions(self, source: SourceFile, sessions: Sequence[Session]) -> None:
        """The sessions of one source file."""
        name = f"{Path(source.path).name}({len(self._listed)}){END}"
        self._listed[source.path] = f"files/{name}" if self._generation.first_errors is None else name
        body = {
            "filePath": source.path,
            "text": source.text,
            "sessions": [_session(self._generation, source, each) for each in sessions],
        }
        _write(self._folder / "data/files" / name, body)

    def actions(self, actions: FileActions, text: str) -> None:
        """The actions of one source file, whose text is given."""
        self._written["actions"] += 1
        there = [_renamed(each) for each in moved(text, actions.actions, to_units, ours=True)]
        body = {
            "path": actions.path,
            "checksum": actions.checksum,
            "sessionsCount": actions.sessions,
            "actions": self._generation.write_actions(there),
        }
        _write(self._folder / "actions" / f"{Path(actions.path).name}({self._written['actions']}){END}", body)

    def error(self, error: FileError) -> None:
        """Trouble with one file; the plugin of 2019 has room for one of each name."""
        name, first = Path(error.path).name, self._generation.first_errors
        number = (first or 0) + self._written[f"error {name}"]
        self._written[f"error {name}"] += 1
        shown = f"{name}({number})" if first is not None or number else name
        body = {"path": error.path, "message": error.message, "stackTrace": error.trace}
        _write(self._folder / "errors" / f"{shown}{END}", body)

    def close(self, config: dict[str, object]) -> None:
        """`files.json` and the configuration come last: without them it is no workspace."""
        atomic.write(self._folder / "data/files.json", msgspec.json.encode(self._listed))
        atomic.write(self._folder / "config.json", msgspec.json.format(msgspec.json.encode(config), indent=2))


def _write(path: Path, body: object) -> None:
    atomic.write(path, gzip.compress(msgspec.json.encode(body), LEVEL, mtime=0))


def identity(session: str) -> str:
    """The UUID that stands for one of our ids there, the same every time."""
    return str(uuid5(NAMESPACE_URL, f"ci-eval:{session}"))


def _renamed(action: Action) -> Action:
    return replace(action, session=identity(action.session)) if isinstance(action, CallCompletion) else action


def _session(generation: Generation, source: SourceFile, session: Session) -> dict[str, object]:
    return {
        "offset": to_units(source.text, session.offset),
        "expectedText": session.expected_text,
        generation.properties: generation.write_properties(session.properties),
        "_lookups": list(_lookups(generation, session)),
        "id": identity(session.id),
        **generation.write_session(session),
        OURS: _ours(session),
    }


def _lookups(generation: Generation, session: Session) -> Iterator[dict[str, object]]:
    for number, lookup in enumerate(session.lookups):
        yield {
            generation.prefix: lookup.prefix,
            "suggestions": [
                {
                    "text": each.text,
                    "presentationText": escape(each.text, quote=False).replace("&lt;", "<").replace("&gt;", ">"),
                    **generation.write_suggestion(each, lookup, place),
                }
                for place, each in enumerate(lookup.suggestions, 1)
            ],
            "latency": round(lookup.latency),
            **generation.write_lookup(lookup, number),
        }


def _ours(session: Session) -> dict[str, object]:
    """What the plugin has no place for: gson passes over fields that it does not know."""
    whole: dict[str, object] = msgspec.to_builtins(session)
    rest = {name: value for name, value in whole.items() if name not in PLACED}
    return {**rest, "lookups": [_of_lookup(each) for each in session.lookups]}


def _of_lookup(lookup: Lookup) -> dict[str, object]:
    whole: dict[str, object] = msgspec.to_builtins(lookup)
    shown = [
        {name: value for name, value in msgspec.to_builtins(each).items() if name != "text"}
        for each in lookup.suggestions
    ]
    rest = {name: value for name, value in whole.items() if name not in {"prefix", "suggestions"}}
    return rest | ({"suggestions": shown} if any(shown) else {})
