"""Parts of sub-tokens, and the patterns that they form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci_eval.core.base.subtokens import split
from ci_eval.plugins.learning.naming import Parts, fill_pattern, slots, units

NAMES = {"getUserName": 3, "get_item": 2, "user": 1, "MAX_SIZE": 1, "HTTPServer2": 1, "__init__": 2, "x": 4, "name": 1}
PARTS = Parts({**NAMES, "=": 5, "'a'": 1}, {**dict.fromkeys(NAMES, "name"), "=": "operator", "'a'": "literal"})


def test_a_part_is_where_a_sub_token_mostly_stands() -> None:
    assert [PARTS.of(unit) for unit in ("get", "user", "name", "x", "2", "=", "new")] == [
        "first",
        "inside",
        "last",
        "alone",
        "number",
        "operator",
        "",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_its_pattern_filled_with_its_sub_tokens(name: str) -> None:
    assert fill_pattern(PARTS.pattern(name, "name"), split(name)) == name


def test_a_pattern_filled_with_others_is_written_in_the_same_way() -> None:
    assert fill_pattern(PARTS.pattern("getUserName", "name"), ["set", "http", "port"]) == "setHttpPort"
    assert fill_pattern(PARTS.pattern("MAX_SIZE", "name"), ["min", "length"]) == "MIN_LENGTH"


def test_what_is_no_name_is_one_unit() -> None:
    assert units("'a b'", "literal") == ["'a b'"]
    assert units("_", "name") == ["_"]
    assert slots(PARTS.pattern("=", "operator")) == ["operator"]
    assert fill_pattern(PARTS.pattern("_", "name"), []) == "_"


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True))
def test_as_many_slots_as_sub_tokens(name: str) -> None:
    parts = Parts({name: 1}, {name: "name"})
    assert len(slots(parts.pattern(name, "name"))) == len(split(name))
