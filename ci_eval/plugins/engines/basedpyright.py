"""The engine basedpyright, a fork of pyright that brings its own Node.js."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.closure import Closure
from ci_eval.plugins.adapters.lsp.engine import LspEngine, python_code
from ci_eval.plugins.adapters.lsp.manners import BASEDPYRIGHT
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.python_paths import answering_python
from ci_eval.plugins.adapters.recipes import Pip


def command(place: Place) -> list[str]:
    return python_code(place, "from basedpyright.langserver import main; main()", "--stdio")


def settings(place: Place) -> dict[str, Any]:
    analysis = {"diagnosticMode": "openFilesOnly"}
    # If it is given no interpreter, it looks for one in the project and runs it.
    return {"python": {"pythonPath": str(answering_python(place))}, "basedpyright": {"analysis": analysis}}


def auto_import(on: bool) -> Overlay:
    return Overlay(settings={"basedpyright": {"analysis": {"autoImportCompletions": on}}})


ENGINE: Engine = LspEngine(
    name="basedpyright",
    summary="fork of pyright with more of Pylance's features",
    languages=frozenset({"python"}),
    licence="MIT",
    recipe=Pip(package="basedpyright", version="1.40.2"),
    why=(
        "only open files are checked, so that no work in the background slows answers; it is given an "
        "interpreter, since else it looks for one in the project and runs it"
    ),
    command=command,
    settings=settings,
    auto_import=AutoImport(usual="on", switch=auto_import),
    programs=("basedpyright-langserver",),
    manners=BASEDPYRIGHT,
    verified=True,
    closure=Closure.IMPORTS,
)
