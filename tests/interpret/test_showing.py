"""What is kept of an answer, and in which order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ci_eval.core.interpret.showing import settle_tail
from ci_eval.core.model import ActionsConfig, PrefixConfig, StrategyConfig, Suggestion
from ci_eval.core.model.sessions import Offer
from ci_eval.plugins.engines.controls import WORDS
from ci_eval.plugins.rankers.lists import RANKERS
from tests.faulty import Faulty
from tests.projects import ask, generate, sessions, setup, write


def test_repeated_suggestions_count_once(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="self.a\nreturn_\n")
    ask(workspace := generate(root, tmp_path / "w"), setup(Faulty("repeats itself"), root))
    assert [found.text for found in sessions(workspace)[2].lookups[0].suggestions] == ["self", "return"]


@pytest.mark.slow
def test_of_a_million_suggestions_a_thousand_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    root = write(tmp_path / "p", a__py="self.a\nname999999\n")
    ask(workspace := generate(root, tmp_path / "w"), setup(Faulty("suggests a million"), root))
    lookup = sessions(workspace)[2].lookups[0]
    assert (len(lookup.suggestions), lookup.total, lookup.rank) == (1000, 1_000_000, 1_000_000)


def test_alphabetical_reorders_and_remembers_the_engines_place(project: Path, tmp_path: Path) -> None:
    wanted = replace(setup(WORDS, project), ranker=RANKERS["ALPHABETICAL"])
    ask(workspace := generate(project, tmp_path / "w"), wanted)
    lookup = sessions(workspace)[-1].lookups[0]
    texts = [found.text.casefold() for found in lookup.suggestions]
    assert texts == sorted(texts)
    assert sorted(found.position or 0 for found in lookup.suggestions) == list(range(1, len(texts) + 1))


def test_typing_narrows_what_an_editor_shows(project: Path, tmp_path: Path) -> None:
    strategy = StrategyConfig(prefix=PrefixConfig(name="SimplePrefix", n=2, emulate_typing=True))
    ask(workspace := generate(project, tmp_path / "w", ActionsConfig(strategy=strategy)), setup(WORDS, project))
    session = next(session for session in sessions(workspace) if session.expected_text == "Greeter")
    assert [lookup.prefix for lookup in session.lookups] == ["", "G", "Gr"]
    assert {found.text for found in session.lookups[-1].suggestions} == {"Greeter", "Greets", "greet"}


@pytest.mark.parametrize(
    ("tail", "settled"),
    [
        ("⌫th", ""),  # the whole word is replaced
        ("", "th"),  # the range ends at the caret: pathth
        ("⌫t", "h"),
        ("()⌫th", "()"),
        ("⌫th(", "⌫("),  # more than the word is replaced
        ("(⌫th(", ""),  # … and written again
        ("⇤.⌫th", "⇤."),
    ],
)
def test_a_tail_is_what_acceptance_changes_beside_the_word(tail: str, settled: str) -> None:
    offer = Offer(text="path", tail=tail)
    assert settle_tail(offer, "th").tail == settled


def test_an_engine_without_ranges_has_the_word_replaced() -> None:
    assert settle_tail(Suggestion(text="path"), "th") == Suggestion(text="path")
