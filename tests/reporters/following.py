"""Links that lead to other pages."""

from __future__ import annotations

from playwright.sync_api import Locator


def follow(link: Locator) -> None:
    """Click, and wait until the page it leads to has loaded: a click alone waits for no page."""
    with link.page.expect_navigation():
        link.click()
