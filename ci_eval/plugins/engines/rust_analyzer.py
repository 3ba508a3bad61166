"""The engine rust-analyzer, Rust's language server, as it is on the machine: rustup and distributions bring it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ci_eval.core.base.errors import InstallError
from ci_eval.core.contracts import Engine
from ci_eval.core.fetch.packages import NO_WRAPPERS
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import InstalledEngine, System

ON_PATH = 'PATH="$(rustc --print sysroot)/bin:$PATH"'


@dataclass(frozen=True, kw_only=True)
class Toolchain(System):
    """A recipe for a toolchain's own programs. Those of rustup only start them, by files in the user's home."""

    def make(self, version: str | None, folder: Path) -> InstalledEngine:
        for name in self.needs:
            path = shutil.which(name)
            # They are links to rustup, symbolic or hard.
            if path and (rustup := Path(path).resolve().with_name("rustup")).exists() and rustup.samefile(path):
                raise InstallError(
                    f"{path} is rustup, which starts no {name} in the sandbox: put the toolchain first on PATH, as in "
                    f"{ON_PATH}, after `rustup component add rust-analyzer rust-src`"
                )
        return super().make(version, folder)


def command(place: Place) -> list[str]:
    return [str(place.folder / "rust-analyzer")]


def options(_place: Place) -> dict[str, Any]:
    return {
        # These would run code of the project, or of crates that it names.
        "cargo": {"buildScripts": {"enable": False}, "noDeps": True},
        "procMacro": {"enable": False},
        "checkOnSave": False,
    }


def variables(place: Place) -> dict[str, str]:
    return {"CARGO_HOME": str(place.scratch / "cargo"), "CARGO_NET_OFFLINE": "true", **NO_WRAPPERS}


def auto_import(on: bool) -> Overlay:
    return Overlay(options={"completion": {"autoimport": {"enable": on}}})


ENGINE: Engine = LspEngine(
    name="rust-analyzer",
    summary="Rust's language server",
    languages=frozenset({"rust"}),
    licence="MIT OR Apache-2.0",
    recipe=Toolchain(
        program="rust-analyzer",
        hint=f"rustup component add rust-analyzer rust-src, then {ON_PATH}",
        starts=("cargo", "rustc"),
    ),
    why="build scripts, procedural macros and checks are off, and nothing is fetched",
    command=command,
    options=options,
    variables=variables,
    auto_import=AutoImport(usual="on", switch=auto_import),
)
