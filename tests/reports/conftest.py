"""A real browser for the reports."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.command import command
from tests.histories import NASTY, night
from tests.projects import GREETER, write

if TYPE_CHECKING:
    from tests.reports.browsing import Browser

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
ARGUMENTS += ["--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    browsing = import_module("tests.reports.browsing")
    # Generous, for a machine that runs other tests: five seconds were too few for the largest page.
    browsing.expect.set_options(timeout=20_000)
    executable = shutil.which("chromium")
    with browsing.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="session")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of words against words by the alphabet; beside it are `only`, with a trend, `several`, and
    `drawn`, in which both are samples."""
    root = tmp_path_factory.mktemp("site")
    project = write(root / "p", **{f"file{i}__py": GREETER + f"x{i} = {i}\nprint(x{i}, Greeter)\n" for i in range(6)})
    words = ("evaluate", "--project", f"path:{project}", "--engine", "words", "--jobs", 1, "--output")
    run(*words, root / "BASIC")
    run(*words, root / "ALPHABETICAL", "--completion-type", "ALPHABETICAL")
    run(*words, root / "sample", "--set", "interpret.sessionProbability=0.5")
    run(*words, root / "sample2", "--set", "interpret.sessionProbability=0.4")
    run("compare", root / "BASIC", root / "ALPHABETICAL", "--output", root / "out")
    run("compare", root / "BASIC", root / "sample", "--output", root / "only", "--history", past(root))
    run("compare", root / "BASIC", root / "sample", root / "ALPHABETICAL", "--output", root / "several")
    run("compare", root / "sample", root / "sample2", "--output", root / "drawn")
    return root / "out" / "html"


@pytest.fixture(scope="session")
def trends(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site: an evaluation whose level falls, one with a single night, and one whose names mean harm."""
    root = tmp_path_factory.mktemp("trends")
    for day in range(1, 25):
        night(root / "nights" / "falling", day, version=f"0.{day // 9}", RecallAt1=0.9 if day <= 14 else 0.8)
    night(root / "nights" / "new", 1, engine="words")
    for day in (1, 2):
        night(root / "nights" / "hostile", day, engine=NASTY * 3, language="x" * 200)
    run("site", root / "nights", "--output", root / "site")
    return root / "site"


@pytest.fixture(scope="session")
def suited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a suite of two projects."""
    root = tmp_path_factory.mktemp("suite")
    projects = [f"path:{write(root / f'p{i}', a__py=GREETER + f'total = {i}')}" for i in range(2)]
    (root / "suite.yaml").write_text(json.dumps({"engine": "words", "projects": projects}))
    run("evaluate", root / "suite.yaml", "--jobs", 1, "--output", root / "out")
    return root / "out" / "html"


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the page of a sweep over two values of one key and two of another."""
    root = tmp_path_factory.mktemp("sweep")
    project = write(root / "p", a__py=GREETER, b__py=GREETER.replace("name", "label"))
    (root / "c.yaml").write_text("{task: tokens, engine: {name: ngram}}")
    varied = ("--vary", "engine.options.order=1,3", "--vary", "engine.options.weight=0.2,0.5")
    run("sweep", root / "c.yaml", "--project", f"path:{project}", "--jobs", 1, *varied, "--output", root / "out")
    return root / "out"


def run(*arguments: object) -> None:
    code, _, said = command(*arguments)
    assert code == 0, said


def past(root: Path) -> Path:
    """A dozen nights, the first eight of them worse."""
    report = json.loads((root / "sample" / "reports" / "metrics.json").read_text())
    (evaluation,) = report["evaluations"]
    figure = evaluation["filters"][evaluation["headline"]]["metrics"]["RecallAt1"]
    whole = figure["value"]
    (root / "past").mkdir()
    for day in range(12):
        evaluation["started"] = f"2020-01-{day + 1:02}T03:00:00+00:00"
        figure["value"] = whole / 2 if day < 8 else whole
        (root / "past" / f"{day}.json").write_text(json.dumps(report))
    return root / "past"
