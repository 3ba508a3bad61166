"""The engine zuban, a type checker and language server by the author of jedi. It is under the AGPL, so it only ever
runs as a separate program."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.manners import Manners
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Pip


def command(place: Place) -> list[str]:
    return [str(place.folder / "bin" / "zuban"), "server"]


def variables(place: Place) -> dict[str, str]:
    return {"VIRTUAL_ENV": str(place.environment)} if place.environment else {}


ENGINE: Engine = LspEngine(
    name="zuban",
    summary="type checker and language server for Python",
    languages=frozenset({"python"}),
    licence="AGPL-3.0-only",
    recipe=Pip(package="zuban", version="0.10.2"),
    command=command,
    variables=variables,
    # Whether it calls an imported class "class" or "variable" depends on what it was asked before.
    manners=Manners(kinds=False),
    verified=True,
)
