"""What a workspace of the plugin holds that ours has no place for: kept beside it, and named where it is unknown."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ci_eval import atomic
from ci_eval.exchange.fields import Fields

FOLDER = "imported"
"""Of a workspace of ours: config.json as it was, and what is left over."""
WITHOUT_PLACE = frozenset(
    "additionalInfo completable completableLength content details features id isNew isRelevant isSelected kind "
    "location offset presentationText projectName selectedPosition source stackTrace success suggestions".split()
)
"""Names of fields that are known, and have no place in our workspaces."""
SUGGESTIONS = "suggestions"
"""Where what is left over of a lookup's suggestions stands: a row for each, in their order."""
COPIED = ("config.json", "stats.json", "evaluation_process.json", "actions.json", "ml_model_version.txt")
"""Files that are kept as they are."""


class LeftOver(msgspec.Struct, frozen=True):
    """Fields of one object that have no place here."""

    file: str
    place: str
    fields: dict[str, object]


class Kept:
    """Collects what is left over, source file by source file."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._packed = io.BytesIO()
        self._lines = gzip.GzipFile(fileobj=self._packed, mode="wb", compresslevel=1, mtime=0)
        self.unknown: Counter[str] = Counter()
        """File and name of each field that nothing is known of → how often."""

    def take(self, fields: Fields) -> None:
        """What was not asked for in these fields, nor below."""
        where = fields.file.relative_to(self._root).as_posix()
        part = where.split("/")[0]
        for place, left in fields.left():
            self._lines.write(msgspec.json.encode(LeftOver(where, place, left)) + b"\n")
            self._count(part, left)

    def _count(self, part: str, left: Mapping[str, object]) -> None:
        rows = left.get(SUGGESTIONS)
        for each in (left, *(rows if isinstance(rows, list) else [])):
            for name in each.keys() - WITHOUT_PLACE:
                self.unknown[f"{part}: {name}"] += 1

    def write(self, folder: Path) -> None:
        """Into FOLDER of the workspace at `folder`."""
        target = atomic.make_folder(folder / FOLDER)
        self._lines.close()
        atomic.write(target / "fields.jsonl.gz", self._packed.getvalue())
        for name in COPIED:
            if (self._root / name).is_file():
                atomic.copy(self._root / name, target / name)
        for path in self._features():
            atomic.copy(path, atomic.make_folder((target / path.relative_to(self._root)).parent) / path.name)

    def _features(self) -> Iterator[Path]:
        return (path for path in sorted((self._root / "features").rglob("*")) if path.is_file())
