"""Inline completion: whole lines, statements and blocks; its controls, and a model that is scripted."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from ci_eval.jobs.preparation import load_task
from ci_eval.plugins.languages.python import LANGUAGE
from tests.adapters.endpoints.scripted import Reply, fails, says, sends, serve, stalls
from tests.command import command
from tests.projects import write

CODE = """import os


def total(values):
    found = sum(
        value for value in values if value
    )
    if found:
        print(found)
        return found
    return os.sep


print(total([1]))
"""


def items(span: str) -> list[str]:
    task = load_task(load(None, overrides=["task=inline", f"actions.strategy.span={span}"]).config)
    assert task.items
    found = list(task.items(CODE, LANGUAGE.extract(CODE, "a.py", {}).tokens))
    assert all(CODE[each.begin : each.end] == each.text for each in found)
    assert all(one.end <= other.begin for one, other in pairwise(found))
    return [each.text for each in found]


def test_a_line_is_asked_for_from_one_of_its_tokens_on() -> None:
    found = items("line")
    assert len(found) == 9
    assert all("\n" not in each and each == each.strip() for each in found)
    assert sum(CODE.count(f"\n{each}\n") + CODE.count(f"    {each}\n") for each in found) < len(found)


def test_a_statement_may_have_several_lines_and_a_block_what_is_in_it() -> None:
    assert [each for each in items("statement") if "\n" in each] == [
        "sum(\n        value for value in values if value\n    )"
    ]
    assert items("block") == ["os", CODE[CODE.index("def") : CODE.index("\n\n\nprint")], "total([1]))"]


def test_another_task_has_no_choice_of_spans() -> None:
    with pytest.raises(ConfigError, match=r"strategy\.span"):
        load_task(load(None, overrides=["actions.strategy.span=line"]).config)


@pytest.mark.parametrize(
    "given", ["interpret.userModel=thesis", "actions.strategy.prefix={name: SimplePrefix, n: 1, emulateTyping: true}"]
)
def test_the_user_of_lists_has_nothing_to_do_here(given: str) -> None:
    with pytest.raises(ConfigError, match="AcceptanceRate has its own user"):
        load_task(load(None, overrides=["task=inline", given]).config)


def evaluated(folder: Path, *arguments: object, code: int = 0) -> Workspace:
    """The workspace of a run of the task with these options."""
    write(folder / "p", main__py=CODE)
    given = ("--task", "inline", "--project", f"path:{folder / 'p'}", "--jobs", 1, "--output", folder / "out")
    ended, _, said = command("evaluate", *arguments, *given)
    assert ended == code, said
    return Workspace.open(folder / "out")


def figures(workspace: Workspace) -> dict[str, Any]:
    found = json.loads((workspace.folder / "reports" / "metrics.json").read_text())
    metrics = found["evaluations"][0]["filters"]["ALL"]["metrics"]
    return {name: metric["value"] for name, metric in metrics.items()}


HOLES: list[dict[str, object]] = [
    {
        "id": "several",
        "prefix": "def total(values):\n",
        "suffix": "\n\nprint(total([1]))\n",
        "expected": "    result = 0\n    for value in values:\n        result += value\n    return result\n",
        "language": "python",
    },
    {"id": "one", "prefix": "class A { int f() { return ", "suffix": " } }\n", "expected": "1;", "language": "java"},
]


def evaluate_holes(folder: Path, name: str, *arguments: object, lines: list[dict[str, object]] = HOLES) -> Workspace:
    (folder / "holes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    given = ("--task", "inline", "--dataset", folder / "holes.jsonl", "--jobs", 1, "--output", folder / name)
    code, _, said = command("evaluate", *arguments, *given)
    assert code == 0, said
    return Workspace.open(folder / name)


@pytest.mark.parametrize(("engine", "value"), [("oracle", 1.0), ("empty", 0.0), ("words", 0.0)])
def test_holes_of_a_dataset_are_asked_of_controls(tmp_path: Path, engine: str, value: float) -> None:
    workspace = evaluate_holes(tmp_path, "out", "--engine", engine, "--set", "interpret.allowedEmpty=1")
    read = figures(workspace)
    assert (read["LineMatch"], workspace.manifest().finished) == (value, 2)
    assert sorted(source.path for source in workspace.sources()) == ["one.java", "several.py"]


def test_a_model_is_shown_prefix_and_suffix_and_its_answer_counts_to_the_end_of_what_is_expected(
    tmp_path: Path,
) -> None:
    def answer(handler: Any, body: dict[str, Any]) -> None:
        question = body["messages"][0]["content"]
        line = next((line for line in HOLES if f"{line['prefix']}<HOLE/>" in question), HOLES[0])
        says(f"```{line['language']}\n{line['expected']}\n```\nDone.")(handler, body)

    with serve(says("ok"), answer) as endpoint:
        workspace = evaluate_holes(tmp_path, "out", *of_model(endpoint.address))
    read = figures(workspace)
    assert (read["LineMatch"], read["WellFormed"], workspace.manifest().statuses) == (1.0, 1.0, {"ok": 2})
    assert "result" not in endpoint.asked[1]["messages"][0]["content"]


def test_an_answer_is_held_against_the_grammar_of_its_own_hole(tmp_path: Path) -> None:
    python: dict[str, object] = {"prefix": "x = (", "suffix": ")\n", "expected": "1", "language": "python"}
    with serve(says("ok"), says("1;")) as endpoint:
        workspace = evaluate_holes(tmp_path, "out", *of_model(endpoint.address), lines=[HOLES[1], python])
    assert workspace.manifest().statuses == {"ok": 1, "unreadable": 1}


def test_runs_over_holes_are_compared(tmp_path: Path) -> None:
    for engine in ("empty", "oracle"):
        evaluate_holes(tmp_path, engine, "--engine", engine, "--set", "interpret.allowedEmpty=1")
    code, _, said = command("compare", tmp_path / "empty", tmp_path / "oracle", "--output", tmp_path / "compared")
    assert code == 0, said
    compared = json.loads((tmp_path / "compared" / "comparison.json").read_text())
    assert (compared["paired"], compared["filters"]["ALL"]["metrics"]["LineMatch"]["difference"]) == (2, 1.0)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--project", "path:."), "`project` has no effect"),
        (("--set", "actions.strategy.span=block"), "`actions` has no effect"),
        (
            ("--set", "engine={endpoint: 'http://127.0.0.1:1', model: m, api: infill, window: {otherFiles: 0.5}}"),
            "otherFiles",
        ),
    ],
)
def test_what_is_about_source_code_is_refused_beside_holes(tmp_path: Path, more: tuple[str, ...], said: str) -> None:
    (tmp_path / "holes.jsonl").write_text(json.dumps(HOLES[1]))
    code, _, printed = command("evaluate", "--task", "inline", "--dataset", tmp_path / "holes.jsonl", *more)
    assert (code, said in " ".join(printed.split())) == (2, True), printed


def first(workspace: Workspace) -> Session:
    return next(session for _, sessions in workspace.sessions(Session) for session in sessions)


@pytest.mark.parametrize("span", ["line", "statement", "block"])
@pytest.mark.parametrize(("engine", "value"), [("oracle", 1.0), ("empty", 0.0)])
def test_controls_stand_at_their_ends(tmp_path: Path, engine: str, value: float, span: str) -> None:
    workspace = evaluated(
        tmp_path, "--engine", engine, "--set", f"actions.strategy.span={span}", "--set", "interpret.allowedEmpty=1"
    )
    found = figures(workspace)
    names = ("LineMatch", "EditSimilarity", "MatchedRatio", "FirstTokenMatch")
    assert [found[name] for name in names] == [value] * 4
    assert found["AcceptanceRate"] == (1.0 if value else None)
    # Each takes a key.
    assert 0.8 * value <= found["AcceptedTyping"] <= 0.99 * value
    assert found["WellFormed"] == (1.0 if value else None)
    assert "Cost" not in found


def of_model(address: str, **more: object) -> list[object]:
    engine = {"endpoint": address, "model": "tiny", "price": {"input": 1e5, "output": 1e6}, "retries": 0}
    engine |= {"allowedUnreadable": 1, **more}
    return [
        "--set",
        f"engine={json.dumps(engine)}",
        "--set",
        "interpret.timeout=2",
        "--set",
        "interpret.allowedEmpty=1",
    ]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI_EVAL_CACHE", str(tmp_path / "cache"))


def test_what_an_answer_took_is_reported(tmp_path: Path) -> None:
    with serve(says("ok"), says("found\nmore")) as endpoint:
        workspace = evaluated(tmp_path, *of_model(endpoint.address))
    usage = first(workspace).lookups[0].usage
    assert usage
    assert usage.first_token is not None
    assert (usage.prompt_tokens, usage.answer_tokens, usage.cost, usage.finish) == (10, 10, 11.0, "stop")
    found = figures(workspace)
    assert (found["PromptTokens"], found["AnswerTokens"], found["Cost"]) == (90, 90, 99.0)
    assert found["FirstTokenPercentile95"] <= found["LatencyPercentile95"]
    assert first(workspace).lookups[0].suggestions[0].text == "found"


@pytest.mark.parametrize(
    ("bad", "status", "code"),
    [
        (fails(429, "slow down"), "error", 5),
        (fails(500), "error", 5),
        (sends(b'data: {"choices": []}\n\n'), "error", 5),
        (sends(b"<html>"), "error", 5),
        (fails(404, "no such model"), "error", 5),
        (fails(400, "context_length_exceeded"), "context-too-long", 5),
        (stalls(4), "timeout", 5),
        (says(""), "empty", 0),
        (says("found = su", "length"), "cut-off", 0),
        (says("nothing\n", "length"), "no-match", 0),
    ],
    ids=["429", "500", "cut stream", "garbage", "wrong model", "too long", "slow", "empty", "cut off", "long enough"],
)
def test_each_fault_is_a_counted_status(tmp_path: Path, bad: Reply, status: str, code: int) -> None:
    with serve(says("ok"), bad) as endpoint:
        workspace = evaluated(tmp_path, *of_model(endpoint.address), "--set", "interpret.sessionsLimit=2", code=code)
    assert workspace.manifest().statuses == {status: 2}
    assert workspace.manifest().planned == 2


@pytest.mark.slow
def test_sessions_beyond_the_budget_are_skipped_and_asked_with_a_larger_one(tmp_path: Path) -> None:
    with serve(says("ok")) as endpoint:
        workspace = evaluated(tmp_path, *of_model(endpoint.address, budget={"requests": 4}))
        assert workspace.manifest().statuses == {"no-match": 2, "unreadable": 1, "skipped": 6}
        evaluated(tmp_path / "again", *of_model(endpoint.address, budget={"requests": 6}))
    assert len(endpoint.asked) == 1 + 9


def test_each_round_asks_anew(tmp_path: Path) -> None:
    with serve(says("ok"), says("found")) as endpoint:
        evaluated(tmp_path, *of_model(endpoint.address), "--repeat", 2)
    assert len(endpoint.asked) == 1 + 2 * 9


def test_a_workspace_of_somebody_else_sends_nothing_anywhere(tmp_path: Path) -> None:
    with serve(says("found")) as endpoint:
        workspace = evaluated(tmp_path, *of_model(endpoint.address))
        code, _, said = command("interpret", workspace.folder)
    assert code == 2
    assert f"send code to {endpoint.address}" in " ".join(said.split())
