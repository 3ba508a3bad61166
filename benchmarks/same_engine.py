"""Does a comparison of an engine with itself say that it differs? Real runs, all pairs, all metrics.

python benchmarks/same_engine.py [--engine zuban=pypi:flask==3.0.3 …] [--times 12] [--sessions 500] [--folder DIR]
    [--set KEY=VALUE …]

Each engine is compared with itself so often by `compare-engines` (times are judged), and every two runs of these by
`compare` (times have no verdict). Printed is each verdict that must not be: better or worse, or any on times in a
`compare`; then one row per engine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

from ci_eval.core.catalogs import engines, metrics

ENGINES = ("zuban=pypi:flask==3.0.3", "jedi=pypi:flask==3.0.3", "clangd=npm:leveldown@6.1.1")
TIMED = frozenset(each.info.name for each in metrics.load() if each.timed)
FALSE = frozenset({"better", "worse"})


def ci_eval(*arguments: object) -> None:
    """Run it; what it says stands in its reports."""
    subprocess.run([sys.executable, "-m", "ci_eval", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def verdicts(comparison: Path) -> dict[str, str]:
    """By metric, over all sessions."""
    report: dict[str, Any] = json.loads((comparison / "comparison.json").read_text())
    return {name: each["verdict"] for name, each in report["filters"]["ALL"]["metrics"].items()}


def in_turns(engine: str, project: str, settings: list[str], times: int, folder: Path) -> Iterator[Path]:
    """So many comparisons of the engine with itself."""
    language = sorted(engines.CATALOG.load(engine).languages or ())[0]
    for number in range(times):
        pair = folder / f"{engine}-{number}"
        if not (pair / "comparison").exists():
            given = ["--language", language, "--project", project]
            given += [part for each in settings for part in ("--set", each)]
            ci_eval("compare-engines", engine, engine, *given, *([] if settings else ["--all"]), "--output", pair)
        yield pair


def apart(pairs: list[Path], folder: Path) -> Iterator[Path]:
    """Comparisons of every two of their first four runs, which were not asked in turns."""
    runs = [pair / side for pair in pairs[:2] for side in ("base", "new")]
    for base, new in combinations(runs, 2):
        if base.parent != new.parent:
            output = folder / "apart" / f"{base.parent.name}-{base.name}-{new.parent.name}-{new.name}"
            if not output.exists():
                ci_eval("compare", base, new, "--output", output)
            yield output


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", action="append", help="NAME=PROJECT; those of the issue if there is none")
    parser.add_argument("--times", type=int, default=12)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--set", action="append", default=[], help="passed on", dest="settings")
    parser.add_argument("--folder", type=Path, help="keeps the runs there")
    given = parser.parse_args()
    settings = [f"interpret.sessionsLimit={given.sessions}", *given.settings]
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder: Path = given.folder or Path(temporary)
        for each in given.engine or ENGINES:
            engine, _, project = each.partition("=")
            pairs = list(in_turns(engine, project, settings, given.times, folder))
            rows.append(_row(engine, pairs, list(apart(pairs, folder))))
    print(
        "| engine | in turns | false verdicts | apart | false verdicts | verdicts on times |\n|---|--:|--:|--:|--:|--:|"
    )
    print("\n".join(rows))


def _row(engine: str, pairs: list[Path], others: list[Path]) -> str:
    turns = [verdicts(pair / "comparison") for pair in pairs]
    found = [verdicts(each) for each in others]
    wrong = [(name, said) for of in turns for name, said in of.items() if said in FALSE]
    wrong_apart = [(name, said) for of in found for name, said in of.items() if said in FALSE]
    timed = [(name, said) for of in found for name, said in of.items() if name in TIMED and said != "not-comparable"]
    for name, said in (*wrong, *wrong_apart, *timed):
        print(f"{engine}: {name} {said}", flush=True)
    return f"| {engine} | {len(turns)} | {len(wrong)} | {len(found)} | {len(wrong_apart)} | {len(timed)} |"


if __name__ == "__main__":
    main()
