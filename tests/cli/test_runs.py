"""Commands that evaluate, run a stage, or show a session."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ci_eval.cli.options import DEMO
from ci_eval.core.config import load
from ci_eval.core.model import SessionScore
from ci_eval.core.workspace import FOLDERS, Workspace
from tests.cli.conftest import Run
from tests.projects import GREETER, sessions, write
from tests.waiting import HANGS, wait_for


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
    limits = ["--set", "interpret.timeout=0.0001", "--set", "interpret.memoryLimit=0", "--sessions", "1"]
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


@pytest.mark.engine
@pytest.mark.slow
def test_reports_say_what_the_engine_took_of_the_machine(run: Run, project: Path, tmp_path: Path) -> None:
    code, out, err = run("evaluate", "--project", f"path:{project}", "--output", tmp_path / "o", "--jobs", 1)
    assert code == 0, err
    (line,) = [each for each in out.splitlines() if each.startswith("engine    ")]
    assert re.search(r"first answer [\d,.]+ ms after its start, at most [\d.]+ MB in its processes", line)
    (evaluation,) = json.loads((tmp_path / "o/reports/metrics.json").read_text())["evaluations"]
    found = evaluation["filters"]["ALL"]["metrics"]
    assert found["StartUpLatency"]["n"] == 1
    assert found["StartUpLatency"]["value"] > found["LatencyPercentile50"]["value"]
    assert 20 < found["PeakMemory"]["value"] < 500
    for report in ("report.md", "html/index.html"):
        assert "ms after its start" in (tmp_path / "o/reports" / report).read_text()


@pytest.mark.engine
@pytest.mark.slow
def test_show_traces_the_messages_of_a_session(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--output", tmp_path / "o")
    identity = next(next(Workspace.open(tmp_path / "o").sessions(SessionScore))[1]).id
    code, out, err = run("show", tmp_path / "o", identity, "--trace", "--full")
    assert code == 0, err
    said = [line for line in out.splitlines() if " ms  -> " in line or " ms  <- " in line]
    assert '["open",' in said[0]
    assert ['["complete",' in line for line in said] == [False, False, True, False]
    assert "now       " in out.split(said[-1])[1]


@pytest.mark.engine
def test_a_trace_that_the_run_kept_is_shown_as_it_was(run: Run, project: Path, tmp_path: Path) -> None:
    wanted = ("--jobs", 1, "--sessions", 4, "--set", "interpret.trace=true")
    code, _, err = run("evaluate", "--project", f"path:{project}", *wanted, "--output", tmp_path / "o")
    assert code == 0, err
    found = list(sessions(Workspace.open(tmp_path / "o")))
    for each in found:
        directions = [line.split(" ms  ")[1][:2] for line in each.trace]
        assert directions.count("->") == directions.count("<-") >= len(each.lookups)
    code, out, err = run("show", tmp_path / "o", found[0].id, "--trace")
    assert code == 0, err
    assert out.splitlines()[-len(found[0].trace) :] == list(found[0].trace)


def test_show_has_nothing_to_trace_of_an_engine_within_ci_eval(run: Run, project: Path, tmp_path: Path) -> None:
    run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    identity = next(next(Workspace.open(tmp_path / "o").sessions(SessionScore))[1]).id
    code, _, err = run("show", tmp_path / "o", identity, "--trace")
    assert (code, "no message was sent: words answers in ci-eval's own process" in " ".join(err.split())) == (2, True)
    assert run("show", tmp_path / "o", identity, "--full")[0] == 2


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


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of more tokens than are asked by default."""
    return write(tmp_path_factory.mktemp("large") / "p", a__py="first = 1\n" + "print(first)\n" * 600)


@pytest.mark.parametrize(
    ("more", "planned", "said"),
    [
        ((), 1_000, "Asking 1,000 of 1,200 sessions (--all asks all)"),
        (("--all",), 1_200, ""),
        (("--set", "interpret.sessionsLimit=null"), 1_200, ""),
        (("--sessions", 5), 5, "Asking 5 of 1,200 sessions"),
        (("--set", "interpret.sessionProbability=0.999999"), 1_200, ""),
    ],
    ids=str,
)
def test_a_thousand_sessions_are_asked_unless_something_says_how_many(
    more: tuple[object, ...], planned: int, said: str, large: Path, run: Run, tmp_path: Path
) -> None:
    choices = ("--project", f"path:{large}", "--engine", "words", "--set", "actions.strategy.prefix={name: NoPrefix}")
    code, _, err = run("evaluate", *choices, *more, "--output", tmp_path / "w", "--jobs", 1)
    assert code == 0, err
    assert Workspace.open(tmp_path / "w").manifest().planned == planned
    assert said in " ".join(err.split())
    assert bool(said) == ("Asking" in err)


def test_all_and_a_number_contradict_each_other(run: Run) -> None:
    assert run("evaluate", "--all", "--sessions", 5)[0] == 2


def test_the_demo_says_that_it_is_one_and_how_to_name_ones_own_code(run: Run, tmp_path: Path) -> None:
    code, _, err = run("evaluate", "--task", "no-such-task", "--output", tmp_path)
    assert code == 2
    assert "This is the demo" in err
    assert "--project path:." in " ".join(err.split())
    assert "This is the demo" not in run("evaluate", "--project", "path:.", "--task", "no-such-task")[2]


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


def test_the_first_output_leads_with_names_and_one_letter_typed(run: Run, project: Path, tmp_path: Path) -> None:
    code, out, err = run("evaluate", "--project", f"path:{project}", "--engine", "oracle", "--output", tmp_path / "o")
    assert code == 0, err
    said = " ".join(out.split())
    assert "first in the list 100.0%" in said
    assert "anywhere in the list 100.0% of 9 sessions (names, one letter typed)" in said
    assert "letters typed 0 1 3" in said
    report = (tmp_path / "o" / "reports" / "report.md").read_text()
    assert "Names, one letter typed: the expected text was first in" in report


def test_a_folder_that_another_run_works_on_is_left_alone(run: Run, project: Path, tmp_path: Path) -> None:
    common = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o")
    assert run(*common)[0] == 0
    held = os.open(tmp_path / "o", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    code, _, err = run(*common, "--resume")
    assert (code, "another run is working on" in " ".join(err.split())) == (2, True), err
    os.close(held)
    assert run(*common, "--resume")[0] == 0


def test_what_is_no_run_cannot_be_taken_up(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "none", tmp_path / "empty"):
        code, _, err = run("evaluate", "--resume", "--output", folder)
        assert (code, "holds no run to resume" in " ".join(err.split())) == (2, True), err
    assert not (tmp_path / "none").exists()


def test_a_run_killed_before_its_manifest_is_resumed_by_its_options(run: Run, project: Path, tmp_path: Path) -> None:
    asked = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--output", tmp_path / "o")
    assert run(*asked)[0] == 0
    (tmp_path / "o" / "manifest.json").unlink()
    (tmp_path / "o" / "names.npz").unlink()
    for part in FOLDERS:
        shutil.rmtree(tmp_path / "o" / part)
        (tmp_path / "o" / part).mkdir()
    code, _, err = run(*asked, "--resume")
    assert code == 0, err


def test_sessions_and_seed_are_short_for_keys(run: Run, project: Path, tmp_path: Path) -> None:
    common = ["evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1]
    assert run(*common, "--sessions", 5, "--seed", 3, "--output", tmp_path / "a")[0] == 0
    keys = ("--set", "interpret.sessionsLimit=5", "--set", "interpret.seed=3")
    assert run(*common, *keys, "--output", tmp_path / "b")[0] == 0
    assert load(tmp_path / "a" / "config.yaml") == load(tmp_path / "b" / "config.yaml")
    assert Workspace.open(tmp_path / "a").manifest().finished == 5


@pytest.mark.slow
def test_quiet_leaves_results_and_verbose_says_more(run: Run, project: Path, tmp_path: Path) -> None:
    common = ["evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--output"]
    usual = run(*common, tmp_path / "usual")[2]
    _, out, err = run(*common, tmp_path / "quiet", "-q")
    assert out.splitlines()[-1] == str(tmp_path / "quiet")
    # A warning is no progress: it is said as well if the machine that runs the tests is busy.
    assert err == "" or err.startswith("warning: The machine was busy")
    said = run("-v", *common, tmp_path / "verbose")[2]
    assert "Stage interpret took" in said
    assert "Stage interpret took" not in usual
    assert "Preparing" in usual
    assert "Grammar: " in said


def test_verbose_tells_where_an_error_comes_from(run: Run, tmp_path: Path) -> None:
    assert "Traceback" not in run("report", tmp_path)[2]
    assert "Traceback" in run("report", tmp_path, "-v")[2]


@pytest.mark.parametrize("command", ["evaluate", "report"])
@pytest.mark.slow
def test_open_shows_the_report_in_the_browser_that_the_user_has(
    command: str, run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In a process of its own, since Python looks for browsers once.
    program = write(tmp_path, browser='#!/bin/sh\necho "$1" >> "$SHOWN"\n') / "browser"
    program.chmod(0o755)
    given = [f"path:{project}", "--engine", "words", "--output", str(tmp_path / "o")]
    assert run("evaluate", "--project", *given)[0] == 0
    arguments = ["report", str(tmp_path / "o")]
    if command == "evaluate":
        arguments = ["evaluate", "--project", *given, "--resume"]
    environment = {**os.environ, "BROWSER": f"{program} %s", "SHOWN": str(tmp_path / "shown")}
    subprocess.run([sys.executable, "-m", "ci_eval", *arguments, "--open"], env=environment, check=True, timeout=HANGS)
    assert (tmp_path / "shown").read_text().strip() == (tmp_path / "o/reports/html/index.html").as_uri()


def test_without_a_browser_open_says_where_the_report_is(
    run: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    given = ["--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "o"]
    code, _, err = run("evaluate", *given, "--open")
    assert (code, "no browser could be started" in " ".join(err.split())) == (0, True)


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_run_is_reported_as_far_as_it_came(tmp_path: Path) -> None:
    project = write(tmp_path / "p", **{f"file{i:03}__py": GREETER for i in range(150)})
    folder, given = tmp_path / "o", ["--engine", "words", "--jobs", "1", "--output"]
    program = [sys.executable, "-m", "ci_eval"]
    with subprocess.Popen([*program, "evaluate", "--project", f"path:{project}", *given, folder], text=True) as started:
        wait_for(lambda: any((folder / "sessions").glob("*")), started)
        started.send_signal(signal.SIGINT)
    assert started.returncode == 130
    done = subprocess.run([*program, "report", folder], capture_output=True, text=True, check=True, timeout=HANGS)
    through = len(list((folder / "sessions").iterdir()))
    assert 0 < through < 150
    said = " ".join(done.stderr.split())
    assert f"this run is unfinished: the figures are of {through} file" in said
    assert f"and {150 - through} files with sessions are not" in said
    assert "this run is unfinished" in " ".join((folder / "reports" / "report.md").read_text().split())
    resumed = [*program, "evaluate", "--project", f"path:{project}", *given, str(folder), "--resume"]
    whole = subprocess.run(resumed, capture_output=True, text=True, check=True, timeout=HANGS)
    assert "unfinished" not in whole.stderr
    assert "unfinished" not in (folder / "reports" / "metrics.json").read_text()


def test_a_run_without_a_single_file_through_has_no_report(run: Run, project: Path, tmp_path: Path) -> None:
    assert run("actions", "--project", f"path:{project}", "--output", tmp_path / "a")[0] == 0
    code, _, err = run("report", tmp_path / "a")
    assert (code, "ci-eval interpret" in " ".join(err.split())) == (2, True)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--engine-command", "./x"), "add --output DIR"),
        (("--engine-command", "./x", "--engine", "words", "--output", "o"), "leave out --engine or --engine-command"),
        (("--engine-command", "", "--output", "o"), "an engine is missing"),
        (("--engine-command", "x 'y", "--output", "o"), "quote it as for a shell"),
    ],
)
def test_one_engine_is_asked_and_its_command_can_be_read(
    run: Run, project: Path, tmp_path: Path, given: tuple[str, ...], said: str
) -> None:
    assert run("actions", "--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "a")[0] == 0
    code, _, err = run("interpret", tmp_path / "a", *given)
    assert (code, said in " ".join(err.split())) == (2, True), err
    if "--output" in given:
        assert run("evaluate", "--project", f"path:{project}", *given)[0] == 2
    assert not Path("o").exists()
