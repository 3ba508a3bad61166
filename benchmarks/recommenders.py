"""How long recommenders train and answer, how much memory that takes, and how it grows with the number of usages.

Usages are simulated: few types and few patterns of calls make up most of them, as in real code; nothing is said about
how good proposals are. Each training is a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.plugins.learning import recommenders
from ci_eval.plugins.learning.recommenders.proposing import Trained
from ci_eval.plugins.learning.recommenders.training import parse_options, train

TYPES, METHODS = 5_000, 20_000
KINDS = ("NEW", "RETURN", "PARAM", "FIELD", "UNKNOWN")
QUERIES = 2_000


def usages(count: int, seed: int) -> Iterator[ObjectUsage]:
    """Simulated ones; the n-th most frequent type has 1/n times as many as the first."""
    rng = random.Random(seed)
    types = list(range(TYPES))
    weights = [1 / (1 + number) for number in types]
    methods = [1 / (1 + number) for number in range(METHODS)]
    for type_, method in zip(
        rng.choices(types, weights, k=count), rng.choices(range(METHODS), methods, k=count), strict=True
    ):
        own = random.Random(type_)
        names = [f"call{number}" for number in range(own.randint(3, 80))]
        patterns = [own.sample(names, min(len(names), own.randint(1, 8))) for _ in range(own.randint(2, 30))]
        pattern = patterns[min(int(rng.expovariate(0.4)), len(patterns) - 1)]
        calls = {call for call in pattern if rng.random() < 0.85} | {
            rng.choice(names) for _ in range(min(int(rng.expovariate(1.2)), 8))
        }
        definition = Definition(kind=rng.choice(KINDS), member=f"member{min(int(rng.expovariate(0.5)), 20)}")
        yield ObjectUsage(
            type=f"package.Type{type_}",
            method=f"package.Class.method{method}",
            definition=definition,
            calls=tuple(sorted(calls)) or (names[0],),
        )


def write(path: Path, count: int, seed: int) -> None:
    """A line each."""
    with path.open("w") as file:
        for each in usages(count, seed):
            line = {
                "type": each.type,
                "method": each.method,
                "definition": {"kind": each.definition.kind, "member": each.definition.member},
                "calls": each.calls,
            }
            file.write(json.dumps(line) + "\n")


def measure(kind: str, source: Path, most: int) -> dict[str, float]:
    """Seconds of training, MB of memory at its peak and of the file; milliseconds of an answer."""
    model = source.with_suffix(f".{kind}")
    recommender = recommenders.CATALOG.load(kind)
    started = perf_counter()
    train(recommender, [source], model, parse_options(recommender, {"mostUsages": most}))
    seconds = perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    started = perf_counter()
    trained = Trained(model)
    opening = perf_counter() - started
    first: list[float] = []
    later: list[float] = []
    for query in usages(QUERIES, 7):
        asked = ObjectUsage(
            type=query.type,
            method=query.method,
            definition=query.definition,
            calls=query.calls[: len(query.calls) // 2],
        )
        for times in (first, later):
            started = perf_counter()
            trained.proposals(asked)
            times.append((perf_counter() - started) * 1000)
    return {
        "training_s": seconds,
        "peak_MB": peak,
        "model_MB": model.stat().st_size / 1e6,
        "opening_s": opening,
        "answer_ms_median": sorted(later)[len(later) // 2],
        "answer_ms_p99": sorted(later)[int(len(later) * 0.99)],
        "first_answer_ms_p99": sorted(first)[int(len(first) * 0.99)],
    }


def main() -> None:
    """Print a table and a chart."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--usages", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--kinds", nargs="+", default=recommenders.names())
    parser.add_argument("--most", type=int, default=30_000, help="usages learned from of each type; 0 = all")
    parser.add_argument("--measure", nargs=2, metavar=("KIND", "FILE"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure[0], Path(given.measure[1]), given.most)))
        return
    print("| usages | kind | training s | peak MB | model MB | opening s | answer ms: median | p99 | first, p99 |")
    print("|--:|:--|--:|--:|--:|--:|--:|--:|--:|")
    seconds: dict[str, list[float]] = {kind: [] for kind in given.kinds}
    with tempfile.TemporaryDirectory() as name:
        for count in given.usages:
            source = Path(name) / f"{count}.jsonl"
            write(source, count, 1)
            for kind in given.kinds:
                argv = [sys.executable, __file__, "--most", str(given.most), "--measure", kind, str(source)]
                said = subprocess.run(argv, check=True, capture_output=True, text=True).stdout
                found = json.loads(said)
                seconds[kind].append(found["training_s"])
                print(f"| {count:,} | {kind} | {' | '.join(f'{each:.3g}' for each in found.values())} |", flush=True)
    print(plot(given.usages, seconds))


def plot(counts: list[int], seconds: dict[str, list[float]]) -> str:
    """A chart that GitHub draws: seconds of training over the number of usages, a line for each kind."""
    lines = [f"    line [{', '.join(f'{each:.1f}' for each in found)}]" for found in seconds.values()]
    axis = ", ".join(f'"{count:,}"' for count in counts)
    title = f"Seconds of training: {', '.join(seconds)}"
    return "\n".join(["```mermaid", "xychart-beta", f'    title "{title}"', f"    x-axis [{axis}]", *lines, "```"])


if __name__ == "__main__":
    main()
