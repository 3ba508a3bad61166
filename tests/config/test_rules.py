"""Rules that concern several values, and the few values that are settled with a warning."""

from __future__ import annotations

import pytest

from ci_eval.core.config import load
from ci_eval.core.model import PrefixConfig, SessionsFilter
from tests.config.conftest import Refusal, Write


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("{name: SimplePrefix}", "`actions.strategy.prefix.n` is missing; SimplePrefix needs"),
        ("{name: CapitalizePrefix, n: 1}", "`actions.strategy.prefix.n` is 1, but CapitalizePrefix takes none"),
        ("{n: 2}", "`actions.strategy.prefix.n` is 2, but NoPrefix takes none"),
        ("{name: Ladder}", "`actions.strategy.prefix.lengths` is missing; Ladder needs"),
        ("{lengths: [1]}", "`actions.strategy.prefix.lengths` is given, but NoPrefix takes none"),
        ("{name: Ladder, lengths: [1], emulateTyping: true}", "Ladder already asks at each length"),
    ],
)
def test_prefix_and_length_must_fit(write: Write, prefix: str, expected: str, refusal: Refusal) -> None:
    assert expected in refusal(write(f"actions: {{strategy: {{prefix: {prefix}}}}}"))


@pytest.mark.parametrize("regex", ["(", "[a-z&&[^b]]", "a{99999999999}"])
def test_a_regex_that_python_reads_otherwise_is_refused(write: Write, regex: str, refusal: Refusal) -> None:
    content = f"actions: {{strategy: {{filters: {{packageRegex: '{regex}'}}}}}}"
    assert "expected a Python regular expression" in refusal(write(content))


@pytest.mark.parametrize("regex", ["(?!a)b", "(a)\\1", "(a{1000}){1000}"])
def test_a_regex_that_could_take_for_ever_is_refused(write: Write, regex: str, refusal: Refusal) -> None:
    content = f"reports: {{sessionsFilters: [{{name: x, filters: {{packageRegex: '{regex}'}}}}]}}"
    assert "without lookaround, backreferences and long repetitions (invalid " in refusal(write(content))


def test_a_regex_for_everything_is_no_filter(write: Write) -> None:
    loaded = load(write("reports: {sessionsFilters: [{name: x, filters: {packageRegex: '.*'}}]}"))
    assert loaded.config.reports.sessions_filters == (SessionsFilter(name="x"),)


def test_what_leads_is_a_group_or_a_filter_that_is_there(write: Write, refusal: Refusal) -> None:
    ladder = "actions: {strategy: {prefix: {name: Ladder, lengths: [0, 3]}}}\n"
    for headline, leads in (("names", "names, Prefix 3"), ("ALL", "ALL"), ("Prefix 0", "Prefix 0"), ("mine", "mine")):
        parts = f"{ladder}reports: {{headline: {headline}, sessionsFilters: [{{name: mine}}]}}"
        assert load(write(parts)).config.report_filters.headline == leads
    assert load(write("task: tokens\nreports: {headline: names}")).config.report_filters.headline == "ALL"
    said = refusal(write(f"{ladder}reports: {{headline: Prefix 1}}"))
    assert "`reports.headline` is 'Prefix 1', which is not a filter" in said
    assert "the filters are all, names, imports, keywords, Prefix 0" in said


def test_training_and_test_leave_something_for_validation(write: Write, refusal: Refusal) -> None:
    assert load(write("interpret: {trainTestSplit: 80, testSplit: 19}")).config.interpret.test_split == 19
    assert "leave nothing for validation" in refusal(write("interpret: {trainTestSplit: 80, testSplit: 20}"))


@pytest.mark.parametrize("names", [("ALL",), ("x", "x")])
def test_names_of_sessions_filters_are_unique_and_not_all(
    write: Write, names: tuple[str, ...], refusal: Refusal
) -> None:
    parts = ", ".join(f"{{name: {name}}}" for name in names)
    assert f"sessionsFilters[{len(names) - 1}].name` is" in refusal(write(f"reports: {{sessionsFilters: [{parts}]}}"))


@pytest.mark.parametrize(
    ("strategy", "more", "expected"),
    [
        ("{completionGolf: true}", "task: other", "completionGolf` selects golf, but `task` is 'other'"),
        ("{evolution: {what: imports, how: different}}", "", "imports can only be missing"),
    ],
)
def test_what_excludes_each_other_is_refused(
    write: Write, strategy: str, more: str, expected: str, refusal: Refusal
) -> None:
    assert expected in refusal(write(f"actions: {{strategy: {strategy}}}\n{more}"))


def test_emulating_the_typing_of_nothing_is_ignored_and_says_so() -> None:
    loaded = load(None, overrides=["actions.strategy.prefix.emulateTyping=true"])
    assert loaded.config.actions.strategy.prefix == PrefixConfig()
    assert "NoPrefix types nothing" in loaded.warnings[0]


@pytest.mark.parametrize(
    ("given_name", "ours"), [("Java", "java"), ("C++", "cpp"), ("Shell Script", "bash"), ("C#", "csharp"), ("XY", "xy")]
)
def test_a_language_may_be_called_as_in_the_ide(given_name: str, ours: str) -> None:
    assert load(None, overrides=[f"language='{given_name}'"]).config.language == ours
