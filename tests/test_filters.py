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


@pytest.mark.parametrize(
    ("wanted", "passes"),
    [
        (FiltersConfig(strategies=("REAL",), scenarios=("1|2", "NEW")), True),
        (FiltersConfig(strategies=("REAL*",)), False),
        (FiltersConfig(evolutions=("dD", "-M+dD")), False),
        (FiltersConfig(package_regex=r"java\..*"), True),
    ],
)
def test_queries_about_objects_are_told_apart(wanted: FiltersConfig, passes: bool) -> None:
    query = Properties(kind=Kind.RECORD, package="java.util.List", strategy="REAL", scenario="1|2", evolution="0")
    assert decide(query, "add", wanted) is passes
    assert decide(Properties(kind=Kind.RECORD), "add", wanted) is None
