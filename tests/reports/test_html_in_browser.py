"""The HTML report in a browser, opened from disk without a network."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ci_eval.core.model import FileFigures
from ci_eval.plugins.reports.html import REPORTER
from tests.reports.browsing import Browser, Page, expect
from tests.reports.following import address, follow
from tests.reports.samples import CODE, NASTY, Sample, figures, hostile, huge, session, small, suggestions

pytestmark = pytest.mark.browser


@dataclass
class Visit:
    """A page with whatever it complained about."""

    page: Page
    site: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def index(self) -> Page:
        self.page.goto((self.site / "index.html").as_uri())
        return self.page

    def file(self, start: str, fragment: str = "") -> Page:
        path = min((self.site / "files").glob(f"{start}*.html"), key=lambda each: len(each.name))
        self.page.goto(path.as_uri() + fragment)
        return self.page


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    many = small()
    many.more_files = {f"pkg/file_{index}.py": figures(index) for index in range(500)}
    many.more_files["pkg/unknown.py"] = FileFigures(sessions=0, metrics={"RecallAt1": None})
    samples: dict[str, Sample] = {"small": small(), "hostile": hostile(), "huge": huge(), "many": many}
    return {name: sample.write(REPORTER, tmp_path_factory.mktemp(name)).parent for name, sample in samples.items()}


@pytest.fixture
def visit(page: Page, sites: dict[str, Path]) -> Iterator[Visit]:
    visit = Visit(page, sites["small"])
    page.on("console", lambda message: visit.complaints.append(message.text))
    page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    page.on("request", lambda request: visit.requests.append(request.url))
    yield visit
    assert visit.complaints == []
    assert [url for url in visit.requests if not url.startswith(("file:", "data:"))] == []


def test_a_file_of_the_index_opens_and_leads_back(visit: Visit) -> None:
    page = visit.index()
    follow(page.get_by_role("link", name="stack/core.py"))
    expect(page.locator("h1")).to_have_text("stack/core.py")
    follow(page.get_by_role("link", name="jedi on stack"))
    expect(page.locator("#totals")).to_be_visible()


def test_a_click_opens_the_panel_and_escape_closes_it(visit: Visit) -> None:
    page = visit.file("core")
    page.locator(".t.near", has_text="tutorial").click()
    expect(page.locator("#panel .expected")).to_contain_text("tutorial ★")
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()


SIGNS_SEEN = """() => [...document.querySelectorAll("#code .t")].map((each) =>
    [each.classList[1], getComputedStyle(each, "::after").content])"""


def test_each_token_shows_its_rank_or_the_sign_of_its_outcome(visit: Visit) -> None:
    told = {tuple(each) for each in visit.file("core").evaluate(SIGNS_SEEN)}
    assert told >= {("near", '"3" / ""'), ("absent", '"✗" / ""'), ("first", "none")}


@pytest.mark.parametrize("key", ["Enter", " "])
def test_the_panel_opens_by_keyboard_and_escape_returns_to_the_token(visit: Visit, key: str) -> None:
    page = visit.file("core")
    page.locator(".code .t").first.focus()
    page.keyboard.press(key)
    expect(page.locator("#panel h2")).to_have_text("stack")
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(".code .t").first).to_be_focused()


def test_n_and_p_jump_between_misses(visit: Visit) -> None:
    page = visit.file("core")
    misses = [token.text_content() for token in page.locator(".code .t:is(.absent, .failed)").all()]
    seen = []
    for _ in misses:
        page.keyboard.press("n")
        seen.append(page.locator(".t.open").text_content())
    assert seen == misses
    page.keyboard.press("p")
    expect(page.locator(".t.open")).to_have_text(misses[-2] or "")


def test_j_and_k_step_through_tokens(visit: Visit) -> None:
    page = visit.file("core")
    for key in "jjk":
        page.keyboard.press(key)
    expect(page.locator(".t.open")).to_have_text(page.locator(".code .t").first.text_content() or "")


def test_a_question_mark_shows_the_keys(visit: Visit) -> None:
    page = visit.file("core")
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()


def test_sessions_that_share_a_place_can_be_switched(visit: Visit) -> None:
    page = visit.file("core")
    page.locator(".code .t", has_text="append").click()
    sessions = page.get_by_role("group", name="Session")
    expect(sessions.get_by_role("button")).to_have_count(3)
    assert (sessions.bounding_box() or {"height": 0})["height"] > 20
    sessions.get_by_role("button", name="“app” rank 2").click()
    expect(sessions.locator(":focus")).to_have_text("“app” rank 2")
    expect(page.locator("#panel .expected .place")).to_have_text("2")


def test_lookups_of_a_session_can_be_switched(visit: Visit) -> None:
    page = visit.file("core")
    page.locator(".code .t", has_text="append").click()
    page.get_by_role("group", name="Lookup").get_by_role("button", name="“a” absent").click()
    expect(page.locator("#panel .facts code").first).to_have_text("a")


def test_a_failed_session_says_why(visit: Visit) -> None:
    page = visit.file("core")
    page.locator(".t.failed", has_text="raise").click()
    expect(page.locator("#panel .message")).to_have_text("no answer within 10 s")


def test_what_was_said_to_the_engine_and_by_it_unfolds(visit: Visit) -> None:
    page = visit.file("core")
    page.locator(".t.failed", has_text="raise").click()
    page.get_by_text("Messages to and from the engine (2)").click()
    heads = page.locator("#panel .trace li summary")
    expect(heads).to_have_text(["0.0 ms -> textDocument/completion #4", "12.5 ms <- window/logMessage"])
    expect(page.locator("#panel .trace .sent")).to_have_count(1)
    heads.nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#panel .trace .received pre")).to_have_text('{\n "type": 1,\n "message": "<b>waiting</b>"\n}')
    page.locator(".t", has_text="tutorial").click()
    expect(page.locator("#panel .trace")).to_have_count(0)


def test_a_link_with_a_session_id_opens_it(visit: Visit) -> None:
    page = visit.file("core")
    page.locator(".t", has_text="tutorial").click()
    expect(page.locator("#panel h2")).to_have_text("tutorial")
    link = address(page)
    page.goto("about:blank")
    page.goto(link)
    expect(page.locator("#panel h2")).to_have_text("tutorial")


def test_copied_code_is_clean(visit: Visit) -> None:
    page = visit.file("core")
    copied = page.evaluate("getSelection().selectAllChildren(document.querySelector('.source')), getSelection() + ''")
    assert copied.strip() == CODE.strip()


def test_the_filter_switch_shows_other_figures(visit: Visit) -> None:
    page = visit.index()
    follow(page.get_by_role("link", name="methods only"))
    expect(page.locator("#totals")).to_have_text(
        "80 of 100 sessions evaluated, the engine failed in 10 figures of: methods only"
    )
    expect(page.locator("[aria-current]")).to_have_text("methods only")


def test_an_error_unfolds_to_its_trace(visit: Visit) -> None:
    page = visit.index()
    page.locator(".errors summary").click()
    expect(page.locator(".errors pre")).to_have_text("Traceback …")


def test_search_narrows_the_files(visit: Visit, sites: dict[str, Path]) -> None:
    visit.site = sites["many"]
    page = visit.index()
    expect(page.locator("#shown")).to_have_text("1 to 100 of 503 files")
    page.get_by_label("Find a file").fill("FILE_49")
    expect(page.locator("#shown")).to_have_text("11 files (of 503)")


def test_sorting_is_numeric_by_keyboard_and_leaves_unknown_figures_last(visit: Visit, sites: dict[str, Path]) -> None:
    visit.site = sites["many"]
    page = visit.index()
    for direction, figure in (("ascending", "0.0%"), ("descending", "99.0%")):
        page.get_by_role("button", name="RecallAt1", exact=True).press("Enter")
        expect(page.locator(f"th[aria-sort={direction}]")).to_have_text("RecallAt1")
        assert page.locator(".files tbody tr:first-child td:nth-child(3)").text_content() == figure
    for _ in range(5):
        page.get_by_role("button", name="Next").click()
    assert page.locator(".files tbody tr:last-child td:nth-child(3)").text_content() == "—"


def test_columns_can_be_shown_and_hidden(visit: Visit) -> None:
    page = visit.index()
    header = page.locator(".files th", has_text="MeanRank")
    expect(header).to_be_hidden()
    page.get_by_text("Columns").click()
    page.get_by_label("MeanRank").check()
    expect(header).to_be_visible()


def test_nothing_hostile_runs_and_the_panel_shows_it_as_text(visit: Visit, sites: dict[str, Path]) -> None:
    visit.site = sites["hostile"]
    page = visit.file("con-py")
    page.locator(".code .t").click()
    expect(page.locator("#panel .expected .text")).to_contain_text("</script><script>")
    assert page.locator("img").count() == 0
    assert NASTY[:9] not in page.title()
    assert page.title() != "owned"


def test_an_expected_text_beyond_the_suggestions_kept_is_told(visit: Visit, tmp_path: Path) -> None:
    beyond = session("a.py", 0, "x", 900, total=1_000, shown=suggestions("x", None, 60))
    visit.site = Sample().add("a.py", "x", [beyond]).write(REPORTER, tmp_path).parent
    page = visit.file("a-py")
    page.keyboard.press("j")
    expect(page.locator("#panel .gap")).to_have_text(
        ["849 more", "900: the expected text, beyond the stored suggestions", "100 more"]
    )


def test_the_dark_scheme_differs(visit: Visit) -> None:
    page = visit.index()
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(colour) != light


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))


def test_the_switch_of_colours_is_kept_over_pages_before_anything_is_drawn(visit: Visit) -> None:
    page = visit.index()
    light = background(page)
    switch = page.get_by_role("button", name="Colours")
    for name in ("light", "dark"):
        switch.click()
        expect(switch).to_have_accessible_name(f"Colours: {name}")
    dark = background(page)
    assert dark != light
    follow(page.get_by_role("link", name="stack/core.py"))
    expect(page.get_by_role("button", name="Colours: dark")).to_be_visible()
    assert background(page) == dark
    # A script that browsers wait for, before the style: there is no moment without the choice.
    first = page.locator("head script, head link[rel=stylesheet]").first
    assert first.evaluate("each => [each.src.endsWith('theme.js'), each.async, each.defer]") == [True, False, False]
    switch.click()
    expect(switch).to_have_accessible_name("Colours: auto")
    assert background(page) == light


def test_a_browser_that_keeps_nothing_switches_the_page_alone(visit: Visit) -> None:
    denied = "get() { throw new DOMException('denied', 'SecurityError'); }"
    visit.page.add_init_script(f"Object.defineProperty(window, 'localStorage', {{ {denied} }})")
    page = visit.index()
    switch = page.get_by_role("button", name="Colours")
    switch.click()
    expect(switch).to_have_accessible_name("Colours: light")


@pytest.mark.parametrize("sample", ["small", "hostile"])
def test_a_phone_needs_no_sideways_scrolling(visit: Visit, sites: dict[str, Path], sample: str) -> None:
    visit.site = sites[sample]
    visit.page.set_viewport_size({"width": 400, "height": 800})
    width = "document.documentElement.scrollWidth"
    assert visit.index().evaluate(width) == 400
    page = visit.file("c")
    page.keyboard.press("j")
    expect(page.locator("#panel h2")).to_be_visible()
    assert page.evaluate(width) == 400


def test_a_row_of_metrics_is_whole_on_a_phone(visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 400, "height": 800})
    page = visit.index()
    for row in page.locator(".metrics tbody tr").all():
        words = row.locator(".words").bounding_box()
        assert words
        assert words["x"] + words["width"] <= 400
        assert (row.bounding_box() or {"height": 999})["height"] < 160


def test_a_click_in_a_huge_file_shows_its_session(visit: Visit, sites: dict[str, Path]) -> None:
    visit.site = sites["huge"]
    page = visit.file("huge")
    page.locator(".code .t").nth(1_500).click()
    expect(page.locator("#panel .expected .place")).to_have_text("800")


def test_the_next_miss_may_be_on_the_next_page(visit: Visit, sites: dict[str, Path]) -> None:
    visit.site = sites["huge"]
    page = visit.file("huge")
    for _ in range(3):
        page.keyboard.press("n")
        expect(page.locator("#panel h2")).to_have_text("method_name")
    expect(page.locator("nav.parts span")).to_contain_text("page 2 of 10, lines 2,001 to 4,000 of 20,000")


def test_a_session_of_another_page_is_found_from_the_first(visit: Visit, sites: dict[str, Path]) -> None:
    visit.site = sites["huge"]
    page = visit.file("huge")
    link = page.locator("body").get_attribute("data-next-token") or ""
    visit.file("huge", f"#{link.partition('#')[2]}")
    page.wait_for_url("**/huge-py-*-2.html#*")
    expect(page.locator("#panel")).to_be_visible()


def test_the_report_works_in_a_frame(visit: Visit, tmp_path: Path) -> None:
    outside = tmp_path / "tab.html"
    outside.write_text(f'<iframe width="1000" height="700" src="{(visit.site / "index.html").as_uri()}"></iframe>')
    visit.page.goto(outside.as_uri())
    frame = visit.page.frame_locator("iframe")
    frame.get_by_role("link", name="stack/core.py").click()
    frame.locator(".code .t").first.click()
    expect(frame.locator("#panel h2")).to_have_text("stack")


def test_the_copied_command_names_the_workspace_from_anywhere(page: Page, tmp_path: Path) -> None:
    workspace = tmp_path / "my runs" / "night"
    site = small().write(REPORTER, workspace / "reports").parent
    found = next((site / "files").glob("core-py-*.html"))
    page.goto(found.as_uri())
    page.locator(".code .t[role]").first.click()
    command = shlex.split(page.locator(".replay.quiet code").inner_text())
    assert command[:3] == ["ci-eval", "show", str(workspace)]


RANGES = """name => [...(CSS.highlights.get(name) ?? [])].map((each) => {
  const range = document.createRange();
  range.setStart(each.startContainer, each.startOffset);
  range.setEnd(each.endContainer, each.endOffset);
  return range.toString();
})"""


def test_the_source_has_colours_and_places_that_were_not_drawn_look_different(visit: Visit) -> None:
    sample = Sample().add("a.py", "\N{GRINNING FACE} self = 1  # why\nself.x = self.y\n", [session("a.py", 27, "self")])
    visit.site = sample.write(REPORTER, visit.site.parent / "painted").parent
    page = visit.file("a")
    assert page.evaluate(RANGES, "comment") == ["# why"]
    assert page.evaluate(RANGES, "unasked") == ["self", "self"]
    expect(page.locator(".legend li").last).to_have_text("ab 2 not sampled")


def test_an_address_may_name_a_line(visit: Visit, sites: dict[str, Path]) -> None:
    visit.site = sites["huge"]
    page = visit.file("huge", "#L300")
    first = int(page.locator(".numbers").inner_text().split()[0])
    assert page.evaluate("document.getElementById('code').style.getPropertyValue('--line-number')") == str(300 - first)
    assert page.locator(".source").evaluate("each => each.scrollTop") > 0
    top = page.locator(".numbers").bounding_box()
    assert top
    page.locator(".numbers").click(position={"x": 20, "y": 8 + 22 * 301 + 10}, force=True)
    assert address(page).endswith("#L302")


def test_a_line_of_another_page_is_found_from_the_first(visit: Visit, sites: dict[str, Path]) -> None:
    visit.site = sites["huge"]
    page = visit.file("huge")
    firsts = page.evaluate("document.body.dataset.lines").split()
    beyond = f"#L{int(firsts[-1]) + 2}"
    page = visit.file("huge", beyond)
    page.wait_for_url(f"**-{len(firsts)}.html{beyond}")
    expect(page.locator("#code.marked")).to_be_visible()


def test_folders_have_figures_of_their_own_and_open(visit: Visit, tmp_path: Path) -> None:
    sample = small()
    sample.more_files = {f"pkg/{name}.py": figures(1) for name in "ab"}
    sample.folders = {"pkg/": FileFigures(sessions=1234, metrics={"RecallAt1": 0.5})}
    visit.site = sample.write(REPORTER, tmp_path).parent
    page = visit.index()
    folder = page.locator("#file-table .folder")
    expect(folder).to_contain_text("1,234")
    expect(page.get_by_role("cell", name="pkg/a.py")).to_be_visible()
    folder.get_by_role("button").press("Enter")
    expect(page.get_by_role("cell", name="pkg/a.py")).to_have_count(0)
    page.get_by_role("button", name="Sessions").click()
    expect(folder).to_have_count(0)
    expect(page.get_by_role("cell", name="pkg/a.py")).to_be_visible()
