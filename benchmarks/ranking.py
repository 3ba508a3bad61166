"""What ranking by a model costs: milliseconds per 100 suggestions, features and trees apart.

python benchmarks/ranking.py WORKSPACE MODEL     (a workspace with sessions, a model of train-ranker)
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from ci_eval.core.catalogs import languages
from ci_eval.core.contracts import CaretContext, FileContext
from ci_eval.core.logs.features import Reader
from ci_eval.core.model import Session
from ci_eval.core.workspace import Workspace
from ci_eval.plugins.learning import rankers

FEWEST = 20
"""Shorter lists say little about the time per suggestion."""


def main() -> None:
    """Print medians and 95th percentiles over all lookups."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("model", type=Path)
    given = parser.parse_args()
    workspace = Workspace.open(given.workspace)
    keywords = languages.CATALOG.load(workspace.manifest().language).keywords
    names = workspace.names_path if workspace.names_path.is_file() else None
    booster = rankers.lightgbm().Booster(model_str=rankers.load(given.model).booster)
    features, trees = [], []
    for file, sessions in workspace.sessions(Session):
        reader = Reader.of(FileContext(path=file.path, text=file.text, keywords=keywords, names=names))
        for session in sessions:
            for lookup in session.lookups:
                if len(lookup.suggestions) < FEWEST:
                    continue
                before = file.text[: session.offset]
                caret = CaretContext(path=file.path, before=before, prefix=lookup.prefix)
                started = time.perf_counter()
                rows = reader.rows(caret, lookup.suggestions)
                between = time.perf_counter()
                booster.predict(rows, num_threads=1)
                per_hundred = 100 / len(lookup.suggestions)
                features.append((between - started) * 1000 * per_hundred)
                trees.append((time.perf_counter() - between) * 1000 * per_hundred)
    both = [a + b for a, b in zip(features, trees, strict=True)]
    for name, values in (("features", features), ("trees", trees), ("both", both)):
        high = statistics.quantiles(values, n=20)[-1]
        print(
            f"{name:9} median {statistics.median(values):.2f} ms per 100, 95 % below {high:.2f}, {len(values):,} lists"
        )


if __name__ == "__main__":
    main()
