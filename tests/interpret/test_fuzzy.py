"""How well a typed word fits a candidate."""

from __future__ import annotations

import pytest

from ci_eval.core.interpret.fuzzy import score


@pytest.mark.parametrize(
    ("typed", "candidate"),
    [
        ("c", "Console"),
        ("c", "WebContext"),
        ("gEBI", "getElementById"),
        ("ge", "get_element"),
        ("__in", "__init__"),
        ("MS", "MAX_SIZE"),
        ("", "anything"),
    ],
)
def test_a_word_fits_from_the_start_of_a_word_on(typed: str, candidate: str) -> None:
    assert score(typed, candidate) is not None


@pytest.mark.parametrize(("typed", "candidate"), [("c", "description"), ("ab", "ba"), ("abc", "ab"), ("x", "")])
def test_a_word_does_not_fit_elsewhere(typed: str, candidate: str) -> None:
    assert score(typed, candidate) is None


@pytest.mark.parametrize(
    ("typed", "better", "worse"),
    [
        ("get", "getName", "widgetGet"),
        ("get", "get", "Get"),
        ("gn", "getName", "gain"),
        ("na", "name", "newArray"),
        ("app", "append", "allPeople"),
    ],
)
def test_of_two_candidates_the_better_fit_scores_higher(typed: str, better: str, worse: str) -> None:
    assert (score(typed, better) or 0) > (score(typed, worse) or 0)
