"""The tutorials, as their readers go through them: every block is executed as it stands there, in a fresh environment.

What a page says is printed must be printed, though figures may be others.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ci_eval
from tests.jobs.misses.toy import make_engine

ROOT = Path(ci_eval.__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("tutorial-*.md"))
BLOCK = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.MULTILINE)

# In one group, so that the environment is made once.
pytestmark = [
    pytest.mark.registry,
    pytest.mark.slow(minutes=3),
    pytest.mark.engine,
    pytest.mark.xdist_group("tutorials"),
]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a virtual environment has its programs into which ci-eval was installed as the README says."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", folder / ".venv"], check=True)
    pip = [str(folder / ".venv" / "bin" / "pip"), "install", "--quiet", "--no-compile", f"{ROOT}[ml]", "polars"]
    subprocess.run(pip, check=True, timeout=600)
    return folder / ".venv" / "bin"


def script_of(page: Path) -> str:
    """All blocks of commands and of Python, in order, for bash."""
    parts = {"sh": "{}", "python": "python - << 'END'\n{}END\n"}
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return "".join(parts[language].format(block) for language, block in found if language in parts)


def figureless(text: str) -> str:
    return " ".join(re.sub(r"\d[\d,.]*", "#", text).split())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_works_as_it_stands_there(page: Path, programs: Path, tmp_path: Path) -> None:
    if page.stem == "tutorial-red-night":
        make_engine(tmp_path / "engine")
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": ""}
    done = subprocess.run(
        ["bash", "-euc", script_of(page)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    printed = figureless(done.stdout)
    quoted = [
        line for language, block in BLOCK.findall(page.read_text()) if not language for line in block.splitlines()
    ]
    assert [line for line in quoted if figureless(line) not in printed] == []
    shown = {Path(word) for word in re.findall(r"`(\w[\w/-]*/[\w/-]+\.html)`", page.read_text())}
    assert [path for path in shown if not (tmp_path / path).is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_has_blocks_of_known_kinds_only(page: Path) -> None:
    assert {language for language, _ in BLOCK.findall(page.read_text())} <= {"sh", "python", ""}
    assert script_of(page).count("ci-eval ") >= 4
