"""What GitHub is told: commands, outputs, a summary, annotations."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given

from ci_eval.ci.github import MOST_SUMMARY, GitHub, data, shorten_text, value
from ci_eval.ci.host import Problem
from tests.ci.parsers import ANY_TEXT, FOUND, github_commands


@given(ANY_TEXT, ANY_TEXT)
def test_a_workflow_command_comes_back_as_it_was(title: str, text: str) -> None:
    said = f"::error title={value(title)}::{data(text)}"
    ((name, properties, found),) = github_commands(said)
    assert (name, found) == ("error", text)
    assert properties.get("title", "") == title


def test_github_gets_outputs_a_summary_and_an_annotation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "output"))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary"))
    out = io.StringIO()
    GitHub(out).announce(FOUND)
    assert [name for name, *_ in github_commands(out.getvalue())] == ["error"]
    assert (tmp_path / "summary").read_text() == "# Report\n"
    text = (tmp_path / "output").read_text()
    values = re.findall(r"(\w+)<<(ci-eval-[-0-9a-f]+)\n(.*?)\n\2\n", text, re.DOTALL)
    assert {name: found for name, _, found in values} == {"workspace": "a\nb", "verdict": "worse"}


def test_a_summary_keeps_below_githubs_limit_and_loses_its_end() -> None:
    text = "".join(f"line {number} é\n" for number in range(200_000))
    short = shorten_text(text, MOST_SUMMARY)
    assert len(short.encode()) <= MOST_SUMMARY
    assert short.startswith("line 0 é\n")
    assert short.endswith("The rest is in the report.\n")
    assert shorten_text("# x\n", MOST_SUMMARY) == "# x\n"


def test_at_most_ten_warnings_are_annotations_and_the_last_one_says_so() -> None:
    out = io.StringIO()
    host = GitHub(out)
    for number in range(30):
        host.annotate("warning", str(number))
    said = [text for _, _, text in github_commands(out.getvalue())]
    assert len(said) == 10
    assert "there are more" in said[-1]


def test_problems_are_annotations_too_and_are_counted_with_the_errors() -> None:
    out = io.StringIO()
    host = GitHub(out)
    for number in range(6):
        host.annotate("error", str(number))
        host.fail(Problem(identity=f"gate {number}", text="broken"))
    said = [text for _, _, text in github_commands(out.getvalue())]
    assert len(said) == 10
    assert "there are more" in said[-1]
