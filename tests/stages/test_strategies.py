"""What the engine sees of a file under each strategy."""

from __future__ import annotations

import re

import pytest

from ci_eval.languages.python import LANGUAGE
from ci_eval.model import CallCompletion, CodeGolf, EvolutionConfig, Kind, PrefixConfig, StrategyConfig
from ci_eval.stages.actions import Source, actions_of_file
from ci_eval.tasks import golf
from tests.replaying import seen, task_of

TEXT = """import os
import sys


def first(a):
    if a:
        return os.path.join(a, [sys.argv])
    return a


class Second(object):
    size = first(1)

    def method(self):
        value = first(self.size)
        print(value)
"""


def views(strategy: StrategyConfig, text: str = TEXT, seed: int = 0) -> dict[str, list[str]]:
    """By expected text: what stood there at each question about it, with a bar at the caret."""
    tokens = LANGUAGE.extract(text, "a.py", {}).tokens
    source = Source(project="p", path="a.py", text=text, language=LANGUAGE, seed=seed)
    found: dict[str, list[str]] = {}
    for call, before, after in seen(text, actions_of_file(source, tokens, strategy, 0.0, task_of(strategy))):
        found.setdefault(call.expected_text, []).append(f"{before}|{after}")
    return found


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


def test_a_step_of_a_ladder_is_the_session_of_a_simple_prefix() -> None:
    def ids(prefix: PrefixConfig) -> set[str]:
        source = Source(project="p", path="a.py", text=TEXT, language=LANGUAGE)
        tokens = LANGUAGE.extract(TEXT, "a.py", {}).tokens
        found = actions_of_file(source, tokens, StrategyConfig(prefix=prefix), 0.0)
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


def test_later_lines_are_missing_and_earlier_ones_are_there() -> None:
    shown = views(StrategyConfig(evolution=EvolutionConfig(share=1)))
    assert "value = first" not in shown["os"][1]
    assert "print(value)" not in shown["self"][0]
    assert shown["print"] == [TEXT.replace("print", "|")]


def test_later_definitions_are_missing() -> None:
    shown = views(StrategyConfig(evolution=EvolutionConfig(share=1, what="definitions")))
    assert "def method" not in shown["os"][1]
    assert "def first(a)" in shown["os"][1]
    assert "def method" in shown["value"][0]


def test_imports_are_missing_until_they_are_typed_themselves() -> None:
    shown = views(StrategyConfig(evolution=EvolutionConfig(share=1, what="imports")))
    assert shown["sys"][0].startswith("import |\n")
    assert shown["argv"][0].startswith("\n\ndef first")


def test_a_different_line_is_one_of_the_same_depth() -> None:
    shown = views(StrategyConfig(evolution=EvolutionConfig(share=1, how="different")))
    assert re.search(r"def method\(self\):\n        (return|print)", shown["os"][1])


@pytest.mark.parametrize("what", ["lines", "definitions", "imports"])
def test_the_seed_decides_what_is_missing(what: str) -> None:
    strategy = StrategyConfig(evolution=EvolutionConfig(share=0.5, what=what))  # type: ignore[arg-type]
    assert views(strategy) == views(strategy)
    assert len({str(views(strategy, seed=seed)) for seed in range(8)}) > 1
