"""The job `compare` as users run it, over real evaluations with the controls and the baseline."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from ci_eval.core.workspace import Workspace
from ci_eval.jobs.runs import find_revision
from tests.command import command as run
from tests.comparing import aged, compare
from tests.fetch.repository import create
from tests.plugin_configurations import plugin_configurations
from tests.projects import GREETER, write


def test_a_broken_gate_ends_with_1_and_its_reports_are_written(nights: dict[str, Path], tmp_path: Path) -> None:
    rules = ("--gate", "RecallAt1 >= -1pp", "--gate", "Recall >= 1%")
    code, report, said = compare(nights["oracle"], nights["words"], tmp_path / "out", *rules)
    assert code == 1
    assert [gate["passed"] for gate in report["gates"]] == [False, True]
    assert "1 of 2 gates failed" in said
    assert "✗ broken" in (tmp_path / "out" / "report.md").read_text()


@pytest.mark.parametrize(("ref", "number"), [("refs/pull/7/merge", "7\n"), ("refs/heads/pull/7/merge", None)])
def test_the_reports_of_a_pull_request_say_whose_they_are(
    nights: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ref: str, number: str | None
) -> None:
    monkeypatch.setenv("GITHUB_REF", ref)
    code, _, said = run("--ci", "github", "compare", nights["words"], nights["words"], "--output", tmp_path / "c")
    assert code == 0, said
    file = tmp_path / "c" / "number.txt"
    assert (file.read_text() if file.exists() else None) == number


def test_three_workspaces_are_each_compared_with_the_first(nights: dict[str, Path], tmp_path: Path) -> None:
    code, out, err = run("compare", nights["words"], nights["alphabet"], nights["oracle"], "--output", tmp_path / "out")
    assert code == 0, err
    assert {"01-alphabet", "02-oracle", "html", "overview.json", "report.md"} == {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert out.splitlines()[-1] == str(tmp_path / "out")


@pytest.mark.parametrize("number", range(10))
def test_two_completion_types_of_a_configuration_of_the_plugin_have_a_name_each(number: int, tmp_path: Path) -> None:
    write(tmp_path / "p" / "src", a__py=GREETER, b__py=GREETER)
    shape, title = plugin_configurations(str(tmp_path / "p"))[number]
    (tmp_path / "config.json").write_text(json.dumps(shape))
    once = ("--completion-type", "BASIC", "--engine", "words", "--no-dependencies", "--jobs", 1)
    base, new = tmp_path / "w", tmp_path / "again"
    assert run("evaluate", tmp_path / "config.json", *once, "--output", base)[0] == 0
    assert run("interpret", base, "--completion-type", "FREQUENCY", "--jobs", 1, "--output", new)[0] == 0
    code, out, err = run("compare", base, new, "--output", tmp_path / "c")
    assert code == 0, err
    names = f"{title}BASIC → {title}FREQUENCY"
    page, junit = ((tmp_path / "c" / name).read_text() for name in ("html/index.html", "junit.xml"))
    assert names in out.splitlines()
    assert f"<title>{names} on p " in page
    assert f"<h1>{names} <" in page
    assert f'classname="{names}"' in junit
    assert (tmp_path / "c" / "report.md").read_text().startswith(f"# {names}\n")


def test_one_workspace_is_a_usage_error_and_no_workspace_is_named(nights: dict[str, Path], tmp_path: Path) -> None:
    assert run("compare", nights["words"])[0] == 2
    code, _, err = run("compare", nights["words"], tmp_path)
    assert (code, "is not a workspace" in err) == (2, True)


def test_a_folder_of_past_workspaces_gives_the_base(nights: dict[str, Path], tmp_path: Path) -> None:
    past = tmp_path / "past"
    for day in (3, 4):
        workspace = Workspace(Path(shutil.copytree(nights["words"], past / f"night{day}")))
        start = f"2020-01-{day:02}T03:00:00+00:00"
        workspace.write_manifest(msgspec.structs.replace(workspace.manifest(), start=start))
        workspace.seal()
        aged(nights["words"], past / f"night{day}" / "reports", day).rename(
            past / f"night{day}" / "reports" / "metrics.json"
        )
    shutil.copytree(nights["alphabet"], past / "other")
    code, report, said = compare(past, nights["again"], tmp_path / "out")
    assert code == 0, said
    assert report["sides"]["base"]["workspace"] == "night4"
    assert len(report["trend"]["nights"]) == 3


def test_a_base_of_another_ranker_is_left_out_where_that_is_asked_for(nights: dict[str, Path], tmp_path: Path) -> None:
    other = Workspace(Path(shutil.copytree(nights["words"], tmp_path / "other")))
    other.write_manifest(replace(other.manifest(), model="0" * 64))
    other.seal()
    gate = ("--gate", "RecallAt1 >= 100%")
    for base, code in ((other.folder, 0), (nights["words"], 1)):
        done, _, said = run(
            "compare", base, nights["words"], "--same-ranker", *gate, "--output", tmp_path / f"out{code}"
        )
        assert done == code, said
        assert ("another ranker ordered its lists" in " ".join(said.split())) == (code == 0)


def test_an_evaluation_compared_with_itself_is_warned_of(nights: dict[str, Path], tmp_path: Path) -> None:
    code, _, said = compare(nights["words"], nights["words"], tmp_path / "out")
    assert (code, "is compared with itself" in " ".join(said.split())) == (0, True)


def test_a_comparison_that_cannot_be_made_leaves_no_folder(nights: dict[str, Path], tmp_path: Path) -> None:
    code, _, said = compare(nights["words"], nights["again"], tmp_path / "out", "--gate", "Recal >= -1pp")
    assert (code, "did you mean Recall" in said, (tmp_path / "out").exists()) == (2, True, False)


def test_times_are_in_the_table_of_the_terminal(nights: dict[str, Path], tmp_path: Path) -> None:
    _, _, said = compare(nights["words"], nights["again"], tmp_path / "out")
    row = next(line for line in said.splitlines() if line.startswith("LatencyPercentile95"))
    assert row.count(" ms") == 3


@pytest.mark.needs("git")
@pytest.mark.usefixtures("in_one_process")
def test_the_commits_of_a_checkout_are_in_manifest_history_trend_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = create(tmp_path / "checkout")
    monkeypatch.chdir(repository.folder)
    evaluated = ("evaluate", "--project", "path:.", "--engine", "words", "--jobs", 1, "--output")
    compared = ("--history", tmp_path / "past", "--output")
    commits = []
    for number in (1, 2):
        commits.append(repository.commit(a_py=GREETER + f"x = {number}\n", b_py=GREETER))
        code, _, err = run(*evaluated, tmp_path / f"night{number}")
        assert code == 0, err
        manifest = json.loads((tmp_path / f"night{number}" / "manifest.json").read_text())
        assert (manifest["revision"], manifest["project"]["revision"]) == (commits[-1], commits[-1])
        sides = [tmp_path / f"night{each}" for each in range(1, number + 1)]
        code, _, err = run("compare", *sides, *compared, tmp_path / f"out{number}")
        assert code == 0, err
    report = json.loads((tmp_path / "out2" / "comparison.json").read_text())
    assert [report["sides"][side]["revision"] for side in ("base", "new")] == commits
    line = f"git log --oneline {commits[0][:12]}..{commits[1][:12]}"
    assert f"Commits: `{line}`" in (tmp_path / "out2" / "report.md").read_text()
    assert [night["revision"] for night in report["trend"]["nights"]] == commits
    assert line in report["trend"]["nights"][1]["differs"]


@pytest.mark.needs("git")
def test_an_engine_of_a_worktree_is_of_that_worktrees_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = create(tmp_path / "checkout")
    base, new = repository.commit(server="1"), repository.commit(server="2")
    repository.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "base"), base)
    monkeypatch.chdir(repository.folder)
    assert find_revision(("../base/server", "--stdio")) == base
    assert find_revision(("python3", "-u", "../base/server")) == base
    assert find_revision(("server",)) == find_revision(None) == new


def test_a_build_that_no_longer_imports_names_in_scope_is_better_and_the_answer_says_why(tmp_path: Path) -> None:
    text = "def total(amount, count):\n    result = amount * count\n    return result\n\n\nvalue = total(2, count=3)\n"
    root = write(tmp_path / "p", a__py=text)
    server = f"{sys.executable} {Path(__file__).parent / 'unneeded.py'}"
    common = ("--project", f"path:{root}", "--jobs", 1, "--set", "interpret.confine=off")
    for name, rounds, more in (("bad", 2, " --imports-first"), ("good", 2, ""), ("once", 1, "")):
        chosen = ("--engine-command", server + more, "--repeat", rounds, "--output", tmp_path / name)
        code, _, err = run("evaluate", *common, *chosen)
        assert code == 0, err
    code, said, err = run("compare", tmp_path / "bad", tmp_path / "good", "--output", tmp_path / "c")
    assert code == 0, err
    why = "In 100.0% → 0.0% of the lists, the first suggestion adds an import that the code does not need."
    assert "▲ BETTER" in said
    assert why in " ".join(said.split())
    # An engine that was asked once may have lost the only file.
    code, said, err = run("compare", tmp_path / "bad", tmp_path / "once", "--output", tmp_path / "d")
    assert code == 0, err
    assert "too few to rule out that answers vary (8 in 3 files needed): --repeat 2 shows whether they do" in said
