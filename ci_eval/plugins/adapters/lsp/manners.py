"""The treatment that certain servers need so that their answers depend on the question alone, not on earlier ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ci_eval.core.model.sessions import Extension
from ci_eval.plugins.adapters.lsp.compile_commands import compile_commands, include_folders
from ci_eval.plugins.adapters.place import Place


def nothing(_place: Place) -> None:
    """Return no options for the server."""


def nothing_left_out(_root: Path) -> str:
    return ""


@dataclass(frozen=True, kw_only=True)
class Manners:
    options: Callable[[Place], Any] = nothing
    """A function that returns `initializationOptions`, used if no others are given."""
    flags: tuple[str, ...] = ()
    """The arguments that keep the server from reading a configuration of the project that could do harm."""
    left_out: Callable[[Path], str] = nothing_left_out
    """A function that takes the project's root and returns, in a few words, the settings that the server is not given;
    "" = none."""
    anew: bool = False
    """A flag: each file gets a fresh server, since the answers would otherwise show what the server has seen of other
    files."""
    serial: bool = False
    """A flag: the server handles one message at a time. Such a server is only asked once it has worked through the last
    edit; otherwise that work would count as part of the time of its answer. Its first answer is as good as any, so the
    server is not given time to warm up."""
    reads_all: bool = False
    """A flag: the server offers to import the names of the modules that it has looked into so far. So it is shown all
    files of the project after its start; see `showing.py`."""
    silent_if_clean: bool = False
    """A flag: the server publishes no diagnostics of a file without any. So each file ends with an error while it is
    shown (`reads_all`)."""
    hides_tags: bool = False
    """A flag: the class or struct of a name that is something else as well is left out (`completion.without_hidden`),
    since the server lists it or not by chance."""
    kinds: bool = True
    """A flag: the kinds that the server gives to candidates are kept."""
    extension: Extension = ""
    """The extension of VS Code that changes the displayed lists of the server; see `model/sessions.py`."""
    announces: bool = False
    """A flag: the server always announces the loading of the project as work (`$/progress`). If so, it is not asked
    before that work was announced and is done."""

    def unusual(self) -> dict[str, bool]:
        """Return the flags that are set here and not by default, by their names in camel case."""
        flags = ("anew", "serial", "reads_all", "silent_if_clean", "hides_tags", "kinds", "announces")
        names = {name: re.sub("_(.)", lambda match: match[1].upper(), name) for name in flags}
        return {names[name]: getattr(self, name) for name in flags if getattr(self, name) != getattr(Manners, name)}


PLAIN = Manners()


def _clangd_options(place: Place) -> dict[str, Any]:
    # Written once: each file gets a fresh server, and may read this folder but not change it.
    folder = place.programs / "commands"
    if not folder.exists():
        folder.mkdir()
        compile_commands(place.root).write(folder)
    return _fallback(place) | {"compilationDatabasePath": str(folder)}


def _fallback(place: Place) -> dict[str, Any]:
    return {"fallbackFlags": [f"-I{place.root / folder}" for folder in include_folders(place.root)]}


def _summarise(root: Path) -> str:
    return compile_commands(root).summary()


CLANGD = Manners(
    options=_clangd_options,
    flags=("--enable-config=0",),
    left_out=_summarise,
    anew=True,
    serial=True,
    hides_tags=True,
    extension="clangd",
)
"""The treatment of clangd. It keeps what it learns of the headers of each file (FileIndex), and orders names by that.
It uses `fallbackFlags` for files for which the project has no compile command (https://clangd.llvm.org/extensions).

The struct of `typedef struct X X` is listed or not, depending on the positions of the two in memory: clangd visits the
names of the outermost scope in the order of a set of pointers (`Scope::DeclsInScope`, lookupVisibleDecls in
clang/lib/Sema/SemaLookup.cpp), and the first one may hide the other.

clangd reads compile commands from a database of ours (`compilationDatabasePath`, which wins over all others) and no
`.clangd`.
"""
OWN_DATABASE = replace(CLANGD, options=_fallback, left_out=nothing_left_out)
"""The treatment of clangd if the user's command names the database (`--compile-commands-dir`), which is read as it
is."""

PYRIGHT = Manners(reads_all=True)
"""The treatment of pyright. It offers to import the names of the modules that are bound: those that the check of an
open file or an answer has looked into (`buildModuleSymbolsMap` in autoImporter.ts)."""
BASEDPYRIGHT = replace(PYRIGHT, silent_if_clean=True)

GOPLS = Manners(extension="gopls")
