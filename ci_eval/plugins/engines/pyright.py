"""The engine pyright, Microsoft's type checker and language server for Python. It needs Node.js."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.closure import Closure
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.manners import PYRIGHT
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.python_paths import answering_python
from ci_eval.plugins.adapters.recipes import Npm


def command(place: Place) -> list[str]:
    return ["node", str(place.folder / "node_modules" / "pyright" / "langserver.index.js"), "--stdio"]


def settings(place: Place) -> dict[str, Any]:
    analysis = {"diagnosticMode": "openFilesOnly", "indexing": False}
    # Without an interpreter, it would run the first on PATH.
    return {"python": {"analysis": analysis, "pythonPath": str(answering_python(place))}}


def auto_import(on: bool) -> Overlay:
    return Overlay(settings={"python": {"analysis": {"autoImportCompletions": on}}})


ENGINE: Engine = LspEngine(
    name="pyright",
    summary="type checker and language server for Python",
    languages=frozenset({"python"}),
    licence="MIT",
    recipe=Npm(package="pyright", version="1.1.414"),
    why="only open files are checked and nothing is indexed, so that no work in the background slows answers",
    command=command,
    settings=settings,
    auto_import=AutoImport(usual="on", switch=auto_import),
    programs=("pyright-langserver",),
    manners=PYRIGHT,
    verified=True,
    closure=Closure.IMPORTS,
    toolchains={"node": "20"},
)
