"""The tables about queries, for report, page and terminal: those of Proksch et al. (ASE 2016), on other data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ci_eval.model import Evaluation, QueryFigures, QueryRow
from ci_eval.queries.strategies import STRATEGIES
from ci_eval.rendering.figures import NOTHING, amount, change
from ci_eval.statistics.clustered import FEWEST

PAPER = {
    "NEW": 0.505, "0|1": 0.202, "0|2+": 0.096, "1|2": 0.104, "N|3+": 0.041, "M-1|M": 0.052,
    "0": 0.111, "-M": 0.164, "dD": 0.035, "-M+dD": 0.186,
}  # fmt: skip
"""Share of the paper's 7,157 cases, by scenario and by context; NEW is the same in both."""

CONTEXTS = "0: nothing changes until the goal; -M: calls go; dD: the definition changes; NEW: the object was not there."


@dataclass(frozen=True)
class Table:
    """A table with a heading; all columns but the first hold numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """A sentence below it."""


def tables(evaluation: Evaluation) -> list[Table]:
    """All of them; none where nothing was asked about objects."""
    found = evaluation.queries
    if found is None:
        return []
    models = [f"{name}: {what}" for name, what in evaluation.engine.packages.items()]
    total = found.scenarios[0].cases
    return [
        _sources(found, total, models),
        _by_column(f"{found.figure} by scenario", found.scenarios, total),
        replace(_by_column(f"{found.figure} by how the context changes", found.evolutions, total), note=CONTEXTS),
        _optimism(found),
        _types(found),
    ]


def _sources(found: QueryFigures, total: int, models: Sequence[str]) -> Table:
    columns = ("N there and staying, of M wanted", *next(iter(found.transitions.values())), "all", "share")
    rows = [
        (kept, *(f"{count:,}" for count in row.values()), f"{sum(row.values()):,}", _share(sum(row.values()), total))
        for kept, row in found.transitions.items()
    ]
    pairs = ", ".join(f"{count:,} {fate}" for fate, count in found.pairs.items())
    note = "; ".join([*([f"pairs of states: {pairs}"] if pairs else []), *models])
    return Table("Query cases", columns, tuple(rows), note)


def _by_column(title: str, rows: Sequence[QueryRow], total: int) -> Table:
    """A column for each row: as the paper has them, the strategies below each other."""
    lines = [
        (name, *(amount(each.f1.get(name), "share") for each in rows))
        for name in STRATEGIES
        if any(name in each.f1 for each in rows)
    ]
    lines += [
        ("cases", *(f"{each.cases:,}" for each in rows)),
        ("share", *(_share(each.cases, total) for each in rows)),
        ("share in the paper", *(amount(PAPER.get(each.name), "share") for each in rows)),
    ]
    return Table(title, ("Strategy", *(each.name for each in rows)), tuple(lines))


def _optimism(figures: QueryFigures) -> Table:
    rows = [
        (
            f"{each.more} - {each.less}",
            each.part,
            f"{each.cases:,}",
            change(each.difference, "share"),
            NOTHING if each.low is None else f"{change(each.low, 'share')} to {change(each.high, 'share')}",
            f"{each.effective:.0f}",
        )
        for each in figures.optimism
    ]
    columns = (
        "How much better it looks",
        "scenarios",
        "cases",
        figures.figure,
        "95 % in other code",
        "effective files",
    )
    note = f"In the same cases. Intervals for other code take {FEWEST} effective files." if rows else ""
    return Table("Optimism of artificial queries", columns, tuple(rows), note)


def _types(found: QueryFigures) -> Table:
    asked = [name for name in STRATEGIES if name in found.scenarios[0].f1]
    rows = [
        (each.name, f"{each.cases:,}", *(amount(each.f1.get(name), "share") for name in asked)) for each in found.types
    ]
    more = found.all_types - len(rows)
    return Table(
        f"{found.figure} by type", ("Type", "cases", *asked), tuple(rows), f"And {more:,} more types." if more else ""
    )


def _share(part: int, of: int) -> str:
    return amount(part / of if of else None, "share")
