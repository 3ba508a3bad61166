"""Names whose import is missing, as a task among others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ci_eval.cli.group import cli
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.preparation import load_task
from tests.projects import timeless, write

REMOVED = "actions.strategy.imports=removed"
PROJECTS = {
    "python": {"main__py": "from goods import Box\n\nBox()\n", "goods__py": "class Box: pass\n"},
    "typescript": {
        "main__ts": 'import { Box } from "./goods";\n\nnew Box();\n',
        "goods__ts": "export class Box {}\n",
    },
    "go": {"main__go": 'package main\n\nimport "strings"\n\nfunc main() {\n\tstrings.ToUpper("a")\n}\n'},
}
METRICS = ("ImportRecallAt1", "ImportRecallAt5", "RightModuleAt1", "SameModuleAt1", "ImportCompilesAt1")


@pytest.mark.parametrize("language", PROJECTS)
@pytest.mark.parametrize(("engine", "value", "of_offered"), [("oracle", 1.0, 1.0), ("empty", 0.0, None)])
def test_controls_are_at_the_ends(
    tmp_path: Path, language: str, engine: str, value: float, of_offered: float | None
) -> None:
    project = write(tmp_path / "p", **PROJECTS[language])
    argv = ["evaluate", "--project", f"path:{project}", "--engine", engine, "--language", language, "--set", REMOVED]
    argv += ["--set", "interpret.allowedEmpty=1", "--jobs", "1", "--output", str(tmp_path / "out")]
    cli.main(argv, standalone_mode=False)
    report = json.loads((tmp_path / "out" / "reports" / "metrics.json").read_text())
    figures = report["evaluations"][0]["filters"]["ALL"]
    # A name of three letters is asked for once.
    assert figures["sessions"] == (2 if language == "go" else 1)
    assert [figures["metrics"][name]["value"] for name in METRICS] == [value, value, of_offered, of_offered, of_offered]
    assert "RecallAt1" not in figures["metrics"]


def test_the_task_and_the_key_are_the_same(tmp_path: Path) -> None:
    project = write(tmp_path / "p", **PROJECTS["python"])
    for name, options in (("task", ("--task", "imports")), ("key", ("--set", REMOVED))):
        argv = ["evaluate", "--project", f"path:{project}", "--engine", "oracle", "--jobs", "1", *options]
        cli.main([*argv, "--output", str(tmp_path / name)], standalone_mode=False)
    assert timeless(tmp_path / "task") == timeless(tmp_path / "key")
    assert Workspace.open(tmp_path / "key").manifest().task == "imports"


@pytest.mark.parametrize(
    "other",
    [
        "actions.strategy.prefix={name: SimplePrefix, n: 1}",
        "actions.strategy.context=PREVIOUS",
        "actions.strategy.evolution={share: 0.5, what: lines}",
        "interpret.userModel={}",
        "interpret.saveLogs=true",
    ],
)
def test_what_asks_otherwise_is_refused(other: str) -> None:
    with pytest.raises(ConfigError, match="imports, which types uses of imports in its own way"):
        load_task(load(None, overrides=["language=python", REMOVED, other]).config)


def test_a_language_without_such_imports_is_refused() -> None:
    with pytest.raises(ConfigError, match="go, java, javascript, python, typescript, not in ruby"):
        load_task(load(None, overrides=["language=ruby", REMOVED]).config)
