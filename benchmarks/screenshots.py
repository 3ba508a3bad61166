"""Pictures of every kind of page and of the terminal, to be looked at.

python benchmarks/screenshots.py FOLDER [--again]      needs chromium, playwright, and the engines jedi, zuban and ty

Evaluate and compare small projects below FOLDER/runs (--again: take pictures of the runs that are there), and write
FOLDER/PAGE-WIDTH-SCHEME.png for pages at 400, 900 and 1,400 px, light and dark, and FOLDER/COMMAND-COLUMNS.png for
terminals of 60, 80 and 120 columns. Print pages and lines that are too wide.
"""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

WIDTHS = (400, 900, 1400)
COLUMNS = (60, 80, 120)
LONGEST = 2600
"""Pixels of a page that are pictured."""
CLICK, SMALL = ("--project", "pypi:itsdangerous==2.2.0"), ("--project", "pypi:iniconfig==2.0.0")
SUITE = "language: python\nengine: jedi\nprojects: [pypi:itsdangerous==2.2.0, pypi:iniconfig==2.0.0]\n"
CASE = """import os

print(os.pa)
#          ^ expect: path; rank <= 3; not: print
print(os.pa)
#          ^ expect: nowhere
"""
GATES = ("--gate", "Recall >= 80%", "--gate", "RecallAt1 >= 99%")
RUNS = (
    ("evaluate", *CLICK, "--sessions", "200", "--output", "one", *GATES),
    ("compare-engines", "jedi", "zuban", *CLICK, "--sessions", "200", "--rounds", "2", "--output", "pair"),
    ("compare-engines", "jedi", "zuban", "ty", *CLICK, "--sessions", "200", "--rounds", "2", "--output", "three"),
    ("rerank", "one", "--completion-type", "FREQUENCY", "--output", "frequent"),
    ("compare", "one", "frequent", "--gate", "RecallAt1 >= -1pp", "--history", "nights", "--output", "compared"),
    ("compare", "frequent", "one", "--gate", "RecallAt1 >= -1pp", "--history", "nights", "--output", "red"),
    ("causes", "one", "--output", "causes"),
    ("causes", "one", "--base", "frequent", "--output", "worse"),
    ("sweep", "one.yaml", "--vary", "interpret.completionType=BASIC,FREQUENCY,RECENCY", "--output", "swept"),
    ("evaluate", "suite.yaml", "--sessions", "60", "--output", "suite"),
    ("cases", "cases", "--engine", "jedi", "--output", "cased"),
    ("site", "nights", "--output", "site"),
)  # fmt: skip
PAGES = {
    "evaluation": "one/reports/html/index.html", "sessions": "one/reports/html/sessions.html",
    "file": "one/reports/html/files/*.html", "pair": "pair/comparison/html/index.html",
    "pair-sessions": "pair/comparison/html/sessions.html", "pair-file": "pair/comparison/html/files/*.html",
    "three": "three/comparison/html/index.html", "comparison": "compared/html/index.html", "red": "red/html/index.html",
    "causes": "causes/causes/index.html", "worse": "worse/causes/index.html", "sweep": "swept/html/index.html",
    "suite": "suite/html/index.html", "cases": "cased/cases/index.html", "site": "site/index.html",
    "trend": "site/*/index.html",
}  # fmt: skip
TERMINALS = {
    "evaluate": ("report", "one"), "compare": ("compare", "one", "frequent", "--output"),
    "red": ("compare", "frequent", "one", "--gate", "RecallAt1 >= -1pp", "--output"),
    "three": ("compare", "three/01-jedi", "three/02-zuban", "three/03-ty", "--output"),
    "causes": ("causes", "one", "--output"), "cases": ("cases", "cases", "--engine", "jedi", "--output"),
    "help": ("--help",), "evaluate-help": ("evaluate", "--help"), "list": ("list", "engines"),
}  # fmt: skip


def run(runs: Path, *arguments: str, columns: int = 80) -> str:
    """Return what a command prints, with its errors."""
    environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "ci_eval", *arguments]
    done = subprocess.run(command, cwd=runs, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def make_runs(runs: Path) -> None:
    """Make all runs that are not there."""
    (runs / "cases").mkdir(parents=True, exist_ok=True)
    (runs / "cases" / "paths.py").write_text(CASE)
    (runs / "suite.yaml").write_text(SUITE)
    (runs / "one.yaml").write_text("language: python\nengine: jedi\nproject: pypi:iniconfig==2.0.0\n")
    for arguments in RUNS:
        if not (runs / arguments[arguments.index("--output") + 1]).exists():
            print(*arguments)
            (runs / "log.txt").open("a").write(run(runs, *arguments))


def picture_pages(folder: Path, browser: Browser) -> None:
    """Picture the top of each page at each width, light and dark."""
    for scheme in ("light", "dark"):
        for width in WIDTHS:
            page = browser.new_page(
                viewport={"width": width, "height": 900}, color_scheme="dark" if scheme == "dark" else "light"
            )
            for name, pattern in PAGES.items():
                for file in sorted((folder / "runs").glob(pattern))[:1]:
                    page.goto(file.as_uri())
                    wide = page.evaluate("document.documentElement.scrollWidth")
                    if wide > width:
                        print(f"{name} at {width} px is {wide} px wide")
                    height = min(page.evaluate("document.documentElement.scrollHeight"), LONGEST)
                    path = folder / f"{name}-{width}-{scheme}.png"
                    page.screenshot(path=path, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height})
            page.close()


def picture_terminals(folder: Path, browser: Browser) -> None:
    """Picture each command at each number of columns."""
    page = browser.new_page(viewport={"width": 1100, "height": 700})
    for name, arguments in TERMINALS.items():
        for columns in COLUMNS:
            written = folder / "written"
            shutil.rmtree(written, ignore_errors=True)
            output = (str(written),) if arguments[-1] == "--output" else ()
            text = run(folder / "runs", *arguments, *output, columns=columns)
            for line in text.splitlines():
                if len(line) > columns and " " in line.strip():
                    print(f"{name} at {columns} columns: {line}")
            (folder / f"{name}-{columns}.txt").write_text(text)
            page.set_content(f"<pre style='width: {columns}ch; outline: 1px solid'>{html.escape(text)}</pre>")
            page.screenshot(path=folder / f"{name}-{columns}.png", full_page=True)
    page.close()


def main() -> None:
    """Evaluate, and write the pictures."""
    folder = Path(sys.argv[1])
    if "--again" not in sys.argv:
        shutil.rmtree(folder / "runs", ignore_errors=True)
    make_runs(folder / "runs")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        picture_pages(folder, browser)
        picture_terminals(folder, browser)
        browser.close()


if __name__ == "__main__":
    main()
