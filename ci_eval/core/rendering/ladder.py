"""The words for the sessions that figures are about, and the sentences and tables that lead an evaluation's report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ci_eval.core.filters import GROUPS, collect_letters, label, letters, standard_name, standard_parts
from ci_eval.core.model import Estimate, Evaluation, FilterFigures, MetricInfo
from ci_eval.core.model.units import amount, interval
from ci_eval.core.rendering.blocks import Cell, Column, Table
from ci_eval.core.rendering.figures import NO_FIGURES, describe_session_counts, first_filter, format_count, intervals
from ci_eval.core.rendering.markdowntext import prose

HERE = "In this project"
ELSEWHERE = "In other code"


def shown_filter(evaluation: Evaluation) -> tuple[str, FilterFigures]:
    """Return name and figures of the filter that leads."""
    return evaluation.headline, evaluation.filters.get(evaluation.headline, NO_FIGURES)


def describe_sessions(evaluation: Evaluation, *, files: bool = False) -> str:
    """Return how many of the sessions were evaluated that lead, and of the whole run if these are more. `files`: also
    say in how many files."""
    (name, leading), (_, whole) = shown_filter(evaluation), first_filter(evaluation)
    sides = [(figures, sum(of.sessions > 0 for of in figures.files.values())) for figures in (leading, whole)]
    text, of_run = (
        describe_session_counts(figures, f" in {format_count(count, 'file')}" if files else "")
        for figures, count in sides
    )
    return text if leading.planned == whole.planned else f"{text} ({label(name)}); the whole run: {of_run}"


def pooled_label(name: str, names: Iterable[str]) -> str:
    """Return the label of a filter, with the numbers of letters that the filter pools if it pools several. `names`: all
    filters."""
    lengths, parts = collect_letters(names), standard_parts(name)
    # A declared filter may name the letters itself, as `kind=FIELD prefix=1` does.
    says_letters = parts[1] is not None if parts else any(word.startswith("prefix=") for word in name.split())
    if len(lengths) < 2 or says_letters:
        return label(name)
    return f"{label(name)} ({', '.join(map(letters, lengths))} typed, pooled)"


def find_length_filters(headline: str, names: Sequence[str]) -> dict[int, str]:
    """Return letters typed → the filter of the headline's kinds with so many letters; empty if there is one number,
    or the headline is a declared filter."""
    parts = standard_parts(headline)
    if parts is None:
        return {}
    group = parts[0]
    possible = {length: standard_name(group, length) for length in collect_letters(names)}
    return {length: name for length, name in possible.items() if name in names}


def find_length_figures(evaluation: Evaluation) -> dict[int, FilterFigures]:
    """Return letters typed → the figures of the headline's kinds; empty if one number of letters was asked."""
    columns = find_length_filters(evaluation.headline, list(evaluation.filters))
    return {length: evaluation.filters[name] for length, name in columns.items()}


def beside(headline: str, names: Iterable[str]) -> dict[str, str]:
    """Return group of kinds → its filter, for the groups that stand beside the headline's at the same letters."""
    parts = standard_parts(headline)
    if parts is None or parts[0] is None:
        return {}
    others = {group: standard_name(group, parts[1]) for group in GROUPS if group != parts[0]}
    known = set(names)
    return {group: name for group, name in others.items() if name in known}


def sentences(evaluation: Evaluation, shown: Callable[[str], str] = str) -> list[str]:
    """Return how often the expected text was suggested: of the headline, then of each group of kinds beside it. Empty
    for tasks without ranks. `shown` makes foreign text safe."""
    name, figures = shown_filter(evaluation)
    leading = _sentence(shown(label(name)), figures)
    if not leading:
        return []
    filters = beside(name, evaluation.filters)
    return [
        leading,
        *(line for group, filter_name in filters.items() for line in _beside(group, evaluation.filters[filter_name])),
    ]


def _sentence(text: str, figures: FilterFigures) -> str:
    first, five, anywhere = (figures.metrics.get(metric) for metric in ("RecallAt1", "RecallAt5", "Recall"))
    if not (first and five and anywhere and first.value is not None):
        return ""
    between = intervals(first, "share")
    # A filter in one line begins with a condition, whose name has no capital.
    begin = text if "=" in text else text[:1].upper() + text[1:]
    return (
        f"{begin}: the expected text stood first in {amount(first.value, 'share')} of "
        f"{figures.sessions:,} sessions{f' ({between})' if between else ''}, among the first 5 in "
        f"{amount(five.value, 'share')}, anywhere in the list in {amount(anywhere.value, 'share')}."
    )


def _beside(group: str, figures: FilterFigures) -> Iterator[str]:
    first, anywhere = figures.metrics["RecallAt1"].value, figures.metrics["Recall"].value
    if not figures.sessions or first is None or anywhere is None:
        return
    # An engine that never offers this group of kinds has no ranks to tell.
    if not anywhere:
        yield f"{group.capitalize()}, apart: none of {figures.sessions:,} was offered."
        return
    yield (
        f"{group.capitalize()}, apart: first in {amount(first, 'share')} of {figures.sessions:,}, anywhere in "
        f"{amount(anywhere, 'share')}."
    )


def judged_of_code(figures: FilterFigures) -> bool:
    """Return whether any figure has an interval for other code."""
    return any(estimate.elsewhere.low is not None for estimate in figures.metrics.values())


def metric_table(title: str, figures: FilterFigures, infos: Sequence[MetricInfo], on_terminal: str = "") -> Table:
    """Return the figures of metrics with their intervals."""
    populations = [HERE, *([ELSEWHERE] if judged_of_code(figures) else [])]
    columns = [
        Column("Metric", "row", safe=prose),
        *(Column(name, "number") for name in ("Value", *populations)),
        Column("Mean of files", "number", formats="markdown"),
        Column("n", "number", formats="markdown"),
        Column("What it means", on_terminal=""),
    ]
    rows: list[list[str | Cell]] = []
    for info in infos:
        figure = figures.metrics[info.name]
        between = [interval(figure, info.unit), interval(figure.elsewhere, info.unit)][: len(populations)]
        better = f" ({info.better} is better)" if info.better in {"higher", "lower"} else ""
        meaning = Cell(f"{prose(info.summary)}{better}", on_terminal=info.summary)
        by_file = amount(figures.by_file.get(info.name), info.unit)
        rows.append([info.name, amount(figure.value, info.unit), *between, by_file, f"{figure.n:,}", meaning])
    spare = ("", *(name.lower() for name in reversed(populations)))
    return Table(columns, rows, title, on_terminal=on_terminal, numbers=1 + len(populations), spare=spare)


def lengths_table(evaluation: Evaluation, infos: Sequence[MetricInfo]) -> Table:
    """Return a table with a column of figures for each number of letters typed."""
    lengths = find_length_figures(evaluation)
    nothing = Estimate(value=None)
    rows = [
        [
            info.name,
            *(amount(of.metrics.get(info.name, nothing).value, info.unit) for of in lengths.values()),
            info.summary,
        ]
        for info in infos
    ]
    group = label(evaluation.headline).partition(",")[0]
    return Table(
        [
            Column("Letters typed", "row", safe=prose),
            *(Column(f"{length}", "number") for length in lengths),
            Column("", formats="terminal"),
        ],
        rows,
        f"By letters typed, {prose(group)}",
        on_terminal=f"{group}, by letters typed",
        numbers=len(lengths),
        spare=("",),
        classes="kinds",
        label="#lengths",
    )
