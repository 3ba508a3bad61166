"""A source file as pages: what stands where, and in which colour."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ci_eval
from ci_eval.core.filters import ReportFilter
from ci_eval.core.model import SourceFile, Status
from ci_eval.plugins.tasks.completion import COMPLETION
from ci_eval.plugins.tasks.completion import COMPLETION as TASK
from ci_eval.rendering.htmlpages import (
    FIRST,
    MAX_CHARACTERS,
    SIGNS,
    SessionMark,
    classify_change,
    encode_stretches,
    gain,
    mark,
    pages,
    paired_pages,
)
from tests.reports.samples import session

ALL = ReportFilter(name="ALL")
STYLES = Path(ci_eval.__file__).parent / "plugins" / "reports" / "templates" / "style.css"


def marks_of(text: str, *places: tuple[int, str]) -> list[SessionMark]:
    return [
        mark(index, session("a.py", offset, expected), COMPLETION, ALL)
        for index, (offset, expected) in enumerate(places)
    ]


def test_sessions_at_one_place_share_a_spot_that_shows_the_worst() -> None:
    here = [session("a.py", 0, "abc", rank, prefixes=(str(rank),)) for rank in (1, None, 3)]
    (page,) = pages("abc def", [mark(index, each, COMPLETION, ALL) for index, each in enumerate(here)])
    assert [(spot.outcome, len(spot.ids)) for spot in page.spots] == [("absent", 3)]


def test_a_token_inside_another_cuts_it_short() -> None:
    (page,) = pages("abc.def", marks_of("abc.def", (0, "abc.def"), (4, "def")))
    assert [segment.text for segment in page.segments] == ["abc.", "def"]


def test_a_token_behind_the_end_of_the_text_is_still_there() -> None:
    (page,) = pages("abc", marks_of("abc", (9, "xyz")))
    assert len(page.spots) == 1


@pytest.mark.parametrize(
    ("status", "rank", "expected"),
    [
        (Status.TIMEOUT, None, "failed"),
        (Status.ENGINE_CRASH, 1, "failed"),
        (Status.ERROR, None, "failed"),
        (Status.SKIPPED, None, "skipped"),
        (Status.EMPTY, None, "absent"),
        (Status.NO_MATCH, None, "absent"),
        (Status.OK, 1, "first"),
        (Status.OK, 5, "near"),
        (Status.OK, 6, "low"),
    ],
)
def test_the_outcome_follows_from_status_and_rank(status: Status, rank: int | None, expected: str) -> None:
    assert mark(0, session("a.py", 0, "x", rank, status=status), COMPLETION, ALL).outcome == expected


def test_pages_end_between_lines_and_lose_nothing() -> None:
    text = "a long line of text\n" * 10_000
    parts = pages(text, marks_of(text))
    assert "".join(segment.text for part in parts for segment in part.segments) == text
    assert [part.first_line for part in parts] == [1, 3_001, 6_001, 9_001]
    assert all(part.segments[-1].text.endswith("\n") for part in parts)


def test_a_line_too_long_for_a_page_is_cut_and_keeps_its_number() -> None:
    parts = pages("x" * (2 * MAX_CHARACTERS + 1), [])
    assert [(part.first_line, part.last_line) for part in parts] == [(1, 1), (1, 1), (1, 1)]


def test_the_line_numbers_match_the_lines() -> None:
    (page,) = pages("a\nb\nc", [])
    assert page.numbers == "1\n2\n3"


def test_text_stays_text_in_the_code_of_a_page() -> None:
    text = "a<b> & c\n"
    (page,) = pages(text, marks_of(text, (2, "b>")))
    assert page.code.startswith('a&lt;<span class="t first" data-at="0" data-ids="')
    assert page.code.endswith('">b&gt;</span> &amp; c\n')
    assert page.code.striptags() == "a<b> & c"


def test_the_style_sheet_has_the_signs_and_a_page_those_that_differ() -> None:
    styled = dict(re.findall(r'^\.code > \.t\.(\w+) { --sign: "(.)"; }$', STYLES.read_text(), re.MULTILINE))
    assert styled == {outcome: sign for outcome, sign in SIGNS.items() if sign}
    text = "abc def ghi"
    marks = [
        mark(number, session("a.py", 4 * number, text[4 * number :][:3], rank), COMPLETION, ALL)
        for number, rank in enumerate((2, 3, None))
    ]
    (page,) = pages(text, marks)
    assert re.findall(r'class="t (\w+)"[^>]*?(?: data-sign="(.)")?>', page.code) == [
        ("near", ""),
        ("near", "3"),
        ("absent", ""),
    ]


def test_stretches_are_told_by_the_gaps_before_them_and_their_lengths() -> None:
    text = "if name:  # as\n" + 40 * "x"
    assert encode_stretches([(0, 2, "K"), (10, 14, "C"), (15, 55, "S")], text, 0, len(text)) == "K.2C8.4S1.14"


def test_a_page_has_the_part_of_them_that_is_on_it() -> None:
    text = "abcdefghij"
    assert encode_stretches([(0, 4, "S"), (6, 9, "C")], text, 2, 8) == "S.2C2.2"


def test_lengths_are_those_of_scripts() -> None:
    assert encode_stretches([(1, 2, "S"), (3, 4, "C")], "\N{GRINNING FACE}\N{GRINNING FACE} c", 0, 4) == "S2.2C1.1"


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
    assert piece.halves == (("ab", "first"), ("c", "failed"))
    assert piece.label == "abc: base rank 1, new timeout, worse"
    assert "".join(each.text for each in page.pieces) == SOURCE.text


def test_of_a_long_list_the_first_and_the_expected_are_shown() -> None:
    pair = (session("a.py", 0, "abc", 60), session("a.py", 0, "abc", 1))
    (page,) = paired_pages(SOURCE, [pair], TASK, ALL)
    *_, base, new = page.shown[0]
    assert [place for place, _ in base[3]] == [*range(1, FIRST + 1), 60]
    assert len(new[3]) == FIRST
