"""The engine scala-presentation-compiler: the part of Scala's own compiler that IDEs for Scala 2 are built on."""

from __future__ import annotations

import re
from pathlib import Path

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.closure import source_roots
from ci_eval.plugins.adapters.driven import DrivenEngine
from ci_eval.plugins.adapters.jars import Driver, Maven, classpath, java_command, libraries
from ci_eval.plugins.adapters.place import Place

_PACKAGE = re.compile(r"^[ \t]*package\s+([\w.]+)", re.MULTILINE)


def command(place: Place) -> list[str]:
    known = classpath(libraries(place, "scala-library"))
    roots = source_roots(place.root, ".scala", _package)
    # If the project is Scala's standard library itself, its sources are left out: the compiler needs the compiled
    # library to read any source at all.
    sources = classpath([root for root in roots if not (root / "scala" / "Predef.scala").exists()])
    # By default it would run the plugins in a folder below the current one.
    plugins = ("-Xpluginsdir", str(place.scratch / "plugins"))
    # Expanding a macro runs its code.
    options = (*plugins, "-Ymacro-expand:none")
    return java_command(place, "ScalaDriver", *options, "-classpath", known, "-sourcepath", sources)


def _package(text: str) -> str | None:
    # Scala allows several package clauses, each of which continues the one above it.
    return ".".join(_PACKAGE.findall(text)) or None


ENGINE: Engine = DrivenEngine(
    name="scala-presentation-compiler",
    summary="the presentation compiler of Scala 2.13",
    languages=frozenset({"scala"}),
    licence="Apache-2.0",
    recipe=Maven(
        artifact="org.scala-lang:scala-compiler",
        version="2.13.16",
        driver=Driver(
            file=Path(__file__).parent.parent / "drivers" / "ScalaDriver.scala",
            compiler="scala.tools.nsc.Main",
            options=("-nowarn",),
        ),
    ),
    why="macros are not expanded, which would run their code",
    command=command,
    beside=60,
    text=re.compile(r".+"),
    verified=True,
    toolchains={"java": "17"},
)
