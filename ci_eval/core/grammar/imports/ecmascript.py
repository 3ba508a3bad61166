"""The check whether the imports of JavaScript and TypeScript are there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ci_eval.core.base.files import exists
from ci_eval.core.base.workspaces import find_members, read_name
from ci_eval.core.import_syntax import Imports

IMPORT = re.compile(r"\b(?:from|import|require)[ \t]*\(?[ \t]*([\"'])([^\"'\n]+)\1")
NODE = frozenset(
    "assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain "
    "events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl "
    "stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib".split()
)
"""The modules of Node.js 20 itself, as `require("module").builtinModules` lists them."""
SUFFIXES = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".json", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".node")
WRITTEN = re.compile(r"\.[cm]?js$")
"""The ending of an imported script. In TypeScript, an import of `./a.js` may mean the file `./a.ts`."""


def imports(root: Path, environment: Path | None) -> Imports:
    """Return a check of a file's imports. A package is there if its folder, or the folder of its types, is in some
    `node_modules`, or if the project has it itself."""
    # A package may import itself by its name.
    members = {*find_members(root), read_name(root, root)}

    def there(path: str, text: str) -> Iterator[tuple[str, bool]]:
        own_folder = (root / path).parent
        above = [folder for folder in (own_folder, *own_folder.parents) if folder.is_relative_to(root)]
        # Node.js looks into the `node_modules` of each folder above the file.
        bases = (root, environment) if environment else (root,)
        homes = [base / folder.relative_to(root) / "node_modules" for base in bases for folder in above]
        for _, name in IMPORT.findall(text):
            if name.startswith("."):
                yield name, _is_file(own_folder / name)
            else:
                yield _package(name), _package(name) in members or _is_package(name, homes)

    return there


def _is_file(path: Path) -> bool:
    stems = {path, path.with_name(WRITTEN.sub("", path.name))} if path.name else {path}
    return exists(path) or any(exists(Path(f"{stem}{suffix}")) for stem in stems for suffix in SUFFIXES)


def _package(name: str) -> str:
    return "/".join(name.split("/")[: 2 if name.startswith("@") else 1])


def _is_package(name: str, homes: list[Path]) -> bool:
    package = _package(name)
    # DefinitelyTyped publishes the types of `@a/b` as `@types/a__b`.
    types = f"@types/{package.removeprefix('@').replace('/', '__')}"
    known = name.startswith("node:") or name.partition("/")[0] in NODE
    return known or any(exists(home / folder) for home in homes for folder in (package, types))
