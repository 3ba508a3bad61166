"""Calls that fail once the filter is there, and those that do not."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.adapters.confinement import PACKAGE
from tests.needs import lack

CODE = """
import os, sys
sys.path.insert(0, {package!r})
from ci_eval.drivers.confine import kernel, seccomp
import socket, threading
kernel.prctl(kernel.NO_NEW_PRIVILEGES)
seccomp.restrict(truncate={truncate})
{attempt}
"""


def tried(tmp_path: Path, attempt: str, *, truncate: bool = False) -> str:
    """The last word of a Python under the filter: "" where nothing failed."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"):
        lack("there is no filter for this machine")
    (tmp_path / "file").write_text("abc")
    code = CODE.format(package=str(PACKAGE), truncate=truncate, attempt=attempt)
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    return ended.stderr.strip().rpartition("\n")[2].partition(":")[0]


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.socket()",
        "socket.socket(socket.AF_UNIX)",
        "os.chmod('file', 0o777)",
        "os.chown('file', 0, 0)",
        "os.setxattr('file', 'user.a', b'b')",
        "kernel.syscall({'x86_64': 272, 'aarch64': 97}[os.uname().machine], 1 << 28)  # unshare: a user namespace",
    ],
    ids=["TCP", "Unix socket", "rights", "owner", "attribute", "namespace"],
)
def test_what_leads_outside_is_refused(tmp_path: Path, attempt: str) -> None:
    assert tried(tmp_path, attempt) == "PermissionError"


def test_files_processes_and_threads_are_as_before(tmp_path: Path) -> None:
    attempt = "open('new', 'w').close(); threading.Thread(target=print).start(); assert os.system('true') == 0"
    assert tried(tmp_path, attempt) == ""


def test_files_are_cut_unless_that_is_refused_too(tmp_path: Path) -> None:
    assert [tried(tmp_path, "os.truncate('file', 1)", truncate=refused) for refused in (False, True)] == [
        "",
        "PermissionError",
    ]
