"""The engine rust-analyzer, Rust's language server, as it is on the machine: rustup and distributions bring it."""

from __future__ import annotations

from typing import Any

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import System


def command(place: Place) -> list[str]:
    return [str(place.folder / "rust-analyzer")]


def options(_place: Place) -> dict[str, Any]:
    return {
        # Nothing of the project is run: no build script, no macro of another crate, no check.
        "cargo": {"buildScripts": {"enable": False}, "noDeps": True},
        "procMacro": {"enable": False},
        "checkOnSave": False,
    }


def variables(place: Place) -> dict[str, str]:
    return {"CARGO_HOME": str(place.scratch / "cargo"), "CARGO_NET_OFFLINE": "true"}


def auto_import(on: bool) -> Overlay:
    return Overlay(options={"completion": {"autoimport": {"enable": on}}})


ENGINE: Engine = LspEngine(
    name="rust-analyzer",
    summary="Rust's language server",
    languages=frozenset({"rust"}),
    licence="MIT OR Apache-2.0",
    recipe=System(
        program="rust-analyzer", hint="rustup component add rust-analyzer rust-src", starts=("cargo", "rustc")
    ),
    why="no code of the project is run (build scripts, procedural macros, checks), and nothing is fetched",
    command=command,
    options=options,
    variables=variables,
    auto_import=AutoImport(usual="on", switch=auto_import),
)
