"""The document of cases: which are broken, and which lists do not begin as in the snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from ci_eval.core.model.report import CaseResult, Cases, ListChange
from ci_eval.core.rendering.blocks import Block, Cell, Column, Section, Sentence, Table, Warned
from ci_eval.core.rendering.figures import format_count
from ci_eval.core.rendering.markdowntext import code, prose

WIDEST_PLACE, WIDEST_DIRECTIVES = 28, 34
"""The characters of a cell on the terminal, so that a row fits into 80."""
SHOWN_CHANGES = 15
"""The number of changed lists that a comment shows."""
SHOWN_PARTS = 5
"""The number of changes of one list that are shown."""


def cases_blocks(cases: Cases) -> list[Block]:
    count, broken = format_count(len(cases.cases), "case"), cases.broken
    lead = f"{count}, {f'{broken:,} broken' if broken else 'none broken'} ({cases.title})."
    blocks: list[Block] = [
        Sentence(f"# Cases\n\n{prose(lead)}", "markdown"),
        Sentence(lead, "terminal html"),
        *(Warned(f"Cases in {language} are left out: the engine does not know it.") for language in cases.left_out),
    ]
    ordered = sorted(cases.cases, key=lambda case: not case.reasons)
    blocks += [
        _table([case for case in ordered if case.reasons], "markdown"),
        _table(ordered, "html"),
        _table(cases.cases, "terminal"),
        *(Sentence(f"{_place(case)} BROKEN: {reason}", "terminal") for case in cases.cases for reason in case.reasons),
    ]
    if cases.base is None:
        return blocks
    about = format_count(len(cases.changes), "list") if cases.changes else "No list"
    since = f"{about} changed since {cases.base}."
    changed = Sentence(since, in_markdown=prose(since))
    hidden = len(cases.changes) - SHOWN_CHANGES
    more = [Sentence(f"… and {format_count(hidden, 'list')} more.")] if hidden > 0 else []
    return [*blocks, Section("lists", "Lists", "what they begin with", [changed, _changes(cases.changes), *more])]


def _place(case: CaseResult) -> str:
    return f"{case.file}:{case.line}"


def _table(cases: Sequence[CaseResult], formats: str) -> Table:
    columns = [
        Column("Case", "row", safe=code),
        Column("Caret", formats="markdown html", safe=code),
        Column("Expected", safe=code),
        Column("Result", safe=prose),
    ]
    rows = [
        (
            Cell(_place(case), on_terminal=_cut(_place(case)[::-1], WIDEST_PLACE)[::-1]),
            case.caret,
            Cell(case.directives, on_terminal=_cut(case.directives, WIDEST_DIRECTIVES)),
            Cell("; ".join(case.reasons) or "kept", on_terminal="BROKEN" if case.reasons else "kept"),
        )
        for case in cases
    ]
    return Table(columns, rows, formats=formats, numbers=0, label="Cases", styles={"BROKEN": "bold red"})


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _changes(changes: Sequence[ListChange]) -> Table:
    columns = [Column("List", "row", safe=code), Column("Change", safe=prose)]
    rows = [
        (Cell(change.key, on_terminal=_cut(change.key[::-1], WIDEST_PLACE)[::-1]), _differences(change))
        for change in changes[:SHOWN_CHANGES]
    ]
    return Table(columns, rows, numbers=0, label="#lists")


def _differences(change: ListChange) -> str:
    """Return what came, went and moved, with ranks."""
    if change.base is None or change.new is None:
        return "gone" if change.new is None else f"new: {', '.join(change.new[:SHOWN_PARTS])}"
    base, new = ({text: rank for rank, text in reversed([*enumerate(side, 1)])} for side in (change.base, change.new))
    parts = [f"-{text} ({rank})" for text, rank in sorted(base.items(), key=itemgetter(1)) if text not in new]
    for text, rank in sorted(new.items(), key=itemgetter(1)):
        if text not in base:
            parts.append(f"+{text} ({rank})")
        elif base[text] != rank:
            parts.append(f"{text} ({base[text]} → {rank})")
    more = [f"{len(parts) - SHOWN_PARTS:,} more"] if len(parts) > SHOWN_PARTS else []
    return ", ".join([*parts[:SHOWN_PARTS], *more])
