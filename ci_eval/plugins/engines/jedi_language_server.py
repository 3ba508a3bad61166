"""The engine jedi-language-server, which is jedi behind the Language Server Protocol."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.jedis import jedi_server
from ci_eval.plugins.adapters.lsp.overlay import NEVER
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Pip


def command(place: Place) -> list[str]:
    return jedi_server(place, "from jedi_language_server.cli import cli; cli()")


def options(_place: Place) -> dict[str, Any]:
    return {"completion": {"disableSnippets": True}, "diagnostics": {"enable": False}}


ENGINE: Engine = LspEngine(
    name="jedi-language-server",
    summary="jedi as a language server for Python",
    languages=frozenset({"python"}),
    licence="MIT",
    recipe=Pip(package="jedi-language-server", version="0.47.0"),
    why="no snippets and no diagnostics; jedi imports no modules of the project, which would run their code",
    command=command,
    options=options,
    auto_import=NEVER,
    verified=True,
)
