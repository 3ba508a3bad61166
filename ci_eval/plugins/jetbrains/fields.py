"""A reader of JSON that another program wrote. Errors name the location; fields that nobody requested can be listed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from ci_eval.core.base import stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.model import Kind, Location, Properties

T = TypeVar("T")

LARGEST_NUMBER = 1_000_000_000


class Fields:
    """The fields of one JSON object. Methods raise WorkspaceError if a field has another type."""

    def __init__(self, value: object, file: Path, place: str = "") -> None:
        """`place`: the object's location in the file, such as `sessions[3]`."""
        self.file = file
        self.place = place
        if not isinstance(value, dict):
            raise self.wrong(f"it is {_kind(value)}, not an object")
        self._fields: dict[str, object] = value
        self._requested: set[str] = set()
        self._inner: list[Fields] = []
        self._left: dict[str, object] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._fields

    def wrong(self, what: str) -> WorkspaceError:
        at = f", {self.place}" if self.place else ""
        return WorkspaceError(f"{self.file}{at}: {what}; fetch the workspace again, or leave this file out")

    def text(self, name: str, missing: str | None = None) -> str:
        """Return a text, or `missing` if the field is absent or null; raises WorkspaceError if `missing` is None."""
        return self._typed_value(name, str, missing)

    def number(self, name: str, missing: int | None = None) -> int:
        """Return a whole number. The file may have 4.0 for 4, as gson writes it."""
        value = self.amount(name, missing)
        if value != int(value):
            raise self.wrong(f"`{name}` is {value}, not a whole number")
        return int(value)

    def amount(self, name: str, missing: float | None = None) -> float:
        """Return a number from 0 to a billion."""
        value = self._typed_value(name, float, None if missing is None else float(missing))
        # This comparison is false for NaN, so NaN is refused, too.
        if not 0 <= value <= LARGEST_NUMBER:
            raise self.wrong(f"`{name}` is {value}, not a number from 0 to a billion")
        return value

    def optional(self, name: str, kind: type[T]) -> T | None:
        """Return a value of the type `kind`, or None if the field is absent or null."""
        return None if self.value(name) is None else self._typed_value(name, kind, None)

    def section(self, name: str) -> Fields:
        """Return the object in a field, or an empty object if the field is absent or null."""
        value = self.value(name)
        section = Fields({} if value is None else value, self.file, self._location(name))
        self._inner.append(section)
        return section

    def objects(self, name: str) -> list[Fields]:
        """Return the objects of a list, or an empty list if the field is absent or null."""
        values = self._typed_value(name, list, [])
        objects = [Fields(value, self.file, f"{self._location(name)}[{number}]") for number, value in enumerate(values)]
        self._inner += objects
        return objects

    def rows(self, name: str) -> list[dict[str, object]]:
        """Return the objects of a long list. Reads of their fields are not tracked: call `leave` for unused fields."""
        rows = self._typed_value(name, list, [])
        if not all(isinstance(row, dict) for row in rows):
            raise self.wrong(f"`{name}` holds something that is not an object")
        return rows

    def leave(self, name: str, value: object) -> None:
        self._left[name] = value

    def value(self, name: str) -> object:
        """Return a value of any type, or None if it is absent."""
        self._requested.add(name)
        return self._fields.get(name)

    def peek(self, name: str) -> object:
        """Return a value without marking the field as requested."""
        return self._fields.get(name)

    def left(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Yield the location and the unrequested fields of this object, and of each object inside that has some."""
        own = {name: value for name, value in self._fields.items() if name not in self._requested} | self._left
        if own:
            yield self.place, own
        for section in self._inner:
            yield from section.left()

    def _location(self, name: str) -> str:
        return f"{self.place}.{name}".lstrip(".")

    def _typed_value(self, name: str, kind: type[T], missing: T | None) -> T:
        value = self.value(name)
        if value is None:
            if missing is None:
                raise self.wrong(f"`{name}` is missing")
            return missing
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        # In Python, True and False are instances of int.
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise self.wrong(f"`{name}` is {_kind(value)}, not {WORDS[kind]}")
        return value


WORDS: dict[type, str] = {str: "a text", bool: "true or false", float: "a number", int: "a number", list: "a list"}
WORDS |= {dict: "an object", type(None): "null"}


def _kind(value: object) -> str:
    return WORDS.get(type(value), type(value).__name__)


def read_gzip_json(path: Path) -> object:
    return decode(b"".join(stored.lines(path, stored.ACTIONS)), path)


def read_json(path: Path) -> object:
    return decode(stored.read(path, stored.FIGURES), path)


def decode(data: bytes, path: Path) -> object:
    """Read JSON. `path` is for messages. Raises WorkspaceError, which names the byte, if the data is damaged."""
    try:
        return stored.decode_json(data, object, path)
    except WorkspaceError as error:
        # The plugin wrote the file, so another evaluation by ci-eval would not help.
        raise WorkspaceError(f"{str(error).removesuffix('evaluate again')}fetch the workspace again") from error


def numbered_files(folder: Path, end: str) -> list[Path]:
    """Return the files in `folder` sorted by the number in NAME(NUMBER)END. Files without a number come first."""

    def number(path: Path) -> tuple[int, str]:
        match = re.search(r"\(([0-9]{1,9})\)\Z", path.name.removesuffix(end))
        return int(match[1]) if match else -1, path.name

    return sorted(filter(Path.is_file, folder.glob(f"*{end}")), key=number)


KINDS = {kind.value: kind for kind in Kind}
LOCATIONS: dict[str, Location] = {"PROJECT": "project", "LIBRARY": "library"}
PROPERTY_WORDS: dict[str | None, str] = {place: word for word, place in LOCATIONS.items()}
UNKNOWN = "UNKNOWN"


def read_kind(fields: Fields) -> Kind:
    """Return the kind of a token. If the plugin's word is unknown, return VARIABLE and leave the word unrequested."""
    word = fields.peek("tokenType")
    if word is not None and not isinstance(word, str):
        raise fields.wrong("`tokenType` is not a text")
    known = KINDS.get(word or "")
    if known:
        fields.value("tokenType")
    return known or Kind.VARIABLE


def read_token_properties(fields: Fields) -> Properties:
    """Read the properties as the plugin has written them since 2021. The values in `additional` are texts."""
    additional = fields.section("additional")
    package = additional.optional("packageName", str)
    kind, location = read_kind(fields), LOCATIONS.get(fields.text("location", UNKNOWN))
    static = additional.optional("isStatic", str)
    if static not in {None, "true", "false"}:
        raise additional.wrong(f'`isStatic` is {static!r}, not "true" or "false"')
    is_static = None if static is None else static == "true"
    return Properties(kind=kind, location=location, is_static=is_static, package=package)


def write_token_properties(properties: Properties) -> dict[str, object]:
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
