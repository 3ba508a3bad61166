"""The check whether the imports of Python are there."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.machinery import all_suffixes
from pathlib import Path

from ci_eval.core.base.files import exists
from ci_eval.core.base.workspaces import source_roots
from ci_eval.core.import_syntax import Imports

IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import\b|import[ \t]+([\w., \t]+))", re.MULTILINE)

NO_CODE = re.compile(
    r"""(\"{3}|'{3})(?:[^\\]|\\.)*?\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|\#[^\n]*""", re.DOTALL | re.VERBOSE
)
"""A pattern for strings, in which lines may look like imports (examples in docstrings), and comments, in which quotes
may stand."""

KNOWN = sys.stdlib_module_names | {"_typeshed"}
"""The modules that need no file in the project. Type checkers bring `_typeshed`, and code imports it for them alone."""
SUFFIXES = (".pyi", *all_suffixes())


def imports(root: Path, environment: Path | None) -> Imports:
    """Return a check of a file's imports. A module is there if its file or folder is, compiled modules included; the
    standard library is that of this Python."""
    roots = source_roots(root)
    site = list(environment.glob("lib/python*/site-packages")) if environment else []

    def there(path: str, text: str) -> Iterator[tuple[str, bool]]:
        own_folder = (root / path).parent
        # Engines look there too: in the root, in the project's own packages, and in the folders above the file.
        tops = [
            *roots,
            *site,
            *(folder for folder in (own_folder, *own_folder.parents) if folder.is_relative_to(root)),
        ]
        for name in _names(text):
            module = name.lstrip(".")
            if above := len(name) - len(module):
                yield (
                    name,
                    _is_module((own_folder, *own_folder.parents)[min(above, len(own_folder.parents)) - 1], module),
                )
            else:
                package = module.partition(".")[0]
                yield package, package in KNOWN or any(_is_module(top, module) for top in tops)

    return there


def _names(text: str) -> Iterator[str]:
    """Yield the modules that the import lines of a text name, without `as` and what follows."""
    for source, several in IMPORT.findall(NO_CODE.sub("", text)):
        yield from (
            [source] if source else filter(None, (item.split()[0] for item in several.split(",") if item.strip()))
        )


def _is_module(top: Path, name: str) -> bool:
    path = top.joinpath(*filter(None, name.split(".")))
    return exists(path) or any(exists(path.with_name(path.name + suffix)) for suffix in SUFFIXES)
