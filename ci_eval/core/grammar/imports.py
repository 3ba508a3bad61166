"""The imports of a project: the share of imports that cannot be resolved, and the files that imports name."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path, PurePosixPath

from ci_eval.core.import_syntax import Imports, Origin, Project

MOST = 100
"""The maximum number of packages that are listed. The share of unresolved imports counts all packages."""
Counts = tuple[int, int]
"""The number of a file's imports, and the number of its unresolved imports."""


def count_missing(
    resolve: Imports, files: Iterable[tuple[str, str]]
) -> tuple[dict[str, Counts], dict[str, dict[str, int]]]:
    """Return the counts by file, and by file with unresolved imports a table: package → number of unresolved imports.
    `files`: pairs of path and text."""
    counts, absent = dict[str, Counts](), dict[str, dict[str, int]]()
    for path, text in files:
        imports = list(resolve(path, text))
        counts[path] = len(imports), sum(not known for _, known in imports)
        if of_file := Counter(package for package, known in imports if not known):
            absent[path] = dict(of_file)
    return counts, absent


def sum_packages(tables: Iterable[Mapping[str, int]]) -> Counter[str]:
    total = Counter[str]()
    for packages in tables:
        total.update(packages)
    return total


def sum_counts(counts: Iterable[Counts]) -> tuple[Counts, float | None]:
    """Return the sums and the share of unresolved imports. The share is None if nothing is imported."""
    imports, missing = map(sum, zip((0, 0), *counts, strict=True))
    return (imports, missing), missing / imports if imports else None


def merge_readings(readings: Iterable[Iterable[tuple[str, bool]]]) -> Iterator[tuple[str, bool]]:
    """Yield each import, and whether any folder resolves it. `readings`: the imports of one file, for each folder."""
    for known in zip(*readings, strict=True):
        yield known[0][0], any(is_resolved for _, is_resolved in known)


def most_frequent(packages: Mapping[str, int]) -> dict[str, int]:
    """Return the counts other than 0, the largest first; at most `MOST`."""
    ordered = sorted((-count, name) for name, count in packages.items() if count)
    return {name: -count for count, name in ordered[:MOST]}


NEAR = "."
"""The first part of a module's name that is relative to the importing file, as in `./a`, `..a` and `#include "a"`."""
Name = tuple[str, ...]
"""A module's name in parts: a, b for `a.b`, `a/b.h` and `a::b`; NEAR may precede them."""

_FROM = re.compile(r"\s*from\s+([.\w]+)\s+import\s+\(?([\w\s,]*)")
_LINE = re.compile(r"\s*(?:#\s*)?(?:import|include|include_once|using|use|require|require_once|require_relative)\b(.*)")
_QUOTED = re.compile(r"[\"'<]([^\"'<>\s]+)[\"'>]")
_INCLUDED = re.compile(r"\s*#\s*(?:include|import)\s*\"([^\"\n]+)\"")
_SCRIPT = re.compile(r"(?:\bfrom|\brequire\s*\(|\bimport\s*\(|\bimport)\s*[\"']([^\"'\n]+)[\"']")
_ALONE = re.compile(r"^\s*(?:[\w.]+\s+)?\"([^\"\s]+)\"\s*$")
"""A line in an import block of Go."""
_DOTTED = re.compile(r"[A-Za-z_][\w]*(?:(?:\.|::|\\)[A-Za-z_]\w*)*")
_WORDS = frozenset({"static", "as", "public", "type", "typeof"})
_HERE = frozenset({"crate", "self", "super"})
_INDEX = frozenset({"__init__", "index", "mod"})
"""The file names that are imported by the name of their folder."""


def read_module_names(text: str) -> Iterator[Name]:
    """Yield the module names in the text's import lines, in order. A `from` line yields the module joined with each
    imported name, then the module alone."""
    for line in text.split("\n"):
        if python := _FROM.match(line):
            module = _parts(python[1], ".")
            yield from ((*module, item.split()[0]) for item in python[2].split(",") if item.split())
            yield module
        elif included := _INCLUDED.match(line):
            yield _parts(f"./{included[1]}", "/")
        elif scripts := [*_SCRIPT.findall(line), *_ALONE.findall(line)]:
            yield from (_parts(script, "/") for script in scripts)
        elif imported := _LINE.match(line):
            quoted = _QUOTED.findall(imported[1])
            yield from (_parts(path, "/") for path in quoted)
            if not quoted:
                dotted = (match[0] for match in _DOTTED.finditer(imported[1]))
                yield from (_parts(re.sub(r"::|\\", ".", name), ".") for name in dotted if name not in _WORDS)


def _parts(name: str, separator: str) -> Name:
    """Return the parts of a module's name. A leading dot becomes NEAR; words such as `crate` are dropped."""
    # Rust's `crate` and `super` only say where the search starts.
    parts = tuple(part for part in name.split(separator) if part.strip(".") and part not in _HERE)
    return (NEAR, *parts) if name.startswith(".") else parts


DEEPEST = 20
"""The maximum number of re-exports that are followed. A longer chain is a cycle."""
Exports = tuple[dict[str, Origin | None], list[str]]
"""Exported names, and modules all of whose names are exported. A name maps to the module and name from which it is
imported, or to None if the file defines it."""


class ReExportingModules:
    """The modules of a project in a language whose modules may export names of other modules."""

    def __init__(self, project: Project) -> None:
        self._root = project.root.resolve()
        self._exports = cache(self.read_exports)

    def find(self, importing: Path, module: str) -> Path | None:
        """Return the file of a module; None if it has none."""
        raise NotImplementedError

    def read_exports(self, file: Path) -> Exports:
        raise NotImplementedError

    def find_submodule(self, _file: Path, _name: str) -> Path | None:
        """Return the file of a module that is a member of the module in `file`."""
        return None

    def identify(self, path: str, module: str) -> str:
        """Return the module's file, or the module's name if it has no file."""
        file = self.find(self._root / path, module)
        return str(file) if file else module

    def origin(self, path: str, module: str, name: str) -> Origin:
        return self._follow(self._root / path, module, name, DEEPEST) or (self.identify(path, module), name)

    def _follow(self, importing: Path, module: str, name: str, left: int) -> Origin | None:
        """Return the file and the name that define a name of a module, or None if no definition is found."""
        file = self.find(importing, module)
        if file is None or not left:
            return None
        named, stars = self._exports(file)
        if name in named:
            source = named[name]
            if source is None:
                return str(file), name
            # `from . import name` may import a module of this package, which is found below.
            if source[1] != name or self.find(file, source[0]) != file:
                return self._follow(file, *source, left - 1) or source
        if submodule := self.find_submodule(file, name):
            return str(submodule), ""
        origins = (self._follow(file, star, name, left - 1) for star in stars)
        return next((origin for origin in origins if origin), None)


class Modules:
    def __init__(self, paths: Iterable[str]) -> None:
        """Index the paths, which are relative to the project's root, with `/` between folders."""
        self._by_last: dict[str, list[tuple[Name, str]]] = defaultdict(list)
        self._packages: dict[str, list[tuple[Name, str]]] = defaultdict(list)
        for path in sorted(paths):
            parts = PurePosixPath(path)
            stem = (*parts.parent.parts, parts.name.partition(".")[0])
            stem = stem[:-1] if stem[-1] in _INDEX else stem
            if stem:
                self._by_last[stem[-1]].append((stem, path))
            if parts.suffix == ".go" and parts.parent.parts:
                self._packages[parts.parent.name].append((parts.parent.parts, path))

    def found(self, name: Name, importing: str) -> list[str]:
        """Return the file of a module or of a member of a module, or the files of a Go package. If several files match,
        the file at exactly this path wins (unless the name has NEAR), and after that the nearest file."""
        near, name = name[:1] == (NEAR,), tuple(part for part in name if part != NEAR)
        name = (*name[:-1], name[-1].partition(".")[0]) if name else name
        # The last part may be a member of the module, so the name without that part is tried next.
        for candidate in (name, name[:-1]):
            known = self._by_last.get(candidate[-1], ()) if candidate else ()
            fitting = [
                (stem != candidate and not near, -shared(path, importing), len(stem), path)
                for stem, path in known
                if _ends(stem, candidate)
            ]
            if fitting:
                return [min(fitting)[-1]]
        # An import path of Go begins with the module's address, which is not a folder.
        return [path for folder, path in self._packages.get(name[-1], ()) if _ends(name, folder)] if name else []


def shared(one: str, other: str) -> int:
    """Return the number of folders that two paths have in common, from the root on."""
    folders = (path.split("/")[:-1] for path in (one, other))
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*folders, strict=False)))


def _ends(path: Sequence[str], name: Sequence[str]) -> bool:
    return tuple(path[-len(name) :]) == tuple(name)
