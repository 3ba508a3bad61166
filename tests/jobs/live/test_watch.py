"""A report is made anew as files get through, and a last time when the run is complete."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Thread

import pytest

from ci_eval.ci import Screen
from ci_eval.jobs.live import watch
from tests.command import command
from tests.runs_that_go_on import GoingOn


def test_a_report_follows_the_run_until_it_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = GoingOn(tmp_path)
    steps = [lambda: None, run.get_through, lambda: None, run.get_through, run.end]
    live = run.folder / "live"
    seen: list[tuple[int, str]] = []

    def next_step(_: float) -> None:
        figures = live / "metrics.json"
        if figures.exists():
            (evaluation,) = json.loads(figures.read_text())["evaluations"]
            edition = (live / "html" / "edition.js").read_text().strip()
            seen.append((len(evaluation["filters"]["ALL"]["files"]), edition))
        steps.pop(0)()

    monkeypatch.setattr(watch, "sleep", next_step)
    shown: list[dict[str, Path]] = []
    (last,) = watch.watch([run.folder], screen=Screen(), shown=shown.append)
    assert seen == [(1, "ciEvalEdition(1);"), (1, "ciEvalEdition(1);"), (2, "ciEvalEdition(2);")]
    assert len(shown) == 1
    assert last["html"] == live / "html" / "index.html"
    (evaluation,) = json.loads((live / "metrics.json").read_text())["evaluations"]
    assert len(evaluation["filters"]["ALL"]["files"]) == 3
    assert "unfinished" not in evaluation
    assert "live.js" not in last["html"].read_text()
    assert not (run.folder / "reports").exists()


def test_several_runs_are_watched_each_until_it_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = GoingOn(tmp_path / "first"), GoingOn(tmp_path / "second")
    steps = [second.get_through, first.get_through, first.end, second.end]
    monkeypatch.setattr(watch, "sleep", lambda _: steps.pop(0)())
    shown: list[dict[str, Path]] = []
    reports = watch.watch([first.folder, second.folder], screen=Screen(), shown=shown.append)
    assert [each["html"] for each in shown] == [run.folder / "live" / "html" / "index.html" for run in (second, first)]
    assert [each["html"] for each in reports] == [
        run.folder / "live" / "html" / "index.html" for run in (first, second)
    ]
    for run in (first, second):
        (evaluation,) = json.loads((run.folder / "live" / "metrics.json").read_text())["evaluations"]
        assert len(evaluation["filters"]["ALL"]["files"]) == 3


@pytest.mark.slow
def test_pages_say_that_the_run_goes_on(tmp_path: Path) -> None:
    run = GoingOn(tmp_path)
    run.get_through()
    watching = Thread(target=lambda: watch.watch([run.folder], screen=Screen(), shown=lambda _: run.end(), pause=0.01))
    watching.start()
    watching.join(60)
    assert not watching.is_alive()
    # A finished workspace is what it was: the report beside it changes nothing of it.
    assert command("report", run.folder)[0] == 0


@pytest.mark.slow
def test_runs_are_watched_without_gates(tmp_path: Path) -> None:
    folder = GoingOn(tmp_path).folder
    for option in (("--gate", "Recall >= 1%"), ("--filter", "prefix=1"), ("--title", "mine")):
        code, _, said = command("report", folder, "--watch", *option)
        assert (code, "--watch takes neither --gate nor a view" in " ".join(said.split())) == (2, True)
