"""A source file with the sessions of both sides, as the pages of a comparison show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ci_eval.core.contracts import Task
from ci_eval.core.filters import ReportFilter
from ci_eval.core.model import Pair, Session, SourceFile
from ci_eval.core.rendering.htmlpages import Page, Segment, mark, pages
from ci_eval.core.rendering.verdicts import went
from ci_eval.core.scoring import outcome, score, shown_rank

FIRST = 12
"""The number of suggestions shown of each list, besides the expected one."""
LONGEST = 120

Listed = tuple[str, int, int, list[tuple[int, str]]]
"""The list of one side: status, rank (0 = absent), length of the list, ranks and texts of the suggestions shown."""

Shown = tuple[str, str, str, str, Listed, Listed]
"""A pair: session id, expected text, prefix, kind; base; new."""


@dataclass(frozen=True)
class Half:
    """The half of a token's text that stands for one side, coloured by how that side went."""

    text: str
    outcome: str


@dataclass(frozen=True)
class Piece:
    """A piece of the source; `halves` are empty if nothing was completed."""

    text: str
    id: str = ""
    """The id of the session that changed most there."""
    ids: tuple[str, ...] = ()
    """The ids of all sessions that begin there."""
    change: str = ""
    """The word for the change: better, worse, same, only (on one side), or other (not in the page's figures)."""
    label: str = ""
    halves: tuple[Half, ...] = ()


@dataclass(frozen=True)
class PairedPage:
    """A page of a file; long files have several."""

    pieces: tuple[Piece, ...]
    page: Page
    shown: tuple[Shown, ...]


def paired_pages(source: SourceFile, pairs: Sequence[Pair], task: Task, leading: ReportFilter) -> list[PairedPage]:
    """Return all pages of a file; `pairs` are in order of offset. `leading`: the filter of the pages' figures."""
    marks = [mark(place, _either(pair), task, leading) for place, pair in enumerate(pairs)]
    return [
        PairedPage(
            pieces=tuple(_piece(segment, pairs, task, leading) for segment in page.segments),
            page=page,
            shown=tuple(
                _pair_row(pairs[spot.first + number]) for spot in page.spots for number in range(len(spot.ids))
            ),
        )
        for page in pages(source.text, marks)
    ]


def classify_change(pair: Pair, task: Task) -> str:
    """Return whether the new side is "better", "worse" or the "same"; "only" if the session is on one side only."""
    if None in pair:
        return "only"
    moved = gain(pair, task)
    return "better" if moved > 0 else "worse" if moved < 0 else "same"


def gain(pair: Pair, task: Task) -> float:
    """Return the difference of the scores (new - base): above 0 is better. It is 0 if the session is on one side
    only."""
    base, new = pair
    return score(task, new) - score(task, base) if base and new else 0.0


def _leads(pair: Pair, leading: ReportFilter) -> bool:
    # Figures of pairs are filtered by base.
    return bool(leading.weight(pair[0] or _either(pair)))


def _either(pair: Pair) -> Session:
    session = pair[1] or pair[0]
    assert session
    return session


def _piece(segment: Segment, pairs: Sequence[Pair], task: Task, leading: ReportFilter) -> Piece:
    spot = segment.spot
    if spot is None:
        return Piece(segment.text)
    # If several sessions of the figures begin at one offset, the one that changed most decides.
    here = pairs[spot.first : spot.first + len(spot.ids)]
    pair = max(here, key=lambda pair: (_leads(pair, leading), abs(gain(pair, task))))
    middle = (len(segment.text) + 1) // 2
    parts = zip((segment.text[:middle], segment.text[middle:]), pair, strict=True)
    counts = _leads(pair, leading)
    halves = tuple(_half(text, side, task) if counts else Half(text, "other") for text, side in parts if text)
    session, change = _either(pair), classify_change(pair, task) if counts else "other"
    label = f"{session.expected_text[:LONGEST]}: base {_result(pair[0], task)}, new {_result(pair[1], task)}, {change}"
    return Piece(segment.text, session.id, spot.ids, change, label, halves)


def _half(text: str, session: Session | None, task: Task) -> Half:
    if session is None:
        return Half(text, "none")
    return Half(text, outcome(task, session))


def _result(session: Session | None, task: Task) -> str:
    if session is None:
        return "not there"
    rank = shown_rank(task, session)
    text = went(task, rank, score(task, session), session.status.value)
    return f"rank {text}" if rank else text


def _pair_row(pair: Pair) -> Shown:
    session = _either(pair)
    prefix = session.lookups[session.until - 1].prefix if session.lookups else ""
    expected, kind = session.expected_text[:LONGEST], session.properties.kind.value
    return (session.id, expected, prefix[:LONGEST], kind, _list(pair[0]), _list(pair[1]))


def _list(session: Session | None) -> Listed:
    if session is None:
        return "no such session", 0, 0, []
    if not session.lookups:
        return session.status.value, 0, 0, []
    lookup = session.lookups[session.until - 1]
    return session.status.value, lookup.rank or 0, lookup.total, list(_items(session))


def _items(session: Session) -> Iterator[tuple[int, str]]:
    lookup = session.lookups[session.until - 1]
    for place, suggestion in enumerate(lookup.suggestions[:FIRST], 1):
        yield place, suggestion.text[:LONGEST]
    if lookup.rank and FIRST < lookup.rank <= len(lookup.suggestions):
        yield lookup.rank, lookup.suggestions[lookup.rank - 1].text[:LONGEST]
