"""The engine metals, the language server for Scala 2 and 3. If it cannot read a project's build, it guesses from the
sources."""

from __future__ import annotations

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.jars import Maven, java_command
from ci_eval.plugins.adapters.lsp.engine import LspEngine
from ci_eval.plugins.adapters.place import Place


def command(place: Place) -> list[str]:
    return java_command(place, "scala.meta.metals.Main")


ENGINE: Engine = LspEngine(
    name="metals",
    summary="the language server for Scala",
    languages=frozenset({"scala"}),
    licence="Apache-2.0",
    recipe=Maven(artifact="org.scalameta:metals_2.13", version="1.6.5"),
    command=command,
    toolchains={"java": "17"},
)
