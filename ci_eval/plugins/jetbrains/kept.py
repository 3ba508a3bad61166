"""The store for the parts of the plugin's workspaces that ours cannot hold, and the joining of interrupted runs."""

from __future__ import annotations

import shutil
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.plugins.jetbrains.fields import Fields, read_gzip_json
from ci_eval.plugins.jetbrains.generation import LIST

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


class Kept:
    def __init__(self, root: Path) -> None:
        self._root = root
        # Without a time in it, as zlib leaves it, the same content has the same bytes.
        self._compressor = zlib.compressobj(1, wbits=31)  # 31 means gzip
        self._packed: list[bytes] = []
        self.unknown: Counter[str] = Counter()

    def take(self, fields: Fields) -> None:
        """Store what was not requested, here and below."""
        where = fields.file.relative_to(self._root).as_posix()
        part = where.split("/")[0]
        for place, left in fields.left():
            line = msgspec.json.encode({"file": where, "place": place, "fields": left})
            self._packed.append(self._compressor.compress(line + b"\n"))
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
        for path in filter(Path.is_file, sorted((self._root / "features").rglob("*"))):
            atomic.copy(path, atomic.make_folder((target / path.relative_to(self._root)).parent) / path.name)


END = ".json.gz"
FOLDERS = {"data": "filePath", "actions": "path", "errors": "path"}


def find_complete_files(part: Path) -> frozenset[str]:
    """Half-written source files are left out."""
    return frozenset(_group_by_source(part, "data"))


def whole(parts: Sequence[Path], output: Path) -> None:
    """Raises WorkspaceError if the last part is damaged."""
    # Only the last part was not interrupted, and it was about what the others had left.
    last = parts[-1]
    atomic.empty_folder(output)
    done = {part: find_complete_files(part) for part in parts[:-1]}
    for name in FOLDERS:
        files: dict[str, list[Path]] = {}
        for part, complete in done.items():
            files |= {path: paths for path, paths in _group_by_source(part, name).items() if path in complete}
        files |= _group_by_source(last, name, strict=True)
        folder = atomic.make_folder(output / name / ("files" if name == "data" else ""))
        # Files are numbered in the order of their source files; the list has the last one of each.
        names: dict[str, str] = {}
        ordered = ((path, file) for path, stored_files in sorted(files.items()) for file in stored_files)
        for number, (path, file) in enumerate(ordered, 1):
            names[path] = f"{path.rpartition('/')[2]}({number}){END}"
            atomic.copy(file, folder / names[path])
        if name == "data":
            atomic.write(output / "data" / LIST, msgspec.json.encode(names))
    for number, part in enumerate(parts, 1):
        if (part / "features").is_dir():
            shutil.copytree(part / "features", output / "features" / f"part-{number}")
    for file in sorted(filter(Path.is_file, last.iterdir())):
        atomic.copy(file, output / file.name)


def _group_by_source(part: Path, folder: str, *, strict: bool = False) -> dict[str, list[Path]]:
    """Damaged files are left out, or raise WorkspaceError if `strict`."""
    # A link could lead out of the workspace.
    stored.refuse_links(part)
    files_by_source: dict[str, list[Path]] = {}
    for file in filter(Path.is_file, sorted((part / folder).rglob(f"*{END}"))):
        try:
            path = Fields(read_gzip_json(file), file).text(FOLDERS[folder])
        except WorkspaceError:
            if strict:
                raise
            continue
        files_by_source.setdefault(path, []).append(file)
    return files_by_source
