"""The engine ty, the type checker and language server of the makers of ruff."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Pip


def command(place: Place) -> list[str]:
    return [str(place.folder / "bin" / "ty"), "server"]


def settings(place: Place) -> dict[str, Any]:
    python = {"environment": {"python": str(place.environment)}} if place.environment else {}
    return {"ty": {"configuration": python}}


def auto_import(on: bool) -> Overlay:
    # Given at the start too, since ty reads its options before it asks for its settings.
    completions = {"ty": {"completions": {"autoImport": on}}}
    return Overlay(settings=completions, options=completions)


ENGINE: Engine = LspEngine(
    name="ty",
    summary="type checker and language server for Python",
    languages=frozenset({"python"}),
    licence="MIT",
    recipe=Pip(package="ty", version="0.0.104"),
    command=command,
    options=settings,
    settings=settings,
    auto_import=AutoImport(usual="on", switch=auto_import),
    verified=True,
)
