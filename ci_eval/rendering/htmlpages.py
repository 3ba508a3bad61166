"""Build the pages of a source file, for one evaluation or for a comparison. Tokens are coloured by their outcomes."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, reduce
from html import escape
from itertools import groupby
from operator import attrgetter
from pathlib import PurePosixPath

import msgspec
import numpy as np
from markupsafe import Markup

from ci_eval.core.contracts import Task
from ci_eval.core.filters import ReportFilter
from ci_eval.core.model import Pair, Session, SourceFile
from ci_eval.core.model.sessions import ColouredStretch
from ci_eval.core.scoring import outcome, score, shown_rank
from ci_eval.rendering.verdicts import outcome_text

MAX_SESSIONS = 2_000
MAX_LINES = 3_000
MAX_CHARACTERS = 300_000
MAX_MARKED = 2_000
"""The limit of the text that one token colours, in characters."""

OUTCOMES = ("failed", "absent", "low", "near", "first", "skipped", "other")
"""The outcomes, the worst first; of several sessions at one offset, the worst is shown. "other": not in the figures."""


def legend(task: Task) -> dict[str, str]:
    return {"failed": "failed: timeout, crash or error", **task.legend, "skipped": "not asked", "other": "not counted"}


# Most tokens have rank 1. They have no sign but a plain underline, so that others are easier to see.
SIGNS = {"failed": "!", "absent": "✗", "low": "↓", "near": "2", "first": "", "skipped": "∅", "other": ""}
MISSES = frozenset({"failed", "absent"})
_SEVERITY = {outcome: place for place, outcome in enumerate(OUTCOMES)}


class SessionMark(msgspec.Struct, frozen=True, gc=False):
    index: int
    id: str
    begin: int
    end: int
    outcome: str
    rank: int | None


class Spot(msgspec.Struct, frozen=True, gc=False):
    """A stretch of text with its sessions, whose indices are `first` to `first + len(ids) - 1`."""

    begin: int
    end: int
    first: int
    ids: tuple[str, ...]
    outcome: str
    sign: str


class Segment(msgspec.Struct, frozen=True, gc=False):
    text: str
    spot: Spot | None = None


class Page(msgspec.Struct, frozen=True, dict=True):
    segments: tuple[Segment, ...]
    first_line: int
    last_line: int
    begin: int = 0
    end: int = 0

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        return tuple(segment.spot for segment in self.segments if segment.spot)

    @property
    def numbers(self) -> str:
        return "\n".join(map(str, range(self.first_line, self.last_line + 1)))

    @property
    def code(self) -> Markup:
        # This code is most of a report, and a template would take several times as long.
        return Markup("".join(map(_html, self.segments)))  # noqa: S704  all that is not ours is escaped


_special = re.compile("[&<>\"']").search


def _escape(text: str) -> str:
    # Most texts need no escape. One search for all five characters takes a third of the time of `escape`.
    return escape(text) if _special(text) else text


def _html(segment: Segment) -> str:
    spot, text = segment.spot, _escape(segment.text)
    if spot is None:
        return text
    # The style sheet has the usual sign of each outcome, so only other signs are written. This saves a tenth of a page.
    sign = f' data-sign="{spot.sign}"' if spot.sign != SIGNS[spot.outcome] else ""
    ids = _escape(" ".join(spot.ids))
    return f'<span class="t {spot.outcome}" data-at="{spot.first}" data-ids="{ids}"{sign}>{text}</span>'


def page_name(path: str) -> str:
    """Return the file name of a page without suffix. It is readable, safe, and different for each path."""
    # Lower-case letters, digits and hyphens are safe in any file system and URL.
    slug = re.sub(r"[^a-z0-9]+", "-", PurePosixPath(path).name.lower())[:60].strip("-") or "file"
    return f"{slug}-{hashlib.sha256(path.encode('utf-8', 'backslashreplace')).hexdigest()[:12]}"


def page_link(name: str, number: int) -> str:
    return f"{name}-{number + 1}.html" if number else f"{name}.html"


def mark(index: int, session: Session, task: Task, leading: ReportFilter) -> SessionMark:
    # A record may expect an empty text, but its mark needs a width.
    end = session.offset + min(max(1, len(session.expected_text)), MAX_MARKED)
    colour = outcome(task, session) if leading.passes(session) else "other"
    return SessionMark(index, session.id, session.offset, end, colour, shown_rank(task, session))


def pages(text: str, marks: Sequence[SessionMark]) -> list[Page]:
    """Split the text into pages that are small enough for browsers, between lines if possible."""
    pieces, at = list[Segment](), 0
    for spot in _spots(marks, len(text)):
        pieces += [*_plain(text[at : spot.begin]), Segment(text[spot.begin : spot.end], spot)]
        at = spot.end
    pieces += _plain(text[at:])
    line, at, result = 1, 0, list[Page]()
    for segments in _paginate(pieces):
        breaks = sum(segment.text.count("\n") for segment in segments)
        # If a page ends with a line end, the next line number belongs to the next page.
        last = line + breaks - (segments[-1].text.endswith("\n") and breaks > 0)
        end = at + sum(len(segment.text) for segment in segments)
        result.append(Page(tuple(segments), line, last, at, end))
        line, at = line + breaks, end
    return result or [Page((), 1, 1)]


def _spots(marks: Sequence[SessionMark], length: int) -> Iterator[Spot]:
    """Yield one spot per offset. If two tokens overlap, the earlier one is cut where the later one begins."""
    groups = [list(group) for _, group in groupby(marks, key=attrgetter("begin"))]
    begins = [min(group[0].begin, length) for group in groups]
    for group, begin, limit in zip(groups, begins, [*begins, length][1:], strict=True):
        first = worst = group[0]
        end = first.end
        if len(group) > 1:
            end = max(mark.end for mark in group)
            # Of several near misses, the one with the highest rank is the worst.
            worst = min(group, key=lambda mark: (_SEVERITY[mark.outcome], -(mark.rank or 0)))
        sign = str(worst.rank) if worst.outcome == "near" and worst.rank else SIGNS[worst.outcome]
        ids = tuple([mark.id for mark in group])
        yield Spot(begin, max(begin, min(end, limit)), first.index, ids, worst.outcome, sign)


def _plain(text: str) -> Iterator[Segment]:
    """Yield each line, so that a page can end after it. Lines that are too long are cut."""
    for line in _lines(text):
        for at in range(0, len(line), MAX_CHARACTERS):
            yield Segment(line[at : at + MAX_CHARACTERS])


# str.splitlines splits at more characters than an editor does.
_lines = re.compile(r"[^\n]*\n|[^\n]+").findall


def _paginate(segments: Iterable[Segment]) -> Iterator[list[Segment]]:
    page: list[Segment] = []
    size = EMPTY
    line_end = 0
    for segment in segments:
        size = _add_segment(size, segment)
        while page and (size[0] > MAX_SESSIONS or size[1] > MAX_LINES or size[2] > MAX_CHARACTERS):
            # A page ends with a line, unless it consists of one line.
            cut = line_end or len(page)
            yield page[:cut]
            page, line_end = page[cut:], 0
            size = reduce(_add_segment, (*page, segment), EMPTY)
        page.append(segment)
        if segment.text.endswith("\n"):
            line_end = len(page)
    if page:
        yield page


EMPTY = (0, 0, 0)


def _add_segment(size: tuple[int, int, int], segment: Segment) -> tuple[int, int, int]:
    sessions, lines, characters = size
    text, spot = segment.text, segment.spot
    more = len(spot.ids) if spot else 0
    return sessions + more, lines + text.count("\n"), characters + len(text)


@lru_cache(maxsize=1_000)
def _base_36(number: int) -> str:
    return np.base_repr(number, 36).lower()


def encode_stretches(stretches: Sequence[ColouredStretch], text: str, begin: int, end: int) -> str:
    """Encode each stretch as letter, distance from the previous stretch, dot, length; in UTF-16 units, in base 36."""
    is_ascii, at, parts = text.isascii(), begin, []

    # JavaScript counts UTF-16 units; in ASCII these are the code points.
    def units(first: int, last: int) -> str:
        count = last - first if is_ascii else len(text[first:last].encode("utf-16-le", "surrogatepass")) // 2
        # The script reads an empty text as 0. Zeros are frequent.
        return _base_36(count) if count else ""

    # The stretch before the first one that begins here may reach into the page.
    within = slice(max(bisect_left(stretches, (begin,)) - 1, 0), bisect_left(stretches, (end,)))
    for own_first, own_last, letter in stretches[within]:
        first, last = max(own_first, at), min(own_last, end)
        if first < last:
            parts.append(f"{letter}{units(at, first)}.{units(first, last)}")
            at = last
    return "".join(parts)


FIRST = 12
LONGEST = 120

Listed = tuple[str, int, int, list[tuple[int, str]]]
"""One side of a pair: status, rank (0 = absent), length of the list, and (rank, text) of suggestions."""

Shown = tuple[str, str, str, str, Listed, Listed]
"""A pair of sessions: id, expected text, prefix, kind, base, new."""


class Piece(msgspec.Struct, frozen=True):
    text: str
    id: str = ""
    ids: tuple[str, ...] = ()
    change: str = ""
    """One of: better, worse, same, only (the session is on one side only), other (it is not in the page's figures)."""
    label: str = ""
    halves: tuple[tuple[str, str], ...] = ()
    """For base, then for new: half of the token's text, and the outcome that colours it."""


class PairedPage(msgspec.Struct, frozen=True):
    pieces: tuple[Piece, ...]
    page: Page
    shown: tuple[Shown, ...]


def paired_pages(source: SourceFile, pairs: Sequence[Pair], task: Task, leading: ReportFilter) -> list[PairedPage]:
    """Return a file's pages. `pairs` are in order of offset. `leading` is the filter of the figures on the pages."""
    marks = [mark(place, either(pair), task, leading) for place, pair in enumerate(pairs)]
    return [
        PairedPage(
            pieces=tuple(_piece(segment, pairs, task, leading) for segment in page.segments),
            page=page,
            shown=tuple(
                _pair_row(pair) for spot in page.spots for pair in pairs[spot.first : spot.first + len(spot.ids)]
            ),
        )
        for page in pages(source.text, marks)
    ]


def classify_change(pair: Pair, task: Task) -> str:
    if None in pair:
        return "only"
    moved = gain(pair, task)
    return "better" if moved > 0 else "worse" if moved < 0 else "same"


def gain(pair: Pair, task: Task) -> float:
    """Return the score of new minus the score of base; 0 if the session is on one side only."""
    base, new = pair
    return score(task, new) - score(task, base) if base and new else 0.0


def _leads(pair: Pair, leading: ReportFilter) -> bool:
    # The figures of pairs are filtered by the session of base.
    return bool(leading.passes(pair[0] or either(pair)))


def either(pair: Pair) -> Session:
    session = pair[1] or pair[0]
    assert session
    return session


def _piece(segment: Segment, pairs: Sequence[Pair], task: Task, leading: ReportFilter) -> Piece:
    spot = segment.spot
    if spot is None:
        return Piece(segment.text)
    # If several sessions begin at one offset, the one that is in the figures and changed most is shown.
    here = pairs[spot.first : spot.first + len(spot.ids)]
    pair = max(here, key=lambda pair: (_leads(pair, leading), abs(gain(pair, task))))
    middle = (len(segment.text) + 1) // 2
    parts = zip((segment.text[:middle], segment.text[middle:]), pair, strict=True)
    counts = _leads(pair, leading)
    halves = tuple(
        (text, "other" if not counts else outcome(task, side) if side else "none") for text, side in parts if text
    )
    session, change = either(pair), classify_change(pair, task) if counts else "other"
    label = f"{session.expected_text[:LONGEST]}: base {_result(pair[0], task)}, new {_result(pair[1], task)}, {change}"
    return Piece(segment.text, session.id, spot.ids, change, label, halves)


def _result(session: Session | None, task: Task) -> str:
    if session is None:
        return "not there"
    rank = shown_rank(task, session)
    text = outcome_text(task, rank, score(task, session), session.status.value)
    return f"rank {text}" if rank else text


def _pair_row(pair: Pair) -> Shown:
    session = either(pair)
    prefix = session.lookups[session.until - 1].prefix if session.lookups else ""
    kind, (base, new) = session.properties.kind.value, map(_list, pair)
    return session.id, session.expected_text[:LONGEST], prefix[:LONGEST], kind, base, new


def _list(session: Session | None) -> Listed:
    if session is None or not session.lookups:
        return session.status.value if session else "no such session", 0, 0, []
    lookup = session.lookups[session.until - 1]
    items = [(place, suggestion.text[:LONGEST]) for place, suggestion in enumerate(lookup.suggestions[:FIRST], 1)]
    if lookup.rank and FIRST < lookup.rank <= len(lookup.suggestions):
        items.append((lookup.rank, lookup.suggestions[lookup.rank - 1].text[:LONGEST]))
    return session.status.value, lookup.rank or 0, lookup.total, items
