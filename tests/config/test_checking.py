"""Every key and value that does not fit is shown with what is allowed."""

from __future__ import annotations

import pytest

from ci_eval.core.config.checking import join, show
from tests.config.conftest import Refusal, Write


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "langauge: x",
            "`langauge` is not a known key; did you mean language?; known at the top: task, language, engine",
        ),
        (
            "interpret: {session_probability: 1}",
            "`interpret.session_probability` is not a known key; did you mean sess",
        ),
        ("seed: 1", "`seed` is not a known key; did you mean interpret.seed?"),
        ("reports: {sessionsFilters: [{name: x, filter: {}}]}", "`reports.sessionsFilters[0].filter` is not a known"),
        ("1: 2", "`1` is not a known key; known at the top"),
    ],
)
def test_an_unknown_key_is_named_with_the_one_that_was_meant(
    write: Write, content: str, expected: str, refusal: Refusal
) -> None:
    assert f"config.yaml: {expected}" in refusal(write(content))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("language: 3", "`language` is 3; expected a text that is not empty; put it in quotes"),
        ("actions: x", "`actions` is 'x'; expected a section with the keys evaluationRoots"),
        ("engine: {version: 0.19}", "`engine.version` is 0.19; expected a text that is not empty or null; put it in q"),
        ("interpret: {timeout: 0}", "`interpret.timeout` is 0; expected a number above 0 and of at most 86,400"),
        ("interpret: {timeout: .nan}", "`interpret.timeout` is nan; expected a number above 0"),
        (
            "interpret: {sessionsLimit: 0}",
            "`interpret.sessionsLimit` is 0; expected a whole number of at least 1 or nu",
        ),
        (
            "interpret: {sessionProbability: 1.5}",
            "`interpret.sessionProbability` is 1.5; expected a number above 0 and",
        ),
        ("engine: {environment: {1: a}}", "`key of engine.environment` is 1; expected a text"),
        ("engine: {environment: {A: 3}}", "`engine.environment.A` is 3; expected a text or null; put it in quotes"),
        ("engine: {environment: 3}", "`engine.environment` is 3; expected a section of a text → a text or null"),
        ("reports: {recallAt: [0]}", "`reports.recallAt[0]` is 0; expected a whole number of at least 1"),
        ("interpret: {maxSuggestions: yes}", "`interpret.maxSuggestions` is true; expected a whole number of at least"),
        (
            "interpret: {client: Editor}",
            "`interpret.client` is 'Editor'; expected one of editor, raw, vscode; did you",
        ),
        (
            "actions: {evaluationRoots: src}",
            "`actions.evaluationRoots` is 'src'; expected a list of a text that is not",
        ),
        (
            "actions: {strategy: {filters: {statementTypes: [FIELDS]}}}",
            "statementTypes[0]` is 'FIELDS'; expected one of",
        ),
        (
            "actions: {strategy: {filters: {statementTypes: []}}}",
            "statementTypes` is an empty list; expected a list of",
        ),
        ("actions: {strategy: {prefix: {name: simpleprefix}}}", "did you mean SimplePrefix?"),
        (
            "reports: {sessionsFilters: [{filters: {}}]}",
            "`reports.sessionsFilters[0].name` is missing; expected a text",
        ),
        ("reports: {sessionsFilters: [null]}", "`reports.sessionsFilters[0]` is empty (null); expected a section"),
    ],
)
def test_a_wrong_value_is_shown_with_what_is_allowed(
    write: Write, content: str, expected: str, refusal: Refusal
) -> None:
    assert expected in refusal(write(content))


def test_everything_wrong_is_reported_at_once(write: Write, refusal: Refusal) -> None:
    message = refusal(write("langage: x\ninterpret: {seed: x, timeout: -1}"))
    assert [line.split("`")[1] for line in message.splitlines()] == ["langage", "interpret.seed", "interpret.timeout"]


def test_a_ladder_of_very_many_lengths_is_refused(write: Write, refusal: Refusal) -> None:
    content = f"actions: {{strategy: {{prefix: {{name: Ladder, lengths: {list(range(20_000))}}}}}}}"
    assert "`actions.strategy.prefix.lengths` has 20,000 entries; at most 100" in refusal(write(content))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "empty (null)"),
        ({"a": 1}, "a section"),
        ([], "an empty list"),
        ((1,), "a list"),
        (True, "true"),
        ("x", "'x'"),
        ("x" * 200, "'" + "x" * 76 + "..."),
    ],
)
def test_a_value_is_quoted_in_short(value: object, expected: str) -> None:
    assert show(value) == expected


def test_a_key_of_another_section_is_named_by_its_path(write: Write, refusal: Refusal) -> None:
    assert "did you mean interpret.seed?" in refusal(write("seed: 1"))
    assert (join("", "a"), join("a", "b")) == ("a", "a.b")
