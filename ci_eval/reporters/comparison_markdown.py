"""`report.md` of a comparison: what a pull request needs to know, the most important first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ci_eval.contracts import ComparisonReporter, PairedSources
from ci_eval.model import Change, Comparison, Difference, MetricInfo, Part, Verdict
from ci_eval.support import atomic
from ci_eval.support.figures import amount, change, change_between
from ci_eval.support.markdowntext import code, prose, table
from ci_eval.support.trendtext import trend_lines
from ci_eval.support.verdicts import said

LONGEST = 65_000
"""Characters; a comment on GitHub may have 65,536."""

WORST = 25
FILES = 50


class ComparisonMarkdown:
    """Writes report.md for GitHub, short enough for a comment."""

    name = "markdown"

    def write(self, comparison: Comparison, sources: PairedSources, folder: Path) -> Path:  # noqa: ARG002
        """See ComparisonReporter."""
        parts = [
            f"# {prose(comparison.base.title)} → {prose(comparison.new.title)}",
            summary(comparison),
            _gates(comparison),
            _declared(comparison),
            "\n".join(f"> {prose(warning)}" for warning in comparison.warnings),
            _parts(comparison),
            _changes("Worst regressions", comparison.regressions, comparison.losses),
            _changes("Best improvements", comparison.improvements, comparison.wins),
            _others(comparison),
            _transitions(comparison),
            _filters(comparison),
        ]
        if comparison.trend:
            parts.insert(5, "\n\n".join(trend_lines(comparison.trend)))
        text = ""
        for part in filter(None, parts):
            if len(text) + len(part) > LONGEST - 200:
                text += "\nThe rest is in the HTML report.\n"
                break
            text += f"{part}\n\n"
        return atomic.write(folder / "report.md", text.encode("utf-8", "backslashreplace"))


def summary(comparison: Comparison) -> str:
    """The sentence no report may lack."""
    first = comparison.declared[0]
    found = comparison.filters["ALL"][first]
    info = next(each for each in comparison.metrics if each.name == first)
    between = change_between(found.low, found.high, info.unit)
    between = f" ({between})" if between else ""
    return (
        f"**{said(found.verdict)}**: {prose(first)} {amount(found.base, info.unit)} → {amount(found.new, info.unit)}, "
        f"{change(found.difference, info.unit)}{between}. "
        f"{comparison.paired:,} sessions in {comparison.files:,} files are on both sides "
        f"({comparison.only_base:,} only in base, {comparison.only_new:,} only in new, "
        f"{comparison.changed_text:,} in changed files; failed {comparison.base.failed:,} and "
        f"{comparison.new.failed:,}): {comparison.wins:,} went better, {comparison.losses:,} worse, "
        f"{comparison.paired - comparison.wins - comparison.losses:,} alike."
    )


def _gates(comparison: Comparison) -> str:
    rows = (
        ("✓ kept" if gate.passed else "**✗ broken**", code(gate.rule), prose(gate.reason, 300))
        for gate in sorted(comparison.gates, key=lambda gate: gate.passed)
    )
    return table("Gates", ("Result", "Rule", "Why"), rows)


COLUMNS = ("Metric", ">base", ">new", ">Difference", "95 % interval", ">p", "Verdict", ">Detectable")


def _row(name: str, found: Difference, info: MetricInfo) -> tuple[str, ...]:
    return (
        prose(name),
        amount(found.base, info.unit),
        amount(found.new, info.unit),
        change(found.difference, info.unit),
        change_between(found.low, found.high, info.unit),
        "" if found.p is None else f"{found.p:.4f}",
        said(found.verdict),
        "" if found.detectable is None else amount_of_change(found.detectable, info.unit),
    )


def amount_of_change(value: float, unit: str) -> str:
    """A difference without its sign."""
    return change(value, unit).lstrip("+±")


def _declared(comparison: Comparison) -> str:
    infos = {info.name: info for info in comparison.metrics}
    rows = [_row(name, comparison.filters["ALL"][name], infos[name]) for name in comparison.declared]
    note = (
        "\n\np is adjusted for the number of these metrics (Holm). *Detectable* is the smallest true difference that "
        "data like these would show four times out of five: a smaller one may be there unseen."
    )
    return table("Verdicts", COLUMNS, rows) + note


def _others(comparison: Comparison) -> str:
    rows = [
        _row(info.name, comparison.filters["ALL"][info.name], info)
        for info in comparison.metrics
        if info.name not in comparison.declared
    ]
    return _folded("The other metrics (p not adjusted)", table("", COLUMNS, rows))


def _parts(comparison: Comparison) -> str:
    info = next(each for each in comparison.metrics if each.name == comparison.declared[0])
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
    shown = table("Where it differs", columns, [_part(part, info) for part in shown_parts]) if shown_parts else ""
    rest = [part for part in comparison.parts if part not in shown_parts and part.dimension != "file"]
    files = sorted(
        (part for part in comparison.parts if part.dimension == "file" and part.wins + part.losses),
        key=lambda part: (part.wins - part.losses, part.value),
    )[:FILES]
    folded = _folded("All parts", table("", columns, [_part(part, info) for part in rest]))
    by_file = _folded("By file, the most losses first", table("", columns, [_part(part, info) for part in files]))
    return "\n\n".join(filter(None, (shown, folded, by_file)))


def _part(part: Part, info: MetricInfo) -> tuple[str, ...]:
    found = part.difference
    return (
        f"{prose(part.dimension)}: {code(part.value)}",
        f"{part.sessions:,}",
        f"{part.files:,}",
        f"{part.wins:,}",
        f"{part.losses:,}",
        change(found.difference, info.unit),
        change_between(found.low, found.high, info.unit),
        said(found.verdict) if part.files > 1 else f"one file: none (by session p = {part.by_session:.3f})",
    )


def _changes(title: str, changes: Sequence[Change], of: int) -> str:
    rows = (
        (
            f"{code(each.file)} line {each.line:,}",
            code(each.expected),
            code(each.prefix),
            _place(each.base_rank, each.base_status),
            _place(each.new_rank, each.new_status),
            code(each.id),
        )
        for each in changes[:WORST]
    )
    shown = table("", ("Where", "Expected", "Typed", ">base", ">new", "Session"), rows)
    return _folded(f"{title} ({min(len(changes), WORST)} of {of:,})", shown)


def _place(rank: int | None, status: str) -> str:
    return f"{rank:,}" if rank else "absent" if status in {"ok", "no-match", "empty"} else prose(status)


def _transitions(comparison: Comparison) -> str:
    bands = list(comparison.transitions)
    rows = (
        (f"base {band}", *(f"{count:,}" if count else "" for count in row.values()))
        for band, row in comparison.transitions.items()
        if any(row.values())
    )
    shown = table("", ("Rank", *(f">new {band}" for band in bands)), rows)
    return _folded("From rank to rank (sessions)", shown)


def _filters(comparison: Comparison) -> str:
    infos = {info.name: info for info in comparison.metrics}
    rows = [
        (code(name), *_row(metric, found[metric], infos[metric]))
        for name, found in comparison.filters.items()
        if name != "ALL"
        for metric in comparison.declared
    ]
    return _folded("By session filter", table("", ("Filter", *COLUMNS), rows))


def _folded(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""


REPORTER: ComparisonReporter = ComparisonMarkdown()
