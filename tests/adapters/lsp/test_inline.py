"""Servers that complete inline, as the protocol's version 3.18 has it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from ci_eval.core.base.errors import EngineRaised
from ci_eval.core.contracts import Query
from ci_eval.core.model import Session, Span
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.adapters.lsp.engine import RunningLsp
from tests.adapters.lsp.conftest import Start
from tests.command import command
from tests.projects import GREETER, write

TEXT = "one\n𐐀é  four\n"


def ask(server: RunningLsp, span: Span = "line", prefix: str = "") -> list[str]:
    """At the end of the second line's first word and two blanks."""
    server.open("a.py", TEXT.replace("four", prefix))
    query = Query(offset=8 + len(prefix), prefix=prefix, expected="", span=span)
    return [found.text for found in server.complete(query).suggestions]


@pytest.mark.parametrize("way", ["inline", "inline-range"])
@pytest.mark.parametrize(
    ("span", "found"), [("line", "five six"), ("statement", "five six"), ("text", "five six\nseven")]
)
def test_grey_text_is_cut_to_what_is_asked_for(start: Start, way: str, span: Span, found: str) -> None:
    assert ask(start(way), span) == [found]


@pytest.mark.parametrize("way", ["inline", "inline-range"])
def test_what_is_typed_of_it_belongs_to_it(start: Start, way: str) -> None:
    assert ask(start(way), prefix="𐐀x") == ["𐐀xfive six"]


@pytest.mark.parametrize("way", ["inline-none", "inline-other"])
def test_no_text_and_one_that_changes_what_is_there_are_no_suggestions(start: Start, way: str) -> None:
    assert ask(start(way)) == []


@pytest.mark.parametrize(("way", "said"), [("inline-stranger", "NotSignedIn"), ("inline-nonsense", "what is none")])
def test_a_refusal_and_nonsense_are_failures(start: Start, way: str, said: str) -> None:
    with pytest.raises(EngineRaised, match=said):
        ask(start(way))


@pytest.mark.parametrize(("way", "span"), [("inline", "word"), ("", "line")])
def test_a_word_and_a_server_without_grey_text_go_the_usual_way(start: Start, way: str, span: Span) -> None:
    assert "one" in ask(start(way), span)


@pytest.mark.registry
@pytest.mark.needs("node", "npm")
def test_a_real_server_that_nobody_is_signed_in_to_says_so_in_each_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fetch = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "copilot-node-server@1.41.0"]
    subprocess.run(fetch, check=True)
    write(tmp_path / "p", main__py=GREETER)
    server = ["node", "node_modules/copilot-node-server/copilot/dist/language-server.js", "--stdio"]
    given = ("--project", "path:p", "--task", "inline", "--jobs", 1, "--output", "out")
    assert command("evaluate", *given, "--set", f"engine={json.dumps({'command': server})}")[0] == 5
    stored = [session for _, found in Workspace.open(tmp_path / "out").sessions(Session) for session in found]
    assert stored
    assert {each.status for each in stored} == {"error"}
    assert all("NotSignedIn" in each.message for each in stored)
