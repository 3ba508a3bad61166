"""The store for the parts of the plugin's workspaces that ours cannot hold, which names unknown fields."""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path

import msgspec

from ci_eval.core.base import atomic
from ci_eval.plugins.jetbrains.fields import Fields

FOLDER = "imported"
"""Folder in a workspace of ours that holds config.json as it was, and what is left over."""
WITHOUT_PLACE = frozenset(
    "additionalInfo completable completableLength content details features id isNew isRelevant isSelected kind "
    "location offset presentationText projectName selectedPosition source stackTrace success suggestions".split()
)
"""Names of fields that are known, and that our workspaces cannot hold."""
SUGGESTIONS = "suggestions"
"""Field that holds what is left over of a lookup's suggestions: a row for each, in their order."""
COPIED = ("config.json", "stats.json", "evaluation_process.json", "actions.json", "ml_model_version.txt")
"""Files that are copied as they are."""


GZIP = 31
"""zlib's number of the format gzip."""


class LeftOver(msgspec.Struct, frozen=True):
    """The fields of one object that ours cannot hold."""

    file: str
    place: str
    fields: dict[str, object]


class Kept:
    """A collector of what is left over, source file by source file."""

    def __init__(self, root: Path) -> None:
        self._root = root
        # Without a time in it, as zlib leaves it, the same content has the same bytes.
        self._compressor = zlib.compressobj(1, wbits=GZIP)
        self._packed: list[bytes] = []
        self.unknown: Counter[str] = Counter()
        """File and name of each unknown field → how often."""

    def take(self, fields: Fields) -> None:
        """Store what was not requested of these fields, and of those below."""
        where = fields.file.relative_to(self._root).as_posix()
        part = where.split("/")[0]
        for place, left in fields.left():
            self._packed.append(self._compressor.compress(msgspec.json.encode(LeftOver(where, place, left)) + b"\n"))
            rows = left.get(SUGGESTIONS)
            for row in (left, *(rows if isinstance(rows, list) else [])):
                for name in row.keys() - WITHOUT_PLACE:
                    self.unknown[f"{part}: {name}"] += 1

    def write(self, folder: Path) -> None:
        """Write everything into FOLDER of the workspace at `folder`."""
        target = atomic.make_folder(folder / FOLDER)
        self._packed.append(self._compressor.flush())
        atomic.write(target / "fields.jsonl.gz", b"".join(self._packed))
        for name in COPIED:
            if (self._root / name).is_file():
                atomic.copy(self._root / name, target / name)
        for path in (path for path in sorted((self._root / "features").rglob("*")) if path.is_file()):
            atomic.copy(path, atomic.make_folder((target / path.relative_to(self._root)).parent) / path.name)
