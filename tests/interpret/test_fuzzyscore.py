"""The scores of VS Code; `clients/test_vscode.py` compares whole lists."""

from __future__ import annotations

import pytest

from ci_eval.core.interpret.fuzzyscore import full_score, graceful_score


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
