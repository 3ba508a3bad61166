"""The engine kotlin-lsp: JetBrains' experimental language server for Kotlin, built on IntelliJ IDEA. It is installed
here for 64-bit Linux only."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import Archive


def command(place: Place) -> list[str]:
    return ["sh", str(place.folder / "files" / "kotlin-lsp.sh"), "--stdio"]


ENGINE: Engine = LspEngine(
    name="kotlin-lsp",
    summary="JetBrains' language server for Kotlin",
    languages=frozenset({"kotlin"}),
    licence="Apache-2.0",
    recipe=Archive(
        url="https://download-cdn.jetbrains.com/kotlin-lsp/{version}/kotlin-lsp-{version}-linux-x64.zip",
        digests={"261.13587.0": "dc0ed2e70cb0d61fdabb26aefce8299b7a75c0dcfffb9413715e92caec6e83ec"},
    ),
    command=command,
)
