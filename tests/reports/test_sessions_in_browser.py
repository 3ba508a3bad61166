"""The page of all sessions in a browser, opened from disk: filters, search, groups, keys, and links that lead to it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from urllib.parse import quote

import pytest
from msgspec.structs import replace

from ci_eval.core.config.text import CONDITIONS
from ci_eval.plugins.reports.html import REPORTER
from ci_eval.rendering.sessiontable import selection
from tests.command import command
from tests.projects import GREETER, write
from tests.reports.browsing import Browser, Page, expect
from tests.reports.computed import check_figures, read_figures
from tests.reports.following import address, follow
from tests.reports.samples import NASTY, Sample, hostile, session, small
from tests.reports.test_html_in_browser import Visit, page, sites, visit

__all__ = ["page", "sites", "visit"]

pytestmark = pytest.mark.browser


def opened(visit: Visit, fragment: str = "") -> Page:
    visit.page.goto("about:blank")
    visit.page.goto((visit.site / "sessions.html").as_uri() + fragment)
    return visit.page


def total(page: Page) -> int:
    return int((page.locator("#count").inner_text()).split()[0].replace(",", ""))


def test_a_row_shows_the_code_what_stood_first_and_leads_to_its_file(visit: Visit) -> None:
    page = opened(visit, "#band=2-5&q=tutorial")
    row = page.locator(".row")
    expect(row).to_have_count(1)
    expect(row.locator("mark")).to_have_text("tutorial")
    expect(row.locator(".code")).to_contain_text("A stack, as every tutorial has one.")
    expect(row.locator(".about")).to_contain_text("first was candidate_1")
    row.click()
    expect(page.locator("#panel h2")).to_have_text("tutorial")


def test_filters_count_what_they_would_show_and_stand_in_the_address(visit: Visit) -> None:
    page = opened(visit)
    everything = total(page)
    button = page.locator("fieldset", has_text="Result").get_by_role("button", name="absent")
    promised = int(button.locator("span").inner_text())
    button.click()
    assert total(page) == promised < everything
    assert address(page).endswith("#band=absent")
    page.locator("fieldset", has_text="Kind").get_by_role("button").first.click()
    assert 0 < total(page) <= promised
    again = opened(visit, "#" + address(page).partition("#")[2])
    expect(again.locator("[aria-pressed=true]")).to_have_count(2)
    again.get_by_role("button", name="Show all").click()
    assert total(again) == everything


def test_groups_lead_to_their_sessions(visit: Visit) -> None:
    page = opened(visit, "#group=text")
    group = page.locator(".row").first
    count = int(group.locator(".went").inner_text().split()[0])
    group.click()
    expect(page.locator("#chosen button")).to_contain_text("expected ")
    assert total(page) == count


def test_the_worst_come_first_where_that_is_wanted(visit: Visit) -> None:
    page = opened(visit, "#group=worst")
    shown = [each.split("\n")[0] for each in page.locator(".row .went").all_inner_texts()]
    ranks = [int(each.removeprefix("rank ")) if each.startswith("rank") else 9999 for each in shown]
    assert ranks[0] == 9999
    assert [each for each in ranks if each < 9999] == sorted((each for each in ranks if each < 9999), reverse=True)


def milliseconds(page: Page) -> list[float]:
    return [float(each.split()[0].replace(",", "")) for each in page.locator(".row .latency").all_inner_texts()]


def test_the_figure_of_latency_leads_to_the_slowest(visit: Visit, tmp_path: Path) -> None:
    slow = [0.4, 1200.0, 7.25, 80.0]
    rows = [session("a.py", 3 * place, "ab") for place in range(len(slow))]
    rows = [
        replace(row, lookups=(replace(row.lookups[0], latency=0.1), replace(row.lookups[0], latency=latency)))
        for row, latency in zip(rows, slow, strict=True)
    ]
    visit.site = Sample().add("a.py", "ab " * len(slow), rows).write(REPORTER, tmp_path).parent
    page = visit.index()
    follow(page.get_by_role("link", name="the slowest sessions"))
    expect(page.locator("#group")).to_have_value("slowest")
    assert milliseconds(page) == [1200, 80, pytest.approx(7.2, abs=0.11), 0.4]


def test_a_report_of_reused_sessions_shows_no_times(visit: Visit, tmp_path: Path) -> None:
    row = replace(session("a.py", 0, "ab"), reused=True)
    visit.site = Sample().add("a.py", "ab", [row]).write(REPORTER, tmp_path).parent
    page = opened(visit, "#group=slowest")
    expect(page.locator("#group")).to_have_value("")
    expect(page.locator("#group option[value=slowest]")).to_have_count(0)
    expect(page.locator(".row .latency")).not_to_contain_text("s")
    follow(page.locator(".row"))
    expect(page.locator("#panel")).to_contain_text("Suggestions")
    expect(page.locator("#panel")).not_to_contain_text("Latency")


def test_columns_are_chosen_and_kept_in_the_address(visit: Visit) -> None:
    page = opened(visit)
    about = page.locator(".row .about").first
    expect(about).to_contain_text(".py:")
    page.locator("summary", has_text="Columns").click()
    page.get_by_label("file and line").uncheck()
    page.get_by_label("session id").check()
    expect(about).not_to_contain_text(".py:")
    kept = address(page).partition("#")[2]
    assert kept == "columns=typed%2Cfirst%2Ckind%2Clatency%2Cid"
    page.keyboard.press("Escape")
    expect(page.get_by_label("session id")).to_be_hidden()
    again = opened(visit, f"#{kept}")
    expect(again.locator(".row .about").first).not_to_contain_text(".py:")
    expect(again.locator("#columns input:checked")).to_have_count(5)


def test_a_place_is_found_by_file_and_line(visit: Visit) -> None:
    page = opened(visit)
    place = page.locator(".row .about").nth(3).inner_text().split(" · ")[-2]
    page.get_by_label("Find text").fill(place)
    assert total(page) >= 1
    for about in page.locator(".row .about").all_inner_texts():
        assert place in about


def test_everything_goes_by_keyboard(visit: Visit) -> None:
    page = opened(visit)
    expect(page.locator("#rows")).to_be_focused()
    for key in "jjk":
        page.keyboard.press(key)
    expect(page.locator("#rows")).to_have_attribute("aria-activedescendant", "row-1")
    page.keyboard.press("End")
    expect(page.locator(".row.active")).to_have_attribute("aria-posinset", str(total(page)))
    page.keyboard.press("/")
    page.keyboard.type("stack")
    assert "q=stack" in address(page)
    page.keyboard.press("Escape")
    expect(page.locator("#rows")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Find text")).to_have_value("stack")


def test_what_nothing_fits_says_so(visit: Visit) -> None:
    page = opened(visit, "#q=no+such+text")
    expect(page.locator(".nothing")).to_contain_text("No session passes these filters")
    assert page.locator("[role=listbox]").count() == 0


@pytest.mark.parametrize(
    ("link", "fragment"),
    [("ok", "#status=ok"), ("of these, failed", "#status=context-too-long"), ("list the sessions", "")],
)
def test_the_first_page_leads_there(visit: Visit, link: str, fragment: str) -> None:
    page = visit.index()
    follow(page.locator("main").get_by_role("link", name=link).first)
    expect(page.locator("h1")).to_contain_text("Sessions")
    assert fragment in address(page)


def test_a_kind_leads_to_its_sessions(visit: Visit, tmp_path: Path) -> None:
    sample = Sample().add("a.py", "ab cd", [session("a.py", 0, "ab"), session("a.py", 3, "cd")])
    visit.site = sample.write(REPORTER, tmp_path).parent
    page = opened(visit, "#kind=METHOD_CALL")
    expect(page.locator(".row mark")).to_have_text("cd")


def test_nothing_hostile_runs(visit: Visit, tmp_path: Path) -> None:
    visit.site = hostile().write(REPORTER, tmp_path, title=NASTY).parent
    page = opened(visit)
    expect(page.locator(".row").first).to_be_visible()
    assert page.locator("img").count() == 0
    assert page.title() != "owned"


@pytest.mark.parametrize("sample", [small, hostile])
def test_a_phone_needs_no_sideways_scrolling(visit: Visit, sample: type, tmp_path: Path) -> None:
    visit.site = sample().write(REPORTER, tmp_path).parent
    visit.page.set_viewport_size({"width": 400, "height": 800})
    page = opened(visit)
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.locator("summary", has_text="Columns").click()
    expect(page.get_by_label("session id")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.get_by_role("button", name="Filters").click()
    expect(page.locator("fieldset").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 400


def test_only_rows_in_sight_are_elements(visit: Visit, tmp_path: Path) -> None:
    text = "name " * 20_000
    rows = [session("a.py", 5 * place, "name", 1 + place % 7, total=8) for place in range(20_000)]
    visit.site = Sample().add("a.py", text, rows).write(REPORTER, tmp_path).parent
    page = opened(visit)
    assert page.locator(".row").count() < 60
    page.keyboard.press("End")
    expect(page.locator(".row.active")).to_have_attribute("aria-posinset", "20000")


def test_a_comparison_shows_both_sides(compared: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((compared / "index.html").as_uri())
    follow(page.locator(".matrix a").first)
    expect(page.locator("h1")).to_contain_text("Sessions")
    assert "base=" in address(page)
    assert "new=" in address(page)
    expect(page.locator(".row").first.locator(".went .t")).to_have_count(2)
    expect(page.locator("fieldset", has_text="New against base")).to_be_visible()
    page.locator(".row").first.click()
    expect(page.locator("#panel .sides h3")).to_have_count(2)
    page.close()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filters")
    project = write(folder / "p", one__py=GREETER, two__py=f"{GREETER}\nother = Greeter('x')\nother.greet()\n")
    argv = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--all", "--jobs", 1)
    code, _, err = command(*argv, "--output", folder / "w")
    assert code == 0, err
    return folder / "w"


EXPRESSIONS = (
    "kind=METHOD_CALL,FIELD prefix=1",
    "file='t?o*' text='[!h-z]*'",
    "text=*e* length=4",
    "argument=true first=false",
    "static=true",
    "package='java\\..*' location=library",
    "strategy=REAL scenario=NEW evolution=0",
    "kind=VARIABLE text='na'\"me\" prefix=0",
)


def test_a_filter_has_the_figures_that_the_report_has_for_it(measured: Path, page: Page) -> None:
    assert {name for line in EXPRESSIONS for name in read_names(line)} == set(CONDITIONS)
    view = [part for line in EXPRESSIONS for part in ("--filter", line)]
    shown = "reports.defaultMetrics=[RecallAt1, RecallAt3, RecallAt5, Recall, MeanReciprocalRank, MeanRank]"
    code, _, err = command("report", measured, *view, "--set", "reports.recallAt=[3]", "--set", shown)
    assert code == 0, err
    (evaluation,) = json.loads((measured / "reports" / "metrics.json").read_text())["evaluations"]
    sizes = set()
    for line in ("", *EXPRESSIONS):
        page.goto("about:blank")
        page.goto((measured / "reports" / "html" / "sessions.html").as_uri() + f"#q={quote(line)}")
        figures = evaluation["filters"][line or "ALL"]
        assert total(page) == figures["sessions"], line
        sizes.add(figures["sessions"])
        names = ("RecallAt1", "RecallAt3", "RecallAt5", "Recall") if figures["sessions"] else ()
        assert set(names) <= set(read_figures(page)), line
        check_figures(page, figures["metrics"])
    assert len(sizes) > 5


def test_the_list_that_each_first_page_links_to_has_its_sessions_and_figures(measured: Path, page: Page) -> None:
    (evaluation,) = json.loads((measured / "reports" / "metrics.json").read_text())["evaluations"]
    for name, figures in evaluation["filters"].items():
        page.goto("about:blank")
        page.goto((measured / "reports" / "html" / "sessions.html").as_uri() + f"#{selection(name)}")
        assert total(page) == figures["sessions"], name
        check_figures(page, figures["metrics"])


def read_names(expression: str) -> list[str]:
    return [condition.partition("=")[0] for condition in shlex.split(expression)]


def test_the_search_field_finds_text_that_is_no_filter(measured: Path, page: Page) -> None:
    page.goto((measured / "reports" / "html" / "sessions.html").as_uri() + f"#q={quote('other = gre')}")
    assert total(page) > 0
    page.locator("#search").fill("colour=red")
    assert total(page) == 0
