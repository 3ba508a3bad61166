"""The tables of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from urllib.parse import quote

from markupsafe import Markup

from ci_eval.core.contracts import Task
from ci_eval.core.filters import label
from ci_eval.core.model import Change, Comparison, Difference, Elsewhere, Subset, Verdict
from ci_eval.core.model.units import amount, change, interval_text
from ci_eval.core.rendering.blocks import Cell, Column, Table, breakable
from ci_eval.core.rendering.figures import find_length_filters
from ci_eval.core.rendering.markdowntext import code, prose
from ci_eval.core.rendering.verdicts import mark_verdict, p_text, said, sign, went


def _verdict_cell(of: Difference | Elsewhere) -> Cell:
    return Cell(said(of.verdict, marked=of.marked), in_html=mark_verdict(of.verdict, marked=of.marked))


def amount_of_change(value: float | None, unit: str) -> str:
    """Return a difference without its sign; "" if there is none."""
    return "" if value is None else change(value, unit).lstrip("+±")


DETECTABLE = "The smallest true difference that data like these would show four times out of five"
MARKS = "▲ and ▼ hold among all verdicts of this page, △ and ▽ by themselves only"
REPORTS = "markdown html"
COLUMNS = (
    Column("Metric", "row", safe=prose),
    Column("base", "number"),
    Column("new", "number"),
    Column("Difference", "number strong"),
    Column("95 % interval", "quiet nowrap", in_html="95% interval"),
    Column("p", "number quiet nowrap"),
    Column("Verdict", "", MARKS),
    Column("Because", "quiet", formats=REPORTS),
    Column("Detectable", "number quiet", DETECTABLE, REPORTS),
)
"""The columns of a comparison's tables, in all reports and on the terminal; see `verdict_row`."""


def verdict_row(name: str, difference: Difference, of: Difference | Elsewhere, unit: str) -> list[str | Cell]:
    """Return the cells of COLUMNS. `of`: the difference, or what it says of other code."""
    interval, p = interval_text(of, unit), p_text(of)
    return [
        f"{name} ({difference.n:,} {difference.over})" if difference.over else name,
        amount(difference.base, unit),
        amount(difference.new, unit),
        change(difference.difference, unit),
        Cell("" if of.low is None else interval, on_terminal=interval),
        Cell(p, on_terminal=p.removeprefix("p = ").removeprefix("p ")),
        _verdict_cell(of),
        of.why,
        amount_of_change(of.detectable, unit),
    ]


def verdict_table(
    comparison: Comparison,
    names: Iterable[str],
    title: str = "",
    *,
    elsewhere: bool = False,
    part: str = "",
    label: str = "",
) -> Table:
    """Return the verdicts on metrics, in this project or in other code. `part`: their filter; "" = the headline."""
    infos = {info.name: info for info in comparison.metrics}
    # Figures of the whole run, such as memory, are in ALL only.
    figures = comparison.filters[part] if part else comparison.filters["ALL"] | comparison.filters[comparison.headline]
    rows = [
        verdict_row(name, figures[name], figures[name].elsewhere if elsewhere else figures[name], infos[name].unit)
        for name in names
    ]
    return Table(
        COLUMNS,
        rows,
        title,
        numbers=4,
        styles={said(Verdict.BETTER): "green", said(Verdict.WORSE): "red"},
        spare=("p", "95 % interval", "base", "new"),
        classes="verdicts",
        label=label,
    )


def compared_by_length(comparison: Comparison, *, timed: bool = False) -> Table | None:
    """Return a table with a column for each number of letters typed: the differences with the signs of their verdicts.
    None if there is one number. `timed`: with the declared times."""
    lengths = find_length_filters(comparison.headline, list(comparison.filters))
    if len(lengths) < 2:
        return None
    infos = {info.name: info for info in comparison.metrics}
    rows = []
    for name in comparison.declared:
        differences = [comparison.filters[part].get(name) for part in lengths.values()]
        texts = [
            f"{sign(of.verdict, marked=of.marked)} {change(of.difference, infos[name].unit)}" if of else ""
            for of in differences
        ]
        if timed or not infos[name].is_time:
            rows.append([name, *texts])
    group = label(comparison.headline).partition(",")[0]
    columns = [Column("Letters typed", "row", safe=prose), *(Column(f"{length}", "number") for length in lengths)]
    return Table(
        columns,
        rows,
        f"Difference by letters typed, {prose(group)}",
        on_terminal=f"{group}, difference by letters typed",
        numbers=0,
        classes="narrow",
        label="By letters typed",
    )


def parts_table(
    comparison: Comparison,
    parts: Iterable[Subset],
    title: str = "",
    label: str = "",
    links: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Return the first declared metric in parts of the sessions. `links`: the page of each file that has one."""
    info = next(info for info in comparison.metrics if info.name == comparison.declared[0])
    columns = [
        Column(f"{prose(info.name)} where", "row", in_html=f"{info.name} where"),
        *(Column(name, "number") for name in ("Sessions", "Files", "better", "worse")),
        *(Column(name, "number", formats="html") for name in ("base", "new")),
        Column("Difference", "number strong"),
        Column("95 % interval", "quiet nowrap", in_html="95% interval"),
        Column("Verdict"),
    ]
    rows: list[list[str | Cell]] = []
    for part in parts:
        difference = part.difference
        value = part.value.lower().replace("_", " ") if part.dimension == "kind" else part.value
        shown, address = Markup.escape(f"{part.dimension}: {value}"), ""
        if part.dimension == "file":
            shown, address = breakable(part.value), links.get(part.value, "")
        elif part.dimension == "kind" or (part.dimension == "prefix length" and part.value.isdigit()):
            name = "kind" if part.dimension == "kind" else "typed"
            address = f"sessions.html#{name}={quote(part.value)}"
        between = interval_text(difference, info.unit)
        rows.append(
            [
                Cell(f"{prose(part.dimension)}: {code(part.value)}", in_html=_link(address, shown)),
                f"{part.sessions:,}",
                Cell(f"{part.files:,}", in_html=Markup.escape(part.files)),
                f"{part.wins:,}",
                f"{part.losses:,}",
                amount(difference.base, info.unit),
                amount(difference.new, info.unit),
                change(difference.difference, info.unit),
                Cell(between, in_html=Markup() if difference.low is None else Markup.escape(between)),
                _verdict_cell(difference),
            ]
        )
    return Table(columns, rows, title, classes="sortable", label=label, is_tall=label == "By file")


def _link(address: str, text: Markup) -> Markup:
    return Markup('<a href="{}">{}</a>').format(address, text) if address else text


def changes_table(
    changes: Iterable[Change], task: Task, label: str = "", places: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """Return sessions that changed, with their ranks on both sides. `places`: the address of each session that has
    one."""
    score = " score" if task.play else ""
    columns = [
        Column("Where"),
        Column(f"base{score}", "number", formats="html"),
        Column(f"new{score}", "number strong", formats="html"),
        *(Column(name, safe=code) for name in ("Expected", "Typed")),
        *(Column(name, "number", formats="markdown", safe=prose) for name in ("base", "new")),
        Column("Kind", "quiet", formats="html"),
        Column("Session", formats="markdown", safe=code),
    ]
    rows: list[list[str | Cell]] = []
    for entry in changes:
        place = Markup("{}:{}").format(breakable(entry.file), entry.line)
        where = Cell(f"{code(entry.file)} line {entry.line:,}", in_html=_link(places.get(entry.id, ""), place))
        ranks = (
            went(task, entry.base_rank, entry.base_score, entry.base_status),
            went(task, entry.new_rank, entry.new_score, entry.new_status),
        )
        texts = [Cell(text, in_html=Markup("<code>{}</code>").format(text)) for text in (entry.expected, entry.prefix)]
        kind = entry.kind.lower().replace("_", " ")
        rows.append([where, *ranks, *texts, *ranks, kind, entry.id])
    return Table(columns, rows, classes="sortable", label=label, is_tall=True)
