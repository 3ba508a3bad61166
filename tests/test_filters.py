"""Filters by what is known about a token."""

from __future__ import annotations

import time

import pytest

from ci_eval.filters import decide
from ci_eval.model import FiltersConfig, Kind, Properties


@pytest.mark.parametrize("pattern", ["(a+)+$!", "(a|aa)+$!", "(.*)*b", "(a?){30}a{30}!"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    began = time.perf_counter()
    assert (
        decide(Properties(kind=Kind.VARIABLE, package="a" * 5000), "a", FiltersConfig(package_regex=pattern)) is False
    )
    assert time.perf_counter() - began < 5
