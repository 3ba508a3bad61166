"""The figures that the page of all sessions computes for a filter are those of reports and comparisons."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from urllib.parse import quote

import pytest

from ci_eval.core.model.units import change
from ci_eval.core.statistics.student import critical_values
from ci_eval.plugins.reports.html import comparison
from ci_eval.rendering import sessiontable
from tests.command import command
from tests.filtering import VALUES, draw_expressions, measure
from tests.projects import GREETER, write
from tests.reports.browsing import Browser, Page
from tests.reports.computed import check_figures, check_verdicts, read_figures
from tests.reports.test_html_in_browser import Visit, page, sites, visit
from tests.reports.test_sessions_in_browser import opened, total

__all__ = ["page", "sites", "visit"]

pytestmark = pytest.mark.browser


def show(page: Page, folder: Path, expression: str) -> None:
    """Open the page of all sessions below `folder`, filtered by an expression in the address."""
    page.goto("about:blank")
    page.goto((folder / "html" / "sessions.html").as_uri() + f"#q={quote(expression)}")


SAMPLE = ("--set", "interpret.sessionProbability=0.7")
"""The options of a run that asks a sample of the sessions."""
OTHER_SIDE = {
    "completion": ("--completion-type", "ALPHABETICAL"),
    "tokens": ("--set", "engine.options.order=1"),
    "inline": ("--set", "engine.options.order=1"),
    "method-calls": (),
}
"""The options that make a run of a task go otherwise."""


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(VALUES))
def test_the_figures_of_random_filters_are_those_of_the_report(task: str, tmp_path: Path, page: Page) -> None:
    # Other code has no interval below 20 files, and a rank none below 200 sessions.
    workspace, expressions = measure(task, tmp_path, *SAMPLE, files=60), draw_expressions(task)
    assert command("report", workspace, *(part for line in expressions for part in ("--filter", line)))[0] == 0
    (evaluation,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
    shown, intervals = 0, 0
    for expression in expressions:
        show(page, workspace / "reports", expression)
        figures = evaluation["filters"][expression]
        assert total(page) == figures["sessions"], expression
        intervals += check_figures(page, figures["metrics"])
        shown += len(read_figures(page))
    assert shown > 0
    assert intervals > 0


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(VALUES))
def test_the_verdicts_of_random_filters_are_those_of_the_comparison(
    task: str, tmp_path: Path, browser: Browser
) -> None:
    page, expressions = browser.new_page(), draw_expressions(task)
    base = measure(task, tmp_path, "--repeat", "2", name="base", files=4)
    new = measure(task, tmp_path, "--repeat", "2", *OTHER_SIDE[task], name="new", files=4, kind="frequency")
    filters = (part for line in expressions for part in ("--filter", line))
    assert command("compare", base, new, *filters, "--output", tmp_path / "out")[0] == 0
    report = json.loads((tmp_path / "out" / "comparison.json").read_text())
    verdicts = Counter[str]()
    for expression in expressions:
        show(page, tmp_path / "out", expression)
        assert page.locator("#more").inner_text().startswith("Times and other code: ")
        metrics = report["filters"][expression]["metrics"]
        verdicts.update(check_verdicts(page, metrics))
    page.close()
    assert verdicts.total() > 0


@pytest.fixture(scope="module", params=["sessionProbability=0.5", "sessionsLimit=90"])
def samples(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two workspaces of a part of a project's sessions, simple or of strata, by two completion types."""
    folder = tmp_path_factory.mktemp("samples")
    files = {f"file{number}__py": GREETER + f"x{number} = {number}\nprint(x{number})\n" for number in range(8)}
    project = write(folder / "p", **files)
    for kind in ("BASIC", "ALPHABETICAL"):
        code, _, err = command(
            "evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--completion-type", kind,
            "--set", f"interpret.{request.param}", "--output", folder / kind,
        )  # fmt: skip
        assert code == 0, err
    return folder / "BASIC", folder / "ALPHABETICAL"


def test_a_sample_has_the_intervals_of_the_report(samples: tuple[Path, Path], page: Page) -> None:
    line = "kind=METHOD_CALL,VARIABLE"
    assert command("report", samples[0], "--filter", line)[0] == 0
    (evaluation,) = json.loads((samples[0] / "reports" / "metrics.json").read_text())["evaluations"]
    for expression, name in (("", "ALL"), (line, line)):
        show(page, samples[0] / "reports", expression)
        count, figures = check_figures(page, evaluation["filters"][name]["metrics"]), len(read_figures(page))
        # In this project, and in other code where the files' figures differ.
        assert 0 < figures < count <= 2 * figures
    assert page.locator("#more").inner_text() == f'Times: ci-eval report WORKSPACE --filter "{line}"'


def test_a_comparison_of_samples_has_both_figures_of_each_metric(
    samples: tuple[Path, Path], browser: Browser, tmp_path: Path
) -> None:
    page, line = browser.new_page(), "kind=VARIABLE prefix=1"
    assert command("compare", *samples, "--filter", line, "--output", tmp_path / "out")[0] == 0
    report = json.loads((tmp_path / "out" / "comparison.json").read_text())
    for expression, name in (("", "ALL"), (line, line)):
        show(page, tmp_path / "out", expression)
        figures = read_figures(page)
        assert set(figures) == set(report["declared"])
        metrics = report["filters"][name]["metrics"]
        for metric, (((_, base), (_, new)), *_) in figures.items():
            assert (base, new) == pytest.approx((metrics[metric]["base"], metrics[metric]["new"]), rel=1e-12)
    assert "Intervals and verdicts: ci-eval compare BASE NEW --filter" in page.locator("#more").inner_text()
    page.close()


@pytest.mark.parametrize("rows", [3, 40])
def test_a_page_without_room_for_all_pairs_has_no_figures(
    samples: tuple[Path, Path], browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    for module in (sessiontable, comparison):
        monkeypatch.setattr(module, "MOST_ROWS", rows)
    assert command("compare", *samples, "--output", tmp_path / "out")[0] == 0
    paired = json.loads((tmp_path / "out" / "comparison.json").read_text())["paired"]
    page, line = browser.new_page(), "kind=VARIABLE"
    show(page, tmp_path / "out", line)
    assert paired > rows
    assert f"{paired - rows} more sessions are not in this page" in page.locator(".warning").inner_text()
    assert not read_figures(page)
    assert page.locator("#more").inner_text() == f'Figures: ci-eval compare BASE NEW --filter "{line}"'
    page.close()


def test_intervals_have_the_reach_of_students_t(visit: Visit) -> None:
    page = opened(visit)
    freedom = [1, 1.01, 1.5, 2, 3.7, 10, 18.99, 19, 20.5, 21, 60, 333.3, 1e4, 9.9e4, 1e5, 1e9]
    reaches = page.evaluate("(all) => all.map((df) => ciEval.errors(df))", freedom)
    assert reaches == pytest.approx(critical_values(0.05, freedom).tolist(), rel=1e-10)


def test_differences_are_written_as_python_writes_them(visit: Visit) -> None:
    page = opened(visit)
    differences = [number / 512 for number in range(-65, 66)] + [1e-7, -1e-7, 0.00005, -0.12345, 2.675]
    for unit in ("share", "score", "rank"):
        texts = page.evaluate("([all, unit]) => all.map((each) => ciEval.change(each, unit))", [differences, unit])
        assert texts == [change(difference, unit) for difference in differences]


def test_figures_are_rounded_as_python_rounds(visit: Visit) -> None:
    page = opened(visit)
    shares = [number / 64 for number in range(65)] + [number / 7 for number in range(8)]
    texts = page.evaluate("(all) => all.map((each) => ciEval.amount(each, 'share'))", shares)
    assert texts == [f"{share:.1%}" for share in shares]
    scores = [number / 512 for number in range(0, 513, 3)]
    texts = page.evaluate("(all) => all.map((each) => ciEval.amount(each, 'score'))", scores)
    assert texts == [f"{score:.3f}" for score in scores]


def test_a_condition_on_the_text_is_about_all_of_it(page: Page, tmp_path: Path) -> None:
    long = "a" * 130
    lines = [f"{long}_{end} = 1\nprint({long}_{end}, {long}_{end})\n" for end in ("one", "two")]
    project = write(tmp_path / "p", a__py="".join(lines))
    argv = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--output", tmp_path / "w")
    assert command(*argv)[0] == 0
    expressions = ("text=*_one", "text=*_two", "length=131")
    assert command("report", tmp_path / "w", *(part for line in expressions for part in ("--filter", line)))[0] == 0
    (evaluation,) = json.loads((tmp_path / "w" / "reports" / "metrics.json").read_text())["evaluations"]
    for expression in expressions:
        figures = evaluation["filters"][expression]
        show(page, tmp_path / "w" / "reports", expression)
        assert total(page) == figures["sessions"] > 0
        check_figures(page, figures["metrics"])
    assert evaluation["filters"]["length=131"]["sessions"] == 2 * evaluation["filters"]["text=*_one"]["sessions"]
