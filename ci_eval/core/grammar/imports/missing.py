"""A summary of the imports of a project that are not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ci_eval.core.import_syntax import Imports

MOST = 100
"""The most packages that are named; rarer ones still count in the share."""


def missing(there: Imports, files: Iterable[tuple[str, str]]) -> tuple[float | None, dict[str, int]]:
    """Return the share of imports that are not there (None if nothing is imported), and package → number of its imports
    that are not, the most frequent first. The `files` are pairs of path and text."""
    imports, absent = 0, Counter[str]()
    for path, text in files:
        for package, known in there(path, text):
            imports += 1
            absent[package] += not known
    return absent.total() / imports if imports else None, most_frequent(absent)


def anywhere(readings: Iterable[Iterable[tuple[str, bool]]]) -> Iterator[tuple[str, bool]]:
    """Yield the imports of a file as read in several folders, each with whether it is there in any of them."""
    for known in zip(*readings, strict=True):
        yield known[0][0], any(is_there for _, is_there in known)


def most_frequent(packages: Mapping[str, int]) -> dict[str, int]:
    """Return the packages with a count above 0, the most frequent first; at most `MOST`."""
    ordered = sorted((-count, name) for name, count in packages.items() if count)
    return {name: -count for count, name in ordered[:MOST]}
