"""No engine reaches for the network while it is asked, whatever the project names and lacks.

A blocked attempt counts as well, so that the sandbox helps nobody to pass.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.plugins.adapters.process import SandboxPolicy
from tests.engines.dossiers import Dossier
from tests.engines.looking import attempts, traced

pytestmark = [pytest.mark.engine, pytest.mark.registry, pytest.mark.needs("strace")]


def test_nothing_is_fetched(dossier: tuple[str, str, Dossier]) -> None:
    assert [attempt for look in dossier[2].looks for attempt in look.attempts] == []


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 53))",
        "import subprocess; subprocess.run(['npm', '--version'])",
        "import subprocess; subprocess.run(['{root}/tool'])",
    ],
    ids=["a connection", "a package client", "a program of the project"],
)
def test_who_reaches_out_is_seen(code: str, tmp_path: Path) -> None:
    for path in (tmp_path / "tool", tmp_path / "bin" / "npm"):
        path.parent.mkdir(exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
    argv = traced(tmp_path / "log")(SandboxPolicy(), [sys.executable, "-c", code.format(root=tmp_path)], 2)
    subprocess.run(argv, check=True, env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    assert len(attempts(tmp_path / "log", tmp_path)) == 1
