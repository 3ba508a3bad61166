"""`ci-eval ci last-good`, `rankers` and `summary` against a server that speaks GitHub's protocol."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from msgspec.structs import replace

from ci_eval.core.workspace import Workspace
from tests.ci.conftest import NIGHT
from tests.ci.github_api import Services
from tests.command import command
from tests.projects import GREETER, write


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nights")
    project = write(folder / "p", main__py=GREETER)
    output = folder / "workspace"
    code, _, said = command("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", output)
    assert code == 0, said
    return output


def stored(services: Services, run: int, workspace: Path, *names: str, workflow: str = NIGHT) -> None:
    services.workflows[run] = workflow
    (services.artifacts / str(run)).mkdir(exist_ok=True)
    for name in names:
        with zipfile.ZipFile(services.artifacts / str(run) / f"{name}-x.zip", "w") as archive:
            for path in workspace.rglob("*"):
                archive.write(path, path.relative_to(workspace))


def last_good(*more: str) -> tuple[str, str]:
    """The run it finds, and what it says."""
    code, out, said = command("ci", "last-good", "x", "--base", "base", "--history", "history", *more)
    assert code == 0, said
    return out.splitlines()[-1].removeprefix("base: "), said


def test_the_last_good_night_is_the_newest_in_which_this_evaluation_kept_its_gates(
    github: Services, evaluated: Path
) -> None:
    for run in (3, 4):
        stored(github, run, evaluated, "workspace", "good", "history")
    stored(github, 5, evaluated, "workspace", "history")
    assert last_good()[0] == "4"
    assert Path("base/manifest.json").is_file()
    assert "4" in Path("outputs").read_text()


@pytest.mark.parametrize("why", ["fork", "other workflow", "later", "expired", "workspace expired"])
def test_what_is_no_night_before_this_one_is_no_base(github: Services, evaluated: Path, why: str) -> None:
    stored(github, 3, evaluated, "workspace", "good")
    run = 11 if why == "later" else 4
    stored(github, run, evaluated, "workspace", "good", workflow="other.yml" if why == "other workflow" else NIGHT)
    github.foreign = {4} if why == "fork" else set()
    github.expired = {"4/good-x"} if why == "expired" else {"4/workspace-x"} if why == "workspace expired" else set()
    assert last_good()[0] == "3"


def test_a_night_with_another_user_is_no_base(github: Services, evaluated: Path, tmp_path: Path) -> None:
    stored(github, 3, evaluated, "workspace", "good")
    other = Workspace(Path(shutil.copytree(evaluated, tmp_path / "other")))
    other.write_manifest(replace(other.manifest(), user="{}"))
    other.seal()
    stored(github, 4, other.folder, "workspace", "good")
    found, said = last_good("--new", str(evaluated))
    assert (found, "Run 4 is not a base: its user model is {}" in said) == ("3", True)


def test_a_night_whose_engine_failed_too_often_is_no_base(github: Services, evaluated: Path, tmp_path: Path) -> None:
    stored(github, 3, evaluated, "workspace", "good")
    failed = Workspace(Path(shutil.copytree(evaluated, tmp_path / "failed")))
    manifest = failed.manifest()
    failed.write_manifest(replace(manifest, statuses={"timeout": manifest.finished}))
    failed.seal()
    stored(github, 4, failed.folder, "workspace", "good")
    found, said = last_good()
    assert found == "3"
    assert "the engine failed on" in said


def ran(services: Services, run: int, job: str, conclusion: str) -> None:
    services.workflows[run] = NIGHT
    services.jobs[run] = [(f"night / evaluate / {job}", conclusion), ("night / plan", "success")]


@pytest.mark.parametrize("job", ["x-1-of-1", "merge x", "compare x"])
def test_a_base_that_was_lost_is_red_and_a_first_night_is_said(github: Services, evaluated: Path, job: str) -> None:
    ran(github, 3, job, "success")
    stored(github, 3, evaluated, "workspace", "good")
    github.expired = {"3/good-x", "3/workspace-x"}
    code, _, said = command("ci", "last-good", "x", "--base", "base", "--history", "history")
    assert (code, "start one night with the input first-night: true" in " ".join(said.split())) == (2, True), said
    assert last_good("--first-night")[0] == "none"


def test_an_evaluation_that_never_succeeded_has_its_first_night_still(github: Services) -> None:
    ran(github, 3, "x-1-of-1", "failure")
    ran(github, 4, "another-1-of-1", "success")
    assert last_good()[0] == "none"
    assert "first-night" in Path("outputs").read_text()


def test_runs_of_forks_branches_and_other_workflows_do_not_count(github: Services) -> None:
    for run in (3, 4, 5):
        ran(github, run, "x-1-of-1", "success")
    github.foreign, github.branches, github.workflows[5] = {3}, {4: "feature"}, "other.yml"
    assert last_good()[0] == "none"


def test_more_runs_than_are_looked_at_are_not_known(github: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ci_eval.jobs.workflows.earlier_runs.MOST_RUNS", 2)
    for run in (3, 4, 5):
        ran(github, run, "x-1-of-1", "failure")
    assert command("ci", "last-good", "x", "--base", "base", "--history", "history")[0] == 2
    # None of the newest has a job of it: it is new.
    for run in (3, 4, 5):
        ran(github, run, "another-1-of-1", "success")
    assert last_good()[0] == "none"


def test_the_first_night_has_no_base_and_an_empty_history(github: Services) -> None:
    found, said = last_good()
    assert found == "none"
    assert "no gate is judged" in said
    assert list(Path("history").iterdir()) == []


def test_a_run_that_is_named_is_the_base_whatever_became_of_it(
    github: Services, evaluated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(github, 2, evaluated, "workspace")
    stored(github, 4, evaluated, "workspace", "good")
    monkeypatch.setenv("CI_EVAL_BASE_RUN", "2")
    assert last_good()[0] == "2"
    shutil.rmtree("base")
    monkeypatch.setenv("CI_EVAL_BASE_RUN", "")
    assert last_good()[0] == "4"


def test_a_night_that_ended_before_it_was_compared_is_in_the_trend(
    github: Services, evaluated: Path, tmp_path: Path
) -> None:
    past = tmp_path / "past"
    past.mkdir()
    (past / "earlier.json").write_text((evaluated / "reports" / "metrics.json").read_text())
    stored(github, 3, past, "history")
    stored(github, 3, evaluated, "workspace", "good")
    stored(github, 4, evaluated, "workspace")
    assert "Run 4 ended before it was compared" in last_good()[1]
    (added,) = (path for path in Path("history").iterdir() if path.name != "earlier.json")
    assert '"run": "https://g/o/r/actions/runs/4"' in added.read_text()


def test_a_night_that_left_no_figures_is_not_in_the_way_of_the_nights_to_come(
    github: Services, evaluated: Path, tmp_path: Path
) -> None:
    broken = Path(shutil.copytree(evaluated, tmp_path / "broken"))
    shutil.rmtree(broken / "reports")
    stored(github, 3, evaluated, "workspace", "good")
    stored(github, 4, broken, "workspace")
    found, said = last_good()
    assert found == "3"
    assert "run 4 is not in the trend" in " ".join(said.split())


def test_all_pages_are_looked_at(github: Services, evaluated: Path) -> None:
    github.page = 2
    for run in range(1, 8):
        stored(github, run, evaluated, "workspace", "good")
    assert last_good()[0] == "7"


def test_a_long_past_costs_few_requests(github: Services, evaluated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for run in range(1, 9):
        stored(github, run, evaluated, "workspace", "good", "history")
    answering = Mock(side_effect=github.answer)
    monkeypatch.setattr(github, "answer", answering)
    assert last_good()[0] == "8"
    assert answering.call_count < 16


def test_a_damaged_base_is_refused(github: Services, evaluated: Path, tmp_path: Path) -> None:
    poisoned = Path(shutil.copytree(evaluated, tmp_path / "poisoned"))
    file = next((poisoned / "sessions").iterdir())
    file.write_bytes(file.read_bytes() + b"\0")
    stored(github, 4, poisoned, "workspace", "good")
    code, _, said = command("ci", "last-good", "x", "--base", "base", "--history", "history")
    assert code == 2
    assert "is not what was evaluated" in said


def test_a_missing_token_exits_with_2_and_says_what_to_add(github: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    code, _, said = command("ci", "rankers")
    assert code == 2
    assert "GITHUB_TOKEN: ${{ github.token }}" in said


def test_rankers_of_one_week_are_used_together(
    github: Services, evaluated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for run, names in ((3, ("a", "b", "c")), (4, ("a", "b"))):
        for name in names:
            stored(github, run, evaluated, f"ranker-{name}")
            found = github.artifacts / str(run) / f"ranker-{name}-x.zip"
            found.rename(found.with_name(f"ranker-{name}.zip"))
    monkeypatch.setenv("INPUT_CONFIGS", "configs/a.yaml configs/b.yaml configs/c.yaml")
    code, out, _ = command("ci", "rankers")
    assert (code, out.splitlines()[-1]) == (0, "run 4: configs/a.yaml configs/b.yaml")
    assert "configs/a.yaml configs/b.yaml" in Path("outputs").read_text()
    github.expired = {"4/ranker-a", "4/ranker-b"}
    assert command("ci", "rankers")[1].splitlines()[-1].startswith("run 3: configs/a.yaml")
    github.expired |= {f"3/ranker-{name}" for name in "abc"}
    code, out, said = command("ci", "rankers")
    assert (code, out.splitlines()[-1]) == (0, "no ranker")
    assert "have expired" in " ".join(said.split())


MATRIX = '{"include": [{"evaluation": "x", "allowFailure": false}, {"evaluation": "lost", "allowFailure": true}]}'


def test_one_page_tells_of_all_evaluations_of_a_night(github: Services, evaluated: Path, tmp_path: Path) -> None:
    gates = ("--gate", "RecallAt1 >= 100%")
    assert command("compare", evaluated, evaluated, "--output", tmp_path / "red", *gates)[0] == 1
    stored(github, 9, tmp_path / "red", "comparison")
    assert command("ci", "summary", MATRIX, "")[0] == 0
    lines = Path("summary.md").read_text().splitlines()
    (good,) = [line for line in lines if line.startswith("| [x](https://g/o/r/actions/runs/9/artifacts/")]
    assert "| RecallAt1 |" in good
    assert "🔴 broken" in good
    assert "), a baseline |" in good
    assert [line for line in lines if "🔴 RecallAt1 &#62;= 100%" in line]
    assert [line for line in lines if line.startswith("| lost (may fail) |") and "ended before it was compared" in line]
