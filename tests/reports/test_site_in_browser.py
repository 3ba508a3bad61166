"""A site of trends in a real browser: nothing is logged or overflows, and what is drawn is also said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests.reports.browsing import Browser, Page
from tests.reports.following import follow

pytestmark = pytest.mark.browser


@pytest.fixture
def site(trends: Path) -> Path:
    return trends


@pytest.fixture
def page(browser: Browser, site: Path) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("requestfailed", lambda request: troubles.append(request.url))
    page.goto((site / "index.html").as_uri())
    yield page
    page.close()
    assert troubles == []


def test_a_row_leads_to_its_page_and_back(page: Page) -> None:
    row = page.get_by_role("row").filter(has_text="falling")
    assert "▼ from 2026-01-15 on" in row.inner_text()
    follow(row.get_by_role("link").first)
    assert page.locator("h1").inner_text() == "python: jedi 0.2, BASIC"
    follow(page.get_by_role("link", name="all evaluations"))
    assert page.locator("h1").inner_text() == "Code completion over time"


def test_what_is_drawn_has_a_name_and_a_description(page: Page) -> None:
    follow(page.get_by_role("row").filter(has_text="falling").get_by_role("link").first)
    chart = page.get_by_role("img", name="RecallAt1", exact=True)
    description = chart.evaluate("each => document.getElementById(each.getAttribute('aria-describedby')).textContent")
    assert description.startswith("RecallAt1 over 24 evaluations: 90.0% on 2026-01-01, 80.0% on 2026-01-24")
    assert chart.locator(".version").count() == 2


def test_the_table_has_the_figures_of_the_chart(page: Page) -> None:
    follow(page.get_by_role("row").filter(has_text="falling").get_by_role("link").first)
    table = page.locator("table.nights")
    place = table.locator("thead th").all_inner_texts().index("RecallAt1")
    cells = [each.inner_text() for each in table.locator(f"tbody tr > :nth-child({place + 1})").all()]
    dots = page.get_by_role("img", name="RecallAt1", exact=True).locator("circle title").all_text_contents()
    assert len(cells) == len(dots) == 24
    for cell, dot in zip(cells, reversed(dots), strict=True):
        assert cell.split()[0] in dot


@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(
    site: Path, browser: Browser, width: int, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    for path in sorted(site.rglob("index.html")):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
