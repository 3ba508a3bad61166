"""The check whether the imports of Go are there."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ci_eval.core.base.files import exists, is_own, read_own
from ci_eval.core.import_syntax import Imports

IMPORTS = re.compile(r"^import[ \t]*(?:\(([^)]*)\)|[\w.]*[ \t]*(\"[^\"\n]+\"))", re.MULTILINE)
PATH = re.compile(r'^[ \t]*[\w.]*[ \t]*"([^"\n]+)"', re.MULTILINE)
MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)


def imports(root: Path, environment: Path | None) -> Imports:
    """Return a check of a file's imports. A path without a dot in its first part is the standard library's, as the `go`
    command has it."""
    # The project's own modules go before cached versions of them.
    modules = {**dict(_cached_modules(environment / "modules") if environment else ()), **dict(_own_modules(root))}

    def there(_path: str, text: str) -> Iterator[tuple[str, bool]]:
        for block, single in IMPORTS.findall(text):
            for name in PATH.findall(block or single):
                # Most modules are repositories, whose address has three parts.
                yield "/".join(name.split("/")[:3]), _is_there(name, root, modules)

    return there


def _own_modules(root: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.rglob("go.mod")):
        if is_own(path, root):
            text = read_own(root, str(path.relative_to(root))).decode(errors="replace")
            if clause := MODULE.search(text):
                yield clause[1], path.parent


def _cached_modules(modules: Path) -> Iterator[tuple[str, Path]]:
    for folder, below, _ in os.walk(modules):
        for name in sorted(name for name in below if "@" in name):
            path = Path(folder, name)
            # In the module cache, a capital letter such as `A` is written `!a`, since some file systems ignore case.
            escaped = str(path.relative_to(modules)).rpartition("@")[0]
            yield re.sub("!(.)", lambda letter: letter[1].upper(), escaped), path
        # Modules are not nested in the cache, and its folder `cache` holds the archives they came from.
        below[:] = [name for name in below if "@" not in name and (folder != str(modules) or name != "cache")]


def _is_there(name: str, root: Path, modules: dict[str, Path]) -> bool:
    parts = name.split("/")
    # A module may be within another one's path, so the longest goes first.
    for number in range(len(parts), 0, -1):
        if module := modules.get("/".join(parts[:number])):
            return exists(module.joinpath(*parts[number:]))
    return "." not in parts[0] or exists(root / "vendor" / name)
