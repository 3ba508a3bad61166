"""How well a typed word fits a candidate."""

from __future__ import annotations

import pytest

from ci_eval.core.interpret.fuzzy import full_score, graceful_score, score


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


def test_a_gap_costs_two_points() -> None:
    assert score("gtn", "getName") == 17


@pytest.mark.parametrize(
    ("word", "text", "full", "graceful"),
    [
        ("t", "total", 2, 2),
        ("t", "t", 4, 4),
        ("to", "Total", 8, 8),
        ("to", "subtotal", None, None),
        ("to", "sub_total", -5, -5),
        ("to", "subTotal", -4, -4),
        ("gcf", "getClassFile", 0, 0),
        ("gcf", "get_class_file", -2, -2),
        ("cno", "console", -8, 15),
        ("cosn", "console", None, 23),
        ("a", "bbb", None, None),
        (".t", ".total", 9, 9),
        ("$v", "$value", 9, 9),
        ("éa", "Éab", 8, 8),
        ("x", "😀x", None, None),
        ("total", "totals_of_total", 34, 34),
        ("aaa", "a" * 200, 18, 18),
        ("𐐀b", "a𐐀_b", None, None),
    ],
)
def test_the_scores_are_those_of_vs_code(word: str, text: str, full: int | None, graceful: int | None) -> None:
    assert (full_score(word, 0, text), graceful_score(word, 0, text)) == (full, graceful)
