"""Shards of a suite, put together: what one machine would have made."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.jobs.suites import merge
from tests.command import command
from tests.jobs.test_suites import configured

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of three projects as a whole, and in two shards."""
    folder = tmp_path_factory.mktemp("suite")
    path = configured(folder, 3)
    for name, more in (("whole", ()), ("s1", ("--shard", "1/2")), ("s2", ("--shard", "2/2"))):
        ended, _, said = command("evaluate", path, "--jobs", 1, *more, "--output", folder / name)
        assert ended == 0, said
    return folder


@pytest.fixture
def shards(suite: Path, tmp_path: Path) -> tuple[Path, Path]:
    for name in ("s1", "s2"):
        shutil.copytree(suite / name, tmp_path / "shards" / name)
    return tmp_path / "shards" / "s1", tmp_path / "shards" / "s2"


def untimed(folder: Path) -> dict[str, Any]:
    """What the suite says, without what was measured in time."""
    found: dict[str, Any] = json.loads((folder / "suite.json").read_text())
    for figures in (found["overall"], *(each["figures"] for each in found["projects"])):
        for name in [name for name in figures if "Latency" in name or "Within" in name]:
            del figures[name]
    return found


def test_merged_shards_are_the_suite_of_one_machine(suite: Path, shards: tuple[Path, Path], tmp_path: Path) -> None:
    assert {path.name for path in shards[0].glob("0*")} == {path.name for path in (suite / "whole").glob("0[13]*")}
    ended, out, said = command("merge", shards[1], shards[0], "--output", tmp_path / "merged")
    assert ended == 0, said
    assert untimed(tmp_path / "merged") == untimed(suite / "whole")
    assert out.strip().endswith(str(tmp_path / "merged"))
    names = {path.relative_to(suite / "whole") for path in (suite / "whole").glob("*/reports/html/index.html")}
    assert {
        path.relative_to(tmp_path / "merged") for path in tmp_path.glob("merged/*/reports/html/index.html")
    } == names


def test_a_ci_is_told_of_a_suite_put_together(
    shards: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    ended, _, said = command("merge", shards[0].parent, "--output", tmp_path / "merged")
    assert ended == 0, said
    told = (tmp_path / "outputs").read_text()
    assert str(tmp_path / "merged" / "suite.json") in told
    assert "Mean of the projects" in (tmp_path / "summary").read_text()


def test_a_shard_that_is_missing_twice_there_or_of_another_suite_is_named(
    shards: tuple[Path, Path], tmp_path: Path
) -> None:
    one, two = shards
    with pytest.raises(WorkspaceError, match="shards are missing: 2/2"):
        merge([one], output=tmp_path / "merged")
    shutil.copytree(one, tmp_path / "again")
    with pytest.raises(WorkspaceError, match="are both shard 1/2"):
        merge([one, tmp_path / "again", two], output=tmp_path / "merged")
    (two / "shard.json").write_text('{"shard": "2/2", "projects": ["path:x"]}')
    with pytest.raises(WorkspaceError, match="is of another suite"):
        merge([one, two], output=tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_what_is_unfinished_damaged_or_evaluated_otherwise_is_refused(
    shards: tuple[Path, Path], tmp_path: Path
) -> None:
    one, two = shards
    (project,) = two.glob("02-*")
    next((project / "sessions").iterdir()).write_bytes(b"")
    with pytest.raises(WorkspaceError, match="sessions changed since"):
        merge([one, two], output=tmp_path / "merged")
    shutil.rmtree(project)
    with pytest.raises(WorkspaceError, match="was not finished; resume it with --resume"):
        merge([one, two], output=tmp_path / "merged")


def test_shards_of_different_engines_do_not_go_together(suite: Path, shards: tuple[Path, Path], tmp_path: Path) -> None:
    given = ("--engine", "empty", "--shard", "2/2", "--jobs", 1, "--output", tmp_path / "other")
    assert command("evaluate", suite / "suite.yaml", *given)[0] in (0, 5)
    with pytest.raises(WorkspaceError, match="its engine is empty"):
        merge([shards[0], tmp_path / "other"], output=tmp_path / "merged")
