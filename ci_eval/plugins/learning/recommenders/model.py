"""The interface of recommenders of method calls, their data, and the file format of their models.

A model has a part for each type. The number of a call is its position among the sorted calls of the type. The context
of an object has three slots: enclosing method, enclosing class, definition. Their values are numbered in sorted order.

The file is a zip archive with facts, names of types, and arrays of numbers. It contains no code, and all of it is
checked before use, so a foreign file causes only a clear error.
"""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import ConfigError, WorkspaceError
from ci_eval.core.model import Value

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SLOTS = ("method", "class", "definition")
METHOD, CLASS, DEFINITION = range(3)
NONE, IGNORED = -1, -2


class TrainingOptions(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    method_context: Literal["qualified", "name", "off"] = "qualified"
    """The use of the enclosing method: its qualified name (which other projects seldom share), its name, or off."""
    class_context: bool = False
    definition: bool = True
    most_usages: Annotated[int, Meta(ge=0)] = 30_000
    """The most usages of a type that are learnt from, sampled with `seed`; 0 for all."""
    seed: int = 0


class TypeUsages(msgspec.Struct, frozen=True, kw_only=True):
    type: str
    calls: Sequence[str]
    values: Sequence[Sequence[str]]
    contexts: Ints
    """Array of shape (rows, slots) with the numbers of values, or NONE."""
    starts: Ints
    """The beginning of each row's calls in `flat`, and the end of the last row's calls."""
    flat: Ints
    """The calls of all rows, ascending within a row."""
    counts: Ints
    """The number of usages that each row stands for, descending. Equal counts are sorted by calls and contexts."""


Arrays = Mapping[str, NDArray[Any]]
"""Name → one-dimensional array of integers or floats."""


class TypeModel(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of one type. They are from a file of unknown origin, so each access checks them."""

    calls: Sequence[str]
    values: Sequence[Sequence[str]]
    arrays: Arrays

    @property
    def features(self) -> int:
        """Return the number of features: calls and values. Values are numbered after the calls, slot by slot."""
        return len(self.calls) + sum(map(len, self.values))

    def feature(self, slot: int, value: int) -> int:
        return len(self.calls) + sum(len(slot_values) for slot_values in self.values[:slot]) + value

    def floats(self, name: str) -> Floats:
        """Return the array `name` of finite numbers. Raises ConfigError if the file has no such array."""
        values = np.asarray(self._array(name), dtype=np.float64)
        require(bool(np.isfinite(values).all()), f"{name} holds numbers that are not finite")
        return values

    def numbers(self, name: str, *, least: int = 0, below: int = 2**62) -> Ints:
        """Return the array `name` of integers from `least` to `below` - 1. Raises ConfigError if there is none."""
        values = self._array(name)
        within = not values.size or least <= values.min() <= values.max() < below
        require(values.dtype.kind == "i" and within, f"{name} holds numbers beyond its bounds")
        return values.astype(np.int64)

    def starts(self, name: str, *, of: int) -> Ints:
        """Return where each part of an array with `of` elements begins and the last part ends. Raises ConfigError."""
        starts = self.numbers(name, below=of + 1)
        whole = starts.size and starts[0] == 0 and starts[-1] == of and (np.diff(starts) >= 0).all()
        require(bool(whole), f"{name} does not divide its {of:,} elements")
        return starts

    def _array(self, name: str) -> NDArray[Any]:
        require(name in self.arrays, f"{name} is missing")
        return self.arrays[name]


def require(condition: bool, why: str) -> None:
    if not condition:
        raise ConfigError(f"the model is damaged: {why}; train it again by `ci-eval train-recommender`")


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """A query in which numbers stand for calls and values. The type of the object defines the numbers."""

    contexts: tuple[int, ...]
    """For each slot, the number of its value, NONE or IGNORED."""
    calls: Ints
    """The numbers of the calls, ascending."""


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """A probability for each call of the type. The probabilities of calls that the query has are ignored."""

    scores: Floats
    ties: Floats | None = None
    """A number for each call: of calls with equal scores, the highest number comes first. If None, sort by name."""


Scorer = Callable[[Known], Scores]


class Recommender(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    summary: str
    options: type[TrainingOptions]
    train: Callable[[TypeUsages, Any], Arrays]
    """Usages of a type, options → arrays. Must be deterministic."""
    open: Callable[[TypeModel, Any], Scorer]
    """Arrays, options of training → scorer. Raises ConfigError if `train` cannot have written the arrays."""
    threshold: float = 0.30
    """The default minimum score of proposed calls."""
    strict: bool = False
    """Whether a score must exceed the threshold, rather than reach it."""


def part(starts: Ints, picks: Ints) -> tuple[Ints, Ints]:
    """Return the positions of all elements in the parts `picks`, and for each element the position of its part in
    `picks`. `starts`: the beginnings of all parts, and the end of the last part."""
    lengths = starts[picks + 1] - starts[picks]
    owner = np.repeat(np.arange(len(picks)), lengths)
    before = np.cumsum(lengths) - lengths
    return np.arange(len(owner)) - before[owner] + starts[picks][owner], owner


FORMAT = 1
PACKED = 1 << 30
"""The size limit of a file, in bytes. A model of a million usages has about ten million bytes."""
UNPACKED = 4 << 30
"""The size limit of the unpacked contents, in bytes."""
FACTS, TYPES = "model.json", "types.json"
LENGTHS = "lengths"
# The byte order is fixed, so that a model has the same bytes on every machine.
DTYPES = {"i": "<i4", "f": "<f8"}
ENTRY = re.compile(r"([a-z]+)\.(lengths|i|f)")


class Facts(Value, frozen=True, kw_only=True):
    format: int = FORMAT
    kind: str
    options: dict[str, Any]
    usages: int
    without_calls: int
    bad: int
    types: int
    digest: str = ""
    """SHA-256 of everything else in the file."""


class TypeNames(Value, frozen=True, kw_only=True):
    name: str
    calls: list[str]
    values: list[list[str]]


def save(types: Sequence[tuple[TypeNames, Arrays]], facts: Facts, path: Path) -> None:
    """Write a model. All types have arrays of the same names. The same model always gives the same bytes."""
    entries = {TYPES: msgspec.json.encode([names for names, _ in types])}
    for name in types[0][1]:
        parts = [arrays[name] for _, arrays in types]
        kind = parts[0].dtype.kind
        entries[f"{name}.{LENGTHS}"] = np.array([len(array) for array in parts], dtype="<i8").tobytes()
        entries[f"{name}.{kind}"] = np.concatenate(parts).astype(DTYPES[kind], casting="same_kind").tobytes()
    sealed = msgspec.structs.replace(facts, digest=_digest(entries))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {FACTS: msgspec.json.encode(sealed), **entries}.items():
            # ZipInfo has a fixed time by default, so the same model gives the same bytes.
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    atomic.write(path, buffer.getvalue())


def _digest(entries: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(entries):
        digest.update(f"{name}\0{len(entries[name])}\0".encode() + entries[name])
    return digest.hexdigest()


class Stored:
    def __init__(self, facts: Facts, names: Sequence[TypeNames], arrays: Mapping[str, tuple[Any, Any]]) -> None:
        self.facts, self._names, self._arrays = facts, names, arrays
        self._places = {type_names.name: place for place, type_names in enumerate(names)}

    def type(self, name: str) -> TypeModel | None:
        place = self._places.get(name)
        if place is None:
            return None
        arrays = {of: data[starts[place] : starts[place + 1]] for of, (starts, data) in self._arrays.items()}
        names = self._names[place]
        return TypeModel(calls=names.calls, values=names.values, arrays=arrays)


def load(path: Path) -> Stored:
    """Read a model. Raises ConfigError if the file is not a model or is damaged."""
    try:
        data = stored.read(path.resolve(), PACKED)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            # Limit the declared sizes: Python never unpacks more bytes than an entry declares.
            most = min(max(stored.ANY_RATIO, stored.RATIO * len(data)), UNPACKED)
            if sum(info.file_size for info in infos) > most:
                raise zipfile.BadZipFile(f"it unpacks to more than {most:,} bytes")
            entries = {info.filename: archive.read(info) for info in infos}
    except (WorkspaceError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ConfigError(f"{path} is not a model of `ci-eval train-recommender`: {error}") from error
    try:
        return _read(entries)
    except (ConfigError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _read(entries: dict[str, bytes]) -> Stored:
    require(FACTS in entries and TYPES in entries, f"it has no {FACTS} or no {TYPES}")
    facts = msgspec.json.decode(entries.pop(FACTS), type=Facts)
    if facts.format != FORMAT:
        raise ConfigError(f"it has format {facts.format}, but this ci-eval reads {FORMAT}: train the model again")
    require(facts.digest == _digest(entries), "it changed since it was written")
    names = msgspec.json.decode(entries.pop(TYPES), type=list[TypeNames])
    require(all(len(type_names.values) == len(SLOTS) for type_names in names), "a type has other slots")
    arrays: dict[str, dict[str, bytes]] = {}
    for entry, data in entries.items():
        parts = ENTRY.fullmatch(entry)
        require(parts is not None, f"it holds {entry[:50]!r}")
        assert parts
        arrays.setdefault(parts[1], {})[parts[2]] = data
    return Stored(facts, names, {name: _array(name, data, len(names)) for name, data in arrays.items()})


def _array(name: str, data: Mapping[str, bytes], types: int) -> tuple[Any, Any]:
    """Return the beginning of each type's part and the end of the last part, and the numbers of all parts."""
    kind = next((code for code in DTYPES if code in data), "")
    require(len(data) == 2 and bool(kind), f"{name} is not whole")
    lengths, numbers = np.frombuffer(data[LENGTHS], dtype="<i8"), np.frombuffer(data[kind], dtype=DTYPES[kind])
    # Check each length, too, since the sum of huge lengths may overflow.
    fits = len(lengths) == types and not (lengths < 0).any() and not (lengths > len(numbers)).any()
    require(fits and int(lengths.sum()) == len(numbers), f"{name} is not divided among {types:,} types")
    return np.concatenate([[0], np.cumsum(lengths)]), numbers
