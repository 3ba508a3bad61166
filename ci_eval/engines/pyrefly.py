"""pyrefly, Meta's type checker and language server for Python."""

from __future__ import annotations

from typing import Any

from ci_eval.contracts import Engine
from ci_eval.support.lsp.engine import LspEngine
from ci_eval.support.place import Place
from ci_eval.support.recipes import Pip


def command(place: Place) -> list[str]:
    return [str(place.folder / "bin" / "pyrefly"), "lsp"]


def settings(place: Place) -> dict[str, Any]:
    python = {"pythonPath": str(place.environment / "bin" / "python")} if place.environment else {}
    return {"python": python | {"analysis": {"autoImportCompletions": False}}}


ENGINE: Engine = LspEngine(
    name="pyrefly",
    summary="type checker and language server for Python",
    languages=frozenset({"python"}),
    licence="MIT",
    recipe=Pip(package="pyrefly", version="1.4.1"),
    command=command,
    settings=settings,
    verified=True,
)
