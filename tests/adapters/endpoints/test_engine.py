"""Evaluations of language models that answer as such models do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ci_eval.cli.group import cli
from ci_eval.core.base.errors import NothingSuggested, TooManyUnreadable
from ci_eval.core.model import Session
from ci_eval.core.model.report import Responses
from ci_eval.core.workspace import Workspace
from ci_eval.rendering.advice import describe_empty_responses
from tests.adapters.endpoints.scripted import Endpoint, Reply, fails, says, sends, serve, whole

KEY = "Ключ лежит в коде."


def evaluate(folder: Path, endpoint: Endpoint, *options: str, references: tuple[str | None, ...] = (KEY,)) -> Path:
    lines = [
        {"instruction": "{d}", "inputs": {"d": f"+ key = {number}"}, "outputs": text, "meta": {"id": number}}
        for number, text in enumerate(references)
    ]
    (folder / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    argv = ["evaluate", "--task", "code-review", "--dataset", str(folder / "d.jsonl"), "--jobs", "1"]
    argv += ["--set", f"engine.endpoint={endpoint.address}", "--set", "engine.model=tiny"]
    argv += ["--set", "engine.stream=false", "--output", str(folder / "out"), *options]
    cli.main(argv, standalone_mode=False)
    return folder / "out"


def figures(workspace: Path) -> dict[str, Any]:
    evaluation = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"][0]
    metrics = {name: each["value"] for name, each in evaluation["filters"]["ALL"]["metrics"].items()}
    return metrics | {"environment": evaluation["environment"]}


def without_text(finish: str, **message: Any) -> Reply:
    return sends(json.dumps({"choices": [{"message": {"content": None, **message}, "finish_reason": finish}]}))


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (without_text("length", reasoning_content="so …"), "engine.sampling.maxTokens"),
        (without_text("stop", refusal="I will not."), "refused"),
    ],
    ids=["thought", "refusal"],
)
def test_a_model_without_an_answer_is_told_why(tmp_path: Path, reply: Reply, said: str) -> None:
    with serve(says("ok"), reply) as endpoint, pytest.raises(NothingSuggested) as raised:
        evaluate(tmp_path, endpoint)
    assert said in str(raised.value)
    assert "--dependencies" not in str(raised.value)


def test_each_reason_has_its_own_advice() -> None:
    responses = Responses(finishes={}, rules={}, empty={"length": 1, "filter": 3, "tool": 2, "unknown": 4})
    said = describe_empty_responses(responses)
    assert [
        said.index(word) for word in ("no readable answer", "content filter", "called a tool", "maxTokens")
    ] == sorted(said.index(word) for word in ("no readable answer", "content filter", "called a tool", "maxTokens"))
    assert "in 1 session the model reached the limit of tokens" in said


def test_what_surrounds_an_answer_is_read_away_and_kept(tmp_path: Path) -> None:
    answer = f"<think>\nКомментарий 1: имя?\n</think>\nКомментарий 1: {KEY}<|im_end|>"
    with serve(says("ok"), says(answer)) as endpoint:
        workspace = evaluate(tmp_path, endpoint)
    ((session,),) = [list(sessions) for _, sessions in Workspace.open(workspace).sessions(Session)]
    (lookup,) = session.lookups
    assert [each.text for each in lookup.suggestions] == [KEY]
    assert lookup.answer == answer
    read = figures(workspace)
    assert read["ChrF"] == 1
    assert read["environment"]["Answers were read by"] == "end token 1, marker 1, thought 1"
    assert read["ChrFMera"] < 1  # its own rule finds the draft as well, and the token


def test_records_without_a_reference_are_in_no_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    price = ("--set", "engine.price.input=1000", "--set", "engine.price.output=1000")
    with serve(says(f"1. {KEY}")) as endpoint:
        read = figures(evaluate(tmp_path, endpoint, *price, "-v", references=(KEY, "", None, "  ")))
    assert (read["ChrF"], read["BLEU"], read["WithoutReference"]) == (1, 1, 3)
    shown = " ".join(capsys.readouterr().out.split())
    assert read["Cost"] == pytest.approx(4 * 0.015)
    assert "Cost 0.060" in shown or "Cost 0.06" in shown


def test_a_gate_on_a_figure_that_does_not_exist_is_broken(tmp_path: Path) -> None:
    with serve(says(f"1. {KEY}")) as endpoint, pytest.raises(Exception, match="ChrF") as raised:
        evaluate(tmp_path, endpoint, "--gate", "ChrF >= 0%", references=("", None))
    assert type(raised.value).__name__ == "GateFailed"
    assert figures(tmp_path / "out")["ChrF"] is None


def judge(body: dict[str, Any]) -> str:
    question = body["messages"][0]["content"]
    assert "EXPECTED>" not in question
    return "**Verdict: Same.**" if body["max_tokens"] >= 2000 else "<think>…"


def test_a_judge_is_asked_where_there_is_no_reference_with_its_own_limit(tmp_path: Path) -> None:
    def verdict(handler: Any, body: dict[str, Any]) -> None:
        sends(json.dumps(whole(judge(body))))(handler, body)

    with serve(says(f"1. {KEY}")) as endpoint, serve(verdict) as judging:
        options = [
            "--set",
            f"judge.endpoint={judging.address}",
            "--set",
            "judge.model=j",
            "--set",
            "judge.stream=false",
        ]
        options += ["--set", "judge.sampling.maxTokens=4000", "--set", "judge.price.input=1000"]
        options += ["--set", "judge.price.output=1000"]
        read = figures(evaluate(tmp_path, endpoint, *options, references=("",)))
    assert (read["HitAt1"], read["Unscored"], read["ChrF"]) == (1, 0, None)
    assert read["JudgeCost"] == pytest.approx(0.015)


def test_a_judge_whose_verdicts_cannot_be_read_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(says(f"1. {KEY}")) as endpoint, serve(says("Hard to say.")) as judging:
        options = ["--set", f"judge.endpoint={judging.address}", "--set", "judge.model=j"]
        read = figures(evaluate(tmp_path, endpoint, *options))
    assert (read["HitAt1"], read["Unscored"]) == (None, 1)
    shown = capsys.readouterr()
    assert "judge.sampling.maxTokens" in " ".join((shown.out + shown.err).split())


def test_answers_without_the_form_are_counted_said_and_too_many_end_in_exit_code_5(tmp_path: Path) -> None:
    replies = says("ok"), says("LGTM!"), says(f"Комментарий 1: {KEY}")
    with serve(*replies) as endpoint, pytest.raises(TooManyUnreadable, match=r"1 of 2 .*engine.allowedUnreadable"):
        evaluate(tmp_path, endpoint, references=(KEY, KEY))
    workspace = tmp_path / "out"
    sessions = [session for _, of_file in Workspace(workspace).sessions(Session) for session in of_file]
    assert sorted((session.status.value, session.lookups[0].answer[:4]) for session in sessions) == [
        ("ok", "Комм"),
        ("unreadable", "LGTM"),
    ]
    assert figures(workspace)["ChrF"] == 0.5
    assert "1 of 2 answers are not code at their place" in (workspace / "reports" / "report.md").read_text()


def test_more_of_them_may_be_allowed(tmp_path: Path) -> None:
    with serve(says("ok"), says("LGTM!")) as endpoint:
        workspace = evaluate(tmp_path, endpoint, "--set", "engine.allowedUnreadable=1")
    assert figures(workspace)["ChrF"] == 0


REST = "sum(values) + 1"
CHAT = {
    "ok": (
        "@",
        "\n\n@",
        "\u00a0@",
        "\ufeff@",
        "\u200b@",
        "```python\n@\n```",
        "```\n@\n```\nIt adds one.",
        "~~~py\n@\n~~~",
        "Sure:\n```python\n@\n```",
        "```python\n@",
        "`@`",
        "`@`.",
        "```@```",
        "return @",
        "@\n\nNote: it adds one.",
        "<think>return sum(values)?</think>\n@",
        "maybe\n</think>\n\n@",
        "[THINK]maybe[/THINK]@",
        "◁think▷maybe◁/think▷@",
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>@<|return|>",
        "@<|im_end|>",
        "@<end_of_turn>",
        "@</s>",
        "@ [/INST]",
        "<|editable_region_start|>\n@\n<|editable_region_end|>",
        "The line:\n```text\nreturn\n```\nNow:\n```python\n@\n```",
    ),
    "unreadable": (
        "Здесь должно быть так:\n@",
        "补全如下：\n@",
        "Voici la suite :\n@",
        "**Final answer:**\n\n@",
        "Code:\n@",
        "Answer: @",
        '{"insertion": "@"}',
        '{"name": "insert", "arguments": {"text": "@"}}',
        "<answer>@</answer>",
        '<tool_call>{"name": "insert", "arguments": {"text": "@"}}</tool_call>',
        "<pre><code>@</code></pre>",
        "> @",
        "1. @",
        "12: @",
        "| @ |",
        "**@**",
        ">>> @",
        "$ @",
        "“@”",
        "```diff\n+@\n```",
        "--- a.py\n+++ b.py\n+ @",
        "\\boxed{@}",
        '```json\n{"code": "@"}\n```',
        "Before:\n```python\nNone\n```\nAfter:\n```python\n@\n```",
        "<<<<<<< SEARCH\n=======\n@\n>>>>>>> REPLACE",
        "I'm sorry, I can't help with that.",
        "No completion is needed.",
    ),
}
COMPLETIONS = {
    "ok": (
        "@",
        "@ <SUF>",
        "@\u2581<EOT>",
        "@ <EOT>",
        "<|fim_middle|>@",
        "[MIDDLE]@",
        "@<｜fim▁end｜>",
        "@<|endoftext|>",
        "```python\n@\n```",
        "@\n    return 1\n",
        "<fim_middle>@<file_sep>",
    ),
    "unreadable": ("Code:\n@", "Here is it: @"),
}


@pytest.mark.parametrize(("api", "shapes"), [("chat", CHAT), ("completions", COMPLETIONS)], ids=["chat", "completions"])
def test_no_shape_of_a_right_answer_is_a_zero_in_silence(tmp_path: Path, api: str, shapes: dict[str, Any]) -> None:
    wanted = [(shape, status) for status, of_status in shapes.items() for shape in of_status]
    holes = [
        {
            "id": number,
            "prefix": f"def f{number}(values):\n    return ",
            "suffix": "\n",
            "expected": REST,
            "language": "python",
        }
        for number, _ in enumerate(wanted)
    ]

    def answer(handler: Any, body: dict[str, Any]) -> None:
        asked = re.search(r"def f(\d+)", json.dumps(body))
        text = wanted[int(asked[1])][0].replace("@", REST) if asked else "ok"
        content = whole(text)
        content["choices"][0]["text"] = text
        sends(json.dumps(content))(handler, body)

    (tmp_path / "holes.jsonl").write_text("".join(json.dumps(hole) + "\n" for hole in holes))
    argv = ["evaluate", "--task", "inline", "--dataset", str(tmp_path / "holes.jsonl"), "--jobs", "1"]
    argv += ["--output", str(tmp_path / "out")]
    with serve(answer) as endpoint:
        settings = {"endpoint": endpoint.address, "model": "m", "api": api, "stream": False, "allowedUnreadable": 1}
        settings |= {"template": "codellama"} if api == "completions" else {}
        cli.main([*argv, "--set", f"engine={json.dumps(settings)}"], standalone_mode=False)
    sessions = [session for _, of_file in Workspace(tmp_path / "out").sessions(Session) for session in of_file]
    seen = {wanted[int(session.file.removesuffix(".py"))][0]: session.status.value for session in sessions}
    assert {shape: status for shape, status in seen.items() if status != dict(wanted)[shape]} == {}


def test_a_run_whose_money_ended_has_figures_without_intervals(tmp_path: Path) -> None:
    with serve(says("ok"), *[says(f"Comment 1: {KEY}")] * 3, fails(402, "Insufficient credits")) as endpoint:
        workspace = evaluate(tmp_path, endpoint, references=(KEY,) * 8)
    evaluation = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"][0]
    whole = evaluation["filters"]["ALL"]
    assert (whole["statuses"]["skipped"], whole["metrics"]["ChrF"]["value"]) == (5, 1)
    assert all(figure.get("low") is figure.get("high") is None for figure in whole["metrics"].values())
