"""Pages of a run that goes on, opened from disk: they follow its reports, and stop when it is complete."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest

from ci_eval.ci import Screen
from ci_eval.jobs.live.watch import watch
from tests.reports.browsing import Browser, expect
from tests.reports.following import address
from tests.runs_that_go_on import GoingOn

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_a_page_follows_the_run_with_what_was_chosen(browser: Browser, tmp_path: Path) -> None:
    run = GoingOn(tmp_path)
    run.get_through()
    watching = Thread(target=lambda: watch([run.folder], screen=Screen(), shown=lambda _: None, pause=0.2))
    watching.start()
    sessions = run.folder / "live" / "html" / "sessions.html"
    while not (sessions.parent / "edition.js").exists():
        watching.join(0.1)
    page = browser.new_page()
    page.goto(f"{sessions.as_uri()}#typed=1&group=slowest")
    first = page.locator("#count").inner_text()
    run.get_through()
    expect(page.locator("#count")).not_to_have_text(first)
    expect(page.locator("#group")).to_have_value("slowest")
    assert address(page).endswith("#typed=1&group=slowest")
    page.goto((sessions.parent / "index.html").as_uri())
    expect(page.locator(".warning", has_text="this run is going on")).to_be_visible()
    run.end()
    expect(page.locator(".warning", has_text="this run is going on")).to_have_count(0)
    assert page.locator("script[data-edition]").count() == 0
    watching.join(60)
    assert not watching.is_alive()
    page.close()
