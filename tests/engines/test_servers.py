"""Every engine that is listed as verified: installed from its registry, started, asked, ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ci_eval.core.catalogs import engines
from tests.engines.dossiers import Dossier
from tests.engines.looking import FILES, PLAIN, alive

pytestmark = [pytest.mark.engine, pytest.mark.registry]


def test_a_verified_engine_answers(dossier: tuple[str, str, Dossier]) -> None:
    _, language, seen = dossier
    name, _, expected = FILES[language]
    for look in seen.looks:
        assert expected in look.suggestions[f"{PLAIN}/{name}"], look.setting
        assert look.latency > 0, look.setting


def test_a_verified_engine_is_installed_in_the_version_it_names(dossier: tuple[str, str, Dossier]) -> None:
    name, _, seen = dossier
    assert engines.CATALOG.load(name).version in {"system", seen.version}


def test_nothing_of_an_engine_runs_after_it_was_closed(dossier: tuple[str, str, Dossier]) -> None:
    assert {look.setting: look.survivors for look in dossier[2].looks if look.survivors} == {}


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
    _, error = run.communicate(timeout=300)
    statuses = json.loads((out / "manifest.json").read_text())["statuses"]
    assert servers, error
    assert 1 <= statuses.pop("engine-crash") <= 2, statuses
    assert set(statuses) <= {"ok", "empty", "no-match"}
    assert run.returncode == 0
    assert not [pid for server in servers for pid in alive(server)]


def _below(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [descendant for child in children for descendant in (int(child), *_below(int(child)))]
