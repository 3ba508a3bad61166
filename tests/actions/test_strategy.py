"""Tokens become actions that leave the text as it was, and what the engine sees at each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.actions import Source, spell_task
from ci_eval.core.actions.strategy import AT_ONCE, longest_prefix, spelled_files, spelled_filters, uses
from ci_eval.core.grammar.document import Document, checksum
from ci_eval.core.model import (
    ActionsConfig,
    CallCompletion,
    CodeGolf,
    DeleteRange,
    FileActions,
    FiltersConfig,
    FinishSession,
    Kind,
    MoveCaret,
    OpenFile,
    PrefixConfig,
    PrintText,
    StrategyConfig,
    UseImport,
)
from ci_eval.plugins.languages.python import LANGUAGE
from ci_eval.plugins.tasks import completion, golf
from ci_eval.plugins.tasks.completion import IMPORTS as TASK
from tests.actions.views import TEXT, actions_of_file, views
from tests.projects import GREETER
from tests.replaying import STRATEGIES, replay, task_of


def actions_of(text: str, strategy: StrategyConfig | None = None, path: str = "a.py") -> FileActions:
    extraction = LANGUAGE.extract(text, path, {})
    source = Source(project="demo", path=path, text=text, language=LANGUAGE)
    strategy = strategy or StrategyConfig()
    return actions_of_file(source, extraction.tokens, strategy, extraction.unparsable, task_of(strategy))


def name_of(strategy: StrategyConfig) -> str:
    return spell_task(strategy, 0, task_of(strategy))


def test_a_session_deletes_the_token_asks_and_puts_it_back() -> None:
    found = actions_of("os")
    call = found.actions[3]
    assert isinstance(call, CallCompletion)
    assert found.actions == (
        OpenFile(path="a.py", checksum=checksum("os")),
        DeleteRange(begin=0, end=2),
        MoveCaret(offset=0),
        CallCompletion(session=call.session, offset=0, prefix="", expected_text="os", properties=call.properties),
        FinishSession(),
        PrintText(text="os"),
    )


def test_emulated_typing_asks_after_each_character() -> None:
    strategy = StrategyConfig(prefix=PrefixConfig(name="SimplePrefix", n=2, emulate_typing=True))
    calls = [action for action in actions_of("name", strategy).actions if isinstance(action, CallCompletion)]
    assert [call.prefix for call in calls] == ["", "n", "na"]
    assert len({call.session for call in calls}) == 1


@pytest.mark.parametrize("strategy", STRATEGIES, ids=name_of)
def test_the_text_is_whole_again_after_all_actions(strategy: StrategyConfig) -> None:
    assert replay(GREETER, actions_of(GREETER, strategy)) == GREETER


@given(
    text=st.text(alphabet=st.sampled_from("abé\U0001d4b3 \n.:=()[]'\"#,\tdef if"), max_size=200),
    strategy=st.sampled_from(STRATEGIES),
)
def test_the_text_is_whole_again_whatever_it_is(text: str, strategy: StrategyConfig) -> None:
    assert replay(text, actions_of(text, strategy)) == text


def test_the_id_of_a_session_is_stable() -> None:
    call = actions_of("os").actions[3]
    assert isinstance(call, CallCompletion)
    assert call.session == "0dc6a81d79320ec8"


@pytest.mark.parametrize(
    "other", [actions_of("os "), actions_of("os", path="b.py"), actions_of("os", STRATEGIES[1]), actions_of("so")]
)
def test_another_text_path_or_strategy_gives_another_id(other: FileActions) -> None:
    def ids(found: FileActions) -> set[str]:
        return {action.session for action in found.actions if isinstance(action, CallCompletion)}

    assert not ids(actions_of("os")) & ids(other)


def test_all_shows_everything_but_the_token() -> None:
    assert views(StrategyConfig())["argv"] == [TEXT.replace("argv", "|")]


def test_previous_hides_the_rest_of_the_function_and_closes_what_is_open() -> None:
    rest = TEXT[TEXT.index("\n\n\nclass") :]
    assert views(StrategyConfig(context="PREVIOUS"))["argv"] == [TEXT[: TEXT.index("argv")] + "|])" + rest]


def test_previous_hides_the_rest_of_a_statement_outside_functions() -> None:
    shown = views(StrategyConfig(context="PREVIOUS"))
    assert shown["object"][0].endswith("class Second(|): pass\n")
    assert "size = |\n\n    def method(self):\n        value = first(self.size)" in shown["first"][0]


def test_a_ladder_asks_at_each_length_in_sessions_of_their_own() -> None:
    strategy = StrategyConfig(prefix=PrefixConfig(name="Ladder", lengths=(3, 0, 2, 9)))
    assert [view[view.index("|") - 3 : view.index("|")] for view in views(strategy)["argv"]] == ["ys.", ".ar", "arg"]


def test_inside_a_word_the_whole_token_stands_there() -> None:
    shown = views(StrategyConfig(prefix=PrefixConfig(name="Inside")))
    assert shown["argv"] == [TEXT.replace("argv", "a|rgv")]


def test_a_step_of_a_ladder_is_the_session_of_a_simple_prefix() -> None:
    def ids(prefix: PrefixConfig) -> set[str]:
        source = Source(project="p", path="a.py", text=TEXT, language=LANGUAGE)
        tokens = LANGUAGE.extract(TEXT, "a.py", {}).tokens
        found = actions_of_file(source, tokens, StrategyConfig(prefix=prefix), 0.0, completion.COMPLETION)
        return {action.session for action in found.actions if isinstance(action, CallCompletion)}

    both = ids(PrefixConfig(name="Ladder", lengths=(0, 2)))
    assert ids(PrefixConfig()) < both
    long_enough = {each for each in ids(PrefixConfig(name="SimplePrefix", n=2)) if each in both}
    assert len(both) == len(ids(PrefixConfig())) + len(long_enough)


def test_golf_deletes_each_line_and_names_its_tokens() -> None:
    tokens = LANGUAGE.extract(TEXT, "a.py", {}).tokens
    source = Source(project="p", path="a.py", text=TEXT, language=LANGUAGE)
    found = actions_of_file(source, tokens, StrategyConfig(), 0.0, golf.TASK)
    lines = [action for action in found.actions if isinstance(action, CodeGolf)]
    assert [line.expected_text for line in lines[2:4]] == ["def first(a):", "if a:"]
    assert lines[4].ranges[:3] == ((0, 6), (7, 9), (10, 14))
    assert {line.properties.kind for line in lines} == {Kind.LINE}


def test_the_defaults_are_spelled_as_nothing() -> None:
    assert (spelled_filters(FiltersConfig()), spelled_files(ActionsConfig())) == ("", "")


def test_only_what_differs_is_spelled() -> None:
    assert spelled_filters(FiltersConfig(statement_types=(Kind.FIELD,))) == '{"statementTypes": ["FIELD"]}'
    assert spelled_files(ActionsConfig(max_file_size=9)) == '{"maxFileSize": 9}'


@pytest.mark.parametrize(
    ("prefix", "typed"),
    [
        (PrefixConfig(), ""),
        (PrefixConfig(name="SimplePrefix", n=3), "get"),
        (PrefixConfig(name="SimplePrefix", n=99), "getElementById"),
        (PrefixConfig(name="CapitalizePrefix"), "gEBI"),
    ],
)
def test_the_prefix_is_what_the_strategy_says(prefix: PrefixConfig, typed: str) -> None:
    assert longest_prefix("getElementById", prefix) == typed


IMPORTS = """from a import Apple, Pear
from b import id
from c import unused


def eat(fruit: Apple, Pear) -> Apple:
    fruit.Apple = id(Pear)
    return fruit
"""


def source(seed: int = 0, text: str = IMPORTS) -> Source:
    return Source(project="demo", path="p.py", text=text, language=LANGUAGE, seed=seed)


def test_the_seed_picks_a_use_that_is_neither_a_member_nor_local() -> None:
    tokens = LANGUAGE.extract(IMPORTS, "p.py", {}).tokens
    picked = {(use.token.text, use.token.offset) for seed in range(20) for use in uses(source(seed), tokens)}
    first = IMPORTS.index("Apple, Pear) ->")
    assert picked == {
        ("Apple", first),
        ("Apple", IMPORTS.index("Apple:", first)),
        ("id", IMPORTS.index("id(Pear")),
    }


def test_the_import_is_missing_at_its_use_and_back_behind_it() -> None:
    tokens = LANGUAGE.extract(IMPORTS, "p.py", {}).tokens
    actions = actions_of_file(source(), tokens, StrategyConfig(), 0.0, TASK)
    document, calls = Document(IMPORTS), []
    for action in actions.actions:
        if isinstance(action, MoveCaret | DeleteRange | PrintText):
            document.apply(action)
        elif isinstance(action, UseImport):
            calls.append((action.expected_text, action.prefix))
            text = document.text
            assert document.caret == len(text[: document.caret])
            assert text[: document.caret].endswith(action.prefix)
            removed = action.removed
            whole = text[: removed.offset] + removed.text + text[removed.offset :]
            left = len(action.expected_text) - len(action.prefix)
            caret = document.caret + len(removed.text)
            assert whole[:caret] + action.expected_text[len(action.prefix) :] + whole[caret:] == IMPORTS
            assert left == len(IMPORTS) - len(whole)
            assert action.expected_text in removed.text
    assert document.text == IMPORTS
    # A name of up to three letters is asked for once.
    assert calls == [("Apple", "App"), ("Apple", "Apple"), ("id", "id")]
    assert actions.sessions == 3


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_head_of_a_file_counts_the_sessions_that_its_actions_finish(strategy: StrategyConfig) -> None:
    of_file = actions_of(TEXT * 80, strategy)
    assert len(of_file.actions) > AT_ONCE
    assert of_file.sessions == sum(isinstance(action, FinishSession) for action in of_file.actions) > 0
