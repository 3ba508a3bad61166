"""Charts as coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from ci_eval.core.model import ChangePoint, Estimate, ProjectInfo, Sweep
from ci_eval.core.model.comparison import SweptRun
from ci_eval.rendering.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    SPARK_HEIGHT,
    SPARK_MARGIN,
    SPARK_WIDTH,
    TOP,
    WIDTH,
    Sparkline,
    latency_chart,
    sparkline,
    sweep_charts,
    trend_charts,
)
from tests.rendering.trends import INFO, trend_of


def test_a_trend_fills_its_box_with_its_intervals() -> None:
    (chart,) = trend_charts(trend_of([0.2, 0.4, 0.6], around=0.1), ["Recall", "Unknown"])
    ((first, _, last),) = chart.lines
    assert (first.x, last.x) == (LEFT, WIDTH - RIGHT)
    heights = [float(point.partition(",")[2]) for point in chart.band.split()]
    assert (min(heights), max(heights)) == (TOP, HEIGHT - BOTTOM)
    assert [text for _, text in chart.ticks] == ["10.0%", "40.0%", "70.0%"]


def test_a_change_of_level_stands_between_its_nights_and_a_new_engine_on_its_own() -> None:
    found = ChangePoint(night=2, before=0.5, after=0.8, p=0.01, good=True)
    (chart,) = trend_charts(trend_of([0.5, 0.5, 0.8, 0.8], changes=(found,)), ["Recall"])
    places = [dot.x for dot in chart.lines[0]]
    assert [(places[1] < mark.x < places[2], mark.tone) for mark in chart.marks] == [(True, "better")]
    assert chart.versions == ((places[2], "2", "e 2 from 2026-01-03 on"),)


def test_nights_stand_where_their_time_is_with_dates_between() -> None:
    trend = trend_of([0.5] * 8)
    (chart,) = trend_charts(replace(trend, nights=(*trend.nights[:2], trend.nights[7])), ["Recall"])
    first, second, last = (dot.x for dot in chart.lines[0])
    assert (second - first) / (last - first) == pytest.approx(1 / 7, abs=0.01)
    assert [text for _, _, text in chart.names][:: len(chart.names) - 1] == ["2026-01-01", "2026-01-08"]


def test_a_history_without_times_has_even_steps() -> None:
    trend = trend_of([0.1, 0.2, 0.3])
    (chart,) = trend_charts(
        replace(trend, nights=tuple(replace(each, started="?") for each in trend.nights)), ["Recall"]
    )
    first, second, last = (dot.x for dot in chart.lines[0])
    assert second - first == last - second > 0


def test_a_figure_beyond_its_interval_is_in_the_box() -> None:
    (chart,) = trend_charts(trend_of([0.2, 0.9], around=-0.2), ["Recall"])
    assert all(TOP <= dot.y <= HEIGHT - BOTTOM for dot in chart.lines[0])


def test_a_figure_of_one_night_is_not_drawn() -> None:
    assert trend_charts(trend_of([0.5, None]), ["Recall"]) == []


def test_latencies_are_drawn_on_a_logarithmic_scale() -> None:
    assert latency_chart({"50%": (1.0, 1.0)}) is None
    chart = latency_chart({"50%": (1.0, 10.0), "95%": (10.0, 100.0)})
    assert chart
    base, new = chart.lines
    assert (base[1].y, base[0].y - base[1].y) == (new[0].y, new[0].y - new[1].y)
    assert [text for _, text in chart.ticks] == ["1.0 ms", "10.0 ms", "100.0 ms"]


def drawn(values: Sequence[float | None], around: float = 0.0) -> Sparkline | None:
    return sparkline(trend_of(values, around), INFO)


def test_the_line_fills_its_box_from_the_first_night_to_the_last() -> None:
    found = drawn([0.1, 0.5, 0.9])
    assert found
    assert found.points == (
        (SPARK_MARGIN, SPARK_HEIGHT - SPARK_MARGIN),
        (SPARK_WIDTH / 2, SPARK_HEIGHT / 2),
        (SPARK_WIDTH - SPARK_MARGIN, SPARK_MARGIN),
    )
    assert found.summary == "Recall over 3 nights, between 10.0% and 90.0%"


def test_what_is_within_the_interval_looks_like_little() -> None:
    found = drawn([0.50, 0.51, 0.50], around=0.1)
    assert found
    heights = [y for _, y in found.points]
    assert max(heights) - min(heights) < SPARK_HEIGHT / 10


def test_a_night_without_the_figure_leaves_its_place_empty() -> None:
    found = drawn([0.1, None, 0.9])
    assert found
    assert [x for x, _ in found.points] == [SPARK_MARGIN, SPARK_WIDTH - SPARK_MARGIN]


def test_equal_figures_are_a_line_in_the_middle_and_one_figure_is_none() -> None:
    found = drawn([0.5, 0.5])
    assert found
    assert {y for _, y in found.points} == {SPARK_HEIGHT / 2}
    assert drawn([0.5, None]) is None


@pytest.mark.parametrize(("names", "bars"), [(("jedi", "words", "zuban"), True), (("1", "2", "4"), False)])
def test_names_are_bars_from_nothing_and_numbers_are_a_line(names: tuple[str, ...], bars: bool) -> None:
    runs = tuple(
        SweptRun(values=(name,), workspace="", sessions=9, figures={"Recall": Estimate(value=0.5, low=0.4, high=0.6)})
        for name in names
    )
    project = ProjectInfo(spec="path:p", name="p", revision="", checksum="")
    (chart,) = sweep_charts(Sweep(title="", project=project, keys=("k",), runs=runs, metrics=(INFO,)))
    assert (len(chart.spans), chart.band == "") == ((3, True) if bars else (0, False))
    assert chart.ticks[0][1] == ("0.0%" if bars else "40.0%")
    assert [anchor for _, anchor, _ in chart.names] == (["middle"] * 3 if bars else ["start", "middle", "end"])
