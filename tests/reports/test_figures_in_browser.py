"""The figures that the page of all sessions computes for a filter are those of reports and comparisons."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.command import command
from tests.filtering import VALUES, draw_expressions, measure
from tests.projects import GREETER, write
from tests.reports.browsing import Browser, Page
from tests.reports.computed import check_figures, read_figures
from tests.reports.test_html_in_browser import Visit, page, sites, visit
from tests.reports.test_sessions_in_browser import opened, total

__all__ = ["page", "sites", "visit"]

pytestmark = pytest.mark.browser


def show(page: Page, folder: Path, expression: str) -> None:
    """Open the page of all sessions below `folder`, filtered by an expression in the address."""
    page.goto("about:blank")
    page.goto((folder / "html" / "sessions.html").as_uri() + f"#q={quote(expression)}")


@pytest.mark.slow
@pytest.mark.parametrize("task", sorted(VALUES))
def test_the_figures_of_random_filters_are_those_of_the_report(task: str, tmp_path: Path, page: Page) -> None:
    workspace, expressions = measure(task, tmp_path), draw_expressions(task)
    assert command("report", workspace, *(part for line in expressions for part in ("--filter", line)))[0] == 0
    (evaluation,) = json.loads((workspace / "reports" / "metrics.json").read_text())["evaluations"]
    shown = 0
    for expression in expressions:
        show(page, workspace / "reports", expression)
        figures = evaluation["filters"][expression]
        assert total(page) == figures["sessions"], expression
        check_figures(page, figures["metrics"])
        shown += len(read_figures(page))
    assert shown > 0


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return two workspaces of half of a project's sessions, by two completion types."""
    folder = tmp_path_factory.mktemp("samples")
    files = {f"file{number}__py": GREETER + f"x{number} = {number}\nprint(x{number})\n" for number in range(8)}
    project = write(folder / "p", **files)
    for kind in ("BASIC", "ALPHABETICAL"):
        code, _, err = command(
            "evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--completion-type", kind,
            "--set", "interpret.sessionProbability=0.5", "--output", folder / kind,
        )  # fmt: skip
        assert code == 0, err
    return folder / "BASIC", folder / "ALPHABETICAL"


def test_a_sample_has_the_intervals_of_the_report(samples: tuple[Path, Path], page: Page) -> None:
    line = "kind=METHOD_CALL,VARIABLE"
    assert command("report", samples[0], "--filter", line)[0] == 0
    (evaluation,) = json.loads((samples[0] / "reports" / "metrics.json").read_text())["evaluations"]
    for expression, name in (("", "ALL"), (line, line)):
        show(page, samples[0] / "reports", expression)
        figures = read_figures(page)
        assert [len(numbers) for numbers in figures.values()] == [3] * len(figures)
        check_figures(page, evaluation["filters"][name]["metrics"])
    command_text = f'ci-eval report WORKSPACE --filter "{line}"'
    assert page.locator("#more").inner_text() == f"Times and intervals of other code: {command_text}"


def test_a_comparison_has_both_figures_of_each_metric(
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
        for metric, ((_, base), (_, new)) in figures.items():
            assert (base, new) == pytest.approx((metrics[metric]["base"], metrics[metric]["new"]), rel=1e-12)
    assert "ci-eval compare BASE NEW --filter" in page.locator("#more").inner_text()
    page.close()


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
