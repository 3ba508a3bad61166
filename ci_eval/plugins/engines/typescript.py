"""The engine typescript: TypeScript 7's own language server, which is written in Go. Its npm package has a program for
each system."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.ecmascript import SETTINGS, auto_import
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import AutoImport
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Npm


def command(place: Place) -> list[str]:
    return ["node", str(place.folder / "node_modules" / "typescript" / "bin" / "tsc"), "--lsp", "--stdio"]


def settings(_place: Place) -> dict[str, Any]:
    return SETTINGS


ENGINE: Engine = LspEngine(
    name="typescript",
    summary="the language server in TypeScript 7, for TypeScript and JavaScript",
    languages=frozenset({"javascript", "typescript"}),
    licence="Apache-2.0",
    recipe=Npm(package="typescript", version="7.0.2"),
    why="types of packages are not installed from npm by itself",
    command=command,
    settings=settings,
    auto_import=AutoImport(usual="on", switch=auto_import, resolves=True),
    programs=("tsc", "tsgo", "typescript-go"),
    verified=True,
    toolchains={"node": "20"},
)
