"""The conversion between offsets of the plugin, which count UTF-16 code units of a text, and ours, which count code
points."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from ci_eval.core.base.errors import WorkspaceError
from ci_eval.core.grammar.document import Document
from ci_eval.core.model import Action, CallCompletion, DeleteRange, MoveCaret, PlayItem, PrintText

BASIC = 0xFFFF
"""The last code point that is one unit; those behind it are two."""


def is_plain(text: str) -> bool:
    """Return whether both counts are the same in the text."""
    return text.isascii() or max(text, default="") <= chr(BASIC)


def to_units(text: str, offset: int) -> int:
    """Return the offset in units for one in code points."""
    return offset + sum(character > chr(BASIC) for character in text[:offset])


def to_points(text: str, units: int) -> int:
    """Return the offset in code points for one in units; before a pair if it is within it. Raises ValueError if the
    text is too short."""
    left = units
    for count, character in enumerate(text):
        width = 1 + (character > chr(BASIC))
        if left < width:
            return count
        left -= width
    if left:
        raise ValueError(f"offset {units} is behind the end of the text")
    return len(text)


def convert_actions(
    text: str, actions: Sequence[Action], convert: Callable[[str, int], int], *, ours: bool
) -> list[Action]:
    """Return the actions with their offsets converted, each in the text as it is then. `ours` says that the given
    offsets count code points. Raises WorkspaceError if the actions do not fit the text."""
    # In most files both counts are equal, and nothing need be replayed.
    if is_plain(text) and all(is_plain(action.text) for action in actions if isinstance(action, PrintText)):
        return list(actions)
    document, converted = Document(text), []
    try:
        for action in actions:
            changed = _convert(action, text, document, convert)
            converted.append(changed)
            # The document counts code points, so it takes whichever action does.
            played = action if ours else changed
            if isinstance(played, MoveCaret | DeleteRange | PrintText):
                document.apply(played)
    except ValueError as error:
        raise WorkspaceError(f"the actions do not fit the text: {error}") from error
    return converted


def _convert(action: Action, text: str, document: Document, convert: Callable[[str, int], int]) -> Action:
    now = document.text
    match action:
        case MoveCaret():
            return replace(action, offset=convert(now, action.offset))
        case DeleteRange():
            return replace(action, begin=convert(now, action.begin), end=convert(now, action.end))
        case CallCompletion() | PlayItem():
            # The offset of a call is that in the file as it is on disk.
            return replace(action, offset=convert(text, action.offset))
        case _:
            return action
