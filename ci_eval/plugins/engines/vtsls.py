"""The engine vtsls: VS Code's own TypeScript extension as a language server. It needs Node.js."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.ecmascript import SETTINGS, auto_import
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.manners import Manners
from ci_eval.plugins.adapters.lsp.overlay import AutoImport
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Npm


def command(place: Place) -> list[str]:
    return ["node", str(place.folder / "node_modules" / "@vtsls" / "language-server" / "bin" / "vtsls.js"), "--stdio"]


def settings(_place: Place) -> dict[str, Any]:
    # Never start the second server, which answers from the open file alone while the project is being loaded.
    tsserver = SETTINGS["typescript"]["tsserver"] | {"useSyntaxServer": "never"}
    typescript = SETTINGS["typescript"] | {"tsserver": tsserver}
    # The workspace's tsdk would be a program of the project.
    return SETTINGS | {"typescript": typescript, "vtsls": {"autoUseWorkspaceTsdk": False}}


ENGINE: Engine = LspEngine(
    name="vtsls",
    summary="VS Code's TypeScript extension as a language server",
    languages=frozenset({"javascript", "typescript"}),
    licence="MIT",
    recipe=Npm(package="@vtsls/language-server", version="0.3.0"),
    why=(
        "types of packages are not installed from npm by itself; no second server that answers from the open file alone"
    ),
    command=command,
    settings=settings,
    auto_import=AutoImport(usual="on", switch=auto_import, resolves=True),
    programs=("@vtsls/language-server",),
    # With auto-import, the kind of a few names depends on what it was asked before.
    manners=Manners(kinds=False),
    verified=True,
    toolchains={"node": "20"},
)
