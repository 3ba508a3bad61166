"""What must be equal for two runs to stand side by side is asked in one place, by every job."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.manifest import Manifest
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.ml import logs_of_all
from tests.command import command
from tests.needs import need_module
from tests.projects import GREETER, write


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("conditions")
    project = write(root / "p", a__py=GREETER, b__py=GREETER)
    code, _, err = command("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", root / "night")
    assert code == 0, err
    return root / "night"


def another(night: Path, folder: Path, **changes: Any) -> Path:
    """The same run as if it had been made otherwise, with its reports."""
    workspace = Workspace(Path(shutil.copytree(night, folder)))
    workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), **changes))
    workspace.seal()
    assert command("report", folder)[0] == 0
    return folder


EARLIER = "2020-01-03T03:00:00+00:00"
CONDITIONS = {
    "language": "go", "client": "raw", "strategy": "other", "user": '{"attend":0.4}', "unit": "lines",
    "filters": '{"isArgument": true}', "files": '{"evaluationRoots": ["src"]}',
}  # fmt: skip
NAMES = {"user": "user model", "filters": "token filter", "files": "file filter"}


def test_each_condition_has_a_name_and_is_one_of_the_manifest() -> None:
    manifest = msgspec.json.decode((Path(__file__).parent / "manifest.json").read_bytes(), type=Manifest)
    for field, value in CONDITIONS.items():
        changed = msgspec.structs.replace(manifest, **{field: value}).conditions()
        assert [name for name, was in manifest.conditions().items() if changed[name] != was] == [
            NAMES.get(field, field)
        ]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("actions.strategy.filters={statementTypes: [METHOD_CALL]}", 'token filter is \'{"statementTypes"'),
        ("actions.evaluationRoots=[a.py]", "file filter is"),
        ("actions.ignoreFileNames=[b.py]", "file filter is"),
    ],
)
def test_runs_over_other_tokens_or_files_are_not_compared(night: Path, tmp_path: Path, setting: str, said: str) -> None:
    project = night.parent / "p"
    given = ("--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o", "--set", setting)
    assert command("evaluate", *given)[0] == 0
    code, _, err = command("compare", tmp_path / "o", night, "--output", tmp_path / "out")
    assert (code, said in " ".join(err.split())) == (2, True), err


@pytest.mark.parametrize("field", ["client", "strategy", "user"])
def test_a_night_under_other_conditions_is_no_base_and_not_in_the_trend(
    night: Path, tmp_path: Path, field: str
) -> None:
    another(night, tmp_path / "past" / "other", start=EARLIER, **{field: CONDITIONS[field]})
    code, _, err = command("compare", night, "--history", tmp_path / "past", "--output", tmp_path / "out")
    assert code == 0, err
    trend = json.loads((tmp_path / "out" / "overview.json").read_text())["trend"]
    assert (len(trend["nights"]), trend["leftOut"]) == (1, 1)
    assert f"other is not a base: its {field}" in " ".join(err.split())


def test_a_night_under_the_same_conditions_is_the_base_and_in_the_trend(night: Path, tmp_path: Path) -> None:
    another(night, tmp_path / "past" / "before", start=EARLIER)
    code, _, err = command("compare", night, "--history", tmp_path / "past", "--output", tmp_path / "out")
    assert code == 0, err
    report = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert (report["sides"]["base"]["workspace"], len(report["trend"]["nights"])) == ("before", 2)


@pytest.mark.parametrize(("field", "named"), [("user", "user model"), ("unit", "unit"), ("client", "client")])
def test_shards_of_different_conditions_are_not_merged(night: Path, tmp_path: Path, field: str, named: str) -> None:
    first = another(night, tmp_path / "s1", shard="1/2")
    second = another(night, tmp_path / "s2", shard="2/2", **{field: CONDITIONS[field]})
    code, _, err = command("merge", first, second, "--output", tmp_path / "all")
    assert (code, f"its {named} differs" in " ".join(err.split())) == (2, True)


@pytest.mark.usefixtures("in_one_process")
def test_logs_of_another_language_of_the_project_are_of_another_run(tmp_path: Path) -> None:
    need_module("pyarrow")
    project = write(tmp_path / "p", a__py=GREETER, b__js="const name = 1\nconsole.log(name, name)\n")
    folders = []
    for language in ("python", "javascript"):
        folders.append(tmp_path / language)
        given = ("--project", f"path:{project}", "--engine", "words", "--language", language, "--output", folders[-1])
        code, _, err = command("generate-ml-logs", *given)
        assert code == 0, err
    assert len(logs_of_all(folders)) == 2
    again = Path(shutil.copytree(folders[0], tmp_path / "again"))
    with pytest.raises(WorkspaceError, match="hold the same logs"):
        logs_of_all([*folders, again])
