"""The engines that are parts of compilers: the Eclipse Java development tools, Kotlin's IDE services, and Scala's
presentation compiler."""

from __future__ import annotations

import re

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.driven import DrivenEngine
from ci_eval.plugins.adapters.jars import Driver, Maven, classpath, java_command, libraries, list_jars, source_roots
from ci_eval.plugins.adapters.lsp.overlay import AutoImport
from ci_eval.plugins.adapters.place import DRIVERS, Place

_JAVA_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_PACKAGE = re.compile(r"^[ \t]*package\s+([\w.]+)", re.MULTILINE)


def _start_kotlin(place: Place) -> list[str]:
    return java_command(place, "KotlinDriverKt", str(place.root), classpath(libraries(place, "kotlin-stdlib")))


def _start_scala(place: Place) -> list[str]:
    known = classpath(libraries(place, "scala-library"))
    # A Scala file may have several package clauses, each nested in the one above.
    roots = source_roots(place.root, ".scala", lambda text: ".".join(_PACKAGE.findall(text)) or None)
    # Exclude the sources of Scala's standard library: the compiler needs the compiled library.
    sources = classpath([root for root in roots if not (root / "scala" / "Predef.scala").exists()])
    # By default, the compiler runs plugins from a folder below the current directory.
    plugins = ("-Xpluginsdir", str(place.scratch / "plugins"))
    # Expanding a macro runs its code.
    options = (*plugins, "-Ymacro-expand:none")
    return java_command(place, "ScalaDriver", *options, "-classpath", known, "-sourcepath", sources)


def _start_jdt(place: Place) -> list[str]:
    # A file without a package clause is in the unnamed package.
    roots = source_roots(place.root, ".java", lambda text: "".join(_JAVA_PACKAGE.findall(text)[:1]))
    known = classpath(list_jars(place.environment))
    java, *arguments = java_command(place, "JdtDriver", str(place.scratch), classpath(roots), known)
    # For a process of a few minutes, these settings halve the CPU time and need less memory.
    return [java, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", *arguments]


ENGINES: dict[str, Engine] = {
    # The driver requests completions in the same way as Eclipse's language server.
    "jdt": DrivenEngine(
        name="jdt",
        summary="Eclipse's JDT, the completion of Eclipse's IDE and language server",
        languages=frozenset({"java"}),
        licence="EPL-2.0",
        recipe=Maven(
            artifact="org.eclipse.jdt:org.eclipse.jdt.core",
            version="3.37.0",
            # Eclipse's runtime needs these bundles to start its services.
            others={
                "org.apache.felix:org.apache.felix.scr": "2.2.10",
                "org.osgi:org.osgi.service.component": "1.5.1",
                "org.osgi:org.osgi.service.event": "1.4.1",
                "org.osgi:org.osgi.util.function": "1.2.0",
                "org.osgi:org.osgi.util.promise": "1.3.0",
            },
            driver=Driver(
                file=DRIVERS / "JdtDriver.java",
                compiler="org.eclipse.jdt.internal.compiler.batch.Main",
                options=("-proc:none", "-nowarn", "--release", "17"),
            ),
        ),
        why="no index, since answers would depend on its progress",
        command=_start_jdt,
        text=re.compile(r"[\w$]+|.+"),
        auto_import=AutoImport(usual="on"),
        verified=True,
        toolchains={"java": "17"},
    ),
    # The services use K1, the older front end of the compiler (the one of Kotlin 1.9).
    "kotlin-ide-services": DrivenEngine(
        name="kotlin-ide-services",
        summary="the IDE services in Kotlin's compiler, as notebooks use them (front end K1)",
        languages=frozenset({"kotlin"}),
        licence="Apache-2.0",
        recipe=Maven(
            artifact="org.jetbrains.kotlin:kotlin-scripting-ide-services",
            version="2.3.0",
            driver=Driver(
                file=DRIVERS / "KotlinDriver.kt",
                compiler="org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
                options=("-no-stdlib", "-no-reflect", "-nowarn"),
            ),
        ),
        command=_start_kotlin,
        verified=True,
        toolchains={"java": "17"},
    ),
    "scala-presentation-compiler": DrivenEngine(
        name="scala-presentation-compiler",
        summary="the presentation compiler of Scala 2.13",
        languages=frozenset({"scala"}),
        licence="Apache-2.0",
        recipe=Maven(
            artifact="org.scala-lang:scala-compiler",
            version="2.13.16",
            driver=Driver(file=DRIVERS / "ScalaDriver.scala", compiler="scala.tools.nsc.Main", options=("-nowarn",)),
        ),
        why="macros are not expanded, since that would run their code",
        command=_start_scala,
        overhead=60,
        text=re.compile(r".+"),
        verified=True,
        toolchains={"java": "17"},
    ),
}
