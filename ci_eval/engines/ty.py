"""ty, the type checker and language server of the makers of ruff."""

from __future__ import annotations

from typing import Any

from ci_eval.adapters.lsp.engine import LspEngine
from ci_eval.adapters.place import Place
from ci_eval.adapters.recipes import Pip
from ci_eval.contracts import Engine


def command(place: Place) -> list[str]:
    return [str(place.folder / "bin" / "ty"), "server"]


def settings(place: Place) -> dict[str, Any]:
    python = {"environment": {"python": str(place.environment)}} if place.environment else {}
    return {"ty": {"completions": {"autoImport": False}, "configuration": python}}


ENGINE: Engine = LspEngine(
    name="ty",
    summary="type checker and language server for Python",
    languages=frozenset({"python"}),
    licence="MIT",
    recipe=Pip(package="ty", version="0.0.104"),
    command=command,
    options=settings,
    settings=settings,
    verified=True,
)
