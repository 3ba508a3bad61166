"""The meaning of the standard library's names, by the stubs that jedi brings (typeshed). No module is imported."""

from __future__ import annotations

import builtins
from dataclasses import replace
from functools import cache
from pathlib import Path

import jedi

from ci_eval.core.grammar.syntax import parser
from ci_eval.plugins.mining.usages.contract import Surroundings
from ci_eval.plugins.mining.usages.languages.python.meaning import Meaning, Scope
from ci_eval.plugins.mining.usages.languages.python.walk import PythonWalk

STUBS = Path(jedi.__file__).parent / "third_party" / "typeshed" / "stdlib"
FOLDERS = ("", "3", "2and3", "3.7", "3.9")
"""Folders below STUBS. All but the first are those of jedi before 0.20."""
ALIAS_STEPS = 4
"""The most references from stub to stub that are followed for a name."""


@cache
def known(full: str) -> Meaning | None:
    """Return the meaning of a qualified name of the standard library. None for other names, and if the stubs do not
    define it."""
    return _known(full, ALIAS_STEPS)


def _known(full: str, steps: int) -> Meaning | None:
    if _stub(full):
        return Meaning(sort="module", name=full)
    module, members = _split(full)
    scope = _module(module) if module else None
    meaning: Meaning | None = None
    for name in members:
        meaning = _look_up(scope, name, steps) if scope else None
        scope = meaning.scope if meaning else None
    if meaning is None or meaning.sort == "unknown":
        return None
    if meaning.sort == "imported" or (meaning.sort == "class" and meaning.scope is None):
        return _resolve_alias(full, meaning.name, steps)
    return meaning.with_definition("GLOBAL", full)


def _look_up(scope: Scope, name: str, steps: int) -> Meaning | None:
    if name in scope.names or not steps:
        return scope.names.get(name)
    meanings = (_known(f"{star}.{name}", steps - 1) for star in scope.stars)
    return next((meaning for meaning in meanings if meaning), None)


def _resolve_alias(full: str, target: str, steps: int) -> Meaning | None:
    meaning = _known(target, steps - 1) if steps and target != full else None
    if meaning is None or meaning.sort not in {"class", "function"}:
        return meaning
    package = full.partition(".")[0]
    # A package that passes on a name from a module below, or from a private one, gives it its public name.
    if meaning.name.startswith(("_", f"{package}.")) and not package.startswith("_"):
        return replace(meaning, name=full)
    return meaning


def _shallow(full: str) -> Meaning | None:
    # Stubs refer to each other in circles, so names inside of them are looked up on use.
    module, _, name = full.rpartition(".")
    if module != "builtins":
        return None
    is_class = isinstance(getattr(builtins, name, None), type)
    return Meaning(sort="class" if is_class else "function", name=full)


def _split(full: str) -> tuple[str, list[str]]:
    """Return the longest beginning of a name that is a module, and the remaining parts."""
    parts = full.split(".")
    for count in range(len(parts) - 1, 0, -1):
        if _stub(".".join(parts[:count])):
            return ".".join(parts[:count]), parts[count:]
    return "", parts


@cache
def _stub(module: str) -> Path | None:
    parts = module.split(".")
    # Names come from any code, and must not become other paths.
    if not all(part.isidentifier() for part in parts):
        return None
    for folder in FOLDERS:
        path = STUBS.joinpath(folder, *parts)
        for candidate in (path.with_name(f"{path.name}.pyi"), path / "__init__.pyi"):
            if candidate.is_file():
                return candidate
    return None


@cache
def _module(name: str) -> Scope | None:
    path = _stub(name)
    if path is None:
        return None
    source = path.read_bytes()
    walk = PythonWalk(source, name, _shallow, Surroundings(), is_package=path.name == "__init__.pyi", is_stub=True)
    walk.run(parser("python").parse(source).root_node)
    return walk.top
