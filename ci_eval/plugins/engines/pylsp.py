"""The engine pylsp (python-lsp-server), with jedi as its source of completions."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.jedis import jedi_server
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Pip


def command(place: Place) -> list[str]:
    return jedi_server(place, "from pylsp.__main__ import main; main()")


def settings(_place: Place) -> dict[str, Any]:
    linters = ("flake8", "mccabe", "pycodestyle", "pydocstyle", "pyflakes", "pylint")
    plugins: dict[str, Any] = {name: {"enabled": False} for name in linters}
    # By default it has jedi import numpy, which runs numpy's code.
    plugins["jedi"] = {"auto_import_modules": []}
    return {"pylsp": {"plugins": plugins}}


def auto_import(on: bool) -> Overlay:
    return Overlay(settings={"pylsp": {"plugins": {"rope_autoimport": {"enabled": on}}}})


ENGINE: Engine = LspEngine(
    name="pylsp",
    summary="python-lsp-server, jedi as a language server with plugins",
    languages=frozenset({"python"}),
    licence="MIT",
    recipe=Pip(package="python-lsp-server", version="1.15.0"),
    why="no linters; jedi imports no modules of the project, which would run their code",
    command=command,
    settings=settings,
    auto_import=AutoImport(usual="off", switch=auto_import),
    verified=True,
)
