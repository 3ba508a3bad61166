"""The engine jshell: JShell's source code analysis, which every JDK brings. Its completion for Java comes from the
compiler, in alphabetical order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from ci_eval.core.base.errors import EngineCrash, InstallError
from ci_eval.core.contracts import Engine
from ci_eval.core.fetch.clients import run_client
from ci_eval.plugins.adapters.driven import DrivenEngine
from ci_eval.plugins.adapters.jars import Maven, classpath, java, list_jars
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.recipes import InstalledEngine, System

DRIVER = Path(__file__).parent.parent / "drivers" / "JShellDriver.java"
NEWEST = 23
"""The newest release of Java that COMPILER can compile for."""


JDK = System(program="java", hint="apt-get install default-jdk-headless")
# Unlike javac, Eclipse's compiler also writes classes that compile only in part.
COMPILER = Maven(artifact="org.eclipse.jdt:ecj", version="3.40.0")


@dataclass(frozen=True)
class JdkAndCompiler:
    """A recipe that takes the system's JDK, and Eclipse's compiler from Maven Central."""

    version: str = JDK.version
    source: str = JDK.source
    needs: tuple[str, ...] = COMPILER.needs

    def make(self, version: str | None, folder: Path) -> InstalledEngine:
        jdk, compiler = JDK.make(version, folder), COMPILER.make(None, folder)
        return replace(jdk, folder=compiler.folder, packages=jdk.packages | compiler.packages)

    def is_made(self, folder: Path) -> bool:
        return JDK.is_made(folder) and COMPILER.is_made(folder)


def prepare(place: Place) -> list[str]:
    """Return the command that compiles the project's classes as far as possible, so that JShell finds them. Nothing of
    the project is run, no annotation processor either.

    Raises EngineCrash if the JDK cannot be asked for its version.
    """
    try:
        output = run_client(("java", "--version"), cwd=place.scratch)
    except InstallError as error:
        raise EngineCrash(f"the project's classes could not be compiled: {error}") from error
    # The compiler knows no release of Java after NEWEST.
    release = min(int(output.split()[1].partition(".")[0]), NEWEST)
    options = ("-proceedOnError", "-nowarn", "-proc:none", "-encoding", "UTF-8", "--release", str(release))
    known = classpath(list_jars(place.environment))
    compiler = (*java(place), "-jar", classpath(list_jars(place.folder)), *options, "-cp", known)
    return [*compiler, "-d", str(place.scratch / "classes"), str(place.root)]


def command(place: Place) -> list[str]:
    known = classpath([place.scratch / "classes", *list_jars(place.environment)])
    # If it is given no class path, Java uses the current folder, and starts any services it finds there.
    return [*java(place), "-cp", str(place.scratch / "nothing"), str(DRIVER), known]


ENGINE: Engine = DrivenEngine(
    name="jshell",
    summary="the completion of JShell in the system's JDK, 17 or newer",
    languages=frozenset({"java"}),
    licence="GPL-2.0-only WITH Classpath-exception-2.0",
    recipe=JdkAndCompiler(),
    why="the project is compiled beforehand, as far as it can be",
    command=command,
    prepare=prepare,
    beside=60,
    verified=True,
    toolchains={"java": "17"},
)
