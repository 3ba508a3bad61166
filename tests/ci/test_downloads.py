"""What a pipeline elsewhere takes from GitHub, against a server that speaks GitHub's protocol."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ci.documentation import documented
from tests.ci.github_api import Services, served
from tests.command import command
from tests.needs import need_modules
from tests.projects import GREETER, write


@pytest.fixture
def github(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """Asked from outside of any run."""
    (tmp_path / "artifacts").mkdir()
    with served(Services(tmp_path / "artifacts")) as services:
        monkeypatch.chdir(tmp_path)
        for name, value in {"API_URL": services.address, "REPOSITORY": "o/r", "TOKEN": "t"}.items():
            monkeypatch.setenv(f"GITHUB_{name}", value)
        monkeypatch.delenv("GITHUB_RUN_ID", raising=False)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield services


def stored(services: Services, run: int, name: str, folder: Path | None = None) -> None:
    services.workflows[run] = "logs.yml"
    target = services.artifacts / str(run) / f"{name}.zip"
    target.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("run.txt", str(run))
        for path in folder.rglob("*") if folder else ():
            archive.write(path, path.relative_to(folder or path))


def downloaded(pattern: str) -> tuple[int, str]:
    """Exit code, and what is said."""
    code, _, said = command("ci", "download", pattern, "--beside", "ranker", "--output", "logs")
    return code, said


def test_the_artifacts_are_those_of_the_newest_run_that_has_the_one_beside_them(github: Services) -> None:
    for run, names in ((3, "logs-a logs-b ranker"), (4, "logs-a logs-c other ranker"), (5, "logs-a")):
        for name in names.split():
            stored(github, run, name)
    code, said = downloaded("logs-*")
    assert code == 0, said
    assert {str(path) for path in Path("logs").rglob("*.txt")} == {"logs/logs-a/run.txt", "logs/logs-c/run.txt"}
    assert Path("logs/logs-a/run.txt").read_text() == "4"


@pytest.mark.parametrize(
    ("names", "said"), [("logs-a", "no run of the default branch"), ("ranker", "has no artifact logs-*")]
)
def test_what_is_not_there_is_said(github: Services, names: str, said: str) -> None:
    stored(github, 3, names)
    code, text = downloaded("logs-*")
    assert (code, said in text) == (4, True), text


def test_a_name_that_leads_elsewhere_is_refused(github: Services) -> None:
    for name in ("ranker", ".."):
        stored(github, 3, name)
    code, text = downloaded(".*")
    assert (code, "is no name of a folder" in text) == (4, True), text
    assert not Path("run.txt").exists()


@pytest.mark.slow
def test_the_documented_pipeline_trains_on_the_latest_logs(github: Services, tmp_path: Path) -> None:
    need_modules("lightgbm", "pyarrow")
    project = write(tmp_path / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(8)})
    logs = tmp_path / "made"
    code, _, said = command(
        "generate-ml-logs", "--project", f"path:{project}", "--engine", "words", "--output", logs, "--jobs", 1
    )
    assert code == 0, said
    for name in ("logs-python-a", "ranker-python"):
        stored(github, 3, name, logs)
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "ci-eval"
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m ci_eval "$@"\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    subprocess.run(
        ["bash", "-euc", documented("An ML pipeline that pulls the latest logs")],
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    assert (tmp_path / "model.json").exists()
