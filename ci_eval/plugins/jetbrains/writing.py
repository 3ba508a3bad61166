"""The export of our workspaces as the plugin's."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.model import CallCompletion, FileActions, FileError, Lookup, Session, SourceFile
from ci_eval.plugins.jetbrains.contract import Generation
from ci_eval.plugins.jetbrains.offsets import convert_actions, to_units
from ci_eval.plugins.jetbrains.reading import END, OURS

LEVEL = 6
"""Level of gzip, that of Java's own streams. Level 9 took 1.6 times as long, to save a twentieth."""
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
            "sessions": [_session(self._generation, source, session) for session in sessions],
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
        """Write the error of one file. The plugin of 2019 holds one error of each file name."""
        name, first = Path(error.path).name, self._generation.first_errors
        number = (first or 0) + self._written[f"error {name}"]
        self._written[f"error {name}"] += 1
        shown = f"{name}({number})" if first is not None or number else name
        body = {"path": error.path, "message": error.message, "stackTrace": error.trace}
        _write(self._folder / "errors" / f"{shown}{END}", body)

    def close(self, config: dict[str, object]) -> None:
        """Write `files.json` and the configuration."""
        # Both come last: without them, the folder is no workspace.
        atomic.write(self._folder / "data/files.json", msgspec.json.encode(self._listed))
        atomic.write(self._folder / "config.json", msgspec.json.format(msgspec.json.encode(config), indent=2))


def _write(path: Path, body: object) -> None:
    # Without a time in it, the same content has the same bytes.
    atomic.write(path, gzip.compress(msgspec.json.encode(body), LEVEL, mtime=0))


def identity(session: str) -> str:
    """Return the UUID that stands for one of our ids in the plugin's workspace, the same every time."""
    return str(uuid5(NAMESPACE_URL, f"ci-eval:{session}"))


def _session(generation: Generation, source: SourceFile, session: Session) -> dict[str, object]:
    # gson passes over fields that it does not know, so ours do not disturb the plugin.
    whole: dict[str, object] = msgspec.to_builtins(session)
    remaining = {name: value for name, value in whole.items() if name not in PLACED}
    return {
        "offset": to_units(source.text, session.offset),
        "expectedText": session.expected_text,
        generation.properties: generation.write_properties(session.properties),
        "_lookups": list(_lookups(generation, session)),
        "id": identity(session.id),
        **generation.write_session(session),
        OURS: {**remaining, "lookups": [_our_lookup(lookup) for lookup in session.lookups]},
    }


def _lookups(generation: Generation, session: Session) -> Iterator[dict[str, object]]:
    for number, lookup in enumerate(session.lookups):
        yield {
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


def _our_lookup(lookup: Lookup) -> dict[str, object]:
    whole: dict[str, object] = msgspec.to_builtins(lookup)
    shown = [
        {name: value for name, value in msgspec.to_builtins(suggestion).items() if name != "text"}
        for suggestion in lookup.suggestions
    ]
    remaining = {name: value for name, value in whole.items() if name not in {"prefix", "suggestions"}}
    return remaining | ({"suggestions": shown} if any(shown) else {})
