"""Commands that evaluate, run a stage, or show a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.cli.options import DEMO
from ci_eval.config import load
from ci_eval.model import SessionScore
from ci_eval.workspace import Workspace
from tests.cli.conftest import Run
from tests.packed import as_before
from tests.projects import write


def test_an_empty_project_exits_with_3(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "p", readme__txt="")
    code, _, err = run("evaluate", "--project", f"path:{tmp_path / 'p'}", "--output", tmp_path / "o")
    assert code == 3
    assert "no Python files" in err


@pytest.mark.parametrize("command", ["evaluate", "actions"])
def test_where_there_is_nothing_to_evaluate_no_folder_is_left(command: str, run: Run, tmp_path: Path) -> None:
    write(tmp_path / "p", readme__txt="")
    (tmp_path / "there").mkdir()
    for output in (tmp_path / "new" / "o", tmp_path / "there" / "o"):
        assert run(command, "--project", f"path:{tmp_path / 'p'}", "--output", output)[0] == 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p", "there"]
    assert not list((tmp_path / "there").iterdir())


def test_a_project_of_unreadable_files_exits_with_3_and_says_why(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "p", a__py=b"\xff\xfe")
    code, _, err = run("evaluate", "--project", f"path:{tmp_path / 'p'}", "--output", tmp_path / "o")
    assert code == 3
    assert "not UTF-8" in err
    assert Workspace.open(tmp_path / "o").errors()


def test_a_folder_that_is_not_empty_is_never_written_over(run: Run, project: Path, tmp_path: Path) -> None:
    write(tmp_path / "o", precious__txt="")
    code, _, err = run("evaluate", "--project", f"path:{project}", "--output", tmp_path / "o")
    assert code == 2
    assert "--resume" in err
    assert "Preparing" not in err


def test_interpret_says_how_to_get_the_report_that_it_does_not_write(run: Run, project: Path, tmp_path: Path) -> None:
    assert run("actions", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "a")[0] == 0
    code, out, err = run("interpret", tmp_path / "a")
    assert (code, out.splitlines()[-1]) == (0, str(tmp_path / "a"))
    assert f"ci-eval report {tmp_path / 'a'}" in " ".join(err.split())


@pytest.mark.parametrize("command", ["actions", "interpret"])
def test_a_command_that_cannot_resume_does_not_advise_it(command: str, run: Run, project: Path, tmp_path: Path) -> None:
    choices = ["--project", f"path:{project}", "--engine", "words", "--output"]
    assert run("actions", *choices, tmp_path / "a")[0] == 0
    write(tmp_path / "o", precious__txt="")
    given = [tmp_path / "a", "--output"] if command == "interpret" else choices
    code, _, err = run(command, *given, tmp_path / "o")
    assert (code, "choose another --output" in err, "--resume" in err) == (2, True, False)
    assert "Preparing" not in err


def test_two_engines_are_not_prepared_for_a_folder_that_is_used(run: Run, project: Path, tmp_path: Path) -> None:
    write(tmp_path / "o" / "base", precious__txt="")
    code, _, err = run(
        "compare-engines", "words", "recency", "--project", f"path:{project}", "--output", tmp_path / "o"
    )
    assert (code, "not empty" in err, "Preparing" in err) == (2, True, False)


@pytest.mark.slow
def test_too_many_failures_exit_with_5_after_the_reports(run: Run, project: Path, tmp_path: Path) -> None:
    limits = ["--set", "interpret.timeout=0.0001", "--set", "interpret.memoryLimit=0"]
    code, _, err = run("evaluate", "--project", f"path:{project}", "--output", tmp_path / "o", *limits)
    assert code == 5
    assert "allowedFailures" in err
    assert (tmp_path / "o" / "reports" / "html" / "index.html").exists()


def test_resuming_with_another_configuration_is_refused(run: Run, project: Path, tmp_path: Path) -> None:
    common = ["evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o"]
    assert run(*common)[0] == 0
    code, _, err = run(*common, "--resume", "--set", "interpret.seed=1")
    assert code == 2
    assert "another configuration" in err


def test_show_describes_a_session_and_asks_again(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    found, sessions = next(Workspace.open(tmp_path / "o").sessions(SessionScore))
    identity = next(sessions).id
    code, out, _ = run("show", tmp_path / "o", identity[:8], "--replay")
    assert code == 0
    assert f"place     {found.path}:3:1" in out
    assert "now       ok" in out


def test_show_of_an_unknown_session_exits_with_2(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    code, _, err = run("show", tmp_path / "o", "zzz")
    assert code == 2
    assert "0 sessions" in err


def test_a_plugin_configuration_loads_with_its_warnings(run: Run, project: Path, tmp_path: Path) -> None:
    plugin = Path(__file__).parent.parent / "config" / "jetbrains" / "2021-full.json"
    choices = ["--language", "python", "--completion-type", "BASIC", "--set", "actions.evaluationRoots=[]"]
    where = ["--project", f"path:{project}", "--output", tmp_path / "o"]
    code, _, err = run("actions", plugin, *choices, *where)
    assert code == 0, err
    assert "warning: " in err


def test_the_demo_is_pinned_and_checksummed() -> None:
    assert "#sha256=" in load(DEMO).config.project.spec


def test_help_teaches_by_example(run: Run) -> None:
    code, out, _ = run("evaluate", "--help")
    assert code == 0
    assert "ci-eval evaluate --project pypi:flask==3.0.3" in out


def test_a_report_is_not_made_of_what_changed_since(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    next((tmp_path / "o" / "sessions").iterdir()).unlink()
    code, _, err = run("report", tmp_path / "o")
    assert (code, "sessions changed since" in " ".join(err.split())) == (2, True)


def test_a_workspace_of_before_is_reported_compared_and_taken_up(run: Run, project: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    asked = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output")
    assert [run(*asked, folder)[0] for folder in (old, new)] == [0, 0]
    as_before(old)
    assert run("report", old)[0] == 0
    code, out, _ = run("compare", old, new, "--output", tmp_path / "compared")
    assert code == 0, out
    next((old / "sessions").iterdir()).unlink()
    assert run(*asked, old, "--resume")[0] == 0
    assert Workspace.open(old).manifest().format == 2


def test_the_first_output_says_what_is_found_with_one_letter_typed(run: Run, project: Path, tmp_path: Path) -> None:
    code, out, err = run("evaluate", "--project", f"path:{project}", "--engine", "oracle", "--output", tmp_path / "o")
    assert code == 0, err
    said = " ".join(out.split())
    assert "With one letter typed, the expected text stood first in 100.0% of" in said
    assert "letters typed 0 1 3" in said
    report = (tmp_path / "o" / "reports" / "report.md").read_text()
    assert "With one letter typed, the expected text stood first in" in report
