"""The engine ruby-lsp, Shopify's language server for Ruby."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import NEVER
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Gem


def command(place: Place) -> list[str]:
    return [str(place.folder / "bin" / "ruby-lsp")]


def variables(place: Place) -> dict[str, str]:
    # Ruby does not look for gems in the engine's own folder by itself.
    return {"GEM_HOME": str(place.folder), "GEM_PATH": str(place.folder)}


ENGINE: Engine = LspEngine(
    name="ruby-lsp",
    summary="Shopify's language server for Ruby",
    languages=frozenset({"ruby"}),
    licence="MIT",
    recipe=Gem(package="ruby-lsp", version="0.26.9"),
    command=command,
    variables=variables,
    auto_import=NEVER,
    toolchains={"ruby": "3.1"},
)
