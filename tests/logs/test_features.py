"""Every feature, by hand; and that none of them can see what is behind the caret."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ci_eval.core.contracts import CaretContext
from ci_eval.core.logs.features import FEATURES, NAMES, Floats, Reader
from ci_eval.core.logs.names import NOTHING, count
from ci_eval.core.model import Suggestion
from tests.learning.code import FILE, OTHERS

KEYWORDS = frozenset({"import", "def", "for", "in", "return"})


SHOWN = (
    Suggestion(text="user_name", kind="param", sort_text="09.9999.user"),
    Suggestion(text="USER", kind="constant", sort_text="11.x"),
    Suggestion(text="os", kind="module", sort_text="11.x"),
    Suggestion(text="__user", kind="", sort_text=None),
    Suggestion(text="for", kind="keyword"),
)


def rows(before: str, shown: tuple[Suggestion, ...] = SHOWN, *, prefix: str = "us", query: int = 1) -> Floats:
    names = count([FILE, *OTHERS]).without(FILE)
    return Reader(KEYWORDS, names).rows(CaretContext(path="a.py", before=before, prefix=prefix, query=query), shown)


GOLDEN = {
    "prefix_length": [2, 2, 2, 2, 2],
    "query": [1, 1, 1, 1, 1],
    "list_size": [5, 5, 5, 5, 5],
    "token_before": [5, 5, 5, 5, 5],  # (
    "in_brackets": [1, 1, 1, 1, 1],
    "indentation": [2, 2, 2, 2, 2],  # def, for
    "position": [1, 2, 3, 4, 5],
    "position_share": [0.2, 0.4, 0.6, 0.8, 1.0],
    "score_rank": [1, 2, 2, math.nan, math.nan],
    "kind": [10, 9, 7, 0, 8],
    "length": [9, 4, 2, 6, 3],
    "words": [2, 1, 1, 1, 1],
    "is_keyword": [0, 0, 0, 0, 1],
    "underscores": [0, 0, 0, 2, 0],
    "case": [0, 2, 0, 0, 0],
    "prefix_match": [2, 1, 0, 0, 0],
    "prefix_share": [2 / 9, 0.5, 1.0, 2 / 6, 2 / 3],
    "in_file": [2, 0, 2, 0, 1],  # user_name: parameter, and on this line
    "distance": [1, math.nan, 4, math.nan, 16],  # from os on: os . sep )
    "scope_distance": [0, math.nan, 0, math.nan, 0],
    "is_parameter": [1, 0, 0, 0, 0],
    "assigned": [0, 0, 0, 0, 0],  # the line of the caret is not finished
    "called": [0, math.nan, 0, math.nan, 0],
    "after_last": [1, 0, 0, 0, 0],  # load_user(user_name
    "after_last_two": [0, 0, 0, 0, 0],
    "same_line": [1, 0, 0, 0, 0],
    "line_overlap": [1.0, 1.0, 0.0, 1.0, 0.0],
    "in_project": [math.log(4), 0, 0, 0, 0],
    "in_project_files": [math.log(3), 0, 0, 0, 0],
    "after_last_in_project": [math.log(4), 0, 0, 0, 0],
}


def test_every_feature_has_a_golden_value() -> None:
    assert tuple(GOLDEN) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_feature_is_what_its_description_says(name: str) -> None:
    found = rows(FILE.removesuffix("us"))[:, NAMES.index(name)]
    assert found == pytest.approx(np.array(GOLDEN[name], dtype=np.float32), nan_ok=True)


def feature(name: str, text: str, before: str) -> float:
    return float(rows(before, (Suggestion(text=text),), prefix="")[0, NAMES.index(name)])


def test_names_are_measured_by_where_they_stood_last() -> None:
    before = "x = 1\nclass A:\n    def f(self):\n        y = x\n        y = 2\n    def g(self, z):\n        y"
    before = before[:-1]
    assert feature("assigned", "y", before) == 2
    assert feature("scope_distance", "z", before) == 0
    assert feature("scope_distance", "y", before) == 1
    assert feature("scope_distance", "A", before) == 1
    assert feature("is_parameter", "z", before) == 1
    assert feature("is_parameter", "y", before) == 0
    assert feature("called", "f", before) == 1
    assert feature("token_before", "y", before) == 0
    assert feature("indentation", "y", before) == 2


@pytest.mark.parametrize(
    ("line", "kind"), [("", 0), ("a ", 1), ("return ", 2), ("3 ", 3), ("a.", 4), ("f(", 5), ("f(a, ", 6), ("a + ", 7)]
)
def test_the_token_before_the_caret_has_a_kind(line: str, kind: int) -> None:
    assert feature("token_before", "y", f"x = 1\n{line}") == kind


def test_same_token_ngrams_are_counted_in_the_file() -> None:
    before = "self.name = 1\nself.name = 2\nother.name = 3\nself.size = self."
    assert feature("after_last", "name", before) == 3
    assert feature("after_last_two", "name", before) == 2


@given(st.text("ab_(. \n=,:", max_size=60), st.text("ab_(. \n=,:", max_size=60))
@settings(max_examples=200, deadline=None)
def test_what_is_behind_the_caret_changes_nothing(before: str, behind: str) -> None:
    """The file as a whole is only told apart from the others, by what it holds itself."""
    shown = tuple(Suggestion(text=text) for text in ("a", "ab", "_b", "b_a"))
    caret = CaretContext(path="a.py", before=before, prefix="", query=0)
    found = [
        Reader(KEYWORDS, count([text, *OTHERS]).without(text)).rows(caret, shown)
        for text in (before, before + behind, behind)
    ]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_renaming_the_answer_changes_nothing() -> None:
    for answer in ("user_name", "something_else", "load"):
        text = FILE.removesuffix("us") + f"{answer})\nprint({answer}, {answer})\n"
        names = count([text, *OTHERS]).without(text)
        caret = CaretContext(path="a.py", before=FILE.removesuffix("us"), prefix="", query=0)
        found = Reader(KEYWORDS, names).rows(caret, SHOWN)
        np.testing.assert_array_equal(found, rows(FILE.removesuffix("us"), prefix="", query=0))


@given(st.lists(st.integers(0, len(FILE)), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_reading_on_gives_what_reading_anew_gives(places: list[int]) -> None:
    reader = Reader(KEYWORDS, NOTHING.without(""))
    for place in places:
        caret = CaretContext(path="a.py", before=FILE[:place], prefix="", query=0)
        fresh = Reader(KEYWORDS, NOTHING.without("")).rows(caret, SHOWN)
        np.testing.assert_array_equal(reader.rows(caret, SHOWN), fresh)


def test_an_empty_list_has_no_rows() -> None:
    assert rows("x", ()).shape == (0, len(FEATURES))
