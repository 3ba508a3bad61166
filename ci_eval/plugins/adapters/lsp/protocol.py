"""The messages of the Language Server Protocol, with only the fields that are read.

`gc=False` keeps Python's garbage collector from looking at the thousands of items of an answer; they have no cycles.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw, Struct, field

UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The errors that decoding raises: a shape that is not the protocol's, text that is not UTF-8, values nested too
deeply."""

MANY = 1000
"""The most sections a server may ask for at once, the most units of work it may have under way, and the most letters in
the name of one."""


class Position(Struct, gc=False):
    """A line and a character, both 0-based; characters are in the units agreed on with the server."""

    line: int
    character: int


class Range(Struct, gc=False):
    """A range from a position to another, which is not included."""

    start: Position
    end: Position


class TextEdit(Struct, rename="camel", gc=False):
    """A TextEdit (`range`) or an InsertReplaceEdit."""

    new_text: str
    range: Range | None = None
    insert: Range | None = None
    replace: Range | None = None


class CompletionItem(Struct, rename="camel", gc=False):
    """A candidate. Numbers may be written as 6.0, and whatever is optional may be null."""

    label: str
    kind: float | None = None
    filter_text: str | None = None
    sort_text: str | None = None
    insert_text: str | None = None
    text_edit: TextEdit | None = None
    text_edit_text: str | None = None
    insert_text_format: float | None = None
    preselect: bool | None = None


class EditRange(Struct, gc=False):
    """A Range, or `{insert, replace}`."""

    start: Position | None = None
    end: Position | None = None
    insert: Range | None = None
    replace: Range | None = None


class Defaults(Struct, rename="camel"):
    """The values of items that do not have their own."""

    edit_range: EditRange | None = None
    insert_text_format: float | None = None


class CompletionList(Struct, rename="camel"):
    """A list of items, and whether it is incomplete: then the server must be asked again once more was typed."""

    items: list[CompletionItem] = []
    is_incomplete: bool | None = False
    item_defaults: Defaults | None = None
    dropped: int = 0
    """The number of items that could not be read. It is no field of the protocol."""
    source: bytes = b""
    """The answer with the items that could be read. It is no field of the protocol."""


class ResponseError(Struct):
    """An error that the server answered with."""

    code: int = 0
    message: str = ""


class Message(Struct):
    """A message of any kind: a response has an id and no method, a notification a method and no id, a request both."""

    id: int | str | None = None
    method: str | None = None
    # Most parameters are never read, so they stay undecoded until somebody needs them.
    params: Raw = field(default_factory=lambda: Raw(b"null"))
    result: Raw = field(default_factory=lambda: Raw(b"null"))
    error: ResponseError | None = None


class SyncOptions(Struct):
    """The server's wish about changes of a document: 0 = none, 1 = the whole text, 2 = only the edits."""

    change: int = 0


class Capabilities(Struct, rename="camel"):
    """The abilities that the server announces."""

    position_encoding: str = "utf-16"
    text_document_sync: SyncOptions | int | None = None
    completion_provider: bool | dict[str, Any] | None = None
    """The options, which may be empty; None and false mean that the server does not complete."""
    inline_completion_provider: bool | dict[str, Any] | None = None
    """The options, which may be empty; None and false mean that the server does not complete inline."""

    @property
    def sync(self) -> int:
        """Return 0, 1 or 2, as in SyncOptions."""
        options = self.text_document_sync
        return options.change if isinstance(options, SyncOptions) else options or 0


class ServerInfo(Struct):
    """The name and the version that the server gives itself."""

    name: str = ""
    version: str | None = None


class Initialized(Struct, rename="camel"):
    """The answer to the request `initialize`."""

    capabilities: Capabilities
    server_info: ServerInfo | None = None


class ConfigurationItem(Struct):
    """A section the server wants to know."""

    section: str | None = None


class Configuration(Struct):
    """The sections that `workspace/configuration` asks for."""

    items: Annotated[list[ConfigurationItem], Meta(max_length=MANY)] = []


class Registration(Struct):
    """A method that the server announces after its start."""

    method: str = ""


class Published(Struct):
    """The document that a message `textDocument/publishDiagnostics` is about."""

    uri: str


class Registrations(Struct):
    """The methods in a message `client/registerCapability`."""

    registrations: Annotated[list[Registration], Meta(max_length=MANY)] = []


class ProgressValue(Struct):
    """The kind of a step: begin, report or end."""

    kind: str = ""


class ProgressStep(Struct):
    """A step of the work that has this token."""

    token: int | Annotated[str, Meta(max_length=MANY)]
    value: ProgressValue | Any = None


MESSAGE: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)
