"""Which files of a project are evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.core.actions import source_files
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.model import (
    ActionsConfig,
)
from ci_eval.plugins.languages.python import LANGUAGE
from tests.projects import generate, write


def test_only_source_files_of_the_project_are_found(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="", b__txt="", **{".hidden/c__py": "", "node_modules/d__py": "", "e/f__pyi": ""})
    (root / "link.py").symlink_to("/etc/passwd")
    assert list(source_files(root, LANGUAGE, ActionsConfig(ignore_file_names=("a.py",)))) == ["e/f.pyi"]


@pytest.mark.parametrize("given", ["missing", "../p2", "/"])
def test_an_evaluation_root_must_be_in_the_project(tmp_path: Path, given: str) -> None:
    (tmp_path / "p2").mkdir()
    root = write(tmp_path / "p", a__py="")
    with pytest.raises(ConfigError, match="not in the project"):
        list(source_files(root, LANGUAGE, ActionsConfig(evaluation_roots=(given,))))


def test_only_the_regular_files_of_a_project_are_read(trap: Path, tmp_path: Path) -> None:
    assert list(source_files(trap, LANGUAGE, ActionsConfig())) == ["a.py"]
    assert [actions.path for actions in generate(trap, tmp_path / "w").actions()] == ["a.py"]


def test_a_file_that_is_an_evaluation_root_may_have_any_suffix(tmp_path: Path) -> None:
    """A script without a suffix has sessions; a text that is no code has an error or none, and ends nothing."""
    root = write(tmp_path / "p", tool="import os\n\n\nprint(os.environ)\n", README__md="# What *this* is\n")
    workspace = generate(root, tmp_path / "w", ActionsConfig(evaluation_roots=("tool", "README.md")))
    sessions = {head.path: head.sessions for head in workspace.action_heads()}
    assert sessions["tool"] > 0
    assert "README.md" in sessions
