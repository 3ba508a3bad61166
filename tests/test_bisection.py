"""What docs/compare.md says about finding the commit that made an engine worse, with git's own bisection."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ci_eval
from tests.projects import GREETER, write

PAGE = Path(ci_eval.__file__).parents[1] / "docs" / "compare.md"
SERVER = Path(__file__).parent / "adapters" / "lsp" / "server.py"
COMMITS = ("first", "second", "not built", "third", "worse", "as bad")

pytestmark = pytest.mark.slow


def engine(folder: Path) -> list[str]:
    """A repository of an engine that finds long words alone from the fifth commit on; the ids of its commits."""
    folder.mkdir()
    ids = []
    for number, title in enumerate(COMMITS):
        words = SERVER.read_text().replace(r"\w+", r"\w+" if number < 4 else r"\w{6,}")
        (folder / "server").write_text(
            f"#!{Path(sys.executable).resolve()}\n# {number}\n{words}".replace("sys.argv[1]", "'full'")
        )
        (folder / "server").chmod(0o755)
        (folder / "Makefile").write_text(f"all:\n\t@{'false' if title == 'not built' else 'true'}\n")
        git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.org"]
        for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", title]):
            subprocess.run([*git, *arguments], check=True)
        ids.append(subprocess.check_output([*git, "rev-parse", "HEAD"], text=True).strip())
    return ids


def test_git_finds_the_commit_that_made_an_engine_worse(tmp_path: Path) -> None:
    project = write(tmp_path / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\n" for i in range(4)})
    commits = engine(tmp_path / "engine")
    section = PAGE.read_text(encoding="utf-8").partition("## Which commit made it worse?")[2]
    script = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert script
    (tmp_path / "work").mkdir()
    given = {"GOOD": commits[0], "BAD": commits[-1], "PROJECT": f"path:{project}", "WORK": str(tmp_path / "work")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-euc", script[1]],
        cwd=tmp_path / "engine",
        env={**os.environ, **given, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{commits[4]} is the first bad commit" in done.stdout
    assert "git bisect skip" in (tmp_path / "engine" / ".git" / "BISECT_LOG").read_text()
