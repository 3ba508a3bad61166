"""Regular expressions of a configuration."""

from __future__ import annotations

import pytest

from ci_eval.core.base.patterns import matches


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"java\..*", "java.util", True),
        (r"java\..*", "xjava.util", False),
        ("java", "java.util", False),
        ("ü|.*é", "é", True),
        ("(?i)OS", "os", True),
        ("", "", True),
    ],
)
def test_the_whole_text_must_match(pattern: str, text: str, expected: bool) -> None:
    assert matches(pattern, text) is expected
