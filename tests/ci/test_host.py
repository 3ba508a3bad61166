"""A stream whose lines are made harmless before anybody sees them."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from hypothesis import given

from ci_eval.ci import Announcement
from ci_eval.ci.host import MOST_SUMMARY, GitHub, Guarded, TeamCity, data, escape, message, shorten_text
from tests.ci.parsers import ANY_TEXT, FOUND, github_commands, service_messages


def test_a_line_is_passed_on_once_it_is_complete_and_harmless() -> None:
    out = io.StringIO()
    guarded = Guarded(out, lambda line: line.replace("::", ".."))
    for piece in (":", ":error", ":", ":x\r", "\nnext", " line"):
        guarded.write(piece)
    assert out.getvalue() == "..error..x\r\n"
    guarded.close()
    assert out.getvalue() == "..error..x\r\nnext line"


@given(ANY_TEXT)
def test_a_workflow_command_comes_back_as_it_was(text: str) -> None:
    ((name, properties, found),) = github_commands(f"::error title=ci-eval::{data(text)}")
    assert (name, properties, found) == ("error", {"title": "ci-eval"}, text)


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
        host.fail(f"gate {number}", "broken")
    said = [text for _, _, text in github_commands(out.getvalue())]
    assert len(said) == 10
    assert "there are more" in said[-1]


@given(ANY_TEXT)
def test_a_service_message_comes_back_as_it_was(text: str) -> None:
    said = message("message", text=text, status=text)
    assert list(service_messages(said)) == [("message", {"text": text, "status": text})]
    assert list(service_messages(message("progressMessage", text))) == [("progressMessage", {"": text})]
    assert said.isascii()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("|", "||"),
        ("'", "|'"),
        ("\n", "|n"),
        ("\r", "|r"),
        ("[x]", "|[x|]"),
        ("é", "|0x00e9"),
        ("😀", "|0xd83d|0xde00"),
    ],
)
def test_the_escapes_are_teamcitys(text: str, code: str) -> None:
    assert escape(text) == code


@pytest.mark.parametrize("identity", ["x" * 100, "no Java: name", "ci_eval_é"])
def test_a_problem_has_an_identity_that_teamcity_takes(identity: str) -> None:
    out = io.StringIO()
    TeamCity(out).fail(identity, "why")
    ((name, values),) = service_messages(out.getvalue())
    assert (name, values["description"]) == ("buildProblem", "why")
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,59}", values["identity"])


@pytest.mark.parametrize(("number", "kept"), [(0.0, 1), (-9e12, 1), (1e13, 0), (float("nan"), 0), (float("inf"), 0)])
def test_only_a_number_that_teamcity_can_keep_is_a_statistic(number: float, kept: int) -> None:
    out = io.StringIO()
    TeamCity(out).announce(Announcement(status="", statistics={"RecallAt1": number}))
    assert [name for name, _ in service_messages(out.getvalue())].count("buildStatisticValue") == kept
