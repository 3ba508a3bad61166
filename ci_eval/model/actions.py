"""Stage 1: the actions that are done to a file, as a person would do them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.model.records import Record
from ci_eval.model.tokens import Number, Properties, Value


class OpenFile(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="OPEN_FILE"):
    """Open the file; its text must have this SHA-256 (hex, of the LF-normalised UTF-8 text)."""

    path: str
    checksum: str


class MoveCaret(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="MOVE_CARET"):
    """Put the caret before the code point at `offset`."""

    offset: Number


class DeleteRange(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="DELETE_RANGE"):
    """Remove the code points `begin` … `end` - 1; the caret goes to `begin`."""

    begin: Number
    end: Number


class PrintText(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="PRINT_TEXT"):
    """Insert `text` at the caret and move the caret behind it."""

    text: str


class CallCompletion(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="CALL_COMPLETION"):
    """Ask the engine at the caret; several calls before one FINISH_SESSION are one session."""

    session: str
    offset: Number
    """Offset of the token in the file as it is on disk."""
    prefix: str
    expected_text: Annotated[str, Meta(min_length=1)]
    properties: Properties


class PlayItem(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="type", tag="PLAY_ITEM"):
    """Let the task produce an item at the caret in its own way; the caret is behind its whole text afterwards."""

    session: str
    offset: Number
    """Where the item begins in the file as it is on disk."""
    expected_text: str
    """Empty only of a record without references."""
    ranges: tuple[tuple[Number, Number], ...]
    """Begin and end, within the item, of its tokens."""
    properties: Properties
    record: Record | None = None
    """What is asked, where the item comes from a dataset."""


class CodeGolf(PlayItem, frozen=True, kw_only=True, tag_field="type", tag="CODE_GOLF"):
    """The same where the task is golf; the JetBrains plugin's name for it."""


class FinishSession(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="FINISH_SESSION"):
    """Ends the session that began with the first CALL_COMPLETION or item since the last FINISH_SESSION."""


Action = OpenFile | MoveCaret | DeleteRange | PrintText | CallCompletion | PlayItem | CodeGolf | FinishSession


NOTABLE = 0.01
"""From this share of the source on, what could not be read is said, and figures of the rest are not exact."""


class FileHead(Value, frozen=True, kw_only=True):
    """Which file it is that actions are of, and how many sessions they hold."""

    path: str
    checksum: str
    sessions: Number


class FileActions(FileHead, frozen=True, kw_only=True):
    """The actions of one file: applied in order, they leave the text as it was."""

    unparsable: Annotated[float, Meta(ge=0, le=1)]
    actions: tuple[Action, ...]


class Asked(Value, frozen=True, kw_only=True, gc=False):
    """What an action asks about; where it asks nothing, `session` is empty."""

    session: str = ""
    offset: Number = 0
    expected_text: str = ""


class FileAsked(FileHead, frozen=True, kw_only=True):
    """What the actions of one file ask about, without the rest of them, which takes longer to read."""

    actions: tuple[Asked, ...]
