"""The report of a comparison as Markdown, for a pull request: the most important first."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.catalogs import tasks
from ci_eval.core.contracts import Task
from ci_eval.core.filters import label
from ci_eval.core.manifest import commits_between
from ci_eval.core.model import Change, Comparison, MetricInfo, Subset, Verdict
from ci_eval.core.model.units import change, interval_text
from ci_eval.core.rendering.blocks import Block, Cell, Column, Sentence, Table, added_blocks, to_markdown
from ci_eval.core.rendering.figures import ELSEWHERE, HERE
from ci_eval.core.rendering.markdowntext import code, gate_table, prose, table
from ci_eval.core.rendering.results import trend_lines
from ci_eval.core.rendering.verdicts import (
    COLUMNS,
    compared_by_length,
    describe_adjustment,
    elsewhere_line,
    judged_elsewhere,
    pairs_text,
    said,
    verdict_lines,
    verdict_table,
    went,
)

LONGEST = 65_000
"""The longest report, in characters; a comment on GitHub may have 65,536."""

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
        to_markdown(added_blocks(comparison)),
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


def _declared_section(comparison: Comparison) -> str:
    of = prose(label(comparison.headline))
    blocks: list[Block] = [verdict_table(comparison, comparison.declared, f"{HERE}: {of}")]
    if judged_elsewhere(comparison):
        blocks.append(verdict_table(comparison, comparison.declared, f"{ELSEWHERE}: {of}", elsewhere=True))
    if by_length := compared_by_length(comparison, timed=True):
        blocks.append(by_length)
    note = (
        f"{describe_adjustment(comparison)}; p is below 0.05 exactly where an interval excludes 0. *Detectable* is the "
        "smallest true difference that data like these would show four times out of five: a smaller one may be there "
        "unseen."
    )
    return to_markdown([*blocks, Sentence(note)])


def _others(comparison: Comparison) -> str:
    infos = [info for info in comparison.metrics if info.name not in comparison.declared]
    tables = [
        verdict_table(comparison, [info.name for info in infos if info.is_time is are_times], title)
        for title, are_times in (("", False), ("Times", True))
    ]
    return _fold("The other metrics, in this project (each by itself, not adjusted)", to_markdown(tables))


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
    rows: list[list[str | Cell]] = []
    for name in comparison.filters:
        if name != comparison.headline:
            shown = verdict_table(comparison, comparison.declared, part=name).rows
            rows += [[Cell(label(name), safe=code), *row] for row in shown]
    columns = [Column("Filter"), *(column for column, _ in COLUMNS)]
    return _fold("By session filter", Table(columns, rows).markdown())


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
