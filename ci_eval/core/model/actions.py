"""Stage 1: the actions that are done to a file, as a person would do them."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.core.model.records import Record
from ci_eval.core.model.tokens import Kind, Number, Properties, Value


class OpenFile(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="OPEN_FILE"):
    """An action that opens the file; its text must have this SHA-256 (hex, of the LF-normalised UTF-8 text)."""

    path: str
    checksum: str


class MoveCaret(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="MOVE_CARET"):
    """An action that puts the caret before the code point at `offset`."""

    offset: Number


class DeleteRange(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="DELETE_RANGE"):
    """An action that removes the code points `begin` … `end` - 1; the caret goes to `begin`."""

    begin: Number
    end: Number


class PrintText(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="PRINT_TEXT"):
    """An action that inserts `text` at the caret and moves the caret behind it."""

    text: str


class CallCompletion(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="CALL_COMPLETION"):
    """An action that asks the engine at the caret; several calls before one FINISH_SESSION are one session."""

    session: str
    offset: Number
    """The offset of the token in the file as it is on disk."""
    prefix: str
    expected_text: Annotated[str, Meta(min_length=1)]
    properties: Properties


class RemovedImport(Value, frozen=True, kw_only=True, gc=False):
    """An import that was taken out of the file: the offset at which `text` is missing, and what it imported."""

    module: str
    """The module, as the import names it."""
    offset: Number
    text: str


class UseImport(CallCompletion, frozen=True, kw_only=True, gc=False, tag_field="type", tag="USE_IMPORT"):
    """A call at a use of a name whose import is missing, in the task imports."""

    removed: RemovedImport


class PlayItem(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="type", tag="PLAY_ITEM"):
    """An action that lets the task produce an item at the caret in its own way; the caret is behind the whole text of
    the item afterwards."""

    session: str
    offset: Number
    """The offset of the item in the file as it is on disk."""
    expected_text: str
    """The expected text, empty only of a record without references."""
    ranges: tuple[tuple[Number, Number], ...]
    """Begin and end, within the item, of its tokens."""
    properties: Properties
    record: Record | None = None
    """The record that is asked, if the item comes from a dataset."""


class CodeGolf(PlayItem, frozen=True, kw_only=True, tag_field="type", tag="CODE_GOLF"):
    """An item of the task golf, under the name that the JetBrains plugin gives it."""


class FinishSession(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="FINISH_SESSION"):
    """An action that ends the session that began with the first CALL_COMPLETION or item since the last
    FINISH_SESSION."""


Action = (
    OpenFile | MoveCaret | DeleteRange | PrintText | CallCompletion | UseImport | PlayItem | CodeGolf | FinishSession
)


NOTABLE = 0.01
"""The share of the source that could not be read from which on it is reported, and figures are not exact."""


class FileHead(Value, frozen=True, kw_only=True):
    """The file to which actions belong, and the number of sessions in these actions."""

    path: str
    checksum: str
    sessions: Number


class FileActions(FileHead, frozen=True, kw_only=True):
    """The actions of one file: applied in order, they leave the text as it was."""

    unparsable: Annotated[float, Meta(ge=0, le=1)]
    actions: tuple[Action, ...]


class AskedProperties(Value, frozen=True, kw_only=True, gc=False):
    kind: Kind


class Asked(Value, frozen=True, kw_only=True, gc=False):
    """The part of an action that says what is asked about; `session` is empty if the action asks nothing."""

    session: str = ""
    offset: Number = 0
    expected_text: str = ""
    prefix: str = ""
    properties: AskedProperties | None = None


class FileAsked(FileHead, frozen=True, kw_only=True):
    """The questions in the actions of one file, without the rest of the actions, which takes longer to read."""

    actions: tuple[Asked, ...]
