"""Trends in a line of a table."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.rendering.sparkline import HEIGHT, MARGIN, WIDTH, Sparkline, sparkline
from tests.rendering.trends import INFO, trend_of


def drawn(values: Sequence[float | None], around: float = 0.0) -> Sparkline | None:
    return sparkline(trend_of(values, around), INFO)


def test_the_line_fills_its_box_from_the_first_night_to_the_last() -> None:
    found = drawn([0.1, 0.5, 0.9])
    assert found
    assert found.points == ((MARGIN, HEIGHT - MARGIN), (WIDTH / 2, HEIGHT / 2), (WIDTH - MARGIN, MARGIN))
    assert found.summary == "Recall over 3 nights, between 10.0% and 90.0%"


def test_what_is_within_the_interval_looks_like_little() -> None:
    found = drawn([0.50, 0.51, 0.50], around=0.1)
    assert found
    heights = [y for _, y in found.points]
    assert max(heights) - min(heights) < HEIGHT / 10


def test_a_night_without_the_figure_leaves_its_place_empty() -> None:
    found = drawn([0.1, None, 0.9])
    assert found
    assert [x for x, _ in found.points] == [MARGIN, WIDTH - MARGIN]


def test_equal_figures_are_a_line_in_the_middle_and_one_figure_is_none() -> None:
    found = drawn([0.5, 0.5])
    assert found
    assert {y for _, y in found.points} == {HEIGHT / 2}
    assert drawn([0.5, None]) is None
