"""The caret inside a token that stands in the code: what is offered there, and what acceptance leaves."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ci_eval.core.base.errors import ConfigError
from ci_eval.core.config import load
from ci_eval.core.model import Session, Status
from ci_eval.core.workspace import Workspace
from tests.command import command
from tests.projects import write

INSIDE = ("--set", "actions.strategy.prefix={name: Inside}", "--jobs", "1")
CODE = """def total(path, sep):
    return path + sep


total("a", sep=".")
"""
SERVER = """
import json, re, sys

def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    sys.stdout.buffer.flush()

def items(text, position):
    row, caret = position["line"], position["character"]
    line = text.split("\\n")[row]
    begin = re.search(r"\\w*$", line[:caret]).start()
    end = caret + re.match(r"\\w*", line[caret:]).end()
    span = lambda a, b: {"start": {"line": row, "character": a}, "end": {"line": row, "character": b}}
    # `path` is replaced up to the caret only, `total` gets brackets, `sep` is replaced whole.
    yield {"label": "path", "textEdit": {"newText": "path", "range": span(begin, caret)}}
    yield {"label": "total", "insertTextFormat": 2, "textEdit": {"newText": "total($0)", "range": span(begin, end)}}
    yield {"label": "sep", "textEdit": {"newText": "sep", "insert": span(begin, caret), "replace": span(begin, end)}}

text = ""
while header := sys.stdin.buffer.readline():
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(int(header.split(b":")[1])))
    method, params = message.get("method"), message.get("params")
    if method == "textDocument/didOpen":
        text = params["textDocument"]["text"]
    elif method == "textDocument/didChange":
        text = params["contentChanges"][-1]["text"]
    elif method == "exit":
        break
    elif "id" in message:
        completes = {"capabilities": {"textDocumentSync": 1, "completionProvider": {}}}
        answer = list(items(text, params["position"])) if method == "textDocument/completion" else completes
        send(id=message["id"], result=answer)
"""


def evaluate(folder: Path, *arguments: str) -> tuple[Workspace, str]:
    write(folder / "p", main__py=CODE)
    (folder / "server.py").write_text(SERVER)
    engine = ("--engine-command", f"{sys.executable} {folder / 'server.py'}")
    ended, _, said = command(
        "evaluate", *engine, "--project", f"path:{folder / 'p'}", *INSIDE, *arguments, "--output", str(folder / "out")
    )
    assert ended == 0, said
    return Workspace.open(folder / "out"), said


def test_what_acceptance_leaves_is_seen_and_no_rank_is_a_figure(tmp_path: Path) -> None:
    workspace, _ = evaluate(tmp_path)
    outcomes = {
        (session.expected_text, session.status, session.lookups[0].offered)
        for _, sessions in workspace.sessions(Session)
        for session in sessions
        if session.expected_text in {"path", "total", "sep"}
    }
    assert outcomes == {
        ("path", Status.NO_MATCH, True),
        ("total", Status.NO_MATCH, True),
        ("sep", Status.OK, True),
    }
    figures = json.loads((tmp_path / "out/reports/metrics.json").read_text())["evaluations"][0]["filters"]["names"]
    metrics = figures["metrics"]
    assert metrics["OfferedInside"]["value"] == 1
    assert metrics["IntactInside"]["value"] == 0.5  # both uses of `sep`, of which one names an argument
    assert not {"RecallAt1", "MeanRank", "MeanReciprocalRank"} & set(metrics)


def test_the_whole_token_stands_in_the_code_that_is_asked_about(tmp_path: Path) -> None:
    workspace, _ = evaluate(tmp_path, "--set", "actions.strategy.prefix={name: Inside, n: 2}")
    sessions = [session for _, part in workspace.sessions(Session) for session in part]
    assert {session.typed for session in sessions} == {2}
    tails = {
        (item.text, item.tail)
        for session in sessions
        if session.expected_text == "path"
        for item in session.lookups[0].suggestions
    }
    assert tails == {("path", "th")}


@pytest.mark.parametrize(
    ("override", "error"),
    [
        ("interpret.client=editor", "the text that acceptance leaves"),
        ("task=golf", "but the task is golf"),
        ("engine={endpoint: 'http://127.0.0.1:1/v1', model: m}", "replaces nothing"),
        ("interpret.userModel=thesis", "types none"),
        ("actions.strategy.prefix.emulateTyping=true", "emulateTyping"),
    ],
)
def test_what_inside_cannot_do_is_refused(override: str, error: str) -> None:
    with pytest.raises(ConfigError, match=error):
        load(None, overrides=["actions.strategy.prefix={name: Inside}", override])


def test_the_task_needs_its_prefix() -> None:
    with pytest.raises(ConfigError, match=r"name: Inside"):
        load(None, overrides=["task=inside"])


@pytest.mark.engine
@pytest.mark.registry
@pytest.mark.parametrize(("engine", "intact"), [("zuban", 0.0), ("pyrefly", 1.0)])
def test_real_servers_replace_the_word_or_do_not(tmp_path: Path, engine: str, intact: float) -> None:
    write(tmp_path / "p", main__py="import os\n\n\ndef join(first):\n    return os.path.join(first, os.sep)\n")
    out = tmp_path / "out"
    names = ("--set", "actions.strategy.filters={statementTypes: [FIELD, VARIABLE, METHOD_CALL]}")
    asked = ("--engine", engine, "--project", f"path:{tmp_path / 'p'}", *names)
    ended, _, said = command("evaluate", *asked, *INSIDE, "--output", str(out))
    assert ended == 0, said
    evaluation = json.loads((out / "reports/metrics.json").read_text())["evaluations"][0]
    metrics = evaluation["filters"]["ALL"]["metrics"]
    assert metrics["OfferedInside"]["value"] == 1
    assert metrics["IntactInside"]["value"] == intact
