"""Completion engines and recommenders in one table, on histories that say where in which text their objects are.

python benchmarks/places.py --pbn MODEL --frequency MODEL --histories HISTORIES.jsonl=CHECKOUT… --output FOLDER

`ci-eval dataset usages --git … --texts` makes the histories; CHECKOUT is a folder with the project that they are of.
All engines are compared with jedi over the sessions that it was asked; intervals are about all sessions of these
histories, where --limit has a sample drawn of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STRATEGIES = {"RealStar": "REAL*", "Real": "REAL"}
METRICS = ("RPrecision", "CallRecallAt1", "CallRecallAt5", "CallReciprocalRank")
DIFFERENCE = "CallReciprocalRank"
BASE = "jedi"


def command(*arguments: object) -> None:
    """Run ci-eval; what it says goes to standard error."""
    subprocess.run([sys.executable, "-m", "ci_eval", *map(str, arguments)], check=True, stdout=sys.stderr)


def engines(given: argparse.Namespace) -> dict[str, Sequence[object]]:
    """Name → options."""
    recommender = ("--engine", "recommender", "--set", "engine.options.threshold=0")
    return {
        BASE: ("--engine", "jedi"),
        "jedi, ordered by PBN": ("--engine", "jedi", "--completion-type", "PBN", "--model", given.pbn),
        "recommender pbn": (*recommender, "--set", f"engine.options.model={given.pbn}"),
        "recommender frequency": (*recommender, "--set", f"engine.options.model={given.frequency}"),
        "oracle": ("--engine", "oracle"),
        "empty": ("--engine", "empty"),
    }


def evaluated(histories: Path, checkout: str, options: Sequence[object], limit: int | None, output: Path) -> Path:
    """The workspace, made unless it is there."""
    filters = [{"name": name, "filters": {"strategies": [of]}} for name, of in STRATEGIES.items()]
    if not (output / "reports").exists():
        command(
            *("evaluate", "--task", "method-calls", "--dataset", histories, "--jobs", 1, "--output", output, *options),
            *("--set", "queries.goal=last_nonempty", "--set", "queries.strategies=[REAL*, REAL]"),
            *("--set", f"reports.sessionsFilters={json.dumps(filters)}", "--set", "interpret.allowedEmpty=1"),
            *(("--project", f"path:{checkout}") if "jedi" in options else ()),
            *(("--set", f"interpret.sessionsLimit={limit}") if limit else ()),
        )
    return output


def compared(base: Path, new: Path, output: Path) -> dict[str, Any]:
    """The comparison's filters."""
    if not output.exists():
        command("compare", base, new, "--output", output)
    found: dict[str, Any] = json.loads((output / "comparison.json").read_text())["filters"]
    return found


def row(name: str, metrics: dict[str, Any]) -> str:
    """Of a table."""
    each = metrics[DIFFERENCE]
    text = f"{each['difference']:+.3f}"
    if each["low"] is not None:
        text += f" ({each['low']:+.3f} to {each['high']:+.3f})"
    values = [f"{metrics[metric]['new']:.3f}" for metric in METRICS]
    return f"| {name} | {' | '.join(values)} | {'' if name == BASE else text} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pbn", type=Path, required=True)
    parser.add_argument("--frequency", type=Path, required=True)
    parser.add_argument("--histories", nargs="+", required=True)
    parser.add_argument("--limit", type=int, help="sessions of each project")
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    found, base = {}, Path()
    for name, options in engines(given).items():
        short = name.replace(",", "").replace(" ", "-")
        parts = []
        for number, pair in enumerate(given.histories):
            histories, _, checkout = pair.partition("=")
            folder = given.output / f"{short}-{number}"
            parts.append(evaluated(Path(histories), checkout, options, given.limit, folder))
        merged = parts[0] if len(parts) == 1 else given.output / short
        if not merged.exists():
            command("merge", *parts, "--output", merged)
        base = merged if name == BASE else base  # the first one
        found[name] = compared(base, merged, given.output / f"{short}-compared")
    for name, strategy in STRATEGIES.items():
        print(f"\n{strategy}: {found[BASE][name]['metrics'][DIFFERENCE]['n']:,} queries\n")
        print(f"| engine | {' | '.join(METRICS)} | {DIFFERENCE} - that of {BASE} |")
        print("|---|" + "--:|" * (len(METRICS) + 1))
        print("\n".join(row(engine, filters[name]["metrics"]) for engine, filters in found.items()))


if __name__ == "__main__":
    main()
