"""The origins of Python's names that jedi knows, if the text of their file does not tell them."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ci_eval.core.grammar.document import line_and_column
from ci_eval.core.model import Kind, Token

if TYPE_CHECKING:
    import jedi
    from jedi.api.classes import Name

RESOLVER = f"jedi {version('jedi')}, Python {platform.python_version()}"
LIBRARY = Path(os.__file__).parent
_NEVER_RESOLVED = {Kind.KEYWORD, Kind.ARGUMENT_NAME, Kind.IMPORT}


def resolve(root: Path, path: str, text: str, tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens, with `is_static` and `package` filled in if jedi knows them. Runs nothing of the project."""
    import jedi  # Takes long, and most commands resolve nothing.

    # Like the engine, it sees the standard library and the project, not what is installed beside ci-eval.
    # jedi would import these modules rather than read them, and so run their code.
    jedi.settings.auto_import_modules = []
    jedi.settings.cache_directory = _cache_folder().name
    project = jedi.Project(root, sys_path=[str(LIBRARY), str(LIBRARY / "lib-dynload")], load_unsafe_extensions=False)
    # jedi's other environments start a Python process of their own.
    script = jedi.Script(text, path=root / path, project=project, environment=jedi.InterpreterEnvironment())
    return [_resolve_token(script, text, token) if _is_open(token) else token for token in tokens]


@cache
def _cache_folder() -> TemporaryDirectory[str]:
    """Return a folder for jedi's cache, for this process alone."""
    # parso takes what it finds in a cache by the date of the file it was made of.
    return TemporaryDirectory(prefix="ci-eval-", ignore_cleanup_errors=True)


def _is_open(token: Token) -> bool:
    known = token.properties
    return known.kind not in _NEVER_RESOLVED and (known.is_static is None or known.package is None)


def _resolve_token(script: jedi.Script, text: str, token: Token) -> Token:
    line, column = line_and_column(text, token.offset)
    # jedi counts lines from 1, but columns from 0.
    targets: list[Name] = script.goto(line + 1, column, follow_imports=True)
    if not targets:
        return token
    known = token.properties
    static = known.is_static if known.is_static is not None else _is_static(targets[0])
    package = known.package or targets[0].module_name or None
    return replace(token, properties=replace(known, is_static=static, package=package))


def _is_static(target: Name) -> bool | None:
    """Return whether a name is a member of a module or class: defined at their level, and no method that needs an
    instance."""
    if target.type in {"module", "class"}:
        return True
    parent = target.parent()
    if parent is None:
        return None
    return bool(parent.type == "module" or (parent.type == "class" and target.type == "statement"))
