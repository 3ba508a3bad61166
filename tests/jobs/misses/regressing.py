"""The repository of a server with three planted regressions, and a commit that does not build."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

SERVER = Path(__file__).parent / "planted.py"
COMMITS = 64
PLANTED = {"inherited": 13, "bare": 30, "range": 51}
"""The commits that lose inherited members, that offer members as bare names, and that replace the wrong range."""
BROKEN = 32


def git(folder: Path, *arguments: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(
        command, env={**os.environ, **who, **alone}, check=True, capture_output=True, text=True
    ).stdout.strip()


def make_repository(folder: Path) -> list[str]:
    """Make the repository, and return its commits. The build writes `server` from `source`."""
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    head = f"#!{Path(sys.executable).resolve()}\n"
    source = re.sub(r'DEFECT == ("\w+")', r"\1 in DEFECT", SERVER.read_text())
    for number in range(COMMITS):
        planted = [name for name, since in PLANTED.items() if number >= since]
        text = source.replace("DEFECT = sys.argv[1]", f"DEFECT = {planted}")
        (folder / "source").write_text(f"{head}# {number}\n{text}")
        (folder / "build").write_text("exit 1\n" if number == BROKEN else "cp source server && chmod +x server\n")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", "--message", f"commit {number}")
    return git(folder, "rev-list", "--reverse", "HEAD").split()
