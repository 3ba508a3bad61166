"""The files `benchmark-quality.json` and `benchmark-latency.json`, for actions that draw trends of benchmarks.

Each is a list of `{name, unit, value, range}`, as github-action-benchmark reads it for `customBiggerIsBetter` and
`customSmallerIsBetter`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ci_eval.core.base import atomic
from ci_eval.core.filters import EVERYTHING
from ci_eval.core.model import Evaluation
from ci_eval.core.model.units import interval
from ci_eval.rendering.figures import metric_infos, shown_filter
from ci_eval.rendering.reporters import Reporter, StoredSessions

LONGEST = 200
"""The longest title, in characters."""


class Benchmark:
    """Writes two files, since more is better in one and less in the other."""

    name = "benchmark"

    def write(self, evaluation: Evaluation, sources: StoredSessions, folder: Path) -> Path:  # noqa: ARG002
        """Return the path of the file about quality."""
        _write(folder / "benchmark-latency.json", _entries(evaluation, "lower"))
        return _write(folder / "benchmark-quality.json", _entries(evaluation, "higher"))


def _entries(evaluation: Evaluation, better: str) -> Iterator[dict[str, object]]:
    _, figures = shown_filter(evaluation)
    # Figures of the whole run, such as memory, are under ALL alone.
    figures = replace(figures, metrics=evaluation.filters[EVERYTHING].metrics | figures.metrics)
    for info in metric_infos(evaluation, figures):
        estimate = figures.metrics[info.name]
        if info.better == better and estimate.value is not None:
            yield {
                "name": f"{plain_title(evaluation.title)}: {info.name}",
                "unit": info.unit,
                "value": estimate.value,
                "range": interval(estimate, info.unit),
            }


# The action that reads the files writes a comment with the title, and draws a page: nobody is to be mentioned, nothing
# linked, no tag opened.
ACTIVE = re.compile(r"[^\w .,:;+/()'=#%-]|(?<=:)//|#(?=\d)|\bwww\.", re.IGNORECASE)


def plain_title(title: str) -> str:
    return " ".join(ACTIVE.sub(" ", title[:LONGEST]).split())


def _write(path: Path, entries: Iterator[dict[str, object]]) -> Path:
    return atomic.write(path, msgspec.json.format(msgspec.json.encode(list(entries)), indent=2) + b"\n")


REPORTER: Reporter = Benchmark()
