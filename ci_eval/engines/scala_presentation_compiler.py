"""The presentation compiler in Scala's own compiler, which IDEs for Scala 2 are built on."""

from __future__ import annotations

import re
from pathlib import Path

from ci_eval.contracts import Engine
from ci_eval.support.driven import DrivenEngine
from ci_eval.support.files import is_own
from ci_eval.support.jars import Driver, Maven, classpath, java_command, libraries
from ci_eval.support.place import Place

_PACKAGE = re.compile(r"^[ \t]*package\s+([\w.]+)", re.MULTILINE)


def command(place: Place) -> list[str]:
    known = classpath(libraries(place, "scala-library"))
    sources = classpath(_source_roots(place.root))
    # The compiler's own default is a folder below the one it runs in, whose plugins it would run.
    plugins = ("-Xpluginsdir", str(place.scratch / "plugins"))
    # A macro is a program, too.
    options = (*plugins, "-Ymacro-expand:none")
    return java_command(place, "ScalaDriver", *options, "-classpath", known, "-sourcepath", sources)


def _source_roots(root: Path) -> list[Path]:
    """The folders that packages are folders of, so that the compiler finds the project's other files by name."""
    found = set()
    for path in (each for each in root.rglob("*.scala") if is_own(each, root)):
        named = ".".join(_PACKAGE.findall(path.read_text(errors="replace"))).split(".")
        folder = path.parent
        if named != [""] and folder.parts[-len(named) :] == tuple(named):
            found.add(folder.parents[len(named) - 1])
    # The standard library cannot be read from its sources while it is needed to read them.
    return sorted(each for each in found if not (each / "scala" / "Predef.scala").exists())


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
    command=command,
    text=re.compile(r".+"),
    verified=True,
    toolchains={"java": "17"},
)
