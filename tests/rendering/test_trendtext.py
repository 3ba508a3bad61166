"""A trend in words."""

from __future__ import annotations

from ci_eval.core.model import ChangePoint, Trend
from ci_eval.core.rendering.trendtext import change_lines, trend_lines
from tests.rendering.trends import INFO, trend_of


def changed(good: bool | None) -> Trend:
    return trend_of([0.5, 0.5, 0.8], changes=(ChangePoint(night=2, before=0.5, after=0.8, p=0.01, good=good),))


def test_a_change_of_level_has_a_sign_both_levels_and_its_day() -> None:
    assert list(change_lines(changed(True))) == ["▲ Recall 50.0% → 80.0% (+30.00 pp) from 2026-01-03 on"]
    assert [next(change_lines(changed(good)))[:2] for good in (False, None)] == ["▼ ", "Re"]


def test_one_night_is_no_trend_and_a_level_that_stays_is_said_to() -> None:
    assert list(trend_lines(trend_of([0.5]))) == ["The first evaluation of its kind: a trend needs two."]
    said = list(trend_lines(trend_of([0.5, 0.5])))
    assert said == [
        "Trend of all sessions over 2 evaluations, 2026-01-01 to 2026-01-02:",
        "No figure changed its level.",
    ]
    assert INFO.name not in "".join(said)
