"""Count how often names occur in a project, and how often they follow one or two tokens.

Names and sequences of tokens are stored as hashes in sorted arrays. Millions of lines take tens of megabytes.
"""

from __future__ import annotations

import os
import re
import struct
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.contracts import FileContext

Hashes = NDArray[np.uint64]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

_TOKEN = re.compile(r"\w+|->|\?\.|[^\w\s]")
# 2^64 divided by the golden ratio is the factor of Fibonacci hashing.
_ODD = np.uint64(0x9E3779B97F4A7C15)
START_OF_LINE = "\n"
LONGEST_CONTEXT = 2
"""The largest number of preceding tokens by which names are counted."""


def tokenise_line(line: str) -> list[str]:
    """Return the names, numbers and punctuation characters of a line; `->` and `?.` are one token each."""
    return _TOKEN.findall(line)


def is_name(token: str) -> bool:
    """Return whether a token is a name or a keyword; only these are suggested."""
    return token[0].isalpha() or token[0] == "_"


@lru_cache(maxsize=500_000)
def hash_token(token: str) -> int:
    return int.from_bytes(blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def pair_hashes(first: Hashes, second: Hashes) -> Hashes:
    # The overflow is intended: hashes are numbers modulo 2^64.
    with np.errstate(over="ignore"):
        return np.asarray((first * _ODD) ^ (second + (first >> np.uint64(7))), dtype=np.uint64)


class Table(msgspec.Struct, frozen=True):
    """A map from hashes to counts that looks up many hashes at once. The keys are sorted."""

    keys: Hashes
    counts: Counts

    def of(self, hashes: Hashes) -> Counts:
        """Return the counts of hashes; 0 for a hash that is not in the table."""
        if not len(self.keys):
            return np.zeros(len(hashes), dtype=np.int64)
        # The place of a hash above all keys would be outside of the array.
        places = np.minimum(np.searchsorted(self.keys, hashes), len(self.keys) - 1)
        return np.where(self.keys[places] == hashes, self.counts[places], 0)


TABLES = ("times", "files", "pairs", "triples", "after_one", "after_two")
"""The tables count, in this order: a name; the files with a name; a name after one token; a name after two tokens; any
name after one token; any name after two tokens."""
DAMAGED = (zipfile.BadZipFile, struct.error)


class NameCounts(msgspec.Struct, frozen=True):
    tables: Mapping[str, Table]

    def without(self, text: str) -> Others:
        """Return the counts without those of the open file. `text`: the file's text when names were counted."""
        return Others(self, count([text]))

    def save(self, path: Path) -> None:
        arrays: dict[str, Any] = {f"{name}_keys": table.keys for name, table in self.tables.items()}
        arrays |= {f"{name}_counts": table.counts for name, table in self.tables.items()}
        # numpy would append `.npz` to the name of the temporary file, but not to an open file.
        with atomic.replacing(path) as partial, partial.open("wb") as file:
            np.savez(file, **arrays)

    @classmethod
    def load(cls, path: Path) -> NameCounts:
        with stored.open_regular_file(path) as file:
            try:
                if os.fstat(file.fileno()).st_size > stored.NAMES:
                    raise ValueError(f"it has more than {stored.NAMES:,} bytes")
                tables = {}
                with zipfile.ZipFile(file) as archive:
                    for name in TABLES:
                        keys = _stored_array(archive, f"{name}_keys.npy", np.dtype(np.uint64))
                        counts = _stored_array(archive, f"{name}_counts.npy", np.dtype(np.int64))
                        if len(keys) != len(counts) or (keys[1:] <= keys[:-1]).any() or (counts < 0).any():
                            raise ValueError(f"{name} is not a table")
                        tables[name] = Table(keys, counts)
                return cls(tables)
            except (OSError, EOFError, KeyError, NotImplementedError, RuntimeError, ValueError, *DAMAGED) as error:
                raise WorkspaceError(f"{path} is damaged: {error}; evaluate again") from error


def _stored_array(archive: zipfile.ZipFile, name: str, kind: np.dtype[Any]) -> NDArray[Any]:
    """Return an array of an .npz file."""
    # The size in the header is not trusted: no more memory is allocated than the file has bytes.
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{name} is compressed")
    with archive.open(info) as stream:
        header: Any = np.lib.format  # numpy has no types for this module before 2.3
        header.read_magic(stream)
        shape, _, stored_kind = header.read_array_header_1_0(stream)
        values = np.frombuffer(stream.read(), dtype=kind)
    if stored_kind != kind or shape != values.shape:
        raise ValueError(f"{name} is not a list of {kind}")
    return values


class Others(msgspec.Struct, frozen=True):
    """The counts of names in all files but the open one."""

    whole: NameCounts
    own: NameCounts

    def of(self, names: Hashes, before: int) -> Floats:
        """Return for each name how often it occurs, in how many files, and how often after `before` (names x 3)."""
        pairs = pair_hashes(np.full(len(names), before, dtype=np.uint64), names)
        columns = (self._remaining(*of) for of in (("times", names), ("files", names), ("pairs", pairs)))
        return np.stack([*columns], axis=1)

    def times(self, texts: Sequence[str]) -> Floats:
        return self._remaining("times", _hashes(texts))

    def levels(self, texts: Sequence[str], context: Sequence[str]) -> Iterator[tuple[Floats, float]]:
        """Yield how often each text, and any name, follows the last 0, 1 and 2 tokens of `context` in other files."""
        names, last = _hashes(texts), _hashes(context[-LONGEST_CONTEXT:])
        total = self.whole.tables["times"].counts.sum() - self.own.tables["times"].counts.sum()
        yield self.times(texts), float(total)
        if len(last):
            pairs = pair_hashes(last[-1:], names)
            yield self._remaining("pairs", pairs), float(self._remaining("after_one", last[-1:])[0])
        if len(last) == LONGEST_CONTEXT:
            two = pair_hashes(last[:1], last[1:])
            yield self._remaining("triples", pair_hashes(two, names)), float(self._remaining("after_two", two)[0])

    def _remaining(self, table: str, hashes: Hashes) -> Floats:
        remaining = self.whole.tables[table].of(hashes) - self.own.tables[table].of(hashes)
        return np.asarray(np.maximum(remaining, 0), dtype=np.float64)


def load_other_names(context: FileContext) -> Others:
    """Return the counts of names in other files; they are empty if the context has no file with counts."""
    return _load(context.names).without(context.text) if context.names else NOTHING.without("")


_load = lru_cache(maxsize=2)(NameCounts.load)


def count(texts: Iterable[str]) -> NameCounts:
    parts: list[tuple[Hashes, ...]] = [(_EMPTY,) * len(TABLES)]
    for text in texts:
        lines = filter(None, map(tokenise_line, text.split("\n")))
        tokens = [token for line in lines for token in (START_OF_LINE, *line)]
        hashes = _hashes(tokens)
        named = np.flatnonzero(np.fromiter(map(is_name, tokens), np.bool_, len(tokens)))
        # The first token is always START_OF_LINE, so every name has a token before it.
        names, last_token = hashes[named], hashes[named - 1]
        late = named >= LONGEST_CONTEXT
        last_two = pair_hashes(hashes[named[late] - 2], last_token[late])
        pairs, triples = pair_hashes(last_token, names), pair_hashes(last_two, names[late])
        parts.append((names, np.unique(names), pairs, triples, last_token, last_two))
    counted = (np.unique(np.concatenate(part), return_counts=True) for part in zip(*parts, strict=True))
    tables = (Table(keys, counts.astype(np.int64)) for keys, counts in counted)
    return NameCounts(dict(zip(TABLES, tables, strict=True)))


def _hashes(tokens: Sequence[str]) -> Hashes:
    return np.fromiter(map(hash_token, tokens), np.uint64, len(tokens))


_EMPTY: Hashes = np.empty(0, dtype=np.uint64)
NOTHING = count([])
