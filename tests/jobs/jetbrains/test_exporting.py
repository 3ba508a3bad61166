"""Workspaces of ours, exported and imported again."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from ci_eval.core.config import load
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.jetbrains import generations
from tests.command import command
from tests.projects import GREETER, sessions, write


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("exporting")
    project = write(root / "p", a__py=GREETER, b__py='x = "😀"; y = x\nprint(x, y)\n')
    prefix = "actions.strategy.prefix={name: SimplePrefix, n: 1}"
    code, _, err = command(
        "evaluate", "--project", f"path:{project}", "--engine", "words", "--output", root / "night", "--set", prefix
    )
    assert code == 0, err
    return root / "night"


@pytest.mark.parametrize("to", generations.names())
def test_what_was_exported_comes_back_whole(tmp_path: Path, night: Path, to: str) -> None:
    assert command("export", night, "--to", to, "--output", tmp_path / "theirs")[0] == 0
    code, _, err = command("import", tmp_path / "theirs", "--output", tmp_path / "ours")
    assert code == 0, err
    assert f"({to}:" in err
    was, now = Workspace.open(night), Workspace.open(tmp_path / "ours")
    assert sessions(now) == sessions(was)
    assert now.manifest().conditions() == was.manifest().conditions()
    assert now.manifest().statuses == was.manifest().statuses
    code, out, err = command("compare", night, tmp_path / "ours", "--output", tmp_path / "compared")
    assert code == 0, err
    text = " ".join(out.split())
    assert ("0 better · 0 worse of" in text, "only in" in text) == (True, False)
    assert command("rerank", tmp_path / "ours", "--completion-type", "FREQUENCY", "--output", tmp_path / "r")[0] == 0


@pytest.mark.parametrize("to", generations.names())
def test_the_configuration_is_of_the_generation_and_loads_here(tmp_path: Path, night: Path, to: str) -> None:
    assert command("export", night, "--to", to, "--output", tmp_path / "theirs")[0] == 0
    path = tmp_path / "theirs/config.json"
    raw = msgspec.json.decode(path.read_bytes())
    assert [each.name for each in generations.CATALOG.all() if each.wrote(raw)] == [to]
    config = load(path, environment={}).config
    assert (config.language, config.actions.strategy.prefix.n) == ("python", 1)


def test_a_task_that_the_plugin_does_not_have_is_refused(tmp_path: Path) -> None:
    project = write(tmp_path / "p", a__py=GREETER)
    assert command(
        "evaluate", "--project", f"path:{project}", "--engine", "oracle", "--task", "golf", "--output", tmp_path / "g"
    )[0] == 0  # fmt: skip
    code, _, err = command("export", tmp_path / "g", "--to", "ij23", "--output", tmp_path / "theirs")
    assert code == 2
    assert "the task golf" in " ".join(err.split())
    assert not (tmp_path / "theirs").exists()


def test_a_view_changes_the_configuration_that_is_written(tmp_path: Path, night: Path) -> None:
    filters = "reports.sessionsFilters=[kind=FIELD, kind=FIELD prefix=1]"
    view = ("--title", "Nightly", "--set", filters, "--set", "reports.headline=all")
    code, _, err = command("export", night, "--to", "ij23", *view, "--output", tmp_path / "theirs")
    assert code == 0, err
    reports = load(tmp_path / "theirs/config.json", environment={}).config.reports
    assert reports.evaluation_title == "Nightly"
    # The plugin has no condition on typed letters, so that filter is left out.
    assert [part.name for part in reports.sessions_filters] == ["kind=FIELD"]
    assert not (night / "view.yaml").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--to", "ij23", "--filter", "kind=FIELD"), "--to writes all sessions"),
        (("--format", "csv", "--title", "Nightly"), "leave out --title and --set"),
    ],
)
def test_a_view_that_says_nothing_to_an_export_is_refused(
    tmp_path: Path, night: Path, options: tuple[str, ...], message: str
) -> None:
    code, _, err = command("export", night, *options, "--output", tmp_path / "no")
    assert (code, message in " ".join(err.split())) == (2, True), err
