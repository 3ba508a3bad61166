"""The engine jdt, the completion of Eclipse's Java development tools (JDT). It is asked as Eclipse's language server
asks it."""

from __future__ import annotations

import re
from pathlib import Path

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.closure import source_roots
from ci_eval.plugins.adapters.driven import DrivenEngine
from ci_eval.plugins.adapters.jars import Driver, Maven, classpath, java_command, list_jars
from ci_eval.plugins.adapters.lsp.overlay import AutoImport
from ci_eval.plugins.adapters.place import Place

_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)


def command(place: Place) -> list[str]:
    roots, known = classpath(source_roots(place.root, ".java", _package)), classpath(list_jars(place.environment))
    java, *arguments = java_command(place, "JdtDriver", str(place.scratch), roots, known)
    # Cheap settings, for a process that runs for minutes only: half the processor time, and less memory.
    return [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *arguments]


def _package(text: str) -> str:
    match = _PACKAGE.search(text)
    return match[1] if match else ""


ENGINE: Engine = DrivenEngine(
    name="jdt",
    summary="the completion of Eclipse's JDT, which its IDE and its language server show",
    languages=frozenset({"java"}),
    licence="EPL-2.0",
    recipe=Maven(
        artifact="org.eclipse.jdt:org.eclipse.jdt.core",
        version="3.37.0",
        # Eclipse's runtime needs these to start its own services.
        others={
            "org.apache.felix:org.apache.felix.scr": "2.2.10",
            "org.osgi:org.osgi.service.component": "1.5.1",
            "org.osgi:org.osgi.service.event": "1.4.1",
            "org.osgi:org.osgi.util.function": "1.2.0",
            "org.osgi:org.osgi.util.promise": "1.3.0",
        },
        driver=Driver(
            file=Path(__file__).parent.parent / "drivers" / "JdtDriver.java",
            compiler="org.eclipse.jdt.internal.compiler.batch.Main",
            options=("-proc:none", "-nowarn", "--release", "17"),
        ),
    ),
    why="no index, since answers would depend on how far it is",
    command=command,
    text=re.compile(r"[\w$]+|.+"),
    auto_import=AutoImport(usual="on"),
    verified=True,
    toolchains={"java": "17"},
)
