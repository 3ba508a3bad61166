"""The report of a comparison in a real browser: nothing is logged, keys do what the mouse does, nothing overflows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from tests.reports.browsing import Browser, Page
from tests.reports.following import address, follow

pytestmark = pytest.mark.browser


@pytest.fixture
def site(compared: Path) -> Path:
    return compared


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    yield page
    page.close()
    assert troubles == []


def test_a_regression_leads_to_its_token_with_both_lists(site: Path, page: Page) -> None:
    page.goto((site / "index.html").as_uri())
    follow(page.locator("#regressions >> xpath=.. >> a").first)
    panel = page.locator("#panel")
    panel.wait_for()
    heads = panel.locator("h3").all_inner_texts()
    assert [head.partition(":")[0] for head in heads] == ["base", "new"]
    assert heads[0] != heads[1]
    assert panel.locator(".expected").count() == 2
    assert page.locator(".pair.open.worse").count() == 1


def test_keys_go_from_change_to_change_and_close(site: Path, page: Page) -> None:
    page.goto((site / "index.html").as_uri())
    follow(page.locator("#regressions >> xpath=.. >> a").first)
    page.locator("#panel").wait_for()
    first = address(page)
    page.keyboard.press("p")
    second = address(page)
    page.keyboard.press("n")
    assert first != second
    assert address(page) == first
    page.keyboard.press("Escape")
    assert page.locator("#panel").is_hidden()
    assert page.evaluate("document.activeElement.className").startswith("pair")
    page.keyboard.press("Enter")
    assert page.locator("#panel").is_visible()


def test_only_what_went_better_can_be_shown(site: Path, page: Page) -> None:
    page.goto(next((site / "files").glob("*.html")).as_uri())
    page.locator("button[data-show=better]").click()
    assert page.locator("body").get_attribute("data-show") == "better"
    worse = page.locator(".pair.worse .t").first
    assert worse.evaluate("each => getComputedStyle(each).backgroundColor") == "rgba(0, 0, 0, 0)"


def test_a_change_has_a_sign_beside_its_colour(site: Path, page: Page) -> None:
    page.goto(next((site / "files").glob("*.html")).as_uri())
    signs = page.evaluate(
        "[...document.querySelectorAll('.pair.worse')].map(e => getComputedStyle(e, '::before').content)"
    )
    assert signs
    assert all("▼" in sign for sign in signs)
    assert "worse" in (page.locator(".pair.worse").first.get_attribute("aria-label") or "")


def test_sessions_on_one_side_only_can_be_singled_out(site: Path, page: Page) -> None:
    folder = site.parent.parent / "only" / "html"
    page.goto(next((folder / "files").glob("*.html")).as_uri())
    button = page.locator("button[data-show=only]")
    button.click()
    page.keyboard.press("n")
    assert page.locator(".pair.open.only").count() == 1
    heads = page.locator("#panel h3").all_inner_texts()
    assert heads[1] == "new: no such session"


def test_a_trend_is_drawn_and_said_in_words(site: Path, page: Page) -> None:
    page.goto((site.parent.parent / "only" / "html" / "index.html").as_uri())
    charts = page.locator("svg[role=img]")
    labels = charts.locator("desc").all_text_contents()
    assert any(label.startswith("RecallAt1 over 13 evaluations") for label in labels)
    assert "▲" in page.locator("p.better").first.inner_text()
    boxes = [chart.bounding_box() for chart in charts.all()]
    assert all(box and box["height"] > 60 for box in boxes)


def test_a_ranking_leads_to_its_comparisons(site: Path, page: Page) -> None:
    page.goto((site.parent.parent / "several" / "html" / "index.html").as_uri())
    assert page.locator("#ranking >> xpath=../.. >> tbody tr").count() >= 3
    follow(page.locator(".links a").last)
    assert "→" in page.locator("h1").inner_text()


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(
    site: Path, browser: Browser, width: int, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    pages = [site.parent.parent / folder / "html" / "index.html" for folder in ("out", "only", "several")]
    for path in (*pages, next((site / "files").glob("*.html"))):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_a_deep_link_lands_in_sight_and_opens_the_session_it_names(site: Path, page: Page) -> None:
    path = next(path for path in (site / "files").glob("*.html") if "file3" in path.name)
    page.set_viewport_size({"width": 1280, "height": 420})
    page.goto(path.as_uri())
    token = page.locator(".pair[data-ids*=' ']").last
    shown, other = (token.get_attribute("id") or ""), (token.get_attribute("data-ids") or "").split()
    for wanted in other:
        page.goto("about:blank")
        page.goto(f"{path.as_uri()}#{wanted}")
        page.locator("#panel h2").wait_for()
        box, source = page.locator(".pair.open").bounding_box(), page.locator(".source").bounding_box()
        assert box
        assert source
        assert box["y"] > source["y"] + 20
        assert box["y"] + box["height"] < source["y"] + source["height"]
        assert address(page).endswith(wanted)
    assert shown in other
    page.get_by_role("group", name="Session").get_by_role("button").first.click()
    assert address(page).endswith(other[0])


def test_tables_of_many_columns_say_that_there_are_more(site: Path, page: Page) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto((site / "index.html").as_uri())
    wide = "document.querySelector('#improvements, #regressions') && [...document.querySelectorAll('.scroll')]"
    found = page.evaluate(f"({wide}).filter((each) => each.scrollWidth > each.clientWidth).length")
    shaded = page.evaluate(f"({wide}).every((each) => getComputedStyle(each).backgroundImage.includes('gradient'))")
    assert found > 0
    assert shaded


def test_tables_of_a_comparison_are_sorted_by_their_headers(site: Path, page: Page) -> None:
    page.goto((site / "index.html").as_uri())
    section = page.locator("section", has=page.locator("#by-file"))
    for direction in ("ascending", "descending"):
        section.get_by_role("button", name="worse").press("Enter")
        assert section.locator(f"th[aria-sort={direction}]").inner_text().startswith("worse")
        shown = [int(each) for each in section.locator("tbody tr td:nth-child(5)").all_inner_texts()]
        assert shown == sorted(shown, reverse=direction == "descending")
    changes = page.locator("section", has=page.locator("#regressions, #improvements")).first
    changes.get_by_role("button", name="Expected").click()
    texts = changes.locator("tbody tr td:nth-child(4)").all_inner_texts()
    assert texts == sorted(texts, key=str.lower)


def test_the_title_names_the_project(site: Path, page: Page) -> None:
    page.goto((site / "index.html").as_uri())
    assert page.title().endswith(" on p working tree")


def test_a_comparison_leads_to_both_evaluations(page: Page, site: Path) -> None:
    page.goto((site / "index.html").as_uri())
    for side in ("BASIC", "ALPHABETICAL"):
        follow(page.locator("dd").get_by_role("link", name=side))
        assert address(page) == (site.parents[1] / side / "reports" / "html" / "index.html").as_uri()
        page.go_back()


def test_a_source_has_colours_and_lines_have_addresses(page: Page, site: Path) -> None:
    file = min((site / "files").glob("*.html"))
    page.goto(f"{file.as_uri()}#L2")
    assert page.evaluate("CSS.highlights.get('keyword').size") > 0
    assert page.locator("#code.marked").count() == 1


def test_places_that_neither_side_drew_look_different(page: Page, site: Path) -> None:
    drawn = site.parents[1] / "drawn" / "html"
    page.goto(min((drawn / "files").glob("*.html")).as_uri())
    assert page.evaluate("CSS.highlights.get('unasked').size") > 0
    assert "not sampled" in page.locator("header").inner_text()
    page.goto(min((site / "files").glob("*.html")).as_uri())
    assert page.evaluate("CSS.highlights.has('unasked')") is False


def test_a_ranking_leads_to_each_run(page: Page, site: Path) -> None:
    page.goto((site.parents[1] / "several" / "html" / "index.html").as_uri())
    links = page.locator(".ranking tbody th a")
    assert links.count() == 3
    for at in range(3):
        name = links.nth(at).inner_text()
        follow(links.nth(at))
        assert page.locator("h1").inner_text().startswith(name.split(",")[0])
        page.go_back()


def test_a_ranking_names_the_project_and_its_places(page: Page, site: Path) -> None:
    page.goto((site.parents[1] / "several" / "html" / "index.html").as_uri())
    assert page.locator("h1").inner_text().startswith("3 evaluations compared on p ")
    assert page.locator(".ranking tbody td").first.inner_text()[0] == "1"
