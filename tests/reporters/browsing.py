"""What tests in a browser import of Playwright: the files of those tests are skipped where it is not installed."""

from __future__ import annotations

from tests.needs import need_module

need_module("playwright")

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright  # noqa: E402

__all__ = ["Browser", "Locator", "Page", "expect", "sync_playwright"]
