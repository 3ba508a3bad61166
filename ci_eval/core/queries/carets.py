"""The caret at which a completion engine is asked about a query case, behind a `receiver.` typed into the text.

For the strategy REAL, the next call is begun in the text of the start. For artificial queries, the text is that of the
end without the calls that the query lacks, and the first of these calls is begun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ci_eval.core.model import CallPlace, Caret, History, ObjectPlace, ObjectUsage
from ci_eval.core.model.records import check_path
from ci_eval.core.model.settings import StrategyName
from ci_eval.core.queries.cases import QueryCase

LONGEST = 200
"""Characters of the longest receiver or indentation."""
Span = tuple[int, int]
T = TypeVar("T")


def check_places(history: History, text_of: Callable[[str], str]) -> str:
    """Return why the locations of a history cannot be used, or an empty string if all can. `text_of` maps a digest to
    its text and raises ValueError."""
    try:
        if len(history.places) != len(history.states):
            raise ValueError(f"it has {len(history.states)} states, and places for {len(history.places)}")
        check_path(history.file)
        for place in filter(None, history.places):
            text = text_of(place.text)
            spelled: list[ObjectPlace | CallPlace] = [place, *place.calls]
            for node in spelled:
                if len(node.receiver) > LONGEST or not node.receiver.isprintable():
                    raise ValueError(f"{node.receiver[:50]!r} is no name of an object")
                if len(node.indent) > LONGEST or node.indent.strip(" \t"):
                    raise ValueError(f"{node.indent[:50]!r} is no indentation")
            if not place.receiver:
                raise ValueError("a place has no receiver")
            spans = [(0, place.line), *((0, call.line) for call in place.calls if call.line is not None)]
            for call in place.calls:
                spans += [(call.begin, call.end), *([call.statement] if call.statement else [])]
            if wrong := next((span for span in spans if not span[0] <= span[1] <= len(text)), None):
                raise ValueError(f"{wrong[0]} to {wrong[1]} is not in a text of {len(text)} characters")
    except ValueError as error:
        return f"its places are left out: {error}"
    return ""


def locate_caret(case: QueryCase, strategy: StrategyName, query: ObjectUsage) -> Caret | None:
    if strategy == "REAL":
        place = _item(case.history.places, case.number)
        if place is None:
            return None
        typed = _call_line(place.indent, place.receiver)
        edits = ((place.line, 0, typed),)
        return Caret(path=case.history.file, text=place.text, edits=edits, offset=place.line + len(typed))
    place = _item(case.history.places, case.goal)
    return _artificial_caret(case.history.file, place, set(case.after) - set(query.calls)) if place else None


def _item(items: Sequence[T], number: int) -> T | None:
    return items[number] if number < len(items) else None


def _call_line(indent: str, receiver: str) -> str:
    return f"\n{indent}{receiver}."


def _artificial_caret(path: str, place: ObjectPlace, lacking: set[str]) -> Caret | None:
    """Return the caret at the first lacking call that can be begun on a line of its own. None if there is none."""
    going = [call for call in place.calls if call.name in lacking]
    staying = [call for call in place.calls if call.name not in lacking]
    cuts = _merge_spans(_cut_span(call, staying) for call in going)
    for call in sorted(going, key=lambda call: call.begin):
        line = call.line
        # A line within a cut would go with it.
        if line is None or not call.receiver or any(begin < line < end for begin, end in cuts):
            continue
        typed = _call_line(call.indent, call.receiver)
        edits = [*((begin, end - begin, "") for begin, end in cuts), (line, 0, typed)]
        # Edits run from the end on, so that none moves the offsets of a later one. At one offset, the line is written
        # last.
        edits.sort(key=lambda edit: (-edit[0], -edit[1]))
        gone = sum(end - begin for begin, end in cuts if end <= line)
        return Caret(path=path, text=place.text, edits=tuple(edits), offset=line - gone + len(typed))
    return None


def _cut_span(call: CallPlace, staying: Iterable[CallPlace]) -> Span:
    """Return the span to delete with a call: its whole statement, unless a call in it stays."""
    if call.statement is None or any(
        call.statement[0] <= other_call.begin <= call.statement[1] for other_call in staying
    ):
        return call.begin, call.end
    return call.statement


def _merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Return the spans in order, without empty ones and with overlapping ones merged."""
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif begin < end:
            merged.append((begin, end))
    return merged


def apply_edits(text: str, caret: Caret) -> str:
    for offset, deleted, inserted in caret.edits:
        text = text[:offset] + inserted + text[offset + deleted :]
    return text
