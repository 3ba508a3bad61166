"""A run of the plugin that was interrupted, and gone on with over the files that were left → one workspace."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ci_eval.core.base import atomic, stored
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.plugins.jetbrains.fields import Fields, read_gzip_json
from ci_eval.plugins.jetbrains.layouts import LIST

END = ".json.gz"
FOLDERS = {"data": "filePath", "actions": "path", "errors": "path"}
"""Folder of a workspace → the field of its files that names the source file."""


def find_complete_files(part: Path) -> frozenset[str]:
    """Return the source files whose sessions are complete in an interrupted run, without those that were half
    written."""
    return frozenset(_group_by_source(part, "data"))


def whole(parts: Sequence[Path], output: Path) -> None:
    """Write the workspace that all parts make. Raises WorkspaceError if the last one is damaged."""
    # Only the last part was not interrupted, and it was about what the others had left.
    last = parts[-1]
    atomic.empty_folder(output)
    files_by_folder: dict[str, dict[str, list[Path]]] = {name: {} for name in FOLDERS}
    for part in parts[:-1]:
        done = find_complete_files(part)
        for name, files in files_by_folder.items():
            files.update({path: paths for path, paths in _group_by_source(part, name).items() if path in done})
    for name, files in files_by_folder.items():
        files.update(_group_by_source(last, name, strict=True))
        names = _copy(files, atomic.make_folder(output / name / ("files" if name == "data" else "")))
        if name == "data":
            atomic.write(output / "data" / LIST, msgspec.json.encode(names))
    for number, part in enumerate(parts, 1):
        if (part / "features").is_dir():
            shutil.copytree(part / "features", output / "features" / f"part-{number}")
    for path in sorted(path for path in last.iterdir() if path.is_file()):
        atomic.copy(path, output / path.name)


def _copy(files: Mapping[str, Sequence[Path]], folder: Path) -> dict[str, str]:
    """Copy files, numbered in the order of their source files. Return the name of the last one for each source file."""
    names: dict[str, str] = {}
    number = 0
    for path, stored_files in sorted(files.items()):
        for file in stored_files:
            number += 1
            names[path] = f"{path.rpartition('/')[2]}({number}){END}"
            atomic.copy(file, folder / names[path])
    return names


def _group_by_source(part: Path, folder: str, *, strict: bool = False) -> dict[str, list[Path]]:
    """Return the files of a folder by source file. Damaged ones are left out, or raise WorkspaceError if `strict`."""
    # A link could lead out of the workspace.
    stored.refuse_links(part)
    files_by_source: dict[str, list[Path]] = {}
    for file in _files(part / folder):
        try:
            path = Fields(read_gzip_json(file), file).text(FOLDERS[folder])
        except WorkspaceError:
            if strict:
                raise
            continue
        files_by_source.setdefault(path, []).append(file)
    return files_by_source


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob(f"*{END}")) if path.is_file())
