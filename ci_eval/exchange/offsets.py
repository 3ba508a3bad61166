"""Offsets of the plugin, which count UTF-16 code units of a text, and ours, which count code points."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ci_eval.errors import WorkspaceError
from ci_eval.grammar.document import Document
from ci_eval.model import Action, CallCompletion, DeleteRange, MoveCaret, PlayItem, PrintText

BASIC = 0xFFFF
"""The last code point that is one unit; those behind it are two."""


def is_plain(text: str) -> bool:
    """Whether both counts are the same."""
    return text.isascii() or max(text, default="") <= chr(BASIC)


def to_units(text: str, offset: int) -> int:
    """Code points → units."""
    return offset + sum(each > chr(BASIC) for each in text[:offset])


def to_points(text: str, units: int) -> int:
    """Units → code points; within a pair: before it. Raises ValueError where the text has not so many."""
    left = units
    for count, each in enumerate(text):
        width = 1 + (each > chr(BASIC))
        if left < width:
            return count
        left -= width
    if left:
        raise ValueError(f"offset {units} is behind the end of the text")
    return len(text)


def moved(text: str, actions: Sequence[Action], convert: Callable[[str, int], int], *, ours: bool) -> list[Action]:
    """The actions with their offsets converted, each in the text as it is then. `ours`: whether the offsets that are
    given count code points. Raises WorkspaceError where the actions do not fit the text."""
    if is_plain(text) and all(is_plain(each.text) for each in actions if isinstance(each, PrintText)):
        return list(actions)
    document, found = Document(text), []
    try:
        for action in actions:
            changed = _converted(action, text, document, convert)
            found.append(changed)
            played = action if ours else changed
            if isinstance(played, MoveCaret | DeleteRange | PrintText):
                document.apply(played)
    except ValueError as error:
        raise WorkspaceError(f"the actions do not fit the text: {error}") from error
    return found


def _converted(action: Action, text: str, document: Document, convert: Callable[[str, int], int]) -> Action:
    now = document.text
    match action:
        case MoveCaret():
            return replace(action, offset=convert(now, action.offset))
        case DeleteRange():
            return replace(action, begin=convert(now, action.begin), end=convert(now, action.end))
        case CallCompletion() | PlayItem():
            return replace(action, offset=convert(text, action.offset))
        case _:
            return action
