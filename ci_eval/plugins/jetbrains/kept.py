"""The store for the parts of the plugin's workspaces that ours cannot hold."""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path

import msgspec

from ci_eval.core.base import atomic
from ci_eval.plugins.jetbrains.fields import Fields

FOLDER = "imported"
"""Holds config.json as it was, and what is left over."""
WITHOUT_PLACE = frozenset(
    "additionalInfo completable completableLength content details features id isNew isRelevant isSelected kind "
    "location offset presentationText projectName selectedPosition source stackTrace success suggestions".split()
)
"""Known fields that our workspaces cannot hold."""
SUGGESTIONS = "suggestions"
"""A row for each suggestion of a lookup, in their order."""
COPIED = ("config.json", "stats.json", "evaluation_process.json", "actions.json", "ml_model_version.txt")


GZIP = 31


class LeftOver(msgspec.Struct, frozen=True):
    file: str
    place: str
    fields: dict[str, object]


class Kept:
    def __init__(self, root: Path) -> None:
        self._root = root
        # Without a time in it, as zlib leaves it, the same content has the same bytes.
        self._compressor = zlib.compressobj(1, wbits=GZIP)
        self._packed: list[bytes] = []
        self.unknown: Counter[str] = Counter()

    def take(self, fields: Fields) -> None:
        """Store what was not requested, here and below."""
        where = fields.file.relative_to(self._root).as_posix()
        part = where.split("/")[0]
        for place, left in fields.left():
            self._packed.append(self._compressor.compress(msgspec.json.encode(LeftOver(where, place, left)) + b"\n"))
            rows = left.get(SUGGESTIONS)
            for row in (left, *(rows if isinstance(rows, list) else [])):
                for name in row.keys() - WITHOUT_PLACE:
                    self.unknown[f"{part}: {name}"] += 1

    def write(self, folder: Path) -> None:
        target = atomic.make_folder(folder / FOLDER)
        self._packed.append(self._compressor.flush())
        atomic.write(target / "fields.jsonl.gz", b"".join(self._packed))
        for name in COPIED:
            if (self._root / name).is_file():
                atomic.copy(self._root / name, target / name)
        for path in (path for path in sorted((self._root / "features").rglob("*")) if path.is_file()):
            atomic.copy(path, atomic.make_folder((target / path.relative_to(self._root)).parent) / path.name)
