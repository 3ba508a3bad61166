"""typescript-language-server: the Language Server Protocol in front of tsserver; needs Node.js."""

from __future__ import annotations

from typing import Any

from ci_eval.adapters.lsp.ecmascript import LANGUAGE_IDS, PREFERENCES
from ci_eval.adapters.lsp.engine import LspEngine
from ci_eval.adapters.place import Place
from ci_eval.adapters.recipes import Npm
from ci_eval.contracts import Engine


def command(place: Place) -> list[str]:
    return ["node", str(place.folder / "node_modules" / "typescript-language-server" / "lib" / "cli.mjs"), "--stdio"]


def options(place: Place) -> dict[str, Any]:
    tsserver = {"path": str(place.folder / "node_modules" / "typescript" / "lib"), "useSyntaxServer": "never"}
    return {"disableAutomaticTypingAcquisition": True, "preferences": PREFERENCES, "tsserver": tsserver}


ENGINE: Engine = LspEngine(
    name="typescript-language-server",
    summary="tsserver as a language server for TypeScript and JavaScript",
    languages=frozenset({"javascript", "typescript"}),
    licence="Apache-2.0",
    recipe=Npm(package="typescript-language-server", version="5.3.0", others={"typescript": "5.9.3"}),
    command=command,
    options=options,
    language_ids=LANGUAGE_IDS,
    verified=True,
    toolchains={"node": "20"},
)
