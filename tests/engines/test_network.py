"""No engine reaches for the network while it is asked, whatever the project names and lacks; with no walls' help."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ci_eval import engines, languages, machine
from ci_eval.adapters import environments
from ci_eval.adapters.confinement import Walls
from ci_eval.contracts import Engine, Query, Surroundings
from tests.engines.test_servers import FILES
from tests.projects import INFO, write

KNOWN = [engine for name in engines.names() if (engine := engines.CATALOG.load(name)).verified]
ASKED = [(engine, language) for engine in KNOWN for language in sorted(engine.languages or ())]
LACKS = {
    "python": ("import requests\n", {"requirements.txt": "requests==2.32.3\n"}),
    "typescript": ('import lodash from "lodash";\n', {"package.json": '{"dependencies": {"lodash": "4.17.21"}}'}),
    "javascript": ('const lodash = require("lodash");\n', {"package.json": '{"dependencies": {"lodash": "4.17.21"}}'}),
    "php": ("", {"composer.json": '{"require": {"monolog/monolog": "3.0.0"}}'}),
    "cpp": ("#include <boost/any.hpp>\n", {"conanfile.txt": "[requires]\nboost/1.80.0\n"}),
    "ruby": ("require 'rails'\n", {"Gemfile": "source 'https://rubygems.org'\ngem 'rails'\n"}),
    "java": ("import com.google.gson.Gson;\n", {}),
    "kotlin": ("import com.google.gson.Gson\n", {}),
    "scala": ("import com.google.gson.Gson\n", {}),
    "go": ("", {"go.mod": "module example\n\ngo 1.19\n\nrequire github.com/gorilla/mux v1.8.1\n"}),
}
"""What a file imports that is not there, and the files that say where to get it."""

OUTSIDE = re.compile(r"AF_INET6?\b.*")
FETCHES = re.compile(r'execve\("[^"]*/(npm|npx|pip|gem|composer|mvn)"')
"""Programs that would ask for it in the engine's place; `go` may start: what it then connects to is seen."""

pytestmark = [pytest.mark.engine, pytest.mark.registry, pytest.mark.needs("strace")]


def watched(log: Path) -> Callable[[Walls, Sequence[str], int], list[str]]:
    """Walls from which every process writes down what it connects to, sends and starts."""
    around = Walls.around

    def watch(walls: Walls, argv: Sequence[str], report: int) -> list[str]:
        calls = "trace=connect,sendto,sendmsg,sendmmsg,execve"
        return ["/usr/bin/env", "strace", "-f", "-qq", "-A", "-o", str(log), "-e", calls, *around(walls, argv, report)]

    return watch


def attempts(log: Path) -> list[str]:
    """The calls that lead out of the machine, or start a program that goes there."""
    lines = log.read_text(errors="replace").splitlines()
    return [line for line in lines if (OUTSIDE.search(line) or FETCHES.search(line))]


@pytest.mark.parametrize(("engine", "language"), ASKED, ids=lambda value: getattr(value, "name", value))
def test_nothing_is_fetched(engine: Engine, language: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, marked, expected = FILES[language]
    first, manifests = LACKS[language]
    text = marked.replace("<?php\n", "<?php\n" + first) if language == "php" else first + marked
    root = tmp_path / "project"
    write(root, **manifests, **{name: text.replace("|", expected)})
    cache = machine.cache_folder()
    needs = environments.prepare(
        languages.CATALOG.load(language).dependencies, root, INFO, dependencies=False, cache=cache
    )
    around = Surroundings(
        root=root,
        language=language,
        keywords=frozenset(),
        cache=cache,
        timeout=120,
        memory=0,
        environment=needs.folder if needs else None,
        confine="off",
    )
    installation = engine.install(None, cache)
    monkeypatch.setattr(Walls, "around", watched(tmp_path / "log"))
    running = engine.start(installation, around)
    try:
        running.open(name, text.replace("|", ""))
        answer = running.complete(Query(offset=text.index("|"), prefix="", expected=expected))
        # What is fetched is fetched beside the answer.
        time.sleep(3)
    finally:
        running.close()
    assert expected in [found.text for found in answer.suggestions]
    assert attempts(tmp_path / "log") == []


def test_who_reaches_for_the_network_is_seen(tmp_path: Path) -> None:
    code = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 53))"
    argv = watched(tmp_path / "log")(Walls(), [sys.executable, "-c", code], 2)
    subprocess.run(argv, check=True)
    assert len(attempts(tmp_path / "log")) == 1
