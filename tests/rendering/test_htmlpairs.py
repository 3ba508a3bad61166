"""A source file with the sessions of both sides."""

from __future__ import annotations

import pytest

from ci_eval.core.filters import ReportFilter
from ci_eval.core.model import SourceFile, Status
from ci_eval.core.rendering.htmlpairs import FIRST, classify_change, gain, paired_pages
from ci_eval.plugins.tasks.completion import TASK
from tests.reports.samples import session

ALL = ReportFilter(name="ALL")
SOURCE = SourceFile(path="a.py", text="abc def\n", checksum="c")


@pytest.mark.parametrize(
    ("base", "new", "change"), [(1, None, "worse"), (None, 2, "better"), (1, 1, "same"), (None, None, "same")]
)
def test_a_pair_went_better_worse_or_alike(base: int | None, new: int | None, change: str) -> None:
    pair = (session("a.py", 0, "abc", base), session("a.py", 0, "abc", new))
    assert classify_change(pair, TASK) == change
    assert (gain(pair, TASK) > 0) == (change == "better")


def test_what_one_side_lacks_is_neither() -> None:
    pair = (None, session("a.py", 0, "abc"))
    assert (classify_change(pair, TASK), gain(pair, TASK)) == ("only", 0.0)


def test_each_half_of_a_token_is_coloured_by_its_side() -> None:
    pair = (session("a.py", 0, "abc", 1), session("a.py", 0, "abc", None, status=Status.TIMEOUT))
    (page,) = paired_pages(SOURCE, [pair], TASK, ALL)
    piece = page.pieces[0]
    assert [(half.text, half.outcome) for half in piece.halves] == [("ab", "first"), ("c", "failed")]
    assert piece.label == "abc: base rank 1, new timeout, worse"
    assert "".join(each.text for each in page.pieces) == SOURCE.text


def test_of_a_long_list_the_first_and_the_expected_are_shown() -> None:
    pair = (session("a.py", 0, "abc", 60), session("a.py", 0, "abc", 1))
    (page,) = paired_pages(SOURCE, [pair], TASK, ALL)
    *_, base, new = page.shown[0]
    assert [place for place, _ in base[3]] == [*range(1, FIRST + 1), 60]
    assert len(new[3]) == FIRST
