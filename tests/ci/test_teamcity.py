"""TeamCity's service messages: text comes back as it was, and only what TeamCity takes is written."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given

from ci_eval.ci import Announcement, Problem
from ci_eval.ci.teamcity import TeamCity, escape, message
from tests.ci.parsers import ANY_TEXT, service_messages


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
    TeamCity(out).fail(Problem(identity=identity, text="why"))
    ((name, values),) = service_messages(out.getvalue())
    assert (name, values["description"]) == ("buildProblem", "why")
    assert re.fullmatch("[A-Za-z_][A-Za-z0-9_]{0,59}", values["identity"])


@pytest.mark.parametrize(("number", "kept"), [(0.0, 1), (-9e12, 1), (1e13, 0), (float("nan"), 0), (float("inf"), 0)])
def test_only_a_number_that_teamcity_can_keep_is_a_statistic(number: float, kept: int) -> None:
    out = io.StringIO()
    TeamCity(out).announce(Announcement(status="", statistics={"RecallAt1": number}))
    assert [name for name, _ in service_messages(out.getvalue())].count("buildStatisticValue") == kept
