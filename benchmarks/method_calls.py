"""F1 of each recommender by each strategy, and the optimism of artificial queries, on histories of real repositories.

python benchmarks/method_calls.py --usages USAGES.jsonl… --histories HISTORIES.jsonl… [--goal last_nonempty]

`ci-eval dataset usages` makes both. The usages should be of other projects than the histories: nothing here sees to it.
Histories of a file are one dataset; so are those of all files, whose intervals are about other files like these.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

KINDS = ("pbn", "bmn", "rules", "frequency")
STRATEGIES = ("LINEAR", "RANDOM", "REAL*", "REAL")


def command(*arguments: str) -> None:
    """Run ci-eval; what it says goes to standard error."""
    subprocess.run([sys.executable, "-m", "ci_eval", *arguments], check=True, stdout=sys.stderr)


def queries(dataset: Path, model: Path, goal: str, output: Path) -> dict[str, Any]:
    """The part `queries` of the report."""
    command(
        *("evaluate", "--task", "method-calls", "--dataset", str(dataset), "--engine", "recommender"),
        *("--set", f"engine.options.model={model}", "--set", f"queries.goal={goal}", "--output", str(output)),
        *("--set", "interpret.allowedEmpty=1"),
    )
    report = json.loads((output / "reports" / "metrics.json").read_text())
    found: dict[str, Any] = report["evaluations"][0]["queries"]
    return found


def optimism(found: dict[str, Any], more: str) -> str:
    """How much better it looks by that strategy than by REAL, in points."""
    (row,) = [each for each in found["optimism"] if each["more"] == more and each["part"] == "ALL"]
    text = f"{row['difference'] * 100:+.1f}"
    return text if row["low"] is None else f"{text} ({row['low'] * 100:+.1f} to {row['high'] * 100:+.1f})"


def row(name: str, found: dict[str, Any]) -> str:
    """Of the table of F1."""
    (everything,) = [each for each in found["scenarios"] if each["name"] == "ALL"]
    f1 = [f"{everything['f1'][each]:.1%}" for each in STRATEGIES]
    return " | ".join([name, f"{everything['cases']:,}", *f1, optimism(found, "REAL*"), optimism(found, "LINEAR")])


def mix(name: str, found: dict[str, Any]) -> str:
    """Of the table of class mixes."""
    whole = sum(each["cases"] for each in found["evolutions"])
    return " | ".join([name, *(f"{each['cases'] / whole:.1%}" for each in found["evolutions"])])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--usages", nargs="+", type=Path, required=True)
    parser.add_argument("--histories", nargs="+", type=Path, required=True)
    parser.add_argument("--goal", default="last_nonempty")
    given = parser.parse_args()
    rows, mixes = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for kind in KINDS:
            options = ("--kind", kind, "--set", "methodContext=name", "--output", str(folder / kind))
            command("train-recommender", *map(str, given.usages), *options)
        every = folder / "all.jsonl"
        with every.open("w") as together:
            for path in given.histories:
                for line in path.read_text().splitlines():
                    together.write(json.dumps({**json.loads(line), "project": path.stem}) + "\n")
        for path in (every, *given.histories):
            kinds = KINDS if path == every else KINDS[:1]
            runs = [queries(path, folder / kind, given.goal, folder / f"{path.stem}-{kind}") for kind in kinds]
            rows += [f"| {row(f'{path.stem}, `{kind}`', run)} |" for kind, run in zip(kinds, runs, strict=True)]
            mixes.append(f"| {mix(path.stem, runs[0])} |")
    print(f"| histories, recommender | cases | {' | '.join(STRATEGIES)} | REAL* - REAL, pp | LINEAR - REAL, pp |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    print("\n".join(rows))
    print("\n| class mix | NEW | 0 | -M | dD | -M+dD |\n|---|--:|--:|--:|--:|--:|")
    print("\n".join(mixes))


if __name__ == "__main__":
    main()
