"""Pictures of every kind of page, to be looked at: three widths, light and dark.

    python benchmarks/screenshots.py --output DIR [--widths 400,900,1400] [--schemes light,dark] [--only NAME]

The first time, it evaluates flask in DIR/runs with `words` in three orders, and with `jedi`; after that, only the
reports are written anew. The past of the trend is made up from one of these evaluations. Needs Chromium, the extra
`test`, and a package registry.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

PROJECT = "pypi:flask==3.0.3"
SUITE = [PROJECT, "pypi:click==8.1.7", "pypi:itsdangerous==2.2.0", "pypi:markupsafe==2.1.5", "pypi:blinker==1.8.2"]
SESSIONS = 1500
NIGHTS = 24
RUNS = {
    "jedi": ("--engine", "jedi"),
    "words": ("--engine", "words"),
    "frequency": ("--engine", "words", "--completion-type", "FREQUENCY"),
    "recency": ("--engine", "words", "--completion-type", "RECENCY"),
}


def ci_eval(*arguments: object) -> None:
    """Run a command; what it prints is not shown."""
    subprocess.run([sys.executable, "-m", "ci_eval", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def evaluated(root: Path) -> None:
    """The workspaces, each made once, and all reports anew."""
    for name, options in RUNS.items():
        if (root / name).exists():
            ci_eval("report", root / name)
        else:
            limit = ("--set", f"interpret.sessionsLimit={SESSIONS}")
            ci_eval("evaluate", "--project", PROJECT, *options, *limit, "--output", root / name)
    if not (root / "suite").exists():
        suite = json.dumps({"engine": "words", "projects": SUITE, "interpret": {"sessionsLimit": 200}})
        (root / "suite.yaml").write_text(suite)
        ci_eval("evaluate", root / "suite.yaml", "--output", root / "suite")
    shutil.rmtree(root / "compared", ignore_errors=True)
    (root / "compared").mkdir()
    past(root / "frequency", root / "compared" / "past")
    pair = (root / "words", root / "frequency")
    ci_eval("compare", *pair, "--output", root / "compared/two", "--history", root / "compared/past")
    ci_eval("compare", *pair, root / "recency", "--output", root / "compared/several")
    ci_eval("site", root / "compared/past", "--output", root / "compared/site")


def past(workspace: Path, folder: Path) -> None:
    """Made-up nights, with gaps between them, a new version of the engine, and a fall when it came."""
    folder.mkdir()
    report = json.loads((workspace / "reports" / "metrics.json").read_text())
    (evaluation,) = report["evaluations"]
    metrics = evaluation["filters"]["ALL"]["metrics"]
    true = {name: {end: figure.get(end) for end in ("value", "low", "high")} for name, figure in metrics.items()}
    source = random.Random(1)
    for night in range(NIGHTS):
        day = night + (9 if night > 10 else 0)
        evaluation["started"] = f"2026-{9 + day // 30:02}-{day % 30 + 1:02}T03:00:00+00:00"
        evaluation["engine"]["version"] = "1" if night < 16 else "2"
        for name, figure in metrics.items():
            if true[name]["value"]:
                moved = (1.0 if night < 16 else 0.9) * source.uniform(0.985, 1.015)
                figure |= {end: each * moved for end, each in true[name].items() if each is not None}
        (folder / f"{night:02}.json").write_text(json.dumps(report))


def pages(root: Path) -> Mapping[str, str]:
    """Name of a picture → address of what it shows."""
    own, pair = root / "jedi/reports/html", root / "compared/two/html"
    (line,) = (each for each in (root / "compared/site").iterdir() if (each / "index.html").exists())
    found = {
        "main": own / "index.html",
        "sessions": own / "sessions.html",
        "file": min((own / "files").glob("*.html"), key=lambda each: abs(each.stat().st_size - 60_000)),
        "comparison": pair / "index.html",
        "comparison-sessions": pair / "sessions.html",
        "comparison-file": min((pair / "files").glob("*.html"), key=lambda each: abs(each.stat().st_size - 60_000)),
        "several": root / "compared/several/html/index.html",
        "suite": root / "suite/html/index.html",
        "site": root / "compared/site/index.html",
        "trend": line / "index.html",
    }
    return {name: path.as_uri() for name, path in found.items()} | {
        "sessions-groups": f"{(own / 'sessions.html').as_uri()}#group=text",
    }


def taken(page: Page, name: str, folder: Path, kind: str) -> None:
    """The picture of an opened page: of all of it, up to a height that can be looked at."""
    if "file" in name:
        page.keyboard.press("n")
        page.locator("#panel:not([hidden])").wait_for()
    page.wait_for_timeout(150)
    height = min(page.evaluate("document.documentElement.scrollHeight"), 4000)
    wide = page.evaluate("document.documentElement.scrollWidth")
    room = page.viewport_size
    assert room
    page.set_viewport_size({"width": room["width"], "height": max(height, room["height"])})
    page.screenshot(path=folder / f"{name}-{kind}.png")
    page.set_viewport_size(room)
    print(f"{name}-{kind}.png" + (f"  scrolls sideways: {wide}" if wide > room["width"] else ""))


def main() -> None:
    """Evaluate, and take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--widths", default="400,900,1400")
    parser.add_argument("--schemes", default="light,dark")
    parser.add_argument("--only", default="", help="a part of the names of the pictures to take")
    given = parser.parse_args()
    evaluated(given.output / "runs")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for scheme in given.schemes.split(","):
            for width in map(int, given.widths.split(",")):
                page = started.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
                for name, address in pages(given.output / "runs").items():
                    if given.only in name:
                        page.goto("about:blank")
                        page.goto(address)
                        taken(page, name, given.output, f"{width}-{scheme}")
                page.close()
        started.close()


if __name__ == "__main__":
    main()
