"""Views: what was measured once is looked at in several ways, and no engine is asked."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.model import Kind, SessionScore
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.filtering import passes
from tests.projects import GREETER, write

SERVER = Path(__file__).parent.parent / "adapters" / "lsp" / "server.py"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a workspace of an own server, which is gone by now: who asked it anew would fail."""
    folder = tmp_path_factory.mktemp("view")
    project = write(folder / "p", one__py=GREETER, two__py=f"{GREETER}\nother = Greeter('x')\nother.greet()\n")
    server = folder / "server.py"
    shutil.copy(SERVER, server)
    given = ("--project", f"path:{project}", "--engine-command", f"{sys.executable} {server} plain {folder}")
    code, _, err = command("evaluate", *given, "--set", "interpret.confine=off", "--jobs", 1, "--output", folder / "w")
    assert code == 0, err
    server.unlink()
    return folder / "w"


@pytest.fixture
def workspace(measured: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(measured, tmp_path / "w"))


def evaluation(workspace: Path) -> dict[str, Any]:
    (only,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
    return dict(only)


def test_filters_places_title_and_gates_change_without_a_question(workspace: Path, tmp_path: Path) -> None:
    sealed = (workspace / "manifest.json").read_bytes()
    filters = ("kind=VARIABLE,FIELD", "prefix=1 file='two*'", "text='gr*' argument=false")
    view = [part for line in filters for part in ("--filter", line)]
    view += ["--title", "The same, looked at", "--set", "reports.recallAt=[3]", "--gate", "RecallAt3[ALL] >= 1%"]
    code, out, err = command("report", workspace, *view)
    assert code == 0, err
    assert filters[0] in out
    report = evaluation(workspace)
    assert report["title"] == "The same, looked at"
    assert set(filters) < set(report["filters"])
    assert report["headline"] == filters[0]
    assert "RecallAt3" in report["filters"]["ALL"]["metrics"]
    assert [gate["passed"] for gate in report["gates"]] == [True]
    assert (workspace / "manifest.json").read_bytes() == sealed
    # The view stays, and comparisons follow it.
    assert command("report", workspace)[0] == 0
    assert evaluation(workspace)["title"] == "The same, looked at"
    assert command("compare", workspace, workspace, "--output", tmp_path / "c")[0] == 0
    comparison = json.loads((tmp_path / "c" / "comparison.json").read_text())
    assert comparison["new"] == "The same, looked at"
    assert comparison["headline"] == filters[0]
    (workspace / "view.yaml").unlink()
    assert command("report", workspace)[0] == 0
    assert evaluation(workspace)["title"] != "The same, looked at"


def test_figures_of_any_filter_are_those_of_the_sessions_that_pass(workspace: Path) -> None:
    sessions = [each for _, scores in Workspace.open(workspace).sessions(SessionScore) for each in scores]
    rng = random.Random(48)
    values = {
        "kind": [kind.value for kind in Kind][:7],
        "prefix": ["0", "1", "3"],
        "file": ["one*", "*.py", "t?o.py"],
        "text": ["g*", "*e*", "[a-h]*"],
        "length": ["2", "5"],
        "argument": ["true", "false"],
        "first": ["true", "false"],
    }
    drawn = [{name: rng.choice(values[name]) for name in rng.sample(sorted(values), 2)} for _ in range(12)]
    lines = [" ".join(f"{name}='{value}'" for name, value in conditions.items()) for conditions in drawn]
    assert command("report", workspace, *(part for line in dict.fromkeys(lines) for part in ("--filter", line)))[0] == 0
    report = evaluation(workspace)["filters"]
    counts = set()
    for line, conditions in zip(lines, drawn, strict=True):
        chosen = [session for session in sessions if passes(session, conditions)]
        first = sum(session.lookups[-1].rank == 1 for session in chosen)
        figures = report[line]
        assert figures["sessions"] == len(chosen), line
        recall = figures["metrics"]["RecallAt1"]["value"]
        assert recall == (pytest.approx(first / len(chosen), abs=1e-12) if chosen else None), line
        counts.add(len(chosen))
    assert len(counts) > 5


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (("--set", "interpret.seed=3"), "belongs to what was measured"),
        (("--filter", "colour=red"), "'colour=red' is no condition; there are kind, prefix"),
        (("--filter", "kind=CALL"), "expected one of METHOD_CALL"),
        (("--filter", "kind=FIELD kind=FIELD"), "kind is there twice"),
        (("--filter", "text='a"), "No closing quotation"),
        (("--filter", " "), "a filter is empty"),
        (("--set", "reports.headline=nowhere"), "nowhere"),
    ],
)
def test_a_wrong_view_is_refused_and_nothing_is_stored(workspace: Path, view: tuple[str, str], message: str) -> None:
    code, _, err = command("report", workspace, *view)
    assert code == 2
    assert message in " ".join(err.split())
    assert not (workspace / "view.yaml").exists()


def test_a_view_that_was_changed_by_hand_changes_no_measurement(workspace: Path) -> None:
    (workspace / "view.yaml").write_text("interpret.seed: 3\n")
    code, _, err = command("report", workspace)
    assert code == 2
    assert "view.yaml: `interpret.seed` belongs to what was measured" in " ".join(err.split())


CALLS = "kind=METHOD_CALL prefix=1"


def expected_texts(workspace: Path, *, kind: Kind, typed: int) -> list[str]:
    return [
        session.expected_text
        for _, scores in Workspace.open(workspace).sessions(SessionScore)
        for session in scores
        if session.properties.kind is kind and session.typed == typed
    ]


def test_a_comparison_has_a_view_of_its_own(workspace: Path, tmp_path: Path) -> None:
    rule = "Recall[text='[a-h]*' prefix=0] >= 1%"
    view = ("--filter", CALLS, "--title", "Calls", "--set", "reports.recallAt=[3]", "--gate", rule)
    code, _, err = command("compare", workspace, workspace, *view, "--output", tmp_path / "c")
    assert code == 0, err
    comparison = json.loads((tmp_path / "c" / "comparison.json").read_text())
    assert (comparison["new"], comparison["headline"]) == ("Calls", CALLS)
    assert comparison["base"] != "Calls"
    assert "RecallAt3" in comparison["filters"][CALLS]["metrics"]
    assert "text='[a-h]*' prefix=0" in comparison["filters"]
    assert comparison["gates"][0]["passed"]
    assert not (workspace / "view.yaml").exists()


def test_a_gate_may_spell_out_its_sessions(workspace: Path) -> None:
    rules = ("--gate", f"Recall[{CALLS}] >= 1%", "--gate", "Recall[text=nowhere] >= 1%")
    code, _, err = command("report", workspace, *rules)
    assert code == 1, err
    kept, broken = evaluation(workspace)["gates"]
    assert (kept["passed"], broken["passed"]) == (True, False)
    assert kept["reason"].startswith(CALLS)
    code, _, err = command("report", workspace, "--gate", "Recall[colour=red] >= 1%")
    assert (code, "'colour=red' is no condition" in " ".join(err.split())) == (2, True), err


def test_tables_are_of_the_sessions_that_pass(workspace: Path, tmp_path: Path) -> None:
    calls = expected_texts(workspace, kind=Kind.METHOD_CALL, typed=1)
    fields = expected_texts(workspace, kind=Kind.FIELD, typed=0)
    view = ("--filter", CALLS, "--filter", "kind=FIELD prefix=0")
    code, _, err = command("export", workspace, "--format", "jsonl", *view, "--output", tmp_path / "tables")
    assert code == 0, err
    rows = [json.loads(line) for line in (tmp_path / "tables" / "sessions.jsonl").read_text().splitlines()]
    assert sorted(row["expected"] for row in rows) == sorted(calls + fields)
    assert calls
    assert fields


def test_a_merged_or_reranked_workspace_stores_its_view(workspace: Path, tmp_path: Path) -> None:
    view = ("--filter", CALLS, "--title", "Calls")
    ranked = ("rerank", workspace, "--completion-type", "ALPHABETICAL")
    for name, argv in {"merged": ("merge", workspace), "ranked": ranked}.items():
        code, _, err = command(*argv, *view, "--output", tmp_path / name)
        assert code == 0, err
        assert (evaluation(tmp_path / name)["headline"], evaluation(tmp_path / name)["title"]) == (CALLS, "Calls")
        assert CALLS in (tmp_path / name / "view.yaml").read_text()
        code, _, err = command(*argv, "--filter", "colour=red", "--output", tmp_path / f"no {name}")
        assert (code, (tmp_path / f"no {name}").exists()) == (2, False), err


def test_a_resumed_run_is_reported_by_its_view(tmp_path: Path) -> None:
    project = write(tmp_path / "p", one__py=GREETER)
    argv = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--output", tmp_path / "w")
    assert command(*argv)[0] == 0
    assert command("report", tmp_path / "w", "--filter", CALLS, "--title", "Calls")[0] == 0
    code, _, err = command("evaluate", "--resume", "--jobs", 1, "--output", tmp_path / "w")
    assert code == 0, err
    assert (evaluation(tmp_path / "w")["headline"], evaluation(tmp_path / "w")["title"]) == (CALLS, "Calls")
