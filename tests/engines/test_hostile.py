"""Nothing of a project runs because an engine looks at it, whatever tricks it knows; with no confinement's help."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import pytest

from ci_eval import engines, machine
from ci_eval.adapters import environments
from ci_eval.adapters.confinement import Walls
from ci_eval.adapters.place import Place
from ci_eval.adapters.recipes import FromRecipe
from ci_eval.contracts import Query, Running, Surroundings
from ci_eval.errors import EngineFailure
from ci_eval.model import Confine, ProjectInfo
from tests.engines.hostile import PROJECTS, dependencies, jvm, python
from tests.engines.hostile.trap import CLIENTS, COMPILERS, Trap, stand_ins
from tests.needs import need, need_engine

CONTROLS = {"oracle", "empty", "words"}
ENGINES = [engines.CATALOG.load(name) for name in engines.names() if name not in CONTROLS]
ASKED = [
    (engine.name, language) for engine in ENGINES if engine.verified for language in sorted(engine.languages or ())
]

KOTLIN = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"
TRICKS = [
    ("python", [sys.executable, "-c", "import logging"], "logging.py"),
    ("python", [sys.executable, "-c", "import gi"], "gi:__init__.py"),
    (
        "python",
        [sys.executable, "-c", "import importlib; importlib.import_module('fast')"],
        f"fast{EXTENSION_SUFFIXES[0]}",
    ),
    ("python", [sys.executable, "-m", "site"], "sitecustomize.py"),
    ("python", [".venv/bin/python", "--version"], ".venv:bin:python"),
    ("python", ["git", "status"], "evil.sh"),
    ("typescript", ["node", "-e", "require('typescript')"], "node_modules:typescript:lib:typescript.js"),
    ("javascript", ["node", "-r", "./.pnp.cjs", "-e", "0"], ".pnp.cjs"),
    ("javascript", ["npm", "test"], "evil.sh"),
    ("php", ["php", "vendor/autoload.php"], "vendor:autoload.php"),
    ("cpp", ["cc", "-fplugin=./evil.so", "-c", "plugin.cpp"], "evil.so"),
    ("go", ["go", "build", "-toolexec=./evil.sh", "./broken.go"], "evil.sh"),
    ("go", ["cc", "-Bc3", "-c", "-xc", "/dev/null"], "c3:cc1"),
    ("ruby", ["ruby", "-I.", "-e", "require 'json'"], "json.rb"),
    ("java", ["java", "-cp", ".", "a/F.java"], "java.nio.file.spi.FileSystemProvider"),
    (
        "kotlin",
        ["java", "-cp", "{jars}", KOTLIN, "-Xplugin=.", "a/a.kt"],
        "org.jetbrains.kotlin.compiler.plugin.ComponentRegistrar",
    ),
    ("scala", ["java", "-cp", "{jars}", "scala.tools.nsc.Main", "-usejavacp", "a/A.scala"], "scalac-plugin"),
]
"""Language, what someone careless would do in such a project, and the trick that then works."""

PYTHON = [name for name, language in ASKED if language == "python"]

pytestmark = [pytest.mark.engine, pytest.mark.registry]


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap.below(tmp_path)


def environment_of(trap: Trap, *, dependencies: bool = False) -> Path:
    """What a run makes for a project in Python."""
    info = ProjectInfo(spec="path:.", name="hostile", revision="", checksum="0" * 64)
    cache = trap.root.parent / "cache"
    made = environments.prepare("python", trap.root, info, dependencies=dependencies, cache=cache)
    assert made
    return made.folder


def bait(
    name: str,
    language: str,
    trap: Trap,
    environment: Path | None,
    monkeypatch: pytest.MonkeyPatch,
    confine: Confine = "off",
) -> list[str]:
    """Ask an engine everywhere, start it anew, ask again, end it; the tricks that worked."""
    engine = engines.CATALOG.load(name)
    if isinstance(engine, FromRecipe):
        need_engine(engine)
    cache = machine.cache_folder()
    installation = engine.install(None, cache)
    # Go has the C compiler look at packages that use C, and is strict about what they may ask of it.
    forbidden = CLIENTS if language == "go" else CLIENTS + COMPILERS
    programs = stand_ins(forbidden, trap.canary, trap.root.parent / "programs")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(trap.root)
    surroundings = Surroundings(
        root=trap.root,
        language=language,
        keywords=frozenset(),
        cache=cache,
        timeout=20,
        memory=0,
        environment=environment,
        confine=confine,
    )
    server = engine.start(installation, surroundings)
    try:
        answers = [_ask(server, path, text, offset) for path, text, offset in trap.questions]
        with suppress(EngineFailure):
            server.restart()
        for question in trap.questions[:2]:
            _ask(server, *question)
    finally:
        server.close()
    # One that could not look proves nothing.
    assert sum(answers) > 0
    time.sleep(0.5)
    return trap.sprung()


def _ask(server: Running, path: str, text: str, offset: int) -> int:
    """How many suggestions there are. What is right in such a project nobody knows."""
    with suppress(EngineFailure):
        server.open(path, text)
        return len(server.complete(Query(offset=offset, prefix="", expected="seen")).suggestions)
    return 0


@pytest.mark.parametrize(("name", "language"), [pair for pair in ASKED if pair[1] != "python"])
def test_nothing_of_a_project_runs(name: str, language: str, trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    PROJECTS[language](trap)
    assert bait(name, language, trap, None, monkeypatch) == []


@pytest.mark.parametrize(("name", "language"), ASKED)
def test_nothing_of_a_project_runs_inside_the_walls_either(
    name: str, language: str, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    # There a trick could leave its trace: the folder is made writable, as if the walls had that hole.
    monkeypatch.setattr(Place, "walls", with_a_hole(trap.canary))
    project = python.configured_in_one_file if language == "python" else PROJECTS[language]
    project(trap)
    environment = environment_of(trap) if language == "python" else None
    assert bait(name, language, trap, environment, monkeypatch, confine="auto") == []


def with_a_hole(folder: Path) -> Callable[..., Walls]:
    """The walls around an engine, but for one folder."""
    whole = Place.walls

    def walls(self: Place, *programs: str, **more: Any) -> Walls:
        found = whole(self, *programs, **more)
        return replace(found, writes=(*found.writes, folder))

    return walls


@pytest.mark.parametrize("settings", ["configured_in_one_file", "configured_in_many_files"])
@pytest.mark.parametrize("name", PYTHON)
def test_nothing_of_a_python_project_runs(
    name: str, settings: str, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    getattr(python, settings)(trap)
    assert bait(name, "python", trap, environment_of(trap), monkeypatch) == []


@pytest.mark.parametrize("name", PYTHON)
def test_no_environment_is_looked_for_in_a_project(name: str, trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    python.configured_for_others(trap)
    assert bait(name, "python", trap, None, monkeypatch) == []


@pytest.mark.parametrize("name", PYTHON)
def test_nothing_runs_that_a_python_project_needs(name: str, trap: Trap, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as offline:
        offline.setenv("PIP_FIND_LINKS", str(dependencies.wheel(trap)))
        offline.setenv("PIP_NO_INDEX", "1")
        environment = environment_of(trap, dependencies=True)
    assert bait(name, "python", trap, environment, monkeypatch) == []


@pytest.mark.parametrize(("name", "language"), [pair for pair in ASKED if pair[1] in {"java", "kotlin", "scala"}])
def test_nothing_runs_that_a_jvm_project_needs(
    name: str, language: str, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bait(name, language, trap, dependencies.jar(trap, language), monkeypatch) == []


@pytest.mark.parametrize(("language", "command", "trick"), TRICKS, ids=[trick[2] for trick in TRICKS])
def test_a_trick_works_on_the_careless(language: str, command: list[str], trick: str, trap: Trap) -> None:
    PROJECTS[language](trap)
    if "/" not in command[0]:
        need(command[0])
    jars = jvm.jars_of(language) if "{jars}" in command else ""
    subprocess.run([part.format(jars=jars) for part in command], cwd=trap.root, capture_output=True, check=False)
    assert trick in trap.sprung()
