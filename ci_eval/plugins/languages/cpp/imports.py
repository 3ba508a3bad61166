"""The headers that a C or C++ project includes, found in its files without a build."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

import msgspec

from ci_eval.core.base.files import exists, is_own, read_own
from ci_eval.core.grammar.imports import shared
from ci_eval.core.import_syntax import Imports

SOURCES = frozenset(".c .cc .cpp .cxx .h .hh .hpp .hxx .ipp .inl".split())
SYSTEM = (
    "include",
    "local/include",
    "include/*-linux-*",
    "include/c++/*",
    "lib/gcc/*/*/include",
    "lib/llvm-*/lib/clang/*/include",
)
"""The folders below /usr in which Debian, Fedora and similar systems store headers, including those of compilers."""
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*([\"<])([^\">\n]+)[\">]", re.MULTILINE)


DATABASES = ("compile_commands.json", "compile_flags.txt")
FOLDER = re.compile(r"-(?:I|isystem|iquote|idirafter)[\s\",]*([^\s\",]+)")
"""The pattern of a compile flag that names a header folder."""


class Command(msgspec.Struct):
    directory: str = ""
    file: str = ""
    command: str = ""
    arguments: list[str] = []


def list_includes(text: str) -> list[tuple[str, bool]]:
    """Return the names in the `#include` lines of a text in order, each with whether it is quoted. Includes whose name
    is a macro are missing."""
    return [(name.strip(), sign == '"') for sign, name in INCLUDE.findall(text)]


def imports(root: Path, _environment: Path | None) -> Imports:
    """Return a function that checks the includes of a file. A header exists if it is in the folder of the including
    file, in a folder from which the project includes, or among the system's headers."""
    system = [folder for pattern in SYSTEM for folder in sorted(Path("/usr").glob(pattern))]
    own = [*(root / folder for folder in folders(root)), *_commanded_folders(root)]

    def there(path: str, text: str) -> Iterator[tuple[str, bool]]:
        for name, _ in list_includes(text):
            yield name, any(exists(folder / name) for folder in ((root / path).parent, *own, *system))

    return there


def _commanded_folders(root: Path) -> list[Path]:
    """Return the project's header folders that are named in its compile databases."""
    found: dict[Path, None] = {}
    for path in (path for name in DATABASES for path in sorted(root.rglob(name)) if is_own(path, root)):
        data = read_own(root, str(path.relative_to(root)))
        # compile_flags.txt is not JSON; it has one flag per line.
        database = [Command(command=data.decode(errors="replace"))]
        with suppress(msgspec.MsgspecError, RecursionError):
            database = msgspec.json.decode(data, type=list[Command], strict=False)
        for entry in database:
            for value in FOLDER.findall(entry.command or "\n".join(entry.arguments)):
                folder = Path(os.path.realpath(path.parent / entry.directory / value))
                if folder.is_relative_to(root.resolve()):
                    found[folder] = None
    return list(found)


def folders(root: Path) -> list[str]:
    """Return the folders below the root from which the project's files include headers, the most used first.

    If several files match an `#include`, the file nearest to the including file is used.
    """
    paths = list(sources(root))
    named = defaultdict(list)
    for path in paths:
        named[path.name].append(path)
    serves: Counter[str] = Counter()
    for path in paths:
        text = read_own(root, str(path)).decode(errors="replace")
        for name, quoted in list_includes(text):
            own = PurePosixPath(os.path.normpath(path.parent / name))
            # `<stdint.h>`, without a folder, counts as a system header: a project's own copy is only for systems
            # without this header.
            if (quoted or "/" in name) and own not in named[PurePosixPath(name).name]:
                parts = PurePosixPath(name).parts
                fitting = [candidate for candidate in named[parts[-1]] if candidate.parts[-len(parts) :] == parts]
                # Of equally near files, take the shortest path, then the first in alphabetical order.
                near = min(
                    fitting, key=lambda file: (-shared(str(file), str(path)), len(file.parts), str(file)), default=None
                )
                if near:
                    serves[str(PurePosixPath(*near.parts[: -len(parts)]))] += 1
    return [folder for folder, _ in sorted(serves.items(), key=lambda pair: (-pair[1], pair[0]))]


def sources(root: Path) -> Iterator[PurePosixPath]:
    """Yield the paths of source files and headers below the root, sorted within each folder."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if name != ".git")
        for name in sorted(names):
            path = Path(folder, name)
            if path.suffix.lower() in SOURCES and is_own(path, root):
                yield PurePosixPath(path.relative_to(root))
