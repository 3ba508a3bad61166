"""The actions of stage 1 and the sessions of stage 2."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from enum import Enum
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from ci_eval.core.model.records import Record
from ci_eval.core.model.tokens import Kind, Milliseconds, Number, Place, Properties, Value

Grade = Annotated[float, Meta(ge=-1e6, le=1e6)]


class Suggestion(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A candidate; `text` is the name that acceptance leaves at the caret."""

    text: str
    tail: str = ""
    """The text that acceptance leaves after `text`, unless the code goes on with it. After `⌫` is text that acceptance
    removes there, after `⇤` text that it removes before the token, after `⇡` text that it writes elsewhere. A
    suggestion with a tail is not the expected one."""
    label: str = ""
    """The displayed text, if not `text`."""
    kind: str = ""
    filter_text: str | None = None
    sort_text: str | None = None
    position: Place | None = None
    """The rank in the engine's list, if the completion type moved it."""
    edits: tuple[tuple[Number, Number, str], ...] | None = None
    """Edits elsewhere, such as imports: offset, number of deleted characters, new text. None if not requested."""
    grades: dict[str, Grade] | None = None
    """Name of a score → closeness to the expected text; None if not graded."""
    remark: str = ""


class Usage(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What a language model's response took: time, tokens and money."""

    first_token: Milliseconds | None = None
    """The time until the first token; None if the response came in one piece."""
    prompt_tokens: Number | None = None
    left_out: Number | None = None
    """The characters of the file that did not fit into the window; None if no file was sent."""
    answer_tokens: Number | None = None
    cost: Annotated[float, Meta(ge=0, le=1e12)] | None = None
    logprob: Annotated[float, Meta(ge=-1e4, le=0)] | None = None
    finish: str = ""
    """stop, length, filter, refusal, tool, or unknown."""
    read: tuple[str, ...] = ()
    unreadable: bool = False
    cut_off: bool = False


class Status(str, Enum):
    """The way in which a session ended."""

    OK = "ok"
    EMPTY = "empty"
    NO_MATCH = "no-match"
    CUT_OFF = "cut-off"
    """The limit of tokens ended the response."""
    UNREADABLE = "unreadable"
    """The response is not code at the caret, or not in the requested form."""
    CONTEXT_TOO_LONG = "context-too-long"
    """The prompt was longer than the context window."""
    TIMEOUT = "timeout"
    ENGINE_CRASH = "engine-crash"
    SKIPPED = "skipped"
    NO_PLACE = "no-place"
    """The text of a sample about objects has no location for a completion engine."""
    ERROR = "error"


FAILED = frozenset({Status.CONTEXT_TOO_LONG, Status.TIMEOUT, Status.ENGINE_CRASH, Status.ERROR})
"""The engine failed, which is a miss in every metric of ranks."""

UNASKED = frozenset({Status.SKIPPED, Status.NO_PLACE})
"""The engine was never asked: no metric counts the session."""


class LookupScore(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    prefix: str
    total: Number
    duplicates: Number = 0
    dropped: Number = 0
    highlighted: Number = 0
    """The index (from 0) that is selected when the list appears."""
    rank: Place | None
    """The rank among displayed suggestions, None if absent."""
    offered: bool = False
    """True if a suggestion has the expected name; stored only without a rank, or in the task inside."""
    adds_import: bool = False
    latency: Milliseconds
    """The median if there were several rounds."""
    latencies: tuple[Milliseconds | None, ...] = ()
    """Latencies by round, if there were several; None: the round did not reach this lookup."""
    cpu: Milliseconds | None = None
    """CPU time until the answer, of the first round; None if not known."""
    cold: bool = False
    """True for the first lookup after the file was opened."""
    selected: bool = False
    accepted: Number = 0
    usage: Usage | None = None
    grades: dict[str, Grade] | None = None
    """The grades of the first suggestion, or of an empty text if there is none; None if nothing is graded."""


def count_keys(rank: int, highlighted: int) -> int:
    return abs(rank - 1 - highlighted) + 1


def status(lookups: Sequence[LookupScore]) -> Status:
    """Return the status of a session by its last lookup."""
    last = lookups[-1]
    return Status.OK if last.rank is not None else Status.NO_MATCH if last.total else Status.EMPTY


class Lookup(LookupScore, frozen=True, kw_only=True, omit_defaults=True):
    suggestions: tuple[Suggestion, ...]
    """Suggestions in displayed order, at most `interpret.maxSuggestions`."""
    answer: str = ""
    """The engine's text, if suggestions are read from the text."""


class Course(NamedTuple):
    """A possible course of a session with a modelled user: the lookups from `first` to before `end`."""

    first: Number
    end: Number
    taken: bool
    share: Annotated[float, Meta(ge=0, le=1)]


class Otherwise(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A later round with other results than the first."""

    round: Place
    """The number of the round; the first round has the number 0."""
    status: Status
    lookups: tuple[LookupScore, ...] = ()
    courses: tuple[Course, ...] = ()


class SessionScore(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A session without suggestions: one token typed once, or another item of the task."""

    id: str
    file: str
    offset: Number
    expected_text: str
    """Empty only for a sample without references."""
    properties: Properties
    status: Status
    message: str = ""
    at_caret: bool = False
    """True if a completion engine was asked at the sample's caret, since it does not answer the sample itself."""
    typed: Number = 0
    askable: Number = 0
    """The number of lookups if no suggestion is taken, in an item that its task plays."""
    rounds: Number = 1
    again: Number = 0
    """The number of times that the same process was asked again, to see if the answer differs."""
    differing: Number = 0
    otherwise: tuple[Otherwise, ...] = ()
    reused: bool = False
    """True if the results, and so the times, are those of an earlier run."""
    lookups: tuple[LookupScore, ...] = ()
    """Lookups in order; with a modelled user, those at which that user may ask."""
    courses: tuple[Course, ...] = ()
    """The possible courses. The first one is displayed: the likeliest of those that begin at the likeliest lookup."""

    @property
    def until(self) -> int:
        """The number of lookups to the session's displayed end."""
        return min(self.courses[0].end, len(self.lookups)) if self.courses else len(self.lookups)


class Session(SessionScore, frozen=True, kw_only=True, omit_defaults=True):
    record: Record | None = None
    lookups: tuple[Lookup, ...] = ()
    trace: tuple[str, ...] = ()
    """The messages of the first round, one a line, if they are stored."""


class SourceFile(Value, frozen=True, kw_only=True):
    """A source file as its sessions saw it: the first line of a sessions file."""

    path: str
    checksum: str
    text: str


class FileError(Value, frozen=True, kw_only=True):
    path: str
    stage: Annotated[str, Meta(pattern=r"\A[a-z]+\Z")]
    message: str
    sessions: Number = 0
    lost: Number = 0
    trace: str = ""


Pair = tuple[Session | None, Session | None]
"""Base and new; None if a session is on the other side only."""

ColouredStretch = tuple[int, int, str]
"""Begin and end in code points, a capital letter for the kind."""


class Paint(msgspec.Struct, frozen=True):
    """Coloured stretches of a file; each sequence is in order, without overlaps."""

    colours: Sequence[ColouredStretch] = ()
    """K: a keyword, S: a string, C: a comment."""
    unasked: Sequence[ColouredStretch] = ()


def unasked_stretches(places: Mapping[int, int], asked: Container[int]) -> list[ColouredStretch]:
    """Return those of `places` (begin → end) at which none of the `asked` sessions begins."""
    return [(begin, end, "U") for begin, end in sorted(places.items()) if begin not in asked]


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
    """An action that inserts `text` at the caret and moves the caret after it."""

    text: str


class CallCompletion(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="CALL_COMPLETION"):
    """An action that asks the engine at the caret; several calls before one FINISH_SESSION are one session."""

    session: str
    offset: Number
    prefix: str
    expected_text: Annotated[str, Meta(min_length=1)]
    properties: Properties


class RemovedImport(Value, frozen=True, kw_only=True, gc=False):
    """An import that was taken out of the file: the offset at which `text` is missing, and what it imported."""

    module: str
    offset: Number
    text: str


class UseImport(CallCompletion, frozen=True, kw_only=True, gc=False, tag_field="type", tag="USE_IMPORT"):
    """An action of the task imports that asks at a use of a name whose import is missing."""

    removed: RemovedImport


class PlayItem(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="type", tag="PLAY_ITEM"):
    """An action that lets the task produce an item at the caret; afterwards the caret is after the whole item."""

    session: str
    offset: Number
    expected_text: str
    """Empty only for a record without references."""
    ranges: tuple[tuple[Number, Number], ...]
    properties: Properties
    record: Record | None = None


class CodeGolf(PlayItem, frozen=True, kw_only=True, tag_field="type", tag="CODE_GOLF"):
    """An item of the task golf, under the name that the JetBrains plugin gives it."""


class FinishSession(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="FINISH_SESSION"):
    """An action that ends the session of the first CALL_COMPLETION or item since the last FINISH_SESSION."""


Action = (
    OpenFile | MoveCaret | DeleteRange | PrintText | CallCompletion | UseImport | PlayItem | CodeGolf | FinishSession
)

NOTABLE = 0.01
"""If a larger share of the source is unread, that is reported, and figures are not exact."""


class FileHead(Value, frozen=True, kw_only=True):
    """A file, and the number of sessions in its actions."""

    path: str
    checksum: str
    sessions: Number


class FileActions(FileHead, frozen=True, kw_only=True):
    """The actions of one file, after which its text is as it was before."""

    unparsable: Annotated[float, Meta(ge=0, le=1)]
    actions: tuple[Action, ...]


class AskedProperties(Value, frozen=True, kw_only=True, gc=False):
    kind: Kind


class Asked(Value, frozen=True, kw_only=True, gc=False):
    """A question of an action; `session` is empty if the action asks nothing."""

    session: str = ""
    offset: Number = 0
    expected_text: str = ""
    prefix: str = ""
    properties: AskedProperties | None = None


class FileAsked(FileHead, frozen=True, kw_only=True):
    """The questions of one file, which are read faster than all actions."""

    actions: tuple[Asked, ...]


Extension = Literal["", "clangd", "gopls"]

REMOVED, REMOVED_BEFORE = "⌫", "⇤"
"""Marks in a tail before text that acceptance removes: after the caret, before the token."""
ELSEWHERE = "⇡"
"""The mark in a tail before text that acceptance writes elsewhere in the file."""


class Offer(Suggestion, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A suggestion as an editor displays it. `tail`: the whole text after `text` that acceptance leaves."""

    filtered_by: str | None = None
    """The server's `filterText`; None = the label."""
    begin: int = 0
    firm: int = 0
    """The length of `tail` before the first placeholder."""
    number: int = 0
    """The number of the kind in the editor, which orders suggestions that are equal otherwise."""
    item: int = 0
    preselect: bool = False
    visible: bool = True
    """False if its range cannot be replaced."""
    extension: Extension = ""
    """The editor's extension that changes texts to filter by; "" = none."""


def plain(offer: Suggestion, tail: str) -> Suggestion:
    if type(offer) is Suggestion and offer.tail == tail:
        return offer
    return Suggestion(
        text=offer.text,
        tail=tail,
        label=offer.label,
        kind=offer.kind,
        filter_text=offer.filter_text,
        sort_text=offer.sort_text,
        edits=offer.edits,
        grades=offer.grades,
    )
