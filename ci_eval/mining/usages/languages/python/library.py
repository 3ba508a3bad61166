"""What the standard library's names stand for, by the stubs that jedi brings (typeshed). Nothing is imported."""

from __future__ import annotations

import builtins
from dataclasses import replace
from functools import cache
from pathlib import Path

import jedi

from ci_eval.grammar.syntax import parser
from ci_eval.mining.usages.contract import Surroundings
from ci_eval.mining.usages.languages.python.meaning import Meaning, Scope
from ci_eval.mining.usages.languages.python.walk import PythonWalk

STUBS = Path(jedi.__file__).parent / "third_party" / "typeshed" / "stdlib"
FOLDERS = ("", "3", "2and3", "3.7", "3.9")
"""Below STUBS; all but the first where jedi is older than 0.20."""
ALIAS_STEPS = 4
"""So often may a stub refer to another one for a name."""


@cache
def known(full: str) -> Meaning | None:
    """What a qualified name of the standard library stands for; None where it is none, or the stubs do not tell."""
    return _known(full, ALIAS_STEPS)


def _known(full: str, steps: int) -> Meaning | None:
    if _stub(full):
        return Meaning(sort="module", name=full)
    module, rest = _split(full)
    scope = _module(module) if module else None
    found: Meaning | None = None
    for name in rest:
        found = _in(scope, name, steps) if scope else None
        scope = found.scope if found else None
    if found is None or found.sort == "unknown":
        return None
    if found.sort == "imported" or (found.sort == "class" and found.scope is None):
        return _aliased(full, found.name, steps)
    return found.defined("GLOBAL", full)


def _in(scope: Scope, name: str, steps: int) -> Meaning | None:
    """What a name of a module or class stands for."""
    if name in scope.names or not steps:
        return scope.names.get(name)
    others = (_known(f"{star}.{name}", steps - 1) for star in scope.stars)
    return next((other for other in others if other), None)


def _aliased(full: str, other: str, steps: int) -> Meaning | None:
    """A name that stands for one of another module. What its package passes on from a module below, or from one that is
    private, keeps the public name."""
    found = _known(other, steps - 1) if steps and other != full else None
    if found is None or found.sort not in {"class", "function"}:
        return found
    package = full.partition(".")[0]
    if found.name.startswith(("_", f"{package}.")) and not package.startswith("_"):
        return replace(found, name=full)
    return found


def _shallow(full: str) -> Meaning | None:
    """Inside of the stubs a name is looked up when it is used: they refer to each other in circles."""
    module, _, name = full.rpartition(".")
    if module != "builtins":
        return None
    is_class = isinstance(getattr(builtins, name, None), type)
    return Meaning(sort="class" if is_class else "function", name=full)


def _split(full: str) -> tuple[str, list[str]]:
    """The longest beginning that is a module, and the rest."""
    parts = full.split(".")
    for count in range(len(parts) - 1, 0, -1):
        if _stub(".".join(parts[:count])):
            return ".".join(parts[:count]), parts[count:]
    return "", parts


@cache
def _stub(module: str) -> Path | None:
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    for folder in FOLDERS:
        path = STUBS.joinpath(folder, *parts)
        for each in (path.with_name(f"{path.name}.pyi"), path / "__init__.pyi"):
            if each.is_file():
                return each
    return None


@cache
def _module(name: str) -> Scope | None:
    """The names of a module."""
    path = _stub(name)
    if path is None:
        return None
    source = path.read_bytes()
    walk = PythonWalk(source, name, _shallow, Surroundings(), is_package=path.name == "__init__.pyi", is_stub=True)
    walk.run(parser("python").parse(source).root_node)
    return walk.top
