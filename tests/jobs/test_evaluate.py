"""The main job as users run it: by its command, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.machine import list_descendants
from ci_eval.core.workspace import Workspace
from tests.command import raise_bug
from tests.projects import GREETER, timeless, write
from tests.waiting import HANGS, wait_for

RANKED = "RecallAt1 RecallAt5 Recall Precision FMeasure MeanReciprocalRank NDCG ESaved".split()


NOTHING_TYPED = ("--set", "actions.strategy.prefix.name=NoPrefix")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i})\n" for i in range(6)})


def start(*arguments: object, new_session: bool = False) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "ci_eval", *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True, start_new_session=new_session)


def run(*arguments: object) -> tuple[int, str, str]:
    process = start(*arguments)
    out, err = process.communicate(timeout=HANGS)
    raise_bug(process.returncode, err)
    return process.returncode, out, err


def evaluate(project: Path, output: Path, *more: object) -> dict[str, Any]:
    code, out, err = run("evaluate", "--project", f"path:{project}", "--output", output, *more)
    assert code == 0, err
    assert out.splitlines()[-1] == str(output)
    everything: dict[str, Any] = json.loads((output / "reports" / "metrics.json").read_text())
    figures: dict[str, Any] = everything["evaluations"][0]["filters"]["ALL"]
    return figures


def test_oracle_scores_one_on_every_rank_metric(project: Path, tmp_path: Path) -> None:
    figures = evaluate(project, tmp_path / "o", "--engine", "oracle", *NOTHING_TYPED)
    assert {name: figures["metrics"][name]["value"] for name in RANKED} == dict.fromkeys(RANKED, 1.0)
    assert figures["metrics"]["MeanRank"]["value"] == 1.0


def test_the_client_is_in_all_reports(tmp_path: Path) -> None:
    root, out = write(tmp_path / "p", a__py=GREETER), tmp_path / "w"
    code, said, err = run("evaluate", "--project", f"path:{root}", "--engine", "words", *NOTHING_TYPED, "--output", out)
    assert code == 0, err
    assert "(BASIC, client vscode) on p " in " ".join(said.split())
    assert ", client `vscode`: " in (out / "reports" / "report.md").read_text()
    assert re.search(r"<h1>.*, client vscode</span></h1>", (out / "reports" / "html" / "index.html").read_text())


@pytest.mark.slow
def test_empty_scores_zero_on_every_rank_metric(project: Path, tmp_path: Path) -> None:
    figures = evaluate(project, tmp_path / "o", "--engine", "empty")
    assert {name: figures["metrics"][name]["value"] for name in RANKED} == dict.fromkeys(RANKED, 0.0)
    assert figures["metrics"]["MeanRank"]["value"] is None


def test_a_workspace_has_everything_that_the_contract_names(project: Path, tmp_path: Path) -> None:
    evaluate(project, tmp_path / "o", "--engine", "words")
    for part in "config.yaml manifest.json actions sessions errors logs reports".split():
        assert (tmp_path / "o" / part).exists()
    for report in "html/index.html report.md metrics.json".split():
        assert (tmp_path / "o" / "reports" / report).stat().st_size > 0


def said_of(project: Path, output: Path, *more: object) -> tuple[dict[str, Any], list[str]]:
    """RecallAt1 of `words` with the number of all sessions, and the texts of Markdown and HTML."""
    code, _, err = run("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", output, *more)
    assert code == 0, err
    reports = output / "reports"
    (evaluation,) = json.loads((reports / "metrics.json").read_text())["evaluations"]
    leading = evaluation["filters"][evaluation["headline"]]["metrics"]["RecallAt1"]
    found = leading | {"all": evaluation["filters"]["ALL"]["sessions"]}
    pages = [(reports / name).read_text() for name in ("report.md", "html/index.html")]
    return found, [" ".join(unescape(text).split()) for text in pages]


@pytest.mark.slow
def test_where_all_sessions_were_asked_every_report_calls_the_figures_exact(project: Path, tmp_path: Path) -> None:
    found, texts = said_of(project, tmp_path / "o")
    assert found["low"] == found["value"] == found["high"]
    assert (found["population"], found["elsewhere"]["effective"]) == ("project", 6)
    for text in texts:
        assert f"In this project: all {found['all']} sessions were asked: its figures are exact." in text
        assert "In other code: intervals (95 %) say where the figures of files like these lie." in text


def test_figures_that_never_differ_are_the_reason_for_no_intervals(tmp_path: Path) -> None:
    samples = [{"instruction": "Review {code}", "context": {"code": f"x = {number}"}, "references": ["Why?"]}
               for number in range(25)]  # fmt: skip
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    asked = ("--task", "code-review", "--dataset", tmp_path / "d.jsonl", "--engine", "oracle", "--all")
    code, _, err = run("evaluate", *asked, "--output", tmp_path / "o")
    assert code == 0, err
    said = " ".join((tmp_path / "o" / "reports" / "report.md").read_text().split())
    assert "In other code: no intervals, since no two files have different figures." in said


@pytest.mark.slow
def test_of_a_sample_every_report_says_where_the_figures_of_all_lie(project: Path, tmp_path: Path) -> None:
    found, texts = said_of(project, tmp_path / "o", "--set", "interpret.sessionsLimit=30", *NOTHING_TYPED)
    assert found["low"] <= found["value"] < found["high"]
    between = f"{100 * found['low']:.1f}–{100 * found['high']:.1f}%"  # noqa: RUF001
    for text in texts:
        assert "In this project: 30 of its" in text
        assert between in text


@pytest.mark.slow
@pytest.mark.engine
def test_runs_and_numbers_of_workers_give_the_same_sessions(project: Path, tmp_path: Path) -> None:
    for name, jobs in (("a", 1), ("b", 1), ("c", 2)):
        evaluate(project, tmp_path / name, "--jobs", jobs)
    assert timeless(tmp_path / "a") == timeless(tmp_path / "b") == timeless(tmp_path / "c")


@pytest.mark.slow
@pytest.mark.engine
def test_a_killed_run_is_taken_up_and_ends_like_an_undisturbed_one(project: Path, tmp_path: Path) -> None:
    evaluate(project, tmp_path / "whole")
    killed = start("evaluate", "--project", f"path:{project}", "--output", tmp_path / "killed", "--jobs", 1)
    wait_for(lambda: _written(tmp_path / "killed" / "sessions") >= 2, killed)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=HANGS)
    done = _written(tmp_path / "killed" / "sessions")
    assert 2 <= done < 6
    code, _, err = run("evaluate", "--resume", "--output", tmp_path / "killed")
    assert code == 0, err
    assert timeless(tmp_path / "killed") == timeless(tmp_path / "whole")


def _written(folder: Path) -> int:
    return len(list(folder.glob("*.zst")))


@pytest.mark.slow
@pytest.mark.engine
def test_no_process_is_left_after_a_kill(project: Path, tmp_path: Path) -> None:
    killed = start("evaluate", "--project", f"path:{project}", "--output", tmp_path / "o")
    wait_for(lambda: _written(tmp_path / "o" / "sessions") >= 1, killed)
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=HANGS)
    wait_for(lambda: not list(_processes(str(project))), seconds=20)


def _processes(word: str) -> Iterator[str]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                line = (folder / "cmdline").read_text()
            except OSError:
                continue  # it ended while we looked
            if word in line:
                yield line


@pytest.mark.usefixtures("interruptible")
def test_an_interrupted_run_exits_with_130_and_keeps_its_workspace(tmp_path: Path) -> None:
    project = write(tmp_path / "p", **{f"f{i}__py": GREETER * 40 for i in range(9)})
    process = start("evaluate", "--project", f"path:{project}", "--output", tmp_path / "o", "--jobs", 1)
    wait_for(lambda: _written(tmp_path / "o" / "actions") >= 1, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=HANGS)
    assert process.returncode == 130
    assert "--resume" in err
    assert Workspace.open(tmp_path / "o").manifest().engine.name == "jedi"


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("delay_s", [0.03, 0.1, 0.2])
def test_ctrl_c_while_workers_start_has_one_message(delay_s: float, tmp_path: Path) -> None:
    project = write(tmp_path / "p", **{f"f{i}__py": GREETER for i in range(9)})
    given = ("--project", f"path:{project}", "--engine", "words", "--jobs", 3, "--output", tmp_path / "o")
    # A terminal sends Ctrl-C to all processes of its session's foreground group.
    process = start("evaluate", *given, new_session=True)
    # The first one is multiprocessing's tracker.
    wait_for(lambda: len(list(list_descendants(process.pid))) >= 3, process)
    time.sleep(delay_s)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=HANGS)
    assert process.returncode == 130
    assert "error: interrupted; resume with:" in err
    assert "Traceback" not in err
    assert "KeyboardInterrupt" not in err


def test_lost_actions_of_a_finished_run_are_noticed(project: Path, tmp_path: Path) -> None:
    done = tmp_path / "done"
    evaluate(project, done, "--engine", "words")
    next((done / "actions").iterdir()).unlink()
    resumed = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", done, "--resume")
    for call in (("interpret", done), ("interpret", done, "--output", tmp_path / "new"), resumed):
        code, _, err = run(*call)
        assert (code, "actions changed since" in " ".join(err.split())) == (2, True)
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
def test_another_engine_can_answer_the_same_actions(project: Path, tmp_path: Path) -> None:
    evaluate(project, tmp_path / "words", "--engine", "words")
    assert run("interpret", tmp_path / "words", "--engine", "oracle", "--output", tmp_path / "oracle")[0] == 0
    assert run("report", tmp_path / "oracle")[0] == 0
    assert (tmp_path / "oracle" / "reports" / "metrics.json").exists()


def test_what_an_engine_said_last_stands_beside_that_it_ended(project: Path, tmp_path: Path) -> None:
    server = tmp_path / "server"
    server.write_text("#!/bin/sh\necho 'Traceback:' >&2\necho 'NameError: x' >&2\nexit 3\n")
    server.chmod(0o755)
    chosen = ("--language", "python", "--engine-command", server, "--sessions", 6, "--jobs", 1)
    code, out, err = run("evaluate", "--project", f"path:{project}", *chosen, "--output", tmp_path / "out")
    assert code == 5, err
    assert "engine-crash: server ended (exit code 3): NameError: x" in " ".join(err.split())
    all_failed = "The engine failed in all 6 sessions, so there are no figures: engine-crash: server ended"
    assert all_failed in " ".join(out.split())
    assert "RecallAt1" not in out


@pytest.mark.slow
def test_an_engine_that_never_answers_is_warned_about(project: Path, tmp_path: Path) -> None:
    command = ("--project", f"path:{project}", "--engine", "empty", "--output")
    for number, job in enumerate(("evaluate", "generate-ml-logs")):
        formats = ("--log-format", "jsonl") if number else ()
        _, _, err = run(job, *command, tmp_path / job, *formats)
        assert "the engine answered nothing" in " ".join(err.split())


@pytest.mark.slow
def test_an_engine_that_no_test_drives_is_warned_about_and_needs_its_toolchain(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    options = ("--project", f"path:{project}", "--language", "java", "--output", tmp_path / "o")
    code, _, err = run("evaluate", *options, "--engine", "jdtls")
    said = " ".join(err.split())
    assert code == 4
    assert "the tests of ci-eval do not run jdtls" in said
    assert "engine jdtls needs java 21 or newer; found none" in said
    assert "the tests of ci-eval do not run" not in run("evaluate", *options, "--engine", "words")[2]


@pytest.mark.slow
def test_every_session_filter_gets_its_own_figures(project: Path, tmp_path: Path) -> None:
    filters = "reports.sessionsFilters=[{name: Static, filters: {isStatic: true}}]"
    evaluate(project, tmp_path / "o", "--engine", "words", "--set", filters)
    figures = json.loads((tmp_path / "o" / "reports" / "metrics.json").read_text())["evaluations"][0]["filters"]
    assert list(figures)[:5] == ["ALL", "Static", "Prefix 0", "Prefix 1", "Prefix 3"]
    assert {name.partition(",")[0] for name in list(figures)[5:]} == {"names", "imports", "keywords"}
    assert 0 < figures["Static"]["sessions"] < figures["ALL"]["sessions"]
    assert figures["Static"]["undecided"] > 0


@pytest.mark.slow
def test_default_metrics_are_the_ones_that_lead(project: Path, tmp_path: Path) -> None:
    evaluate(project, tmp_path / "o", "--engine", "words", "--set", "reports.defaultMetrics=[NDCG]")
    index = (tmp_path / "o" / "reports" / "html" / "index.html").read_text()
    cards = index[: index.index("Where the expected text stood")]
    assert "NDCG" in cards
    assert "RecallAt1" not in cards


@pytest.mark.slow
def test_any_language_server_is_an_engine_by_its_command(project: Path, tmp_path: Path) -> None:
    server = Path(__file__).parent.parent / "adapters" / "lsp" / "server.py"
    engine = json.dumps({"command": [sys.executable, str(server), "utf-16"], "languageId": "python"})
    figures = evaluate(project, tmp_path / "o", "--set", f"engine={engine}", "--set", "engine.name=mine")
    assert figures["metrics"]["Recall"]["value"] > 0.3
    manifest = json.loads((tmp_path / "o" / "manifest.json").read_text())
    assert manifest["engine"]["name"] == "mine"
    assert len(manifest["engine"]["version"]) == 12


def test_a_command_that_is_not_there_is_named(project: Path, tmp_path: Path) -> None:
    options = [
        "--project",
        f"path:{project}",
        "--set",
        "engine={command: [no-such-server]}",
        "--output",
        tmp_path / "o",
    ]
    code, _, err = run("evaluate", *options)
    assert code == 4
    assert "no program 'no-such-server'" in err
