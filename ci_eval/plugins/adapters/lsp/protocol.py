"""The messages of the Language Server Protocol, with only the fields that are read.

`gc=False` keeps Python's garbage collector from looking at the thousands of items of an answer; they have no cycles.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal
from urllib.parse import unquote

import msgspec
from msgspec import Meta, Raw, Struct, field

from ci_eval.core.base.quoting import quote

_SUFFIXES = {
    "typescriptreact": ".tsx",
    "typescript": ".ts .mts .cts",
    "javascriptreact": ".jsx",
    "javascript": ".js .mjs .cjs .es6",
    "c": ".c .i",
    "cpp": ".cpp .cc .cxx .c++ .hpp .hh .hxx .h++ .h .ii .ipp .inl .ixx .cppm .tpp .txx .ino",
    "objective-c": ".m",
    "objective-cpp": ".mm",
    "python": ".py .pyi .pyw",
    "ruby": ".rb .rake .gemspec .ru",
    "php": ".phtml",
    "kotlin": ".kt .kts",
    "scala": ".sc .sbt",
    "rust": ".rs",
    "csharp": ".cs .csx",
    "fsharp": ".fs .fsi .fsx",
    "perl": ".pl .pm",
    "julia": ".jl",
    "shellscript": ".sh .bash .zsh .ksh",
    "powershell": ".ps1 .psm1",
    "html": ".htm .xhtml",
    "yaml": ".yml",
    "xml": ".xsd",
    "markdown": ".md",
    "latex": ".tex",
    "elixir": ".ex .exs",
    "erlang": ".erl .hrl",
    "haskell": ".hs",
    "clojure": ".clj .cljs .cljc .edn",
    "groovy": ".gradle",
    "coffeescript": ".coffee",
}
_AS_SUFFIXES = (
    "css dart go groovy html java json jsonc less lua markdown php r scala scss sql svelte swift toml vb vue xml yaml"
)
"""The protocol's language names that are also file suffixes."""
BY_SUFFIX = {f".{name}": name for name in _AS_SUFFIXES.split()}
BY_SUFFIX |= {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()}


def language_id(path: str, language: str) -> str:
    return BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), language)


Encoding = Literal["utf-8", "utf-16", "utf-32"]


def width(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        # A file may hold lone surrogates, which no strict encoder accepts.
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def find_position(text: str, offset: int, encoding: Encoding) -> Position:
    begin = text.rfind("\n", 0, offset) + 1
    return Position(line=text.count("\n", 0, begin), character=width(text[begin:offset], encoding))


def offset_in_line(line: str, character: int, encoding: Encoding) -> int:
    """Return the number of code points in the first `character` units of a line. A position within a code point means
    the beginning of the code point; a position after the line means the end of the line."""
    character = max(character, 0)
    if encoding == "utf-32" or line.isascii():
        return min(character, len(line))
    used = 0
    for count, letter in enumerate(line):
        used += width(letter, encoding)
        if used > character:
            return count
    return len(line)


UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""The errors for messages that do not follow the protocol, are not UTF-8, or are nested too deeply."""

MANY = 1000
"""The limit for items in a request, for concurrent units of work, and for characters in the id of a unit of work."""


class Position(Struct, gc=False):
    """A 0-based position; characters are in the units agreed on with the server."""

    line: int
    character: int


class Range(Struct, gc=False):
    start: Position
    end: Position


class TextEdit(Struct, rename="camel", gc=False):
    """A TextEdit (`range`) or an InsertReplaceEdit."""

    new_text: str
    range: Range | None = None
    insert: Range | None = None
    replace: Range | None = None


class CompletionItem(Struct, rename="camel", gc=False):
    """An item of a list. Numbers may be written as 6.0, and optional fields may be null."""

    label: str
    kind: float | None = None
    filter_text: str | None = None
    sort_text: str | None = None
    insert_text: str | None = None
    text_edit: TextEdit | None = None
    text_edit_text: str | None = None
    insert_text_format: float | None = None
    preselect: bool | None = None
    additional_text_edits: list[TextEdit] | None = None


class EditRange(Struct, gc=False):
    """A Range, or `{insert, replace}`."""

    start: Position | None = None
    end: Position | None = None
    insert: Range | None = None
    replace: Range | None = None


class Location(Struct, rename="camel"):
    """A Location, or a LocationLink."""

    uri: str = ""
    range: Range | None = None
    target_uri: str = ""
    target_selection_range: Range | None = None


class Defaults(Struct, rename="camel"):
    edit_range: EditRange | None = None
    insert_text_format: float | None = None


class CompletionList(Struct, rename="camel"):
    """A list of completions. An incomplete list is requested again after more typing."""

    items: list[CompletionItem] = []
    is_incomplete: bool | None = False
    item_defaults: Defaults | None = None
    dropped: int = 0
    """The number of unreadable items. The protocol has no such field."""
    source: bytes = b""
    """The answer with its readable items. The protocol has no such field."""


# The grey text that an editor shows after the caret; in the protocol since version 3.18.
# https://microsoft.github.io/language-server-protocol/specifications/lsp/3.18/specification/#textDocument_inlineCompletion
class Snippet(msgspec.Struct):
    value: str


class InlineItem(msgspec.Struct, rename="camel"):
    """A suggested text. If it has no range, it is inserted at the caret."""

    insert_text: str | Snippet
    range: Range | None = None


class InlineList(msgspec.Struct):
    items: list[InlineItem] = []


INLINE_ANSWER: msgspec.json.Decoder[list[InlineItem] | InlineList | None] = msgspec.json.Decoder(
    list[InlineItem] | InlineList | None
)


class ResponseError(Struct):
    code: int = 0
    message: str = ""


class Message(Struct):
    """A response has an id and no method, a notification has a method and no id, and a request has both."""

    id: int | str | None = None
    method: str | None = None
    # Most parameters are never read, so they are decoded on use.
    params: Raw = field(default_factory=lambda: Raw(b"null"))
    result: Raw = field(default_factory=lambda: Raw(b"null"))
    error: ResponseError | None = None


class SyncOptions(Struct):
    """The form in which a server wants changes of a document: 0 = none, 1 = the whole text, 2 = only the edits."""

    change: int = 0


class Capabilities(Struct, rename="camel"):
    position_encoding: str = "utf-16"
    text_document_sync: SyncOptions | int | None = None
    completion_provider: bool | dict[str, Any] | None = None
    """An object, even an empty one, and true mean that the server completes; None and false mean that it does not."""
    inline_completion_provider: bool | dict[str, Any] | None = None
    definition_provider: bool | dict[str, Any] | None = None

    @property
    def sync(self) -> int:
        options = self.text_document_sync
        return options.change if isinstance(options, SyncOptions) else options or 0


class ServerInfo(Struct):
    name: str = ""
    version: str | None = None


class Initialized(Struct, rename="camel"):
    capabilities: Capabilities
    server_info: ServerInfo | None = None


class ConfigurationItem(Struct):
    section: str | None = None


class Configuration(Struct):
    items: Annotated[list[ConfigurationItem], Meta(max_length=MANY)] = []


class Registration(Struct, rename="camel"):
    method: str = ""
    register_options: Any = None


class Published(Struct):
    uri: str


class Registrations(Struct):
    registrations: Annotated[list[Registration], Meta(max_length=MANY)] = []


class ProgressValue(Struct):
    kind: str = ""


class ProgressStep(Struct):
    token: int | Annotated[str, Meta(max_length=MANY)]
    value: ProgressValue | Any = None


MESSAGE: msgspec.json.Decoder[Message] = msgspec.json.Decoder(Message)


_HALF = re.compile(
    # Both alternatives begin with the same backslash, so that `re` can search for that character alone.
    rb"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD])[c-fC-F])",
    re.DOTALL,
)
"""Matches a lone half of an escaped character (a surrogate). Whole characters do not match: they need no repair."""


def mend_text(body: bytes) -> bytes:
    """Repair a message as `JSON.parse` would: bytes that are not UTF-8, and halves of characters, become U+FFFD."""
    text = body
    try:
        body.decode()
    except UnicodeDecodeError:
        text = body.decode(errors="replace").encode()
    # A pattern is searched more slowly than a text, and most messages escape no character.
    first = text.find(b"\\u")
    if first < 0 or not _HALF.search(text, first):
        return text
    try:
        whole = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


_STRICT: msgspec.json.Decoder[list[CompletionItem] | CompletionList | None] = msgspec.json.Decoder(
    list[CompletionItem] | CompletionList | None
)
_NUMBERS = ("kind", "insertTextFormat")


def read_answer(answer: bytes) -> CompletionList:
    """Return the list; it is empty for null. Raises one of UNREADABLE if there is no list or no item is readable."""
    try:
        # The fast path: almost all answers can be read strictly.
        strict = _STRICT.decode(answer)
    except UNREADABLE:
        return _lenient(msgspec.json.decode(answer))
    if isinstance(strict, CompletionList):
        # The protocol has no such fields, but a server may have sent fields with these names.
        strict.dropped, strict.source = 0, answer
        return strict
    return CompletionList(items=strict or [], source=answer)


def read_locations(answer: bytes) -> list[tuple[str, Position]]:
    """Return pairs of a path and a position, or an empty list for null. Raises one of UNREADABLE."""
    listed = msgspec.json.decode(answer, type=list[Location] | Location | None)
    return [
        (unquote((location.uri or location.target_uri).removeprefix("file://")), stretch.start)
        for location in ([listed] if isinstance(listed, Location) else listed or ())
        if (stretch := location.range or location.target_selection_range)
    ]


def _lenient(answer: Any) -> CompletionList:
    whole: Mapping[str, Any] = answer if isinstance(answer, dict) else {"items": answer}
    items = whole.get("items")
    if items is not None and not isinstance(items, list):
        raise msgspec.ValidationError(f"items: expected a list, got {quote(str(items), 80)}")
    item_fields = (*_NUMBERS, "preselect")
    pairs = [(raw, item) for raw in items or () if (item := _convert(raw, CompletionItem, item_fields)) is not None]
    read = [item for _, item in pairs]
    if items and not read:
        raise msgspec.ValidationError(f"none of its {len(items):,} items can be read; the first item is {items[0]}")
    return CompletionList(
        items=read,
        is_incomplete=whole.get("isIncomplete") is True,
        item_defaults=_convert(whole.get("itemDefaults"), Defaults, _NUMBERS),
        dropped=len(items or ()) - len(read),
        source=msgspec.json.encode({**whole, "items": [raw for raw, _ in pairs]}),
    )


def _convert(raw: Any, kind: type[Any], ignored: Sequence[str]) -> Any:
    """Convert a value, or return None if it has another shape. Fields in `ignored` are dropped if they are wrong."""
    if not isinstance(raw, dict):
        return None
    fields = {name: value for name, value in raw.items() if value is not None}
    for name in ignored:
        if not isinstance(fields.get(name), int | float) or (name == "preselect" and fields[name] not in {True, False}):
            fields.pop(name, None)
    try:
        # The conversion is not strict, since a line number may be written as 6.0.
        return msgspec.convert(_drop_nulls(fields), kind, strict=False)
    except UNREADABLE:
        return None


def _drop_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _drop_nulls(member) for name, member in value.items() if member is not None}
    return value


NOTED = frozenset(
    f"{scope}/refresh" for scope in ("workspace/semanticTokens", "workspace/inlayHint", "workspace/codeLens")
) | {
    "client/unregisterCapability",
    "window/workDoneProgress/create",
    "window/showMessageRequest",
    "window/showDocument",
    "workspace/diagnostic/refresh",
    "workspace/inlineValue/refresh",
    "workspace/foldingRange/refresh",
}
