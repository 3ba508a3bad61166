"""The reader of another program's JSON. Errors name the location, and fields that were not requested are left over."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.model import Kind, Location, Properties

T = TypeVar("T")


MOST = 1_000_000_000


class Fields:
    """The fields of one JSON object. Requests raise WorkspaceError if a field has another type."""

    def __init__(self, value: object, file: Path, place: str = "") -> None:
        """`place`: location in the file, such as `sessions[3]`."""
        self.file = file
        self.place = place
        if not isinstance(value, dict):
            raise self.wrong(f"it is {_kind(value)}, not an object")
        self._fields: dict[str, object] = value
        self._asked: set[str] = set()
        self._below: list[Fields] = []
        self._left: dict[str, object] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def wrong(self, what: str) -> WorkspaceError:
        at = f", {self.place}" if self.place else ""
        return WorkspaceError(f"{self.file}{at}: {what}; fetch the workspace again, or leave this file out")

    def text(self, name: str, missing: str | None = None) -> str:
        """Return `missing` if the field is absent or null and `missing` is not None."""
        return self._typed_value(name, str, missing)

    def flag(self, name: str, missing: bool | None = None) -> bool:
        return self._typed_value(name, bool, missing)

    def number(self, name: str, missing: int | None = None, *, least: int = 0) -> int:
        """Accept 4.0, which gson may have written."""
        value = self.amount(name, missing, least=least)
        if value != int(value):
            raise self.wrong(f"`{name}` is {value}, not a whole number")
        return int(value)

    def amount(self, name: str, missing: float | None = None, *, least: float = 0) -> float:
        """Return a number of at least `least`, and at most a billion."""
        value = self._typed_value(name, float, None if missing is None else float(missing))
        # The bounds are compared so that NaN fails as well.
        if not least <= value <= MOST:
            raise self.wrong(f"`{name}` is {value}, which it cannot be")
        return value

    def optional(self, name: str, kind: type[T]) -> T | None:
        """Return None if the field is missing or null."""
        return None if self.plain(name) is None else self._typed_value(name, kind, None)

    def section(self, name: str) -> Fields:
        """Return an empty object if there is none."""
        value = self.plain(name)
        section = Fields({} if value is None else value, self.file, self._location(name))
        self._below.append(section)
        return section

    def objects(self, name: str) -> list[Fields]:
        """Return an empty list if there is none."""
        values = self._typed_value(name, list, [])
        objects = [Fields(value, self.file, f"{self._location(name)}[{number}]") for number, value in enumerate(values)]
        self._below += objects
        return objects

    def rows(self, name: str) -> list[dict[str, object]]:
        """Return a list that is too long to request each field. `leave` collects what is left over."""
        rows = self._typed_value(name, list, [])
        if not all(isinstance(row, dict) for row in rows):
            raise self.wrong(f"`{name}` holds something that is no object")
        return rows

    def leave(self, name: str, value: object) -> None:
        self._left[name] = value

    def plain(self, name: str) -> object:
        """Return a value of any type; None if it is absent."""
        self._asked.add(name)
        return self._fields.get(name)

    def peek(self, name: str) -> object:
        """Do not request the field: it may still be left over."""
        return self._fields.get(name)

    def names(self) -> list[str]:
        return list(self._fields)

    def left(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield fields that were not requested, here and below, with their locations."""
        here = {name: value for name, value in self._fields.items() if name not in self._asked} | self._left
        if here:
            yield self.place, here
        for section in self._below:
            yield from section.left()

    def _location(self, name: str) -> str:
        return f"{self.place}.{name}".lstrip(".")

    def _typed_value(self, name: str, kind: type[T], missing: T | None) -> T:
        value = self.plain(name)
        if value is None:
            if missing is None:
                raise self.wrong(f"`{name}` is missing")
            return missing
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        # In Python, True and False are numbers, too.
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise self.wrong(f"`{name}` is {_kind(value)}, not {WORDS[kind]}")
        return value


WORDS: dict[type, str] = {str: "a text", bool: "true or false", float: "a number", int: "a number", list: "a list"}
WORDS |= {dict: "an object", type(None): "null"}


def _kind(value: object) -> str:
    return WORDS.get(type(value), type(value).__name__)


def read_gzip_json(path: Path) -> object:
    """Raises WorkspaceError, with the number of the byte, if the file is damaged."""
    return decode(b"".join(stored.lines(path, stored.ACTIONS)), path)


def plain(path: Path) -> object:
    """Raises WorkspaceError, with the number of the byte, if the file is damaged."""
    return decode(stored.read(path, stored.FIGURES), path)


def decode(data: bytes, path: Path) -> object:
    """`path` is for messages. Raises WorkspaceError."""
    try:
        return msgspec.json.decode(data)
    except RecursionError:
        raise WorkspaceError(f"{path} is damaged: it is nested too deeply; fetch the workspace again") from None
    except (ValueError, zlib.error) as error:
        line = data.count(b"\n") + 1
        raise WorkspaceError(
            f"{path} is damaged: {error} ({line} lines, {len(data):,} bytes); fetch the workspace again"
        ) from error


def numbered_files(folder: Path, end: str) -> Iterator[Path]:
    """Yield files by the number in NAME(NUMBER)END; those without a number come first."""
    paths = (path for path in folder.glob(f"*{end}") if path.is_file())

    def number(path: Path) -> int:
        match = re.search(r"\(([0-9]{1,9})\)\Z", path.name.removesuffix(end))
        return int(match[1]) if match else -1

    return iter(sorted(paths, key=lambda path: (number(path), path.name)))


KINDS = {kind.value: kind for kind in Kind}
UNTOLD = Kind.VARIABLE
"""The kind of tokens without a known one. The plugin's own word is left over."""
LOCATIONS: dict[str, Location] = {"PROJECT": "project", "LIBRARY": "library"}
PROPERTY_WORDS: dict[str | None, str] = {place: word for word, place in LOCATIONS.items()}
UNKNOWN = "UNKNOWN"


def read_kind(fields: Fields) -> Kind:
    """An unknown kind is also left over."""
    said = fields.peek("tokenType")
    if said is not None and not isinstance(said, str):
        raise fields.wrong("`tokenType` is not a text")
    known = KINDS.get(said or "")
    if known:
        fields.plain("tokenType")
    return known or UNTOLD


def read_token_properties(fields: Fields) -> Properties:
    """Return the type, the location of the declaration, and `additional`, whose values are texts, as since 2021."""
    additional = fields.section("additional")
    package = additional.optional("packageName", str)
    kind, location = read_kind(fields), LOCATIONS.get(fields.text("location", UNKNOWN))
    static = additional.optional("isStatic", str)
    if static not in {None, "true", "false"}:
        raise additional.wrong(f'`isStatic` is {static!r}, not "true" or "false"')
    is_static = None if static is None else static == "true"
    return Properties(kind=kind, location=location, is_static=is_static, package=package)


def as_tokens(properties: Properties) -> dict[str, object]:
    additional: dict[str, str] = {}
    if properties.is_static is not None:
        additional["isStatic"] = "true" if properties.is_static else "false"
    if properties.package is not None:
        additional["packageName"] = properties.package
    return {
        "tokenType": properties.kind.value,
        "location": PROPERTY_WORDS.get(properties.location, UNKNOWN),
        "features": [],
        "additional": additional,
    }
