"""The engine typescript-language-server, which puts the Language Server Protocol in front of tsserver. It needs
Node.js."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.ecmascript import PREFERENCES, preferences
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Npm


def command(place: Place) -> list[str]:
    return ["node", str(place.folder / "node_modules" / "typescript-language-server" / "lib" / "cli.mjs"), "--stdio"]


def options(place: Place) -> dict[str, Any]:
    library = place.folder / "node_modules" / "typescript" / "lib"
    # A command of a user's may have its TypeScript elsewhere, and then looks for it by itself.
    path = {"path": str(library)} if library.is_dir() else {}
    # Never start the second server, which answers from the open file alone.
    tsserver = path | {"useSyntaxServer": "never"}
    return {"disableAutomaticTypingAcquisition": True, "preferences": PREFERENCES, "tsserver": tsserver}


def auto_import(on: bool) -> Overlay:
    return Overlay(options={"preferences": preferences(on)})


ENGINE: Engine = LspEngine(
    name="typescript-language-server",
    summary="tsserver as a language server for TypeScript and JavaScript",
    languages=frozenset({"javascript", "typescript"}),
    licence="Apache-2.0",
    recipe=Npm(package="typescript-language-server", version="5.3.0", others={"typescript": "5.9.3"}),
    why=(
        "types of packages are not installed from npm by itself; no second server that answers from the open file alone"
    ),
    command=command,
    options=options,
    auto_import=AutoImport(usual="on", switch=auto_import, resolves=True),
    verified=True,
    toolchains={"node": "20"},
)
