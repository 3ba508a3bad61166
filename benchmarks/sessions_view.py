"""How fast the page of all sessions is with 100,000 of them, in headless Chromium, beside an empty page.

    python benchmarks/sessions_view.py [--sessions 100000] [--rounds 5]

Needs Chromium, and the extra `test`. Figures are medians of the rounds, in milliseconds: from the start of loading to
the first row, and from a click on a filter, or a typed text, to the next frame that is drawn.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

from ci_eval.core.catalogs import metrics, tasks
from ci_eval.core.model import Kind, Lookup, Properties, Session, SourceFile, Status, Suggestion
from ci_eval.core.rendering.htmlsite import HtmlSite
from ci_eval.core.rendering.sessiontable import Computed, SessionTable, write_sessions
from ci_eval.plugins.reports.html.evaluation import ASSETS, TEMPLATES

PER_FILE = 500
NAMES = [f"{verb}_{noun}" for verb in "get set make read write find".split() for noun in "name path user line".split()]

FIRST_ROW = """
const look = () => {
  if (document.querySelector(".row, .empty")) window.firstRow = performance.now();
  else requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""
FRAME = """async ([selector, typed]) => {
  const target = document.querySelector(selector);
  const begin = performance.now();
  if (typed) { target.value = typed; target.dispatchEvent(new Event("input")); }
  else target.click();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - begin;
}"""
EMPTY = "an empty page"
ACTS = {
    "a filter": ("fieldset button", None),
    "a search": ("#search", "get_"),
    "a filter in words": ("#search", "kind=METHOD_CALL,FIELD prefix=1"),
    "a search that finds nothing": ("#search", "no such text"),
}


def table(sessions: int) -> SessionTable:
    """Made-up sessions: as many different lines and texts as a large project has."""
    source = random.Random(1)
    cards = metrics.select_metrics(["RecallAt1", "RecallAt5", "MeanReciprocalRank", "Recall"])
    made = SessionTable(
        tasks.CATALOG.load("completion"),
        [""],
        "benchmark",
        Computed(metrics=[*cards.values()], asked=0.5, clusters="files"),
    )
    for file in range(0, sessions, PER_FILE):
        names = [f"{source.choice(NAMES)}_{source.randrange(2000)}" for _ in range(PER_FILE)]
        text = "".join(f"    value_{at} = self.{name}(argument, other_{at % 90})\n" for at, name in enumerate(names))
        made.begin(
            SourceFile(path=f"package/part_{file % 40}/module_{file}.py", checksum="", text=text), ["files/x.html"]
        )
        offset = 0
        for at, name in enumerate(names):
            made.add([_session(f"{file + at:016x}", text.index(name, offset), name, source)])
            offset = text.index("\n", offset) + 1
    return made


def _session(identity: str, offset: int, name: str, source: random.Random) -> Session:
    rank = source.choice([1, 1, 2, 4, 8, 40, None])
    first = name if rank == 1 else f"{source.choice(NAMES)}_{source.randrange(2000)}"
    return Session(
        id=identity,
        file="x",
        offset=offset,
        expected_text=name,
        typed=source.choice([0, 1, 3]),
        properties=Properties(kind=source.choice(list(Kind))),
        status=Status.OK if rank else Status.NO_MATCH,
        lookups=(Lookup(prefix="", total=50, rank=rank, latency=1.0, suggestions=(Suggestion(text=first),)),),
    )


def first_view(page: Page, address: str) -> float:
    """Milliseconds from the start of loading to the first row."""
    page.goto("about:blank")
    page.goto(address)
    page.wait_for_function("window.firstRow")
    return float(page.evaluate("firstRow"))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = HtmlSite(Path(folder), TEMPLATES)
        site.assets(ASSETS)
        write_sessions(site, table(given.sessions), "benchmark")
        size = (Path(folder) / "sessions-data.js").stat().st_size
        site.write("empty.html", b"<!doctype html><title>empty</title><p class=empty>nothing")
        started = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = started.new_page(viewport={"width": 1280, "height": 900})
        page.add_init_script(FIRST_ROW)
        seen: dict[str, list[float]] = {}
        for _ in range(given.rounds):
            # In turns, so that a busy moment slows both.
            seen.setdefault(EMPTY, []).append(first_view(page, f"file://{folder}/empty.html"))
            seen.setdefault("first view", []).append(first_view(page, f"file://{folder}/sessions.html"))
            for act, what in ACTS.items():
                seen.setdefault(act, []).append(float(page.evaluate(FRAME, list(what))))
        started.close()
    print(f"{given.sessions:,} sessions, {size / 1e6:.1f} MB of data\n\n| | ms | times an empty page |\n|---|--:|--:|")
    for name, values in seen.items():
        print(f"| {name} | {median(values):.0f} | {median(values) / median(seen[EMPTY]):.1f} |")


if __name__ == "__main__":
    main()
