"""Filters by what is known about a token."""

from __future__ import annotations

import time

import pytest

from ci_eval.core.filters import (
    ReportFilter,
    decide,
    matches,
    report_filters,
    resolve,
    standard_name,
    standard_parts,
)
from ci_eval.core.model import FiltersConfig, Kind, Properties, SessionScore, SessionsFilter, Status


@pytest.mark.parametrize("pattern", ["(a+)+$!", "(a|aa)+$!", "(.*)*b", "(a?){30}a{30}!"])
def test_no_pattern_takes_for_ever(pattern: str) -> None:
    began = time.process_time()
    assert (
        decide(Properties(kind=Kind.VARIABLE, package="a" * 5000), "a", FiltersConfig(package_regex=pattern)) is False
    )
    assert time.process_time() - began < 5


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


def session(kind: Kind, typed: int = 0) -> SessionScore:
    known = Properties(kind=kind)
    return SessionScore(id="s", file="a", offset=0, expected_text="x", properties=known, status=Status.OK, typed=typed)


def test_names_lead_after_one_letter_and_other_groups_stand_beside_them() -> None:
    mine = SessionsFilter(name="mine", filters=FiltersConfig(is_static=True))
    filters = report_filters(grouped=True, lengths=(3, 0, 1), declared=[mine], headline="names")
    names = [part.name for part in filters.all]
    assert names == [
        *("ALL", "mine", "Prefix 0", "Prefix 1", "Prefix 3"),
        *("names, Prefix 0", "names, Prefix 1", "names, Prefix 3", "imports, Prefix 1", "keywords, Prefix 1"),
    ]
    assert filters.headline == "names, Prefix 1"
    assert [part.name for part in filters.all if not part.detailed] == [*names[5:6], *names[7:]]
    assert filters.over({"names, Prefix 1": 3}).headline == "names, Prefix 1"
    assert filters.over({"names, Prefix 1": 0}).headline == "ALL"


def test_a_report_filter_takes_its_kinds_and_letters() -> None:
    names = report_filters(grouped=True, lengths=(1,), declared=[], headline="names").leading
    assert names.passes(session(Kind.FIELD, 1))
    assert not names.passes(session(Kind.FIELD, 0))
    assert not names.passes(session(Kind.KEYWORD, 1))
    static = ReportFilter(name="static", filters=FiltersConfig(is_static=True))
    assert static.passes(session(Kind.FIELD)) is None, "whether it is static is not known"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("ALL", (None, None)),
        ("Prefix 3", (None, 3)),
        ("keywords", ("keywords", None)),
        ("names, Prefix 0", ("names", 0)),
        ("mine", None),
        ("Prefix x", None),
        ("names, Prefix 1, Prefix 2", None),
    ],
)
def test_the_parts_of_a_name_make_it_again(name: str, parts: tuple[str | None, int | None] | None) -> None:
    assert standard_parts(name) == parts
    if parts:
        assert standard_name(*parts) == name


def test_a_group_stands_for_its_tokens_after_one_letter_or_the_fewest() -> None:
    assert [resolve("Keywords", lengths) for lengths in ((0, 1, 3), (0, 2), (0,), ())] == [
        *("keywords, Prefix 1", "keywords, Prefix 2", "keywords, Prefix 0", "keywords"),
    ]
    assert resolve("all", (1,)) == "ALL"


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
