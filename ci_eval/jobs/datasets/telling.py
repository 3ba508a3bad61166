"""A table of the outcomes of everything that might have become a record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ci_eval.ci import Screen

Fate = TypeVar("Fate", bound=str)


def table(
    titles: Sequence[str], facts: Mapping[str, Sequence[str]], fates: Sequence[Counter[Fate]], screen: Screen
) -> None:
    """Print a column for each source. The outcomes of records come first, then the most frequent ones."""
    total: Counter[Fate] = sum(fates, Counter())
    order = sorted((fate for fate in total if total[fate]), key=lambda fate: (fate not in KEPT, -total[fate], fate))
    rows = [(name, *values) for name, values in facts.items()]
    rows += [(f"- {fate}", *(f"{counts[fate]:,}" for counts in fates)) for fate in order]
    screen.table(["", *titles], rows, numbers=len(titles))


KEPT = {"paired", "kept"}
