"""The engine gopls, the Go team's language server. The Go toolchain builds it, and gopls also needs it to run."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.manners import GOPLS
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Go


def command(place: Place) -> list[str]:
    return [str(place.folder / "bin" / "gopls"), "serve"]


def options(_place: Place) -> dict[str, Any]:
    # "0s" = no limit. By default it stops looking after 100 ms, so that its answers would depend on the machine's load.
    return {"ui.completion.completionBudget": "0s", "ui.completion.usePlaceholders": False}


def auto_import(on: bool) -> Overlay:
    return Overlay(options={"completeUnimported": on})


def variables(place: Place) -> dict[str, str]:
    modules = (place.environment or place.scratch) / "modules"
    kept = {"GOCACHE": str(place.scratch / "build"), "GOMODCACHE": str(modules)}
    # GOPACKAGESDRIVER could name a program that lists packages in Go's place.
    closed = {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOPACKAGESDRIVER": "off", "GOENV": "off", "GOAUTH": "off"}
    return kept | closed | {"GOPATH": str(place.scratch / "go"), "GOFLAGS": "-mod=mod"}


ENGINE: Engine = LspEngine(
    name="gopls",
    summary="the Go team's language server",
    languages=frozenset({"go"}),
    licence="BSD-3-Clause",
    recipe=Go(module="golang.org/x/tools/gopls", version="v0.22.0"),
    why=(
        "no time limit of its own (100 ms by default), which would make answers depend on the load; nothing is fetched"
    ),
    command=command,
    options=options,
    auto_import=AutoImport(usual="on", switch=auto_import),
    variables=variables,
    manners=GOPLS,
    verified=True,
    toolchains={"go": "1.26"},
    # It does not load a package at all if one of its imports cannot be found.
    needs_dependencies=True,
)
