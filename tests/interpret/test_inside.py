"""The change that acceptance makes to a word that stands in the code."""

from __future__ import annotations

import pytest

from ci_eval.core.interpret.inside import settle_tail
from ci_eval.core.model import Suggestion
from ci_eval.core.model.engine.offers import Offer


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
