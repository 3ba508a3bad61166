"""None"""

from __future__ import annotations

import pytest

from ci_eval.core.model import Suggestion
from ci_eval.plugins.jetbrains.generation import find_rank


def shown(*texts: str) -> list[Suggestion]:
    return [Suggestion(text=text) for text in texts]


@pytest.mark.parametrize(
    ("language", "texts", "rank"),
    [
        ("Java", ("name =", "name"), 2),
        ("Kotlin", ("names", "name ="), 2),
        ("Kotlin", ("names =",), None),
        ("C++", ("  name(int x)", "name"), 1),
        ("C++", ("rename",), None),
    ],
)
def test_kotlin_and_cpp_have_rules_of_their_own(language: str, texts: tuple[str, ...], rank: int | None) -> None:
    assert find_rank(language, "name", shown(*texts), [None] * len(texts)) == rank


def test_what_the_plugin_called_relevant_goes_first() -> None:
    assert find_rank("Java", "a", shown("a", "b"), [False, True]) == 2
    assert find_rank("Java", "a", shown("b", "a"), [None, None]) == 2
    assert find_rank("Java", "a", shown("b", "a"), [False, False]) is None
    assert find_rank("", "a", shown("a =", "a")) == 2
