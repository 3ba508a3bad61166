"""The figures that the page of all sessions computes, beside those of reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ci_eval.core.catalogs import metrics
from ci_eval.core.rendering.figures import amount
from tests.reports.browsing import Page


def read_figures(page: Page) -> dict[str, list[tuple[str, float | None]]]:
    """Return by metric the numbers that the page shows: the text, and the value behind it."""
    figures = {}
    for span in page.locator("#figures > span").all():
        data = [(each.inner_text(), each.get_attribute("value")) for each in span.locator("data").all()]
        figures[span.inner_text().split()[0]] = [
            (text, None if value is None else float(value)) for text, value in data
        ]
    return figures


def check_figures(page: Page, report: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that all figures of the page are those of a report: the texts alike, and the values but for rounding."""
    infos = metrics.among(report)
    for name, numbers in read_figures(page).items():
        ends = [report[name]["low"], report[name]["high"]] if len(numbers) == 3 else []
        expected = [report[name]["value"], *ends]
        assert [text for text, _ in numbers] == [amount(value, infos[name].unit) for value in expected], name
        for (_, value), of_report in zip(numbers, expected, strict=True):
            assert value == (of_report if of_report is None else pytest.approx(of_report, rel=1e-12, abs=1e-12)), name
