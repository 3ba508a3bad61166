"""The engine intelephense, a language server for PHP. Its licence is for individual users of editors: choose it
knowingly."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.manners import Manners
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Npm


def command(place: Place) -> list[str]:
    return ["node", str(place.folder / "node_modules" / "intelephense" / "lib" / "intelephense.js"), "--stdio"]


def options(place: Place) -> dict[str, Any]:
    return {"storagePath": str(place.scratch), "globalStoragePath": str(place.scratch), "clearCache": True}


def settings(_place: Place) -> dict[str, Any]:
    # By default intelephense lists 100 names.
    completion = {"maxItems": 10_000, "fullyQualifyGlobalConstantsAndFunctions": False}
    return {"intelephense": {"completion": completion, "telemetry": {"enabled": False}}}


def auto_import(on: bool) -> Overlay:
    return Overlay(settings={"intelephense": {"completion": {"insertUseDeclaration": on}}})


ENGINE: Engine = LspEngine(
    name="intelephense",
    summary="language server for PHP; proprietary, see its licence before you use it in CI: why PHP's night asks words",
    languages=frozenset({"php"}),
    licence="LicenseRef-intelephense",
    recipe=Npm(package="intelephense", version="1.18.5"),
    why="no limit of 100 names; nothing is sent to its makers",
    command=command,
    options=options,
    settings=settings,
    auto_import=AutoImport(usual="on", switch=auto_import),
    # Until its index is built it knows only the open file, not even PHP's own variables.
    manners=Manners(announces=True),
    verified=True,
    toolchains={"node": "20"},
)
