"""Links that lead to other pages, and where a page is."""

from __future__ import annotations

from tests.reports.browsing import Locator, Page


def follow(link: Locator) -> None:
    """Click, and wait until the page it leads to has loaded: a click alone waits for no page."""
    with link.page.expect_navigation():
        link.click()


def address(page: Page) -> str:
    """As the page itself has it: `page.url` is told of another fragment only some time later."""
    return str(page.evaluate("location.href"))
