"""A look at an engine in a project full of tricks: it is started, asked everywhere, restarted, asked and closed."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ci_eval.core import machine
from ci_eval.core.base.errors import EngineFailure
from ci_eval.core.catalogs import engines, languages
from ci_eval.core.contracts import Query, Running, Surroundings
from ci_eval.core.model import Confine, ProjectInfo
from ci_eval.plugins.adapters import environments
from ci_eval.plugins.adapters.driven import RunningDriver
from ci_eval.plugins.adapters.lsp.engine import RunningLsp
from ci_eval.plugins.adapters.place import Place
from ci_eval.plugins.adapters.process import SandboxPolicy
from tests.engines.dossiers import Look
from tests.engines.hostile import PROJECTS, dependencies, python
from tests.engines.hostile.trap import CLIENTS, COMPILERS, Trap, stand_ins

OUTSIDE = re.compile(r"AF_INET6?\b.*")
FETCHES = re.compile(r'execve\("[^"]*/(npm|npx|pip|gem|composer|mvn)"')
"""Programs that would ask for it in the engine's place; `go` may start: its own connections are traced."""
STARTED = re.compile(r'execve\("([^"]+)", \[(.*)\], .* = 0$', re.MULTILINE)
CALLS = "trace=connect,sendto,sendmsg,sendmmsg,execve"

JVM = ("java", "kotlin", "scala")
PLAIN = "plain"
"""The folder, in the project full of tricks, of the plain question and of imports that are nowhere."""
FILES = {
    "python": ("a.py", "import os\nos.path.|\n", "join"),
    "typescript": ("a.ts", "const words: string[] = [];\nwords.|;\n", "map"),
    "javascript": ("a.js", "const words = [''];\nwords.|;\n", "map"),
    "php": ("a.php", "<?php\nclass Plain { public function rename() {} }\n$a = new Plain();\n$a->|;\n", "rename"),
    "cpp": ("a.cpp", "struct A { int width; };\nint f(A a) { return a.|; }\n", "width"),
    "ruby": ("a.rb", "class Plain\n  def height\n    1\n  end\nend\n\nPlain.new.|()\n", "height"),
    "java": ("A.java", "class A { int size(String text) { return text.|; } }\n", "length"),
    "kotlin": ("a.kt", "fun size(text: String) = text.|\n", "length"),
    "scala": ("A.scala", "class A { def size(text: String): Int = text.| }\n", "length"),
    "go": ("a.go", 'package main\n\nimport "strings"\n\nfunc main() { strings.| }\n', "TrimSpace"),
}
"""Name of a file, its text with a bar at the caret, and what must be suggested there."""
LACKS = {
    "python": ("import requests\n", {"requirements.txt": "requests==2.32.3\n"}),
    "typescript": ('import lodash from "left-pad";\n', {"package.json": '{"dependencies": {"left-pad": "1.3.0"}}'}),
    "javascript": ('const l = require("left-pad");\n', {"package.json": '{"dependencies": {"left-pad": "1.3.0"}}'}),
    "php": ("", {"composer.json": '{"require": {"monolog/monolog": "3.0.0"}}'}),
    "cpp": ("#include <boost/any.hpp>\n", {"conanfile.txt": "[requires]\nboost/1.80.0\n"}),
    "ruby": ("require 'rails'\n", {"Gemfile": "source 'https://rubygems.org'\ngem 'rails'\n"}),
    "java": ("import com.google.gson.Gson;\n", {}),
    "kotlin": ("import com.google.gson.Gson\n", {}),
    "scala": ("import com.google.gson.Gson\n", {}),
    "go": ("", {"go.mod": "module example\n\ngo 1.19\n\nrequire github.com/gorilla/mux v1.8.1\n"}),
}
"""What the plain file imports that is not there, and the files that say where to get it."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A layout of a project full of tricks, and the way in which the engine is started in it."""

    name: str
    lay: Callable[[Trap], Path | None]
    """Write the project; return the environment with its dependencies, or None."""
    confine: Confine = "off"
    traced: bool = False


def look(name: str, language: str, setting: Setting, folder: Path) -> Look:
    """Start an engine in a new project below `folder`, ask it everywhere, restart it, ask again, close it.

    A confined engine may write to the folder of the canaries, as if the sandbox had that hole: so a trick that works
    inside the sandbox leaves its trace, too.
    """
    folder.mkdir()
    trap = Trap.below(folder)
    environment = setting.lay(trap)
    plain = ask_plainly(trap, language)
    log = folder / "log"
    surroundings = Surroundings(
        root=trap.root,
        language=language,
        keywords=frozenset(),
        cache=machine.cache_folder(),
        timeout=60,
        memory=8 * 10**9 if setting.confine == "off" else 0,
        environment=environment,
        confine=setting.confine,
    )
    engine = engines.CATALOG.load(name)
    installation = engine.install(None, machine.cache_folder())
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        # Go has the C compiler look at packages that use C, and is strict about what they may ask of it.
        forbidden = CLIENTS if language == "go" else CLIENTS + COMPILERS
        programs = stand_ins(forbidden, trap.canary, folder / "programs")
        patch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
        patch.chdir(trap.root)
        if setting.confine != "off":
            patch.setattr(Place, "walls", with_a_hole(trap.canary))
        if setting.traced:
            patch.setattr(SandboxPolicy, "around", traced(log))
        return _observe(engine.start(installation, surroundings), setting, trap, plain, log)


def _observe(server: Running, setting: Setting, trap: Trap, plain: str, log: Path) -> Look:
    groups = []
    try:
        answers = {path: _ask(server, path, text, offset) for path, text, offset in trap.questions}
        groups += _group(server)
        with suppress(EngineFailure):
            server.restart()
        for question in trap.questions[:2]:
            _ask(server, *question)
        groups += _group(server)
        confined = server.confined
        # Some engines fetch or start things beside the answer.
        time.sleep(3 if setting.traced else 0.5)
    finally:
        server.close()
    return Look(
        setting=setting.name,
        confined=confined,
        suggestions={path: texts for path, (texts, _) in answers.items()},
        latency=answers[plain][1],
        tricks=trap.sprung(),
        attempts=attempts(log, trap.root) if setting.traced else [],
        programs=programs(log) if setting.traced else [],
        survivors=[name for group in groups for name in alive(group)],
    )


def _ask(server: Running, path: str, text: str, offset: int) -> tuple[list[str], float]:
    """Return the suggestions and their latency in ms; nobody knows what is right in such a project."""
    with suppress(EngineFailure):
        server.open(path, text)
        answer = server.complete(Query(offset=offset, prefix="", expected="seen"))
        return [suggestion.text for suggestion in answer.suggestions], answer.latency
    return [], 0.0


def ask_plainly(trap: Trap, language: str) -> str:
    """Add the plain question, which is asked first, beside what it imports in vain; return its path."""
    name, text, _ = FILES[language]
    first, manifests = LACKS[language]
    for manifest, content in manifests.items():
        trap.write(f"{PLAIN}/{manifest}", content)
    path = f"{PLAIN}/{name}"
    trap.ask(path, text.replace("<?php\n", "<?php\n" + first) if language == "php" else first + text)
    trap.questions.insert(0, trap.questions.pop())
    return path


# ------------------------------------------------------------------------------------------------------------ settings


def settings_of(language: str) -> list[Setting]:
    """Return how an engine for the language is looked at: confined and traced, then free."""
    if language == "python":
        return [
            Setting(name="one file, confined", lay=_python("configured_in_one_file"), confine="auto", traced=True),
            Setting(name="many files", lay=_python("configured_in_many_files")),
            Setting(name="for others, no environment", lay=_for_others),
        ]

    def lay(trap: Trap) -> Path | None:
        PROJECTS[language](trap)
        return dependencies.jar(trap, language) if language in JVM else _environment(trap, language)

    return [Setting(name="confined", lay=lay, confine="auto", traced=True), Setting(name="free", lay=lay)]


def _python(settings: str) -> Callable[[Trap], Path | None]:
    """Return a project whose dependency is full of tricks as well."""

    def lay(trap: Trap) -> Path | None:
        getattr(python, settings)(trap)
        with pytest.MonkeyPatch.context() as offline:
            offline.setenv("PIP_FIND_LINKS", str(dependencies.wheel(trap)))
            offline.setenv("PIP_NO_INDEX", "1")
            return _environment(trap, "python", with_dependencies=True)

    return lay


def _for_others(trap: Trap) -> None:
    python.configured_for_others(trap)


def _environment(trap: Trap, language: str, *, with_dependencies: bool = False) -> Path | None:
    """Return what a run makes for a project in that language."""
    info = ProjectInfo(spec="path:.", name="hostile", revision="", checksum="0" * 64)
    kind = languages.CATALOG.load(language).dependencies
    cache = trap.root.parent / "cache"
    environment = environments.prepare(kind, trap.root, info, dependencies=with_dependencies, cache=cache)
    return environment.folder if environment else None


def with_a_hole(folder: Path) -> Callable[..., SandboxPolicy]:
    """Return the sandbox of an engine, but for one folder."""
    whole = Place.walls

    def walls(self: Place, *programs: str, **more: Any) -> SandboxPolicy:
        policy = whole(self, *programs, **more)
        return replace(policy, writes=(*policy.writes, folder))

    return walls


# --------------------------------------------------------------------------------------------------------------- trace


def traced(log: Path) -> Callable[[SandboxPolicy, Sequence[str], int], list[str]]:
    """Return a sandbox from which every process logs what it connects to, sends and starts."""
    around = SandboxPolicy.around

    def trace(walls: SandboxPolicy, argv: Sequence[str], report: int) -> list[str]:
        strace = ["/usr/bin/env", "strace", "-f", "--seccomp-bpf", "-qq", "-A", "-o", str(log), "-e", CALLS]
        return [*strace, *around(walls, argv, report)]

    return trace


def attempts(log: Path, root: Path | None = None) -> list[str]:
    """Return the calls that lead out of the machine, or start a program that goes there or that is below `root`,
    whether they succeeded or not."""
    lines = log.read_text(errors="replace").splitlines()
    own = f'execve("{root}/' if root else "\0"
    return [line for line in lines if OUTSIDE.search(line) or FETCHES.search(line) or own in line]


def programs(log: Path) -> list[str]:
    """Return the programs that ran, each once: a Python with its options, ours in a place of Python's as `answers`."""
    calls = STARTED.findall(log.read_text(errors="replace"))
    return sorted({_program(path, arguments) for path, arguments in calls})


def _program(path: str, arguments: str) -> str:
    name = path.rpartition("/")[2]
    if re.search(r"/ci-eval-[^/]*/programs/python$", path):
        return "answers"
    options = re.findall(r'"([^"]*)"', arguments)[1:]
    if name.startswith("python"):
        return " ".join(["python", *takewhile(re.compile("-[A-Zs]$").match, options)])
    return name


def _group(server: Running) -> list[int]:
    """Return the process group of the engine."""
    if isinstance(server, RunningLsp):
        return [server._running.process.pid]
    return [server._process.pid] if isinstance(server, RunningDriver) else []


def alive(group: int) -> list[str]:
    """Return the processes of a group that still run a second after they were told to end."""
    deadline = time.monotonic() + 1
    while (names := list(_running(group))) and time.monotonic() < deadline:
        time.sleep(0.02)
    return names


def _running(group: int) -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, fields = path.read_text(errors="replace").rpartition(")")
            state, _, of = fields.split()[:3]
            if int(of) == group and state != "Z":
                yield name
