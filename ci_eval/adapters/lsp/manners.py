"""How a server is asked so that its answer depends on the question alone, where the protocol does not see to that."""

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
    """What it takes beyond the protocol; as it stands, nothing."""

    options: Callable[[Place], Any] = nothing
    """`initializationOptions`, where no others are given."""
    anew: bool = False
    """Whether each file gets a server of its own, since what the last one told it would show in the next."""
    serial: bool = False
    """Whether it handles one message after the other: it is asked once it is done with the last edit, which it would
    otherwise have to do in the time of the answer, and knows from its first answer on what it will ever know."""
    kinds: bool = True
    """Whether to keep what it says of the kind of a candidate."""
    announces: bool = False
    """Whether it always announces the loading of the project as work: it is not ready before it did, however late."""


PLAIN = Manners()


def _clangd_options(place: Place) -> dict[str, Any]:
    return {"fallbackFlags": [f"-I{place.root / folder}" for folder in _folders(place.root)]}


@lru_cache(maxsize=1)
def _folders(root: Path) -> tuple[str, ...]:
    """Kept, as each file has a server of its own."""
    return tuple(folders(root))


CLANGD = Manners(options=_clangd_options, anew=True, serial=True)
"""clangd keeps what it learns of the headers of every file (FileIndex), and orders names by it. A file for which the
project has no compile command gets `fallbackFlags` (https://clangd.llvm.org/extensions)."""

BY_PROGRAM: Mapping[str, Manners] = {"clangd": CLANGD}
"""Name of a program → its manners, whoever starts it."""
