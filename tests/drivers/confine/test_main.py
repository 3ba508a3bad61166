"""The options of the launcher."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ci_eval.plugins.adapters.process import START
from ci_eval.plugins.drivers.confine import landlock
from ci_eval.plugins.drivers.confine.main import Options, _exclude_git
from tests.projects import write


def test_paths_may_be_repeated_and_what_follows_the_dashes_is_the_command() -> None:
    own = ["--confine", "required", "--read", "/a", "--read", "/b", "--write", "/c", "--caller", "7"]
    options = Options([*own, "--", "x", "--read", "y"])
    assert options.rules == [("/a", landlock.READ), ("/b", landlock.READ), ("/c", landlock.WRITE)]
    assert (options.confine, options.caller, options.command) == ("required", 7, ["x", "--read", "y"])
    assert (options.memory, options.report, options.canary) == (0, -1, "")


def test_the_folder_of_git_is_left_out_and_the_folder_itself_can_be_listed(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="", **{".git/config": "token"})
    assert sorted(_exclude_git(str(root), landlock.READ)) == [
        (str(root), landlock.LIST),
        (str(root / "a.py"), landlock.READ | landlock.NO_LINK),
    ]
    assert _exclude_git(str(tmp_path), landlock.READ) == [(str(tmp_path), landlock.READ)]


def test_it_imports_none_of_the_slow_modules() -> None:
    code = START.replace("; main()", "; print(*sys.modules)")
    names = subprocess.run([sys.executable, "-I", "-S", "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    imported = set(names.stdout.split())
    assert "ci_eval.plugins.drivers.confine.main" in imported
    assert not imported & {"typing", "dataclasses", "collections", "contextlib", "enum", "functools", "re", "signal"}
