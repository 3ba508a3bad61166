"""The arithmetic of the page of all sessions, on tables of numbers, is that of the Python code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from msgspec.structs import replace as replace_info

from ci_eval.core.catalogs import metrics
from ci_eval.core.compare.judging import Judge
from ci_eval.core.compare.sums import FilterSums
from ci_eval.core.statistics.paired import FLOORS, MARGINS, Limits
from ci_eval.core.statistics.repeated import Repeats
from ci_eval.core.statistics.sampled import effective_sessions, figure, sum_powers
from ci_eval.plugins.reports.html.evaluation import TEMPLATES
from tests.reports.browsing import Browser, Page

pytestmark = pytest.mark.browser

Pair = tuple[float, float, float, float]
"""The numerator and the denominator of base, then of new."""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.evaluate("globalThis.ciEval = {}")
    page.add_script_tag(path=TEMPLATES / "figures.js")
    yield page
    page.close()


def pairs(**counts: int) -> list[Pair]:
    """Return so many pairs of hits and misses, by what happened."""
    kinds: dict[str, Pair] = {"hit": (1, 1, 1, 1), "miss": (0, 1, 0, 1), "better": (0, 1, 1, 1), "worse": (1, 1, 0, 1)}
    kinds |= {"base": (1, 1, 0, 0), "new": (0, 0, 1, 1), "up": (2, 1, 3, 1), "half": (1, 2, 1, 4)}
    return [kinds[kind] for kind, count in counts.items() for _ in range(count)]


def judge(rows: Sequence[Pair], unit: str, better: str, repeats: Repeats) -> dict[str, Any] | None:
    """Return the difference and the verdict of Python, or None if they are not exact. Each half is a file."""
    metric = metrics.select_metrics(["RecallAt1"])["RecallAt1"]
    metric = replace(metric, info=replace_info(metric.info, unit=unit, better=better))
    sums = FilterSums(figures=1)
    for half in (rows[: len(rows) // 2], rows[len(rows) // 2 :]):
        sums.rows.append(sums.add(np.array(half, dtype=float)[:, None]))
    (judged,) = Judge([metric], 1.0, repeats=repeats).filter(sums).values()
    if judged.state != "exact" or judged.verdict is None:
        return None
    return {"difference": judged.difference, "verdict": judged.verdict.value.replace("-", " ")}


def judge_in_page(page: Page, rows: Sequence[Pair], unit: str, better: str, repeats: Repeats) -> dict[str, Any] | None:
    observed = [[[above, below]] if below else [] for row in rows for above, below in (row[:2], row[2:])]
    rule = {"better": better, "floor": FLOORS.get(unit, 0.0), "margin": MARGINS.get(unit, 0.0), "span": 1}
    script = """([observed, size, unseen, rule]) => {
        const rows = Array.from({ length: size }, (_, row) => row);
        const sides = [rows.map((row) => 2 * row), rows.map((row) => 2 * row + 1)];
        const sums = sides.map((side) => ciEval.sums(rows, side, observed));
        return ciEval.exact(rows, sides, sums, { observed, unseen }, rule);
    }"""
    result: dict[str, Any] | None = page.evaluate(
        script, [observed, len(rows), repeats.unseen if repeats.alike else None, rule]
    )
    return result


WHOLE = Repeats()
ROUNDS = Repeats(asked=200)
"""1.5 % of the answers may differ unseen."""
ONCE = Repeats(asked=100, whole=False)


@pytest.mark.parametrize(
    ("rows", "unit", "better", "repeats", "verdict"),
    [
        (pairs(hit=50, better=30, worse=20), "share", "higher", WHOLE, "better"),
        (pairs(hit=50, better=20, worse=30), "share", "higher", WHOLE, "worse"),
        (pairs(hit=50, better=20, worse=30), "share", "lower", WHOLE, "better"),
        (pairs(hit=50, better=20, worse=30), "share", "neither", WHOLE, "not comparable"),
        (pairs(hit=50, miss=50), "share", "higher", WHOLE, "equivalent"),
        (pairs(hit=50, better=25, worse=25), "share", "higher", WHOLE, "equivalent"),
        (pairs(hit=1999, better=1), "share", "higher", WHOLE, "equivalent"),
        (pairs(hit=498, better=1), "share", "higher", WHOLE, "better"),
        (pairs(up=1, hit=199), "rank", "lower", WHOLE, "equivalent"),
        (pairs(up=3, hit=197), "rank", "lower", WHOLE, "worse"),
        (pairs(up=1, hit=199), "count", "higher", WHOLE, "better"),
        (pairs(half=10, hit=10), "score", "higher", WHOLE, "worse"),
        (pairs(hit=98, better=2), "share", "higher", ROUNDS, "better"),
        (pairs(hit=99, better=1), "share", "higher", ROUNDS, "no difference shown"),
        (pairs(hit=100), "share", "higher", Repeats(asked=1000), "equivalent"),
        (pairs(base=20, hit=150, new=20), "share", "higher", Repeats(asked=1000), "equivalent"),
        (pairs(hit=50, better=50), "share", "higher", ONCE, None),
        (pairs(hit=50, better=50), "share", "higher", Repeats(asked=200, differed=1), None),
    ],
)
def test_an_exact_verdict_is_that_of_the_comparison(
    page: Page, rows: list[Pair], unit: str, better: str, repeats: Repeats, verdict: str | None
) -> None:
    expected = judge(rows, unit, better, repeats)
    assert (expected and expected["verdict"]) == verdict
    assert judge_in_page(page, rows, unit, better, repeats) == (
        expected and expected | {"difference": pytest.approx(expected["difference"], rel=1e-12, abs=1e-15)}
    )


@pytest.mark.parametrize("asked", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("limits", "values"),
    [
        ((0, 1), [1.0] * 30 + [0.0] * 20),
        ((0, 1), [1.0] * 40),
        ((0, 1), [1.0, 0.0]),
        ((0, 1), [number / 64 for number in range(64)]),
        ((0, 1), [-3.0] * 20 + [1.0] * 10),
        ((None, 1), [-1.0 - number % 7 for number in range(250)] + [1.0] * 9),
        ((0, 10), [number / 6 for number in range(60)]),
        ((1, None), [1.0 + number % 7 for number in range(250)]),
        ((1, None), [1.0] * 249 + [2.0]),
        ((1, None), [1.0] * 250),
        ((1, None), [1.0, 2.0] * 20),
    ],
)
def test_an_interval_is_that_of_the_report(page: Page, limits: Limits, values: list[float], asked: float) -> None:
    above, below = np.array(values), np.ones(len(values))
    squares, fourths = sum_powers(above, below)
    total, size = np.array([above.sum(), below.sum()]), len(values)
    effective = effective_sessions(squares, fourths, total)
    low, high = figure(total, squares[[[0, 1], [1, 2]]], size, asked, limits, effective=effective)
    script = """([values, asked, limits]) => {
        const rows = values.map((_, row) => row);
        const sums = ciEval.sums(rows, rows, values.map((value) => [[value, 1]]));
        return ciEval.interval(sums, { asked }, { limits });
    }"""
    interval = page.evaluate(script, [values, asked, limits])
    # The page shows no interval without a width.
    assert interval == (None if low == high else pytest.approx([low, high], rel=1e-10))


def test_more_files_than_a_call_takes_arguments_have_an_interval_for_other_code(page: Page) -> None:
    script = """(size) => {
        const rows = Array.from({ length: size }, (_, row) => row);
        const table = { observed: [[[0, 1]], [[1, 1]]], clusters: rows };
        return ciEval.elsewhere(rows, rows.map((row) => row % 2), table, rows, { limits: [0, 1] });
    }"""
    low, high = page.evaluate(script, 250_000)
    # 1.96 standard errors of a share of 1/2 over 250,000 files.
    assert (low, high) == pytest.approx((0.5 - 0.00196, 0.5 + 0.00196), abs=1e-6)
