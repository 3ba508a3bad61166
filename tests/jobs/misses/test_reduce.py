"""A miss is reduced to a few lines, which the engine still misses for the same cause."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.misses import reduce as reduce_job
from ci_eval.jobs.misses.oracle import Oracle, Project
from tests.command import command
from tests.here import one_process
from tests.jobs.misses.test_causes import SERVER, TEXT
from tests.projects import write

Run = Callable[..., Path]
Reduced = tuple[Path, str]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A function: defect → the workspace of the server that has it, evaluated once."""
    root = tmp_path_factory.mktemp("reduced")
    project = write(root / "p", a__py=TEXT, b__py="class Other:\n    def total(self):\n        pass\n", README__md="p")

    def run(defect: str, *options: object) -> Path:
        folder = root / defect.replace(" ", "-")
        if not folder.exists():
            engine = options or ("--engine-command", f"{sys.executable} {SERVER} {defect}")
            with one_process():
                code, _, err = command(
                    *("evaluate", "--project", f"path:{project}", "--language", "python", *engine),
                    *("--jobs", 1, "--output", folder),
                )
            assert code == 0, err
        return folder

    return run


def first_miss(workspace: Path, cause: str) -> str:
    code, _, err = command("causes", workspace)
    assert code == 0, err
    clusters = json.loads((workspace / "reports" / "causes.json").read_text())["clusters"]
    example: dict[str, Any] = next(one for one in clusters if one["cause"] == cause)["examples"][0]
    return str(example["session"])


def reduce(workspace: Path, session: str, output: Path, *options: object) -> Reduced:
    code, out, err = command("reduce", workspace, session, "--output", output, "--trust", *options)
    assert code == 0, err
    assert "seen in 3 of 3 fresh engines" in out
    return output, out


def test_a_missing_member_needs_its_class_and_one_use(planted: Run, tmp_path: Path) -> None:
    workspace = planted("inherited")
    session = first_miss(workspace, "the member is missing")
    output, _ = reduce(workspace, session, tmp_path / "r", "--case", tmp_path / "case.py")
    files = [path.name for path in (output / "case").rglob("*") if path.is_file()]
    text = (output / "case" / "a.py").read_text()
    assert files == ["a.py"]
    assert "def describe(" in text
    assert "self.describe(" in text
    assert len(text.splitlines()) <= 7
    assert "^ expect: describe" in (tmp_path / "case.py").read_text()


def test_a_bare_member_is_still_ahead_of_a_local_name(planted: Run, tmp_path: Path) -> None:
    workspace = planted("bare")
    output, _ = reduce(workspace, first_miss(workspace, "members without their object"), tmp_path / "r")
    text = (output / "case" / "a.py").read_text()
    assert len(text.splitlines()) <= 4
    assert text.startswith("def ")


def test_a_wrong_range_is_said_in_the_issue_and_in_the_case(planted: Run, tmp_path: Path) -> None:
    workspace = planted("range")
    session = first_miss(workspace, "accepting the right name damages the text around it")
    output, _ = reduce(workspace, session, tmp_path / "r", "--case", tmp_path / "case.py")
    issue = (output / "issue.md").read_text()
    assert "accepting the right name damages the text around it" in issue
    assert "3 of 3 fresh processes" in issue
    assert "textDocument/completion" in (output / "exchange.txt").read_text()
    assert "; leaves: " in (tmp_path / "case.py").read_text()


def test_the_best_so_far_is_kept_when_the_time_is_up(
    planted: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minutes = iter([0.0, *[1.0] * 4])
    monkeypatch.setattr(reduce_job, "time", SimpleNamespace(monotonic=lambda: next(minutes, 1000.0)))
    workspace = planted("inherited")
    output, out = reduce(workspace, first_miss(workspace, "the member is missing"), tmp_path / "r", "--for", "1m")
    assert "the time was up" in out
    assert not (output / "case" / "b.py").exists()
    assert "class Child(Base):" in (output / "case" / "a.py").read_text()


def test_the_best_so_far_is_kept_at_an_interrupt(planted: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    holds, asked = Oracle.holds, iter([False, False, True])

    def interrupt(self: Oracle, project: Project) -> bool:
        if next(asked, False):
            raise KeyboardInterrupt
        return holds(self, project)

    monkeypatch.setattr(Oracle, "holds", interrupt)
    workspace = planted("inherited")
    _, out = reduce(workspace, first_miss(workspace, "the member is missing"), tmp_path / "r")
    assert "ended: interrupted" in out


def test_what_is_first_is_not_reduced(planted: Run, tmp_path: Path) -> None:
    workspace = planted("none")
    _, sessions = next(Workspace.open(workspace).sessions(Session))
    first = next(session.id for session in sessions if session.lookups and session.lookups[-1].rank == 1)
    code, _, err = command("reduce", workspace, first, "--output", tmp_path / "r", "--trust")
    assert code == 3
    assert "no miss is left" in err


OF_TEXT = """
class Label:
    def __init__(self, label):
        self.count = 1
        self.label = label

    def upper_case(self, other):
        print(other)
        return self.label.upper()
"""


def test_of_a_member_whose_definition_nobody_knows_that_of_its_object_is_kept(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=OF_TEXT)
    server = ("--engine-command", f"{sys.executable} {SERVER} none", "--language", "python", "--jobs", 1)
    with one_process():
        code, _, err = command("evaluate", "--project", f"path:{project}", *server, "--output", tmp_path / "w")
    assert code == 0, err
    _, sessions = next(Workspace.open(tmp_path / "w").sessions(Session))
    missed = next(session.id for session in sessions if session.expected_text == "upper")
    output, out = reduce(tmp_path / "w", missed, tmp_path / "r")
    text = (output / "case" / "a.py").read_text()
    assert "the definition of the object before it" in out
    assert "self.label = " in text
    assert "self.count" not in text


MISSING = (
    "class Box:\n    pass\n\n\ndef look(value, other):\n    if value in other:\n        return Box()\n    return None\n"
)
"""A file in which ty does not offer `in`."""


@pytest.mark.registry
def test_a_real_server_still_misses_a_keyword(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=MISSING, b__py="import a\n")
    options = ("--engine", "ty@0.0.104", "--language", "python", "--project", f"path:{project}", "--jobs", 1)
    ty = tmp_path / "ty"
    code, _, err = command("evaluate", *options, "--output", ty)
    assert code == 0, err
    missed = [
        session.id
        for _, sessions in Workspace.open(ty).sessions(Session)
        for session in sessions
        if session.expected_text == "in" and session.lookups and session.lookups[-1].rank is None
    ]
    output, _ = reduce(ty, missed[0], tmp_path / "r")
    assert len((output / "case" / "a.py").read_text().splitlines()) <= 3
