"""Golf, as a task among others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.cli.group import cli
from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.core.model import PlayItem, Properties
from ci_eval.core.model.tokens import Kind
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.preparation import load_task
from ci_eval.plugins.tasks import golf
from tests.projects import GREETER, timeless, write

GOLF = "actions.strategy.completionGolf=true"


@pytest.mark.parametrize(
    "other",
    ["actions.strategy.prefix={name: SimplePrefix, n: 1}", "interpret.userModel={}", "interpret.saveLogs=true"],
)
def test_what_asks_about_tokens_is_refused(other: str) -> None:
    with pytest.raises(ConfigError, match="golf, which types lines in its own way"):
        load_task(load(None, overrides=[GOLF, other]).config)


def test_the_task_and_the_key_are_the_same(tmp_path: Path) -> None:
    project = write(tmp_path / "p", main__py=GREETER)
    for name, given in (("task", ("--task", "golf")), ("key", ("--set", GOLF))):
        argv = ["evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", "1", *given]
        cli.main([*argv, "--output", str(tmp_path / name)], standalone_mode=False)
    assert timeless(tmp_path / "task") == timeless(tmp_path / "key")
    assert Workspace.open(tmp_path / "key").manifest().task == "golf"


def test_a_list_is_called_up_at_the_first_four_letters_of_each_token() -> None:
    line = PlayItem(
        session="1", offset=0, expected_text="os.path", ranges=((0, 2), (3, 7)), properties=Properties(kind=Kind.LINE)
    )
    assert list(golf.lookup_offsets(line)) == [(0, 0), (1, 0), (3, 3), (4, 3), (5, 3), (6, 3)]
    assert golf.askable(line) == 6
