"""What it takes, beyond the protocol, to make a server's answers depend on the question alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ci_eval.adapters.place import Place
from ci_eval.grammar.imports.cpp import folders


def nothing(_place: Place) -> None:
    """No options."""


@dataclass(frozen=True, kw_only=True)
class Manners:
    """What to mind with a server; the defaults are for one that needs nothing special."""

    options: Callable[[Place], Any] = nothing
    """`initializationOptions`, where no others are given."""
    anew: bool = False
    """Whether each file gets a fresh server, since the answers would otherwise show what it has seen of other files."""
    serial: bool = False
    """Whether it handles one message at a time. Such a server is only asked once it has worked through the last edit,
    which would otherwise count as part of its answer's time; and from its first answer on it knows all that it will
    ever know."""
    kinds: bool = True
    """Whether the kinds that it gives to candidates are kept."""
    announces: bool = False
    """Whether it always announces the loading of the project as work: until that was announced and is done, it is not
    ready, however long that takes."""


PLAIN = Manners()


def _clangd_options(place: Place) -> dict[str, Any]:
    return {"fallbackFlags": [f"-I{place.root / folder}" for folder in _folders(place.root)]}


@lru_cache(maxsize=1)
def _folders(root: Path) -> tuple[str, ...]:
    """Cached, since each file has a server of its own."""
    return tuple(folders(root))


CLANGD = Manners(options=_clangd_options, anew=True, serial=True)
"""clangd keeps what it learns of the headers of each file (FileIndex), and orders names by it. It uses `fallbackFlags`
for files for which the project has no compile command (https://clangd.llvm.org/extensions)."""

BY_PROGRAM: Mapping[str, Manners] = {"clangd": CLANGD}
"""Name of a program → how it is to be asked, whoever starts it."""
