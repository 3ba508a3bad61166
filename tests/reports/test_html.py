"""The HTML report as files: links, escaping, names, sizes."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections import deque
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import msgspec
import pytest

from ci_eval.core import machine
from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.model import GateResult, Session
from ci_eval.core.workers import TaskOutcome, Workers
from ci_eval.plugins.reports.html import REPORTER, evaluation
from ci_eval.rendering import sessiontable
from ci_eval.rendering.htmlpages import MAX_SESSIONS, page_name
from tests.command import command
from tests.projects import GREETER, write
from tests.reports.samples import CODE, HOSTILE, NASTY, Sample, figures, hostile, huge, session, small

LIMIT = 3_000_000


class Seen(HTMLParser):
    """Tags, links and the source text of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.code = ""
        self._in_code = False
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value for name, value in attrs if name in ("href", "src") and value]
        self._in_code = self._in_code or (tag == "pre" and ("id", "code") in attrs)

    def handle_endtag(self, tag: str) -> None:
        self._in_code = self._in_code and tag != "pre"

    def handle_data(self, data: str) -> None:
        self.code += data if self._in_code else ""


def written(sample: Sample, folder: Path) -> Path:
    return sample.write(REPORTER, folder).parent


def file_pages(site: Path) -> list[Path]:
    return sorted((site / "files").glob("*.html"))


@pytest.mark.parametrize("sample", [small(), hostile(), huge(4_500, 60)], ids=["small", "hostile", "huge"])
def test_every_link_leads_to_a_file_of_the_report(tmp_path: Path, sample: Sample) -> None:
    site = written(sample, tmp_path)
    for page in site.rglob("*.html"):
        for link in Seen(page).links:
            target = unquote(urlsplit(link).path)
            assert link == "data:," or (page.parent / target).is_file(), link


def test_the_index_links_to_every_file(tmp_path: Path) -> None:
    site = written(hostile(), tmp_path)
    links = {Path(link).name for link in Seen(site / "index.html").links if link.startswith("files/")}
    assert links == {page.name for page in file_pages(site)}


@pytest.mark.parametrize("limit", ["MOST_PAGES", "MOST_SESSIONS"])
def test_of_many_files_those_with_the_most_sessions_have_a_page(
    limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, limit, 1)
    for name, sizes in (("plain", {"a.py": 1, "b.py": 2}), ("workers", {"b.py": 2, "c.py": 1})):
        project = write(tmp_path / name, **{path.replace(".", "__"): GREETER * n for path, n in sizes.items()})
        workspace = tmp_path / f"w-{name}"
        assert command("evaluate", "--project", f"path:{project}", "--engine", "words", "--output", workspace)[0] == 0
        site = workspace / "reports" / "html"
        assert [page.name.split("-")[0] for page in file_pages(site)] == ["b"]
        assert "Only the files with the most sessions have a page" in (site / "index.html").read_text(encoding="utf-8")


def test_misses_are_grouped_by_kind_and_link_to_their_sessions(tmp_path: Path) -> None:
    page = (written(small(), tmp_path) / "index.html").read_text()
    line = next(line for line in page.splitlines() if 'class="misses"' in line)
    assert 'href="sessions.html#kind=METHOD_CALL&amp;band=2-5,6-10,11%2B,absent">70 method call</a>' in line


def test_hostile_text_adds_no_tag_and_no_handler(tmp_path: Path) -> None:
    site = written(hostile(), tmp_path)
    for page in site.rglob("*.html"):
        seen = Seen(page)
        assert "img" not in seen.tags
        # Beside that of the colours, both the page of all sessions and those of files have one that unpacks data; and
        # one with the data, or with what all sources have in common. The former has one that filters and one that
        # computes figures as well.
        lists_all = page.name == "sessions.html"
        assert seen.tags.count("script") == 2 + 4 * lists_all + 2 * (page.parent.name == "files")
        assert not {name for name in seen.attributes if name.startswith("on") or name == "style"}


def test_a_hostile_title_is_text(tmp_path: Path) -> None:
    path = small().write(REPORTER, tmp_path, title=NASTY)
    assert Seen(path).tags.count("script") == 2


def test_scripts_with_data_hold_no_markup_and_no_line_separator(tmp_path: Path) -> None:
    site = written(hostile(), tmp_path)
    for script in (site / "files" / "data").iterdir():
        assert not re.search("[<\u2028\u2029]", script.read_text(encoding="utf-8"))


def test_hostile_names_stay_in_the_folder_and_differ_even_where_case_does_not_count(tmp_path: Path) -> None:
    names = [page_name(path) for path in HOSTILE]
    assert all(re.fullmatch(r"[a-z0-9-]{1,80}", name) for name in names)
    assert len(set(names)) == len(HOSTILE)
    written(hostile(), tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["html"]


def test_the_source_on_the_page_is_the_source(tmp_path: Path) -> None:
    site = written(small(), tmp_path)
    page = next((site / "files").glob("core-py-*.html"))
    assert Seen(page).code.removeprefix("\n") == CODE


def test_a_source_that_begins_with_empty_lines_keeps_them(tmp_path: Path) -> None:
    site = written(Sample().add("a.py", "\n\nx = 1\n", [session("a.py", 2, "x")]), tmp_path)
    assert Seen(file_pages(site)[0]).code == "\n\n\nx = 1\n"


def test_offsets_are_code_points(tmp_path: Path) -> None:
    text = "s = '😀😀'; append(s)\n"
    site = written(Sample().add("a.py", text, [session("a.py", text.index("append"), "append")]), tmp_path)
    assert ">append</span>" in file_pages(site)[0].read_text(encoding="utf-8")


def test_a_report_without_sessions_or_figures_is_still_a_report(tmp_path: Path) -> None:
    evaluation = msgspec.structs.replace(small().evaluation(), filters={}, metrics=())
    path = REPORTER.write(evaluation, Sample().add("empty.py", "", []), tmp_path)
    assert "0 of 0 sessions evaluated" in path.read_text(encoding="utf-8")


def test_sessions_the_engine_failed_in_have_a_bar_of_their_own(tmp_path: Path) -> None:
    page = (written(small(), tmp_path) / "index.html").read_text(encoding="utf-8")
    row = page[page.index("of these, failed") :].partition("</tr>")[0]
    assert "rank failed" in row
    assert ">10<" in row


def test_a_new_report_replaces_the_old_one(tmp_path: Path) -> None:
    old = {page.name for page in file_pages(written(small(), tmp_path))}
    new = {page.name for page in file_pages(written(hostile(), tmp_path))}
    assert not old & new


def test_a_report_that_fails_leaves_the_old_one(tmp_path: Path) -> None:
    site = written(small(), tmp_path)

    def broken() -> Iterator[Session]:
        yield session("a.py", 0, "x")
        raise OSError("disk")

    with pytest.raises(WorkspaceError, match="disk"):
        written(Sample().stream("a.py", "x", broken), tmp_path)
    assert (site / "index.html").is_file()
    assert [each.name for each in tmp_path.iterdir()] == ["html"]


@pytest.mark.slow
def test_twenty_thousand_sessions_with_long_lists_make_pages_of_moderate_size(tmp_path: Path) -> None:
    site = written(huge(), tmp_path)
    assert max(each.stat().st_size for each in site.rglob("*") if each.is_file()) < LIMIT
    assert len(file_pages(site)) == 20_000 / MAX_SESSIONS


def test_five_thousand_files_fit_on_the_index(tmp_path: Path) -> None:
    sample = small()
    sample.more_files = {f"package/module/file_{index}.py": figures(index) for index in range(5_000)}
    assert (written(sample, tmp_path) / "index.html").stat().st_size < LIMIT


@pytest.mark.slow
def test_the_suggestions_of_a_file_are_never_in_memory_together(tmp_path: Path) -> None:
    def made() -> Iterator[Session]:
        for index in range(2_000):
            yield session("a.py", index, "x", 1, total=300)

    tracemalloc.start()
    written(Sample().stream("a.py", "x" * 2_000, made), tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000_000


def test_gates_are_told_the_broken_ones_first(tmp_path: Path) -> None:
    sample = small()
    kept = GateResult(rule="Recall >= 90%", passed=True, reason="it is 93%")
    broken = GateResult(rule="RecallAt1 >= 95%", passed=False, reason="it is <60%>")
    judged = msgspec.structs.replace(sample.evaluation(), gates=(kept, broken))
    text = REPORTER.write(judged, sample, tmp_path).read_text(encoding="utf-8")
    answer, _, gates = text.partition('id="gates"')
    assert "✗ RED   RecallAt1 &gt;= 95%   it is &lt;60%&gt;" in answer
    assert gates.index("✗ broken") < gates.index("RecallAt1 &gt;= 95%") < gates.index("✓ kept")
    assert "it is &lt;60%&gt;" in text
    assert "✗ broken" not in (written(sample, tmp_path / "other") / "index.html").read_text(encoding="utf-8")


def test_the_page_of_all_sessions_counts_those_it_has_no_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = write(tmp_path / "p", **{f"file{i}__py": GREETER for i in range(3)})
    arguments = ("--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "w")
    assert command("evaluate", *arguments)[0] == 0
    reports = tmp_path / "w" / "reports"
    planned = json.loads((reports / "metrics.json").read_text())["evaluations"][0]["filters"]["ALL"]["planned"]
    for rows in (2, planned // 3, planned - 1, planned):
        monkeypatch.setattr(sessiontable, "MOST_ROWS", rows)
        assert command("report", tmp_path / "w")[0] == 0
        more = re.findall(r"(\d+) more sessions", (reports / "html" / "sessions.html").read_text())
        assert more == ([str(planned - rows)] if rows < planned else [])


class Dying(Workers[str, str]):
    """Workers that end before they have written anything."""

    def map(self, waiting: deque[str]) -> Iterator[TaskOutcome[str, str] | None]:
        yield None
        yield from (TaskOutcome(path, None, "the worker process died") for path in waiting)


@pytest.mark.parametrize("workers", [Workers, Dying])
@pytest.mark.slow
def test_several_processes_write_the_same_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: type[Workers[str, str]]
) -> None:
    project = write(tmp_path / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\n" for i in range(5)})
    arguments = ("--project", f"path:{project}", "--engine", "words", "--output", tmp_path / "w")
    assert command("evaluate", *arguments, "--jobs", 2)[0] == 0
    site, started = tmp_path / "w" / "reports" / "html", list[object]()
    alone = {path.relative_to(site): path.read_bytes() for path in site.rglob("*.*")}
    monkeypatch.setattr(machine, "cores", lambda: 2)
    monkeypatch.setattr(evaluation, "MANY", 1)

    def begun(write: Callable[..., str], *, jobs: int, shared: tuple[object, ...]) -> Workers[str, str]:
        started.append(shared)
        return workers(write, jobs=jobs, shared=shared)

    monkeypatch.setattr(evaluation, "Workers", begun)
    assert command("report", tmp_path / "w")[0] == 0
    assert {path.relative_to(site): path.read_bytes() for path in site.rglob("*.*")} == alone
    assert started
