"""Every kind of page by keyboard alone: Tab reaches all that a mouse can click or scroll, in sight, with a name."""

from __future__ import annotations

from pathlib import Path

import pytest

from ci_eval.plugins.reports import html
from ci_eval.plugins.reports.html import REPORTER
from tests.reports.browsing import Browser
from tests.reports.samples import small

pytestmark = pytest.mark.browser

TEMPLATES = Path(html.__file__).parents[1] / "templates"
VISIBLE = """() => [...document.querySelectorAll('a[href], button, summary, input, select, [tabindex="0"]')]
  .filter((each) => each.checkVisibility() && !each.disabled && each.role !== 'option')
  .map((each, at) => (each.dataset.place = at, at))"""
FOCUSED = """() => {
  const { dataset, ariaLabel, ariaLabelledByElements, innerText, labels } = document.activeElement;
  const box = document.activeElement.getBoundingClientRect();
  const name = ariaLabel || ariaLabelledByElements?.[0]?.innerText || labels?.[0]?.innerText || innerText;
  const inSight = box.bottom > 0 && box.top < innerHeight;
  return dataset.place === undefined ? null : [Number(dataset.place), Boolean(name?.trim()), inSight];
}"""


def pages(compared: Path, trends: Path, suited: Path, swept: Path, own: Path) -> dict[str, Path]:
    several = compared.parents[1]
    return {
        "evaluation": own / "index.html",
        "sessions": own / "sessions.html",
        "comparison": compared / "index.html",
        "ranking": several / "several" / "html" / "index.html",
        "trend": several / "only" / "html" / "index.html",
        "suite": suited / "index.html",
        "sweep": swept / "html" / "index.html",
        "site": trends / "index.html",
        "line of a site": min(trends.glob("*/index.html")),
    }


@pytest.mark.slow
def test_tab_reaches_all_that_can_be_used(
    compared: Path, trends: Path, suited: Path, swept: Path, browser: Browser, tmp_path: Path
) -> None:
    found = pages(compared, trends, suited, swept, small().write(REPORTER, tmp_path).parent)
    page = browser.new_page(viewport={"width": 1000, "height": 800})
    for name, path in found.items():
        page.goto(path.as_uri())
        page.evaluate("document.activeElement.blur()")
        wanted = set(page.evaluate(VISIBLE))
        reached = set()
        for _ in range(len(wanted) + 20):
            page.keyboard.press("Tab")
            focused = page.evaluate(FOCUSED)
            if focused is None:
                continue
            place, is_named, in_sight = focused
            assert is_named, (name, place)
            assert in_sight, (name, place)
            reached.add(place)
        outer = "(places) => places.map((each) => document.querySelector(`[data-place='${each}']`).outerHTML)"
        missed = page.evaluate(outer, sorted(wanted - reached))
        assert missed == [], name
    page.close()


def test_a_suite_is_sorted_and_read_by_keyboard(suited: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((suited / "index.html").as_uri())
    page.get_by_role("button", name="Project").focus()
    for order, first in (("ascending", "p0"), ("descending", "p1")):
        page.keyboard.press("Enter")
        assert page.locator("th[aria-sort]").get_attribute("aria-sort") == order
        assert page.locator("tbody th").first.inner_text().startswith(first)
    page.locator("tbody th a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/reports/html/index.html")
    assert "p1" in page.locator("h1").inner_text()
    page.close()


def test_a_table_of_150_000_rows_is_sorted(browser: Browser) -> None:
    """A call of so many arguments would fail. The table is hidden, since its layout takes half a minute."""
    page = browser.new_page()
    page.set_content("<table class=sortable hidden><thead><tr><th class=number>Figure<tbody></table>")
    page.evaluate("""() => {
      const rows = Array.from({ length: 150000 }, (_, number) => `<tr><td>${number}`);
      document.querySelector("tbody").innerHTML = rows.join("");
    }""")
    page.add_script_tag(path=TEMPLATES / "sorting.js")
    for _ in range(2):
        page.evaluate("document.querySelector('button').click()")
    rows = page.evaluate("[...document.querySelectorAll('td')].map((cell) => Number(cell.textContent))")
    assert rows == list(range(149_999, -1, -1))
    page.close()


def test_a_site_is_read_by_keyboard(trends: Path, browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 1000, "height": 500})
    page.goto((trends / "index.html").as_uri())
    page.get_by_role("row").filter(has_text="falling").get_by_role("link").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/*/index.html")
    table = page.locator(".scroll.tall")
    table.focus()
    page.keyboard.press("End")
    table.locator("tr").last.wait_for()
    page.wait_for_function("() => document.activeElement.scrollTop > 0")
    page.close()
