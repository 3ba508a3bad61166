"""Sums up which imports of a project are not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ci_eval.contracts import Imports

MOST = 100
"""Packages that are named; rarer ones still count in the share."""


def missing(there: Imports, files: Iterable[tuple[str, str]]) -> tuple[float | None, dict[str, int]]:
    """Of all imports in the `files` (path and text each) the share that is not there, None where nothing is imported;
    and package → number of its imports that are not, the most frequent first."""
    imports, absent = 0, Counter[str]()
    for path, text in files:
        for package, known in there(path, text):
            imports += 1
            absent[package] += not known
    return absent.total() / imports if imports else None, most_frequent(absent)


def most_frequent(packages: Mapping[str, int]) -> dict[str, int]:
    """Those that were counted, the most frequent first; at most `MOST`."""
    ordered = sorted((-count, name) for name, count in packages.items() if count)
    return {name: -count for count, name in ordered[:MOST]}
