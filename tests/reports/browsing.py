"""The parts of Playwright that tests import; their files are skipped if it is not installed."""

from __future__ import annotations

from tests.needs import need_module

need_module("playwright")

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright  # noqa: E402

__all__ = ["Browser", "Locator", "Page", "expect", "sync_playwright"]
