"""Where a completion engine is asked about a query case: texts with `receiver.` typed in them, and the caret behind it.

As the code was (REAL), the next call is begun in the text of the start. In queries that are made up, the text is that
of the end without the calls that the query lacks, and the first of these is begun.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from ci_eval.model import CallPlace, Caret, History, ObjectPlace, ObjectUsage
from ci_eval.model.records import check_path
from ci_eval.model.settings import StrategyName
from ci_eval.queries.cases import QueryCase

LONGEST = 200
"""Characters of the longest receiver or indentation."""
Span = tuple[int, int]
T = TypeVar("T")


def check_places(history: History, text_of: Callable[[str], str]) -> str:
    """Why the places of a history cannot be used; "" where all can. `text_of`: digest → text, raises ValueError."""
    try:
        if len(history.places) != len(history.states):
            raise ValueError(f"it has {len(history.states)} states, and places for {len(history.places)}")
        check_path(history.file)
        for place in filter(None, history.places):
            _check(place, text_of(place.text))
    except ValueError as error:
        return f"its places are left out: {error}"
    return ""


def _check(place: ObjectPlace, text: str) -> None:
    """Raises ValueError where a place is not within its text, or is spelled in a way that no code is."""
    spelled: list[ObjectPlace | CallPlace] = [place, *place.calls]
    for each in spelled:
        if len(each.receiver) > LONGEST or not each.receiver.isprintable():
            raise ValueError(f"{each.receiver[:50]!r} is no name of an object")
        if len(each.indent) > LONGEST or each.indent.strip(" \t"):
            raise ValueError(f"{each.indent[:50]!r} is no indentation")
    if not place.receiver:
        raise ValueError("a place has no receiver")
    spans = [(0, place.line), *((0, each.line) for each in place.calls if each.line is not None)]
    for call in place.calls:
        spans += [(call.begin, call.end), *([call.statement] if call.statement else [])]
    if wrong := next((span for span in spans if not span[0] <= span[1] <= len(text)), None):
        raise ValueError(f"{wrong[0]} to {wrong[1]} is not in a text of {len(text)} characters")


def caret_of(case: QueryCase, strategy: StrategyName, query: ObjectUsage) -> Caret | None:
    """Where an engine is asked; None where the object is not in the text, or no place for the call is known."""
    if strategy == "REAL":
        place = _item(case.history.places, case.number)
        return _begun(case.history.file, place) if place else None
    place = _item(case.history.places, case.goal)
    return _without(case.history.file, place, set(case.after) - set(query.calls)) if place else None


def _item(items: Sequence[T], number: int) -> T | None:
    return items[number] if number < len(items) else None


def _begun(path: str, place: ObjectPlace) -> Caret:
    typed = _line(place.indent, place.receiver)
    return Caret(path=path, text=place.text, edits=((place.line, 0, typed),), offset=place.line + len(typed))


def _line(indent: str, receiver: str) -> str:
    return f"\n{indent}{receiver}."


def _without(path: str, place: ObjectPlace, lacking: set[str]) -> Caret | None:
    """Where the first lacking call was that can be begun on a line of its own."""
    going = [each for each in place.calls if each.name in lacking]
    staying = [each for each in place.calls if each.name not in lacking]
    cuts = _joined(_taken(each, staying) for each in going)
    for each in sorted(going, key=lambda call: call.begin):
        line = each.line
        if line is None or not each.receiver or any(begin < line < end for begin, end in cuts):
            continue
        typed = _line(each.indent, each.receiver)
        edits = [*((begin, end - begin, "") for begin, end in cuts), (line, 0, typed)]
        # From the end on, so that no edit moves what a later one is about; at one place the line is written last.
        edits.sort(key=lambda edit: (-edit[0], -edit[1]))
        gone = sum(end - begin for begin, end in cuts if end <= line)
        return Caret(path=path, text=place.text, edits=tuple(edits), offset=line - gone + len(typed))
    return None


def _taken(call: CallPlace, staying: Iterable[CallPlace]) -> Span:
    """What goes with a call: its statement, if no call is in it that stays."""
    if call.statement is None or any(call.statement[0] <= each.begin <= call.statement[1] for each in staying):
        return call.begin, call.end
    return call.statement


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Without those that are empty or overlap, in order."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif begin < end:
            found.append((begin, end))
    return found


def edited(text: str, caret: Caret) -> str:
    """The text as the engine sees it."""
    for offset, deleted, inserted in caret.edits:
        text = text[:offset] + inserted + text[offset + deleted :]
    return text
