"""Messages about keys and values."""

from __future__ import annotations

import pytest

from ci_eval.core.config import Config
from ci_eval.core.config.wording import join, show, unknown_key


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


def test_a_key_of_another_section_is_named_by_its_path() -> None:
    assert "did you mean interpret.seed?" in unknown_key("seed", Config, "")
    assert (join("", "a"), join("a", "b")) == ("a", "a.b")
