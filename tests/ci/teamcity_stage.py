"""Helpers of the tests of TeamCity: settings that are compiled and executed, and a repository like ci-eval's."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.ci.tools import kotlinc, teamcity_library

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
test "$2" = -c && exit
for each in "$@"; do printf "%s\\0" "$each"; done > called
"""


def executed(path: Path) -> tuple[int, str, str]:
    done = kotlinc(["-cp", teamcity_library(), "-script", str(path)], path.parent)
    return done.returncode, done.stdout, done.stderr


def builds(model: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from model["buildTypes"]
    for each in model["subProjects"]:
        yield from builds(each)


def make_source(folder: Path) -> tuple[Path, str]:
    """Fill a repository with what recipes call of ci-eval's, and an environment. Returns it and its commit."""
    for name in (".teamcity/run.py", ".github/actions/run.py"):
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, folder / name)
    python = folder / ".environment" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON)
    python.chmod(0o755)
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for argv in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run([*git, *argv], check=True)
    return folder, subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
