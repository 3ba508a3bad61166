"""The actions of stage 1, and the sessions of stage 2: what the engine was asked and what it answered."""

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
    """A candidate; `text` is the name that its acceptance would leave at the caret."""

    text: str
    tail: str = ""
    """The text that acceptance would leave after `text` although the code does not go on with it; and after `⌫` the
    text it would remove there, after `⇤` before the token; after `⇡` what it would change elsewhere in the file. Such
    a suggestion is not the expected one."""
    label: str = ""
    """The text in the displayed list, if that is not `text`."""
    kind: str = ""
    filter_text: str | None = None
    sort_text: str | None = None
    position: Place | None = None
    """The rank in the engine's own list, if the completion type (which orders the suggestions) moved it."""
    edits: tuple[tuple[Number, Number, str], ...] | None = None
    """The edits that acceptance makes elsewhere in the file, such as an import: the offset in the text that was asked
    about, the number of characters deleted there, the new text. None if nobody looked."""
    grades: dict[str, Grade] | None = None
    """The closeness to the expected text by name of the score; None if it is not graded."""
    remark: str = ""


class Usage(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The time, tokens and money that a response of a language model took."""

    first_token: Milliseconds | None = None
    """The time until its first token was there; None if it came in one piece."""
    prompt_tokens: Number | None = None
    left_out: Number | None = None
    """The characters of the file that the window had no room for; None if no file was sent."""
    answer_tokens: Number | None = None
    cost: Annotated[float, Meta(ge=0, le=1e12)] | None = None
    logprob: Annotated[float, Meta(ge=-1e4, le=0)] | None = None
    """The mean log-probability of the tokens of its suggestion (natural logarithm)."""
    finish: str = ""
    """The reason why the model stopped: stop, length, filter, refusal, tool, or unknown if none was reported."""
    read: tuple[str, ...] = ()
    """The rules that found the suggestions in what the model wrote: thought, end token, fence, heading …"""
    unreadable: bool = False
    cut_off: bool = False


class Status(str, Enum):
    """The way in which a planned session ended; every session has a status."""

    OK = "ok"
    EMPTY = "empty"
    NO_MATCH = "no-match"
    CUT_OFF = "cut-off"
    """A status of language models: the limit of tokens ended the response."""
    UNREADABLE = "unreadable"
    """A status of language models: the response is no code at the caret, or has not the form that was asked for."""
    CONTEXT_TOO_LONG = "context-too-long"
    """A status of language models: the prompt was longer than the context window."""
    TIMEOUT = "timeout"
    ENGINE_CRASH = "engine-crash"
    SKIPPED = "skipped"
    NO_PLACE = "no-place"
    """A status of samples about objects: the text has no location at which a completion engine could be asked."""
    ERROR = "error"


FAILED = frozenset({Status.CONTEXT_TOO_LONG, Status.TIMEOUT, Status.ENGINE_CRASH, Status.ERROR})
"""The engine was asked and failed: a miss in every metric of ranks, and counted by itself as well."""


UNASKED = frozenset({Status.SKIPPED, Status.NO_PLACE})
"""The engine was never asked: no metric counts such a session."""


class LookupScore(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    prefix: str
    total: Number
    duplicates: Number = 0
    dropped: Number = 0
    """The number of items of the engine's answer that could not be read, and are missing in the list."""
    highlighted: Number = 0
    """The index (from 0) of the suggestion that is selected when the list appears."""
    rank: Place | None
    """The rank of the expected text among all displayed suggestions, None if absent."""
    offered: bool = False
    """True if a suggestion has the expected name, whatever else its acceptance would leave. If there is a rank, this is
    stored in the task inside only."""
    adds_import: bool = False
    """True if acceptance of the first suggestion would add an import that the code does not have."""
    latency: Milliseconds
    """The latency; the median if there were several rounds."""
    latencies: tuple[Milliseconds | None, ...] = ()
    """The latency in each round, if there were several; None for a round that did not get to this lookup."""
    cpu: Milliseconds | None = None
    """The CPU time of the engine's processes until the answer; None if it is not known. Of the first round."""
    cold: bool = False
    """True for the first lookup in a file after that was opened."""
    selected: bool = False
    """True if the expected text is taken here, in the session as it is shown."""
    accepted: Number = 0
    """The number of characters that taking a suggestion saved typing, in an item that its task plays (golf)."""
    usage: Usage | None = None
    grades: dict[str, Grade] | None = None
    """The grades of the first suggestion, or of an empty text if there is none; None if nothing is graded."""


def count_keys(rank: int, highlighted: int) -> int:
    return abs(rank - 1 - highlighted) + 1


def status(lookups: Sequence[LookupScore]) -> Status:
    """Return the status of the last lookup, when the whole prefix was typed."""
    last = lookups[-1]
    return Status.OK if last.rank is not None else Status.NO_MATCH if last.total else Status.EMPTY


class Lookup(LookupScore, frozen=True, kw_only=True, omit_defaults=True):
    """A lookup with its suggestions, as a person would have seen it."""

    suggestions: tuple[Suggestion, ...]
    """The suggestions in displayed order, at most `interpret.maxSuggestions` of them."""
    answer: str = ""
    """The whole text that the engine wrote, if its suggestions are read from that."""


class Course(NamedTuple):
    """A way in which a session with a modelled user may go: the lookups from `first` up to `end` are made."""

    first: Number
    end: Number
    taken: bool
    share: Annotated[float, Meta(ge=0, le=1)]


class Otherwise(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A session as it went in a later round, if metrics see another result than in the first."""

    round: Place
    """The number of the round, from 1; the first round is 0."""
    status: Status
    lookups: tuple[LookupScore, ...] = ()
    courses: tuple[Course, ...] = ()


class SessionScore(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A session (one token typed once, in golf one line; of a dataset one sample), as far as metrics read it."""

    id: str
    file: str
    offset: Number
    expected_text: str
    """The expected text, empty only of a sample without references."""
    properties: Properties
    status: Status
    message: str = ""
    at_caret: bool = False
    """True if a completion engine is asked at carets, in place of the sample."""
    typed: Number = 0
    """The characters of the token that were typed at the first lookup."""
    askable: Number = 0
    """The number of locations to ask at if no suggestion is taken, in an item that its task plays."""
    rounds: Number = 1
    again: Number = 0
    """The number of times it was asked again by the same process, to see if the answer differs (a seeded sample)."""
    differing: Number = 0
    """The number of later rounds, or of repeats, in which the engine's answers differed at all from the first."""
    otherwise: tuple[Otherwise, ...] = ()
    """The rounds of these in which metrics see a different result."""
    reused: bool = False
    """True if the result is that of an earlier run: its times are not of this run."""
    lookups: tuple[LookupScore, ...] = ()
    """The lookups, in order; if a modelled user may stop at several of them, those at which that user may ask."""
    courses: tuple[Course, ...] = ()
    """The ways in which the session may go if that depends on what a modelled user does by chance: first the one that
    is shown, the likeliest of those that begin at the likeliest first lookup."""

    @property
    def until(self) -> int:
        """Return the number of lookups up to the end of the session as it is shown."""
        return min(self.courses[0].end, len(self.lookups)) if self.courses else len(self.lookups)


class Session(SessionScore, frozen=True, kw_only=True, omit_defaults=True):
    record: Record | None = None
    lookups: tuple[Lookup, ...] = ()
    trace: tuple[str, ...] = ()
    """The messages to the engine and from it, one a line; if they are stored, of the first round."""


class SourceFile(Value, frozen=True, kw_only=True):
    """A file of the project as the sessions saw it; the head of its sessions file."""

    path: str
    checksum: str
    text: str


class FileError(Value, frozen=True, kw_only=True):
    """A problem with one file: what could not be done with it, and why."""

    path: str
    stage: Annotated[str, Meta(pattern=r"\A[a-z]+\Z")]
    message: str
    sessions: Number = 0
    """The number of planned sessions that it cost."""
    lost: Number = 0
    """The size of the file in bytes, if none of it could be read."""
    trace: str = ""


Pair = tuple[Session | None, Session | None]
"""The session of base and that of new; None if a session is on the other side only."""

ColouredStretch = tuple[int, int, str]
"""The begin and end in code points, and a capital letter for the kind of the stretch."""


class Paint(msgspec.Struct, frozen=True):
    """The stretches of one file, each sequence in order of begins, and without overlaps."""

    colours: Sequence[ColouredStretch] = ()
    """The stretches of syntax. K: a keyword, S: a string, C: a comment."""
    unasked: Sequence[ColouredStretch] = ()
    """The stretches that have a session which was not sampled, with the letter U."""


def unasked_stretches(places: Mapping[int, int], asked: Container[int]) -> list[ColouredStretch]:
    """Return the stretches of those `places` (begin → end) at which none of the sessions `asked` begins."""
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


Extension = Literal["", "clangd", "gopls"]

REMOVED, REMOVED_BEFORE = "⌫", "⇤"
"""The marks in a tail: the text behind a mark would be removed by acceptance, behind the caret or before the token."""
ELSEWHERE = "⇡"
"""The mark in a tail before what acceptance would write elsewhere in the file."""


class Offer(Suggestion, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A suggestion with the fields that an editor needs to display it. `tail`: the whole text that its acceptance
    leaves behind `text`."""

    filtered_by: str | None = None
    """The server's own `filterText`; None = the label."""
    begin: int = 0
    """The begin of the range that acceptance replaces, relative to the beginning of the token."""
    firm: int = 0
    """The length of the beginning of `tail` that holds no placeholder."""
    number: int = 0
    """The kind, as the editor numbers it: it orders what is equal otherwise."""
    item: int = 0
    """The index of its item in the server's answer."""
    preselect: bool = False
    visible: bool = True
    """True if the editor displays it at all; if not, its range cannot be replaced."""
    extension: Extension = ""
    """The editor's extension that changes the texts by which the list is filtered; "" = none."""


def plain(offer: Suggestion, tail: str) -> Suggestion:
    """Return the stored part of the suggestion, with that tail."""
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
