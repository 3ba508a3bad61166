"""Every engine that is listed as verified: installed from its registry, started, asked, ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from ci_eval import engines, machine
from ci_eval.adapters.driven import DrivenEngine, RunningDriver
from ci_eval.adapters.lsp.engine import LspEngine, RunningLsp
from ci_eval.adapters.recipes import FromRecipe
from ci_eval.contracts import Query, Surroundings

FILES = {
    "python": ("a.py", "import os\nos.path.|\n", "join"),
    "typescript": ("a.ts", "const words: string[] = [];\nwords.|;\n", "map"),
    "javascript": ("a.js", "const words = [''];\nwords.|;\n", "map"),
    "php": ("a.php", "<?php\nclass A { public function rename() {} }\n$a = new A();\n$a->|;\n", "rename"),
    "cpp": ("a.cpp", "struct A { int width; };\nint f(A a) { return a.|; }\n", "width"),
    "ruby": ("a.rb", "class A\n  def width\n    1\n  end\nend\n\nA.new.|()\n", "width"),
    "java": ("A.java", "class A { int size(String text) { return text.|; } }\n", "length"),
    "kotlin": ("a.kt", "fun size(text: String) = text.|\n", "length"),
    "scala": ("A.scala", "class A { def size(text: String): Int = text.| }\n", "length"),
    "go": ("a.go", 'package main\n\nimport "strings"\n\nfunc main() { strings.| }\n', "TrimSpace"),
}
"""Name of a file, its text with a bar at the caret, and what must be suggested there."""

SERVERS = [engine for name in engines.names() if isinstance(engine := engines.CATALOG.load(name), FromRecipe)]
ASKED = [(engine, language) for engine in SERVERS if engine.verified for language in sorted(engine.languages or ())]

pytestmark = [pytest.mark.engine, pytest.mark.registry]


def alive(group: int) -> list[str]:
    """The processes of a group that still run, a second after they were told to end."""
    deadline = time.monotonic() + 1
    while (found := list(_running(group))) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def _running(group: int) -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, rest = path.read_text(errors="replace").rpartition(")")
            state, _, of = rest.split()[:3]
            if int(of) == group and state != "Z":
                yield name


@pytest.mark.parametrize(("engine", "language"), ASKED, ids=lambda value: getattr(value, "name", value))
def test_a_verified_engine_answers(engine: LspEngine | DrivenEngine, language: str, tmp_path: Path) -> None:
    name, text, expected = FILES[language]
    root = tmp_path / "project"
    root.mkdir()
    offset = text.index("|")
    (root / name).write_text(text.replace("|", ""))
    (root / "go.mod").write_text("module example\n\ngo 1.19\n")
    cache = machine.cache_folder()
    installation = engine.install(None, cache)
    assert engine.version in {"system", installation.info.version}
    server = engine.start(
        installation,
        Surroundings(root=root, language=language, keywords=frozenset(), cache=cache, timeout=60, memory=8 * 10**9),
    )
    assert isinstance(server, RunningLsp | RunningDriver)
    try:
        server.open(name, text.replace("|", ""))
        pid = server._running.pid if isinstance(server, RunningLsp) else server._process.pid
        answer = server.complete(Query(offset=offset, prefix="", expected=expected))
        assert expected in [found.text for found in answer.suggestions]
        assert answer.latency > 0
    finally:
        server.close()
    assert alive(pid) == []


def test_a_server_that_is_killed_in_the_middle_costs_the_sessions_it_was_asked(tmp_path: Path) -> None:
    root, out = tmp_path / "project", tmp_path / "out"
    root.mkdir()
    for i in range(3):
        (root / f"m{i}.py").write_text("import os\n\n\ndef f(path):\n" + "    path = os.path.join(path, os.sep)\n" * 60)
    argv = [sys.executable, "-m", "ci_eval", "evaluate", "--engine", "ty", "--project", f"path:{root}", "--jobs", "1"]
    run = subprocess.Popen([*argv, "--output", str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    sessions = out / "sessions"
    while run.poll() is None and not (sessions.is_dir() and any(sessions.iterdir())):
        time.sleep(0.02)
    servers = [pid for pid in _below(run.pid) if Path(f"/proc/{pid}/exe").resolve().name == "ty"]
    for pid in servers:
        os.kill(pid, signal.SIGKILL)
    _, said = run.communicate(timeout=300)
    statuses = json.loads((out / "manifest.json").read_text())["statuses"]
    assert servers, said
    assert 1 <= statuses.pop("engine-crash") <= 2, statuses
    assert set(statuses) <= {"ok", "empty", "no-match"}
    assert run.returncode == 0
    assert not [pid for server in servers for pid in alive(server)]


def _below(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [each for child in children for each in (int(child), *_below(int(child)))]
