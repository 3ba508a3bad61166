"""Nothing of a project runs because an engine looks at it, whatever tricks it knows; with no confinement's help."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from tests.engines.dossiers import PAIRS, Dossier
from tests.engines.hostile import PROJECTS, jvm
from tests.engines.hostile.trap import Trap
from tests.engines.looking import settings_of
from tests.needs import need

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
    ("java", ["java", "-cp", ".", "a/F.java"], "java.nio.file.spi.FileSystemProvider"),
    (
        "kotlin",
        ["java", "-cp", "{jars}", KOTLIN, "-Xplugin=.", "a/a.kt"],
        "org.jetbrains.kotlin.compiler.plugin.ComponentRegistrar",
    ),
    ("scala", ["java", "-cp", "{jars}", "scala.tools.nsc.Main", "-usejavacp", "a/A.scala"], "scalac-plugin"),
]
"""Language, what someone careless would do in such a project, and the trick that then works."""

SANDBOX = "python -I -S"
"""The Python that runs ci-eval, isolated and without `site`: it confines and supervises each engine, and is the Python
of those that are written in it."""
STARTS = {
    "basedpyright": {"answers", "node"},
    "clangd": {"clangd"},
    "gopls": {"gopls", "go", "compile", "asm", "cgo", "link", "gcc", "cc1", "as", "collect2", "ld", "pkg-config"},
    "intelephense": {"node"},
    "jdt": {"java"},
    "jedi": {"python -s -S"},
    "jedi-language-server": set[str](),
    "kotlin-ide-services": {"java"},
    "pylsp": set[str](),
    "pyrefly": {"pyrefly"},
    "pyright": {"answers", "node"},
    "scala-presentation-compiler": {"java"},
    "ty": {"ty"},
    "typescript": {"node", "tsc"},
    "typescript-language-server": {"node"},
    "vtsls": {"node"},
    "zuban": {"zuban"},
}
"""Engine → all programs that run while it is asked about a hostile project: the engine itself; `answers`, which prints
search paths in a Python's place; and for gopls the Go toolchain with the C compiler, for packages that use cgo. Neither
an interpreter of the environment nor a package client, a shell or a build is among them."""

pytestmark = [pytest.mark.engine, pytest.mark.registry]


def test_nothing_of_a_project_runs(dossier: tuple[str, str, Dossier]) -> None:
    assert {look.setting: look.tricks for look in dossier[2].looks if look.tricks} == {}


def test_no_program_runs_but_the_engine_itself_and_what_is_declared(dossier: tuple[str, str, Dossier]) -> None:
    name, _, seen = dossier
    started = {program for look in seen.looks for program in look.programs}
    assert SANDBOX in started, "nothing was traced"
    assert started - {SANDBOX} - STARTS[name] == set()
    # Of a table with more than what runs, nobody would notice that it is too long.
    assert STARTS[name] & started == STARTS[name] or name == "gopls"


def test_every_verified_engine_declares_what_it_starts() -> None:
    assert STARTS.keys() == {name for name, _ in PAIRS}


def test_an_engine_is_looked_at_in_every_setting_and_finds_something_in_each(
    dossier: tuple[str, str, Dossier],
) -> None:
    _, language, seen = dossier
    assert [look.setting for look in seen.looks] == [setting.name for setting in settings_of(language)]
    # An engine that could not look proves nothing.
    assert [look.setting for look in seen.looks if sum(map(len, look.suggestions.values())) == 0] == []


def test_an_engine_is_looked_at_confined_and_free(dossier: tuple[str, str, Dossier], complete_walls: None) -> None:
    confined, *others = dossier[2].looks
    assert confined.confined.endswith("nothing found open")
    assert {look.confined for look in others} == {"not confined: interpret.confine is off"}


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    return Trap.below(tmp_path)


@pytest.mark.parametrize(("language", "command", "trick"), TRICKS, ids=[trick[2] for trick in TRICKS])
def test_a_trick_works_on_the_careless(language: str, command: list[str], trick: str, trap: Trap) -> None:
    PROJECTS[language](trap)
    if "/" not in command[0]:
        need(command[0])
    jars = jvm.jars_of(language) if "{jars}" in command else ""
    subprocess.run([part.format(jars=jars) for part in command], cwd=trap.root, capture_output=True, check=False)
    assert trick in trap.sprung()
