"""Special treatment of certain servers, so that an answer depends only on its question, not on earlier questions."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import msgspec
from msgspec.structs import fields, replace

from ci_eval.core.base.errors import EngineRaised
from ci_eval.core.base.files import below
from ci_eval.core.contracts import Surroundings
from ci_eval.core.grammar.document import NotText, read_text
from ci_eval.core.model.sessions import Extension
from ci_eval.plugins.adapters.lsp.client import Client
from ci_eval.plugins.adapters.lsp.compile_commands import compile_commands, include_folders
from ci_eval.plugins.adapters.place import Place


class ServerQuirks(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    left_out: Callable[[Path], str] | None = None
    """Takes the project's root and describes which of the project's settings the server does not get ("" if none)."""
    restarts: bool = msgspec.field(default=False, name="anew")
    """True if each file gets a fresh server, since answers would otherwise depend on earlier files."""
    serial: bool = False
    """True if the server handles one message at a time. The server is asked only after it has parsed the last edit:
    otherwise, parsing would count as latency. It gets no time to warm up: its first answer is as good as any other."""
    reads_all: bool = False
    """True if the server offers names from the modules that it happens to have read so far; see `show_project`."""
    silent_if_clean: bool = False
    """True if a clean file gets no diagnostics. Then `show_project` adds an error to each file."""
    hides_tags: bool = False
    """True if types that another name hides are dropped, since the server lists them only sometimes."""
    kinds: bool = True
    extension: Extension = ""
    """The VS Code extension that changes the lists of the server before they are displayed; see `model/sessions.py`."""
    announces: bool = False
    """True if the server always announces that it loads the project (`$/progress`). It is asked only after loading."""

    def unusual(self) -> dict[str, bool]:
        flags = {flag.encode_name: (getattr(self, flag.name), flag.default) for flag in fields(self)}
        return {name: value for name, (value, usual) in flags.items() if isinstance(usual, bool) and value != usual}


PLAIN = ServerQuirks()


def clangd_options(place: Place) -> dict[str, Any]:
    # The servers of different files share this folder: all of them can read it, and none can change it.
    folder = place.programs / "commands"
    if not folder.exists():
        folder.mkdir()
        compile_commands(place.root).write(folder)
    return fallback_options(place) | {"compilationDatabasePath": str(folder)}


def fallback_options(place: Place) -> dict[str, Any]:
    return {"fallbackFlags": [f"-I{place.root / folder}" for folder in include_folders(place.root)]}


def _summarise(root: Path) -> str:
    return compile_commands(root).summary()


CLANGD = ServerQuirks(left_out=_summarise, restarts=True, serial=True, hides_tags=True, extension="clangd")
"""clangd remembers the headers of each file (FileIndex), which changes the order of names. It uses `fallbackFlags` for
files without a compile command (https://clangd.llvm.org/extensions).

For `typedef struct X X`, the memory addresses of struct and typedef decide whether clangd lists the struct: it visits
the names of the outermost scope in the order of a set of pointers (`Scope::DeclsInScope`, lookupVisibleDecls in
clang/lib/Sema/SemaLookup.cpp), and the name that it visits first may hide the other.

clangd reads compile commands from the database that ci-eval writes (`compilationDatabasePath`, which takes precedence
over all others), and does not read `.clangd`.
"""
OWN_DATABASE = replace(CLANGD, left_out=None)

PYRIGHT = ServerQuirks(reads_all=True)
"""pyright offers imports only from modules that it has bound so far (`buildModuleSymbolsMap` in autoImporter.ts). It
binds modules when it checks an open file or answers a request."""
BASEDPYRIGHT = replace(PYRIGHT, silent_if_clean=True)

GOPLS = ServerQuirks(extension="gopls")


ERROR = "\n)"
NO_FILE = "untitled"
ROUNDS = 4


def show_project(
    client: Client, root: Path, surroundings: Surroundings, language_id: Callable[[str, str], str], ending: str
) -> None:
    """Open each source file in turn, and wait until the server has checked it. Then ask for lists until they no longer
    grow, since a list also makes the server read modules.

    `ending`: a text that is added to each file while the file is open. After `Surroundings.ready` seconds, the function
    returns early and the client is unready. Raises EngineFailure.
    """
    deadline = time.monotonic() + surroundings.ready
    paths = sorted(below(root, root, surroundings.suffixes, surroundings.ignored))
    texts = {}
    for path in paths:
        with suppress(OSError, NotText):
            if text := read_text(root, path):
                texts[path] = text + ending
    if not texts:
        return

    def open_file(path: str, text: str) -> None:
        client.open(root / path, language_id(surroundings.language, path), text, deadline)

    *_, last = texts
    # Before its first answer, basedpyright may still search for the project's files, and loses a file closed then.
    # It may publish nothing about a file that is opened again, so this first file does not belong to the project.
    open_file(str(Path(last).with_stem(NO_FILE)), "")
    _count_names(client, "", "a", deadline)
    for path, text in texts.items():
        open_file(path, text)
        if not client.await_check(deadline):
            return
    total = -1
    for _ in range(ROUNDS):
        former, total = total, sum(_count_names(client, texts[last], letter, deadline) for letter in ascii_lowercase)
        if total == former:
            return


def _count_names(client: Client, text: str, letter: str, deadline: float) -> int:
    line = f"\n{letter}"
    client.change(text, [(len(text), 0, line)], text + line)
    try:
        return len(client.complete(text + line, len(text + line), deadline)[0].items)
    except EngineRaised:
        return 0
    finally:
        client.change(text + line, [(len(text), len(line), "")], text)
