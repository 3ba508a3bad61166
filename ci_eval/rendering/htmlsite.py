"""Write a folder of HTML pages, and move it into place as a whole. Sessions are stored as scripts, since a page that is
opened from disk cannot fetch data."""

from __future__ import annotations

import os
import shutil
import zlib
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import msgspec

from ci_eval.core.base import atomic
from ci_eval.core.contracts import Task
from ci_eval.core.filters import label
from ci_eval.core.model import Lookup, Session, Suggestion
from ci_eval.core.scoring import outcome
from ci_eval.rendering.blocks import breakable

COMMON = ("style.css", "theme.js")


class HtmlSite:
    def __init__(self, folder: Path, templates: Path, **known: object) -> None:
        self._folder = folder
        self._templates = templates
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(templates),
            autoescape=True,
            # A misspelt name must be an error, and not leave a gap in the page.
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(known)
        self._environment.filters.update({"breakable": breakable, "label": label})

    def assets(self, names: Sequence[str]) -> None:
        folder = self._folder / "assets"
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copyfile(self._templates / name, folder / name)

    def render(self, template: str, target: str, **values: object) -> None:
        text = self._environment.get_template(template).render(**values)
        # UTF-8 cannot encode lone surrogates, so they are escaped.
        self.write(target, text.encode("utf-8", "backslashreplace"))

    def write(self, target: str, data: bytes) -> None:
        path = self._folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def report_link(workspace: Path, folder: Path) -> str:
    """Return the address of a workspace's HTML report relative to `folder`; "" without a report."""
    page = workspace / "reports" / "html" / "index.html"
    return quote(Path(os.path.relpath(page.resolve(), folder.resolve())).as_posix()) if page.is_file() else ""


@contextmanager
def replace_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder that replaces `folder` at the end, unless an error occurs. Raises WorkspaceError."""
    partial, former = (folder.with_name(f"{folder.name}.{os.getpid()}.{name}") for name in ("tmp", "old"))
    try:
        with atomic.writing(folder):
            partial.mkdir(parents=True)
            yield partial
            if folder.exists():
                # The folder is renamed into place, so a reader finds either the old report or the new one.
                folder.rename(former)
            partial.rename(folder)
    finally:
        for path in (partial, former):
            shutil.rmtree(path, ignore_errors=True)


SESSIONS = 500
CHARACTERS = 1_000_000
"""A script is full if it has this many characters or SESSIONS sessions."""

FIRST = 50
AROUND = 3
"""The parts of a long list that are shown: its top, and suggestions on each side of the expected suggestion."""

LONGEST = 300
LONGEST_OF_RECORD = 20_000
LONGEST_KIND = 40
"""The longest texts, in characters: of a session, of a sample, and of a suggestion's kind."""

COMPRESSION = 1
"""The level of zlib. Files of level 6 are a fifth smaller, but take three times as long."""

Grades = tuple[tuple[str, float], ...]

Item = tuple[int, str, str] | tuple[int, str, str, int, Grades, str]
"""Rank, text, kind. Few items also have the position in the engine's list (0 = rank), grades, and a judge's remark."""


def shown_session(session: Session, task: Task) -> dict[str, Any]:
    longest = LONGEST_OF_RECORD if session.record else LONGEST
    lookups = [
        {
            "prefix": _short(lookup.prefix),
            # More digits than microseconds are noise, which compresses badly. A reused session has no time of this run.
            "latency": None if session.reused else round(lookup.latency, 3),
            "total": lookup.total,
            "rank": lookup.rank or 0,
            "selected": lookup.selected,
            "grades": _grades(lookup.grades),
            "items": _items(lookup, longest),
        }
        for lookup in session.lookups
    ]
    return {
        "id": session.id,
        "expected": _short(session.expected_text, longest),
        "status": session.status.value,
        "outcome": outcome(task, session),
        "message": _short(session.message, 4_000),
        "record": session.record is not None,
        "properties": _properties(session),
        "lookups": lookups,
        "trace": session.trace,
    }


def _items(lookup: Lookup, longest: int) -> tuple[Item, ...]:
    suggestions, rank = lookup.suggestions, lookup.rank or 0
    # There are millions of suggestions. Nearly all are shown as they are, without a call.
    first = [
        (place, suggestion.text, suggestion.kind)
        if suggestion.position is None
        and suggestion.grades is None
        and not suggestion.remark
        and not suggestion.label
        and not suggestion.tail
        and len(suggestion.text) + len(suggestion.kind) <= LONGEST_KIND
        else _item(suggestion, place, longest)
        for place, suggestion in enumerate(suggestions[:FIRST], 1)
    ]
    around = range(max(FIRST, rank - AROUND - 1) + 1, min(len(suggestions), rank + AROUND) + 1) if rank > FIRST else ()
    return (*first, *(_item(suggestions[place - 1], place, longest) for place in around))


def _grades(grades: Mapping[str, float] | None) -> Grades:
    return tuple((name, round(value, 4)) for name, value in (grades or {}).items())


def _item(suggestion: Suggestion, place: int, longest: int) -> Item:
    # If accepting the suggestion would leave another text than the one displayed, both are shown.
    whole = f"{suggestion.text}{suggestion.tail}"
    if suggestion.label and whole != suggestion.label:
        is_seen = suggestion.label.startswith(suggestion.text) and not suggestion.tail
        whole = suggestion.label if is_seen else f"{suggestion.label} → {whole}"
    text, kind, own = _short(whole, longest), _short(suggestion.kind, LONGEST_KIND), suggestion.position or 0
    if own in {0, place} and suggestion.grades is None and not suggestion.remark:
        return place, text, kind
    moved = 0 if own == place else own
    return place, text, kind, moved, _grades(suggestion.grades), _short(suggestion.remark, 2_000)


def _properties(session: Session) -> tuple[tuple[str, str], ...]:
    properties = session.properties
    if not session.record:
        return (
            ("kind", properties.kind.value.lower().replace("_", " ")),
            ("argument", _KNOWN[properties.is_argument]),
            ("static", _KNOWN[properties.is_static]),
            ("package", _KNOWN[None] if properties.package is None else properties.package),
        )
    rows = (
        ("language", properties.language),
        ("type", properties.package),
        ("prompt", properties.prompt),
        ("strategy", properties.strategy),
        ("scenario", properties.scenario),
        ("context", properties.evolution),
        ("calls", properties.change),
    )
    return tuple((name, value) for name, value in rows if value)


_KNOWN = {True: "yes", False: "no", None: "not known"}


def _short(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def script(call: str, *arguments: object) -> bytes:
    """Return the statement `call(arguments);`. No text in it can end the script."""
    # "<" could begin an end tag. The two separators end a line in the JavaScript of old browsers.
    json = b",".join(map(msgspec.json.encode, arguments))
    for raw, escaped in ((b"<", b"\\u003c"), ("\u2028".encode(), b"\\u2028"), ("\u2029".encode(), b"\\u2029")):
        json = json.replace(raw, escaped)
    return call.encode() + b"(" + json + b");\n"


def pack_json(value: object) -> str:
    """Return the JSON of a value, compressed with zlib, in base64. `ciEval.unpacked` reads it."""
    return b64encode(zlib.compress(msgspec.json.encode(value), COMPRESSION)).decode()


class Scripts:
    """Writes a file's sessions, in order, to scripts `NAME-0.js`, `NAME-1.js` …, with only one script in memory."""

    def __init__(self, folder: Path, name: str, task: Task) -> None:
        self._task = task
        self.starts: list[int] = []
        self._folder = folder
        self._name = name
        self._waiting: list[msgspec.Raw] = []
        self._size = 0
        self._count = 0

    def add(self, session: Session) -> None:
        encoded = msgspec.json.encode(shown_session(session, self._task))
        if self._waiting and (len(self._waiting) >= SESSIONS or self._size + len(encoded) > CHARACTERS):
            self.close()
        # As `Raw`, the session is not encoded again when the script is written.
        self._waiting.append(msgspec.Raw(encoded))
        self._size += len(encoded)
        self._count += 1

    def close(self) -> None:
        if not self._waiting:
            return
        number = len(self.starts)
        self.starts.append(self._count - len(self._waiting))
        path = self._folder / f"{self._name}-{number}.js"
        path.write_bytes(script("ciEval.packed", number, pack_json(self._waiting)))
        self._waiting, self._size = [], 0

    def write_places(self, pages: Sequence[Sequence[str]]) -> None:
        """Write which page each session is on, for links that only know the first page."""
        (self._folder / f"{self._name}-places.js").write_bytes(script("ciEval.places", pages))
