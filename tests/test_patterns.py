"""Regular expressions of a configuration."""

from __future__ import annotations

import time

import pytest

from ci_eval.filters import decide
from ci_eval.model import FiltersConfig, Kind, Properties
from ci_eval.patterns import matches


@pytest.mark.parametrize("pattern", ["(a+)+$!", "(a|aa)+$!", "(.*)*b", "(a?){30}a{30}!"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    began = time.perf_counter()
    assert (
        decide(Properties(kind=Kind.VARIABLE, package="a" * 5000), "a", FiltersConfig(package_regex=pattern)) is False
    )
    assert time.perf_counter() - began < 5


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
