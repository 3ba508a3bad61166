"""The engine kotlin-ide-services: Kotlin's services for IDEs, as its notebooks use them. They run on the compiler's
older front end, of Kotlin 1.9."""

from __future__ import annotations

from pathlib import Path

from ci_eval.core.contracts import Engine
from ci_eval.plugins.adapters.driven import DrivenEngine
from ci_eval.plugins.adapters.jars import Driver, Maven, classpath, java_command, libraries
from ci_eval.plugins.adapters.place import Place


def command(place: Place) -> list[str]:
    return java_command(place, "KotlinDriverKt", str(place.root), classpath(libraries(place, "kotlin-stdlib")))


ENGINE: Engine = DrivenEngine(
    name="kotlin-ide-services",
    summary="the IDE services in Kotlin's compiler, as notebooks use them (front end K1)",
    languages=frozenset({"kotlin"}),
    licence="Apache-2.0",
    recipe=Maven(
        artifact="org.jetbrains.kotlin:kotlin-scripting-ide-services",
        version="2.3.0",
        driver=Driver(
            file=Path(__file__).parent.parent / "drivers" / "KotlinDriver.kt",
            compiler="org.jetbrains.kotlin.cli.jvm.K2JVMCompiler",
            options=("-no-stdlib", "-no-reflect", "-nowarn"),
        ),
    ),
    command=command,
    verified=True,
    toolchains={"java": "17"},
)
