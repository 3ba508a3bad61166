"""The figures that the page of all sessions computes, beside those of reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.model.units import amount, change
from tests.reports.browsing import Locator, Page

Numbers = list[tuple[str, float | None]]
"""Numbers that the page shows: their texts, and the values behind them."""


def read_figures(page: Page) -> dict[str, tuple[Numbers, Numbers, Numbers]]:
    """Return by metric its figure or figures, the interval for this project, and the one for other code."""
    return {
        span.inner_text().split()[0]: (
            _numbers(span.locator("> data")),
            _numbers(span.locator(".here data")),
            _numbers(span.locator(".elsewhere data")),
        )
        for span in page.locator("#figures > span").all()
    }


def _numbers(data: Locator) -> Numbers:
    values = [(part.inner_text(), part.get_attribute("value")) for part in data.all()]
    return [(text, None if value is None else float(value)) for text, value in values]


def check_figures(page: Page, report: Mapping[str, Mapping[str, Any]]) -> int:
    """Check that all figures and intervals of the page are those of a report, the texts alike, and the values but for
    rounding, and that no interval is missing. Return how many intervals there were."""
    infos = metrics.among(report)
    intervals = 0
    for name, (figure, *ends) in read_figures(page).items():
        of_report = report[name]
        here = of_report if of_report["low"] != of_report["high"] else {}
        expected = [[of_report["value"]], *(_interval(of) for of in (here, of_report["elsewhere"]))]
        for numbers, values in zip([figure, *ends], expected, strict=True):
            assert [text for text, _ in numbers] == [amount(value, infos[name].unit) for value in values], name
            for (_, value), of_command in zip(numbers, values, strict=True):
                close = of_command if of_command is None else pytest.approx(of_command, rel=1e-10, abs=1e-10)
                assert value == close, name
        intervals += sum(map(bool, ends))
    return intervals


def check_verdicts(page: Page, report: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Check that figures, differences and verdicts of the page are those of a comparison that is exact; return the
    verdicts."""
    infos, figures = metrics.among(report), read_figures(page)
    texts = [span.inner_text() for span in page.locator("#figures > span").all()]
    verdicts = []
    for text, (name, (numbers, *_)) in zip(texts, figures.items(), strict=True):
        of_report, unit = report[name], infos[name].unit
        if of_report["difference"] is None:
            assert len(numbers) == 2, text
            continue
        base, new, difference = (of_report[key] for key in ("base", "new", "difference"))
        assert (of_report["state"], of_report["low"]) == ("exact", difference), (name, of_report)
        written = (amount(base, unit), amount(new, unit), change(difference, unit))
        verdicts.append(of_report["verdict"].replace("-", " "))
        assert text == f"{name} {written[0]} → {written[1]} {written[2]} {verdicts[-1]}", (of_report, numbers)
        assert [value for _, value in numbers] == pytest.approx([base, new, difference], rel=1e-10, abs=1e-12)
    return verdicts


def _interval(of: Mapping[str, Any]) -> list[float]:
    return [] if of.get("low") is None else [of["low"], of["high"]]
