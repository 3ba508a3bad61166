"""Build the tables about prompts and usage queries. The tables about queries are as in Proksch et al. (ASE 2016)."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.model import Evaluation, QueryFigures, QueryRow
from ci_eval.core.model.units import NOTHING, amount, change, change_between
from ci_eval.core.queries.cases import STRATEGIES
from ci_eval.rendering.blocks import ALL, Column, Table
from ci_eval.rendering.figures import headline
from ci_eval.rendering.markdowntext import code, prose

PAPER = {
    "NEW": 0.505, "0|1": 0.202, "0|2+": 0.096, "1|2": 0.104, "N|3+": 0.041, "M-1|M": 0.052,
    "0": 0.111, "-M": 0.164, "dD": 0.035, "-M+dD": 0.186,
}  # fmt: skip
"""The shares of the paper's 7,157 cases, by scenario and by context. NEW is the same in both."""

STEPS_IN_PAPER = ("in the paper", NOTHING, "41.4%", "38.4%", "+3.00 pp", NOTHING, NOTHING, "0.001")
STEPS = (
    "Each answer is compared with the goal and with the next state, in cases where both states add calls. The "
    "difference is paired by case. U belongs to Mann and Whitney's test, which treats the two columns as results of "
    "different cases, as in the paper."
)
CONTEXTS = (
    "0: nothing changes until the goal; -M: calls are removed; dD: the definition changes; NEW: there is no object yet."
)


def _table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> Table:
    first, *others = names
    columns = [Column(prose(first), "row", safe=code, on_terminal=first, in_html=first)]
    # A "|" would end the cell, so texts with it are shown as code.
    columns += [
        Column(code(name), "number", "", ALL, lambda cell: code(cell) if "|" in cell else prose(cell), name, name)
        for name in others
    ]
    return Table(columns, rows, title, note=note, classes="kinds", label=title)


def tables(evaluation: Evaluation) -> list[Table]:
    """Return the tables; [] if the evaluation has neither usage queries nor several prompts."""
    figures = evaluation.queries
    by_prompt = _prompts(evaluation)
    if figures is None:
        return by_prompt
    total = figures.scenarios[0].cases
    sources = [
        (calls, *(f"{count:,}" for count in row.values()), f"{sum(row.values()):,}", _share(sum(row.values()), total))
        for calls, row in figures.transitions.items()
    ]
    columns = ("N calls that stay, of M in the goal", *next(iter(figures.transitions.values())), "all", "share")
    pairs = ", ".join(f"{count:,} {fate}" for fate, count in figures.pairs.items())
    models = [f"{name}: {what}" for name, what in evaluation.engine.packages.items()]
    note = "; ".join([*([f"pairs of states: {pairs}"] if pairs else []), *models])
    asked = [name for name in STRATEGIES if name in figures.scenarios[0].f1]
    types = [
        (row.name, f"{row.cases:,}", *(amount(row.f1.get(name), "share") for name in asked)) for row in figures.types
    ]
    more = f"And {figures.all_types - len(types):,} more types." if figures.all_types > len(types) else ""
    steps = []
    if of := figures.steps:
        row = (
            "REAL", f"{of.cases:,}", amount(of.goal, "share"), amount(of.next, "share"),
            change(of.difference, "share"), change_between(of.low, of.high, "share") or NOTHING, f"{of.u:,.0f}",
            f"{of.p:.2g}",
        )  # fmt: skip
        names = ("Strategy", "cases", "the goal", "the next state", "difference", "95 % in other code", "U", "p of U")
        about = f"{figures.figure} about the goal, and about the next state"
        steps = [_table(about, names, (row, STEPS_IN_PAPER), STEPS)]
    return [
        *by_prompt,
        _table("Query cases", columns, sources, note),
        _column_table(f"{figures.figure} by scenario", figures.scenarios, total),
        _column_table(f"{figures.figure} by how the context changes", figures.evolutions, total, CONTEXTS),
        _optimism(figures),
        *steps,
        _table(f"{figures.figure} by type", ("Type", "cases", *asked), types, more),
    ]


def _prompts(evaluation: Evaluation) -> list[Table]:
    figures = evaluation.prompts
    if figures is None:
        return []
    infos = [info for info in headline(evaluation.metrics) if info.name in figures.metrics]
    spreads = [(figures.metrics[info.name], info.unit) for info in infos]
    rows = [
        (name, f"{count:,}", *(amount(spread.values.get(name), unit) for spread, unit in spreads))
        for name, count in figures.sessions.items()
    ]
    rows += [
        ("standard deviation", "", *(amount(spread.deviation, unit) for spread, unit in spreads)),
        ("if prompts were alike", "", *(amount(spread.by_chance, unit) for spread, unit in spreads)),
    ]
    columns = ("Prompt", "sessions", *(info.name for info in infos))
    return [_table("Figures by prompt", columns, rows, ALIKE)] if infos else []


ALIKE = (
    "Each prompt has its own samples, so figures differ even if prompts make no difference: the last row is the "
    "standard deviation that such chance alone explains."
)


def _column_table(title: str, rows: Sequence[QueryRow], total: int, note: str = "") -> Table:
    asked = [name for name in STRATEGIES if any(name in row.f1 for row in rows)]
    lines = [(name, *(amount(row.f1.get(name), "share") for row in rows)) for name in asked]
    lines += [
        ("cases", *(f"{row.cases:,}" for row in rows)),
        ("share", *(_share(row.cases, total) for row in rows)),
        ("share in the paper", *(amount(PAPER.get(row.name), "share") for row in rows)),
    ]
    return _table(title, ("Strategy", *(row.name for row in rows)), lines, note)


def _optimism(figures: QueryFigures) -> Table:
    rows = [
        (
            f"{row.more} - {row.less}",
            row.part,
            f"{row.cases:,}",
            change(row.difference, "share"),
            change_between(row.low, row.high, "share") or NOTHING,
            f"{row.effective:.0f}",
        )
        for row in figures.optimism
    ]
    columns = ("Strategies", "scenarios", "cases", figures.figure, "95 % in other code")
    note = "In the same cases." if rows else ""
    return _table("Optimism of artificial queries", (*columns, "effective files"), rows, note)


def _share(part: int, of: int) -> str:
    return amount(part / of if of else None, "share")
