"""What several jobs are tested on: a project of which a ranker can learn and its logs; a finished night."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command import command
from tests.here import one_process
from tests.logged import lines, run
from tests.needs import need_module
from tests.projects import GREETER, write


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("ml") / "p", **{f"file{i:02}__py": lines(i) for i in range(14)})


@pytest.fixture(scope="session")
def logs(project: Path) -> Path:
    """A workspace with logs in every format."""
    need_module("pyarrow")
    folder = project.parent / "logs"
    formats = [part for form in ("parquet", "jsonl", "jetbrains") for part in ("--log-format", form)]
    command = ("generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", folder, *formats)
    with one_process():
        code, out, err = run(*command)
    assert code == 0, err
    assert "candidate" in out
    return folder


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished evaluation by words."""
    root = tmp_path_factory.mktemp("hostile")
    project = write(root / "p", a__py=GREETER, b__py=GREETER.replace("Greeter", "Welcomer"))
    code, _, err = command(
        "evaluate", "--project", f"path:{project}", "--engine", "words", "--output", root / "night", "--jobs", 1
    )
    assert code == 0, err
    return root / "night"


@pytest.fixture
def hostile(night: Path, tmp_path: Path) -> Path:
    """A copy to do things to."""
    return Path(shutil.copytree(night, tmp_path / "hostile"))
