"""The report of a comparison as Markdown, for a pull request: the most important first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ci_eval.core.catalogs import tasks
from ci_eval.core.contracts import Task
from ci_eval.core.filters import label
from ci_eval.core.manifest import commits_between
from ci_eval.core.model import Change, Comparison, Difference, Elsewhere, MetricInfo, Subset, Verdict
from ci_eval.core.model.units import amount, change, interval_text
from ci_eval.core.rendering.ladder import find_length_filters
from ci_eval.core.rendering.markdowntext import code, gate_table, prose, table
from ci_eval.core.rendering.results import trend_lines
from ci_eval.core.rendering.verdicts import (
    ELSEWHERE,
    HERE,
    change_text,
    describe_adjustment,
    elsewhere_line,
    judged_elsewhere,
    label_metric,
    p_text,
    pairs_text,
    said,
    verdict_lines,
    went,
)

LONGEST = 65_000
"""The longest report, in characters; a comment on GitHub may have 65,536."""

Cells = tuple[str, ...]

WORST = 25
FILES = 50


def write_comparison(comparison: Comparison) -> str:
    """Return the report of a comparison, short enough for a comment."""
    task = tasks.CATALOG.load(comparison.task)
    parts = [
        f"# {prose(comparison.base.title)} → {prose(comparison.new.title)}",
        summary(comparison),
        gate_table(comparison.gates),
        _declared_section(comparison),
        "\n".join(f"> {prose(warning)}" for warning in comparison.warnings),
        _conditions(comparison),
        _parts(comparison),
        _changes("Worst regressions", comparison.regressions, task),
        _changes("Best improvements", comparison.improvements, task),
        _others(comparison),
        _transitions(comparison),
        _filters(comparison),
    ]
    if comparison.trend:
        parts.insert(5, "\n\n".join(trend_lines(comparison.trend)))
    text = ""
    for part in filter(None, parts):
        # Room is left for the sentence below.
        if len(text) + len(part) > LONGEST - 200:
            text += "\nThe rest is in the HTML report.\n"
            break
        text += f"{part}\n\n"
    return text


def summary(comparison: Comparison) -> str:
    """Return what every report must say: the result for this project, the result for other code, and what was
    compared."""
    here, *others = verdict_lines(comparison, prose)
    lines = [f"**{here}**", *others, f"**{elsewhere_line(comparison)}**"]
    commits = commits_between(comparison.base.revision, comparison.new.revision)
    lines.append(f"{pairs_text(comparison)}.")
    return "\n\n".join([*lines, *([f"Commits: {code(commits)}"] if commits else [])])


COLUMNS = ("Metric", ">base", ">new", ">Difference", "95 % interval", ">p", "Verdict", "Because", ">Detectable")


def _row(name: str, difference: Difference, info: MetricInfo, judged: Difference | Elsewhere | None = None) -> Cells:
    of = difference if judged is None else judged
    return (
        prose(label_metric(name, difference)),
        amount(difference.base, info.unit),
        amount(difference.new, info.unit),
        change(difference.difference, info.unit),
        interval_text(of, info.unit) if of.low is not None else "",
        p_text(of),
        said(of.verdict),
        of.why,
        "" if of.detectable is None else amount_of_change(of.detectable, info.unit),
    )


def amount_of_change(value: float, unit: str) -> str:
    """Return a difference without its sign."""
    return change(value, unit).lstrip("+±")


def _declared_section(comparison: Comparison) -> str:
    infos = {info.name: info for info in comparison.metrics}
    entries = [(name, comparison.filters[comparison.headline][name], infos[name]) for name in comparison.declared]
    of = prose(label(comparison.headline))
    here = table(f"{HERE}: {of}", COLUMNS, [_row(*entry) for entry in entries])
    elsewhere = ""
    if judged_elsewhere(comparison):
        elsewhere = table(f"{ELSEWHERE}: {of}", COLUMNS, [_row(*entry, entry[1].elsewhere) for entry in entries])
    note = (
        f"{describe_adjustment(comparison)}; p is below 0.05 exactly where an interval excludes 0. *Detectable* is the "
        "smallest true difference that data like these would show four times out of five: a smaller one may be there "
        "unseen."
    )
    return "\n\n".join(filter(None, (here, elsewhere, _length_difference_table(comparison, infos), note)))


def _length_difference_table(comparison: Comparison, infos: Mapping[str, MetricInfo]) -> str:
    """Return a table with a column for each number of letters typed; "" if there is one number."""
    lengths = find_length_filters(comparison.headline, list(comparison.filters))
    if len(lengths) < 2:
        return ""
    rows = [
        (prose(name), *(change_text(comparison.filters[part].get(name), infos[name]) for part in lengths.values()))
        for name in comparison.declared
    ]
    title = f"Difference by letters typed, {prose(label(comparison.headline).partition(',')[0])}"
    return table(title, ("Letters typed", *(f">{length}" for length in lengths)), rows)


def _others(comparison: Comparison) -> str:
    differences = comparison.filters["ALL"] | comparison.filters[comparison.headline]
    infos = [info for info in comparison.metrics if info.name not in comparison.declared]
    tables = [
        table(
            title,
            COLUMNS,
            [_row(info.name, differences[info.name], info) for info in infos if info.is_time is are_times],
        )
        for title, are_times in (("", False), ("Times", True))
        if any(info.is_time is are_times for info in infos)
    ]
    return _fold("The other metrics, in this project (each by itself, not adjusted)", "\n\n".join(filter(None, tables)))


def _parts(comparison: Comparison) -> str:
    info = next(info for info in comparison.metrics if info.name == comparison.declared[0])
    shown_parts = [part for part in comparison.parts if part.difference.verdict in {Verdict.BETTER, Verdict.WORSE}]
    columns = (
        f"{prose(info.name)} where",
        ">Sessions",
        ">Files",
        ">better",
        ">worse",
        ">Difference",
        "95 % interval",
        "Verdict",
    )
    shown = (
        table("Where it differs, in this project", columns, [_part(part, info) for part in shown_parts])
        if shown_parts
        else ""
    )
    other_parts = [part for part in comparison.parts if part not in shown_parts and part.dimension != "file"]
    files = sorted(
        (part for part in comparison.parts if part.dimension == "file" and part.wins + part.losses),
        key=lambda part: (part.wins - part.losses, part.value),
    )[:FILES]
    folded = _fold("All parts", table("", columns, [_part(part, info) for part in other_parts]))
    by_file = _fold("By file, the most losses first", table("", columns, [_part(part, info) for part in files]))
    return "\n\n".join(filter(None, (shown, folded, by_file)))


def _part(part: Subset, info: MetricInfo) -> tuple[str, ...]:
    difference = part.difference
    return (
        f"{prose(part.dimension)}: {code(part.value)}",
        f"{part.sessions:,}",
        f"{part.files:,}",
        f"{part.wins:,}",
        f"{part.losses:,}",
        change(difference.difference, info.unit),
        interval_text(difference, info.unit),
        said(difference.verdict),
    )


def _changes(title: str, changes: Sequence[Change], task: Task) -> str:
    rows = (
        (
            f"{code(entry.file)} line {entry.line:,}",
            code(entry.expected),
            code(entry.prefix),
            prose(went(task, entry.base_rank, entry.base_score, entry.base_status)),
            prose(went(task, entry.new_rank, entry.new_score, entry.new_status)),
            code(entry.id),
        )
        for entry in changes[:WORST]
    )
    shown = table("", ("Where", "Expected", "Typed", ">base", ">new", "Session"), rows)
    return _fold(f"{title} ({min(len(changes), WORST)} shown, those of the headline first)", shown)


def _transitions(comparison: Comparison) -> str:
    bands = list(comparison.transitions)
    rows = (
        (f"base {band}", *(f"{count:,}" if count else "" for count in row.values()))
        for band, row in comparison.transitions.items()
        if any(row.values())
    )
    shown = table("", ("", *(f">new {band}" for band in bands)), rows)
    return _fold("How sessions moved", shown)


def _filters(comparison: Comparison) -> str:
    infos = {info.name: info for info in comparison.metrics}
    rows = [
        (code(label(name)), *_row(metric, differences[metric], infos[metric]))
        for name, differences in comparison.filters.items()
        if name != comparison.headline
        for metric in comparison.declared
    ]
    return _fold("By session filter", table("", ("Filter", *COLUMNS), rows))


def _conditions(comparison: Comparison) -> str:
    rows = [
        (
            code(condition.name),
            *(code(value) if value is not None else "not told" for value in (condition.base, condition.new)),
        )
        for condition in comparison.conditions
    ]
    return _fold("What the engines were told differently", table("", ("Part", "base", "new"), rows))


def _fold(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""
