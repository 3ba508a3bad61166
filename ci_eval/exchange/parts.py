"""A run of the plugin that was interrupted, and gone on with over the files that were left → one workspace."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval import atomic, stored
from ci_eval.errors import WorkspaceError
from ci_eval.exchange.fields import Fields, packed
from ci_eval.exchange.layouts import LIST

END = ".json.gz"
FOLDERS = {"data": "filePath", "actions": "path", "errors": "path"}
"""Folder of a workspace → the field of its files that names the source file."""


def done_in(part: Path) -> frozenset[str]:
    """The source files whose sessions are complete in an interrupted run. A file that was half written is not."""
    return frozenset(_by_path(part, "data"))


def whole(parts: Sequence[Path], output: Path) -> None:
    """Write the workspace that all parts make; only the last of them was not interrupted, and was about what the others
    had left. Raises WorkspaceError where the last one is damaged."""
    last = parts[-1]
    atomic.empty_folder(output)
    found: dict[str, dict[str, list[Path]]] = {name: {} for name in FOLDERS}
    for part in parts[:-1]:
        done = done_in(part)
        for name, files in found.items():
            files.update({path: each for path, each in _by_path(part, name).items() if path in done})
    for name, files in found.items():
        files.update(_by_path(last, name, strict=True))
        names = _copy(files, atomic.make_folder(output / name / ("files" if name == "data" else "")))
        if name == "data":
            atomic.write(output / "data" / LIST, msgspec.json.encode(names))
    for number, part in enumerate(parts, 1):
        if (part / "features").is_dir():
            shutil.copytree(part / "features", output / "features" / f"part-{number}")
    for path in sorted(each for each in last.iterdir() if each.is_file()):
        atomic.copy(path, output / path.name)


def _copy(files: Mapping[str, Sequence[Path]], folder: Path) -> dict[str, str]:
    """Numbered in the order of their source files; source file → the name of its last one."""
    names: dict[str, str] = {}
    number = 0
    for path, each in sorted(files.items()):
        for file in each:
            number += 1
            names[path] = f"{path.rpartition('/')[2]}({number}){END}"
            atomic.copy(file, folder / names[path])
    return names


def _by_path(part: Path, folder: str, *, strict: bool = False) -> dict[str, list[Path]]:
    """Source file → its files in that folder. Those that are damaged are left out unless `strict`; then they raise
    WorkspaceError."""
    stored.refuse_links(part)
    found: dict[str, list[Path]] = {}
    for file in _files(part / folder):
        try:
            path = Fields(packed(file), file).text(FOLDERS[folder])
        except WorkspaceError:
            if strict:
                raise
            continue
        found.setdefault(path, []).append(file)
    return found


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob(f"*{END}")) if path.is_file())
