"""Actions, which stage 1 makes, and sessions, which stage 2 makes."""

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
    """A completion candidate. `text` is the name that is at the caret after the candidate is accepted."""

    text: str
    tail: str = ""
    """The text that follows `text` after acceptance, unless the code already continues with it. `⌫` precedes text that
    acceptance removes after the caret, `⇤` text that it removes before the token, `⇡` text that it inserts elsewhere. A
    suggestion with a tail never counts as the expected one."""
    label: str = ""
    """The displayed text; "" if it is `text`."""
    kind: str = ""
    filter_text: str | None = None
    sort_text: str | None = None
    position: Place | None = None
    """The rank in the engine's list, if the completion type reordered the list; None otherwise."""
    edits: tuple[tuple[Number, Number, str], ...] | None = None
    """Edits elsewhere, such as imports: offset, number of deleted characters, new text. None if not requested."""
    grades: dict[str, Grade] | None = None
    """Name of a score → closeness to the expected text; None if the suggestion is not graded."""
    remark: str = ""


class Usage(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The time, tokens and money that a response of a language model took."""

    first_token: Milliseconds | None = None
    """The time until the first token; None if the response was not streamed."""
    prompt_tokens: Number | None = None
    left_out: Number | None = None
    """The number of characters of the file that did not fit into the window; None if no file was sent."""
    answer_tokens: Number | None = None
    cost: Annotated[float, Meta(ge=0, le=1e12)] | None = None
    logprob: Annotated[float, Meta(ge=-1e4, le=0)] | None = None
    finish: str = ""
    """Why the response ended: stop, length, filter, refusal, tool, or unknown."""
    read: tuple[str, ...] = ()
    unreadable: bool = False
    cut_off: bool = False


class Status(str, Enum):
    """The result of a session."""

    OK = "ok"
    EMPTY = "empty"
    NO_MATCH = "no-match"
    CUT_OFF = "cut-off"
    """The response ended early, such as at the limit of tokens."""
    UNREADABLE = "unreadable"
    """The response is not code for the caret, or does not have the requested form."""
    CONTEXT_TOO_LONG = "context-too-long"
    """The prompt was longer than the context window of the language model."""
    TIMEOUT = "timeout"
    ENGINE_CRASH = "engine-crash"
    SKIPPED = "skipped"
    NO_PLACE = "no-place"
    """A sample about an object usage has no location at which a completion engine could be asked."""
    ERROR = "error"


FAILED = frozenset({Status.CONTEXT_TOO_LONG, Status.TIMEOUT, Status.ENGINE_CRASH, Status.ERROR})
"""The statuses of sessions in which the engine failed. Metrics of ranks count these sessions as misses."""

UNASKED = frozenset({Status.SKIPPED, Status.NO_PLACE})
"""The statuses of sessions in which the engine was never asked. No metric counts these sessions."""


class LookupScore(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    prefix: str
    total: Number
    duplicates: Number = 0
    dropped: Number = 0
    highlighted: Number = 0
    """The index (from 0) of the suggestion that is selected when the list appears."""
    rank: Place | None
    """The rank of the expected text among the displayed suggestions; None if the text is absent."""
    offered: bool = False
    """True if a suggestion has the expected name. True is stored only if `rank` is None, or in the task `inside`."""
    adds_import: bool = False
    latency: Milliseconds
    """The latency; the median if there were several rounds."""
    latencies: tuple[Milliseconds | None, ...] = ()
    """The latency of each round, if there were several; None if a round did not reach this lookup."""
    cpu: Milliseconds | None = None
    """The CPU time until the answer in the first round; None if unknown."""
    cold: bool = False
    """True for the first lookup after the file was opened."""
    selected: bool = False
    accepted: Number = 0
    usage: Usage | None = None
    grades: dict[str, Grade] | None = None
    """The grades of the first suggestion, or of "" if there are no suggestions; None if nothing is graded."""


def count_keys(rank: int, highlighted: int) -> int:
    return abs(rank - 1 - highlighted) + 1


def status(lookups: Sequence[LookupScore]) -> Status:
    """Return the status of a session according to its last lookup."""
    last = lookups[-1]
    return Status.OK if last.rank is not None else Status.NO_MATCH if last.total else Status.EMPTY


class Lookup(LookupScore, frozen=True, kw_only=True, omit_defaults=True):
    suggestions: tuple[Suggestion, ...]
    """The first `interpret.maxSuggestions` suggestions in displayed order."""
    answer: str = ""
    """The text of the engine's answer, if the suggestions are read from a text."""


class Course(NamedTuple):
    """A possible course of a session with a modelled user: `lookups[first:end]`, and its probability `share`."""

    first: Number
    end: Number
    taken: bool
    share: Annotated[float, Meta(ge=0, le=1)]


class Otherwise(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A round whose results differ from those of the first round."""

    round: Place
    """The index of the round; the first round has the index 0."""
    status: Status
    lookups: tuple[LookupScore, ...] = ()
    courses: tuple[Course, ...] = ()


class SessionScore(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A session without its suggestions. A session is one way of typing a token, or one item of the task."""

    id: str
    file: str
    offset: Number
    expected_text: str
    """The expected text; "" only for a sample without references."""
    properties: Properties
    status: Status
    message: str = ""
    at_caret: bool = False
    """True if the engine was asked at the sample's caret: completion engines cannot answer the sample itself."""
    typed: Number = 0
    askable: Number = 0
    """The number of lookups if no suggestion is taken, in a task that plays its items; 0 in other tasks."""
    rounds: Number = 1
    again: Number = 0
    """How often the same process was asked again to see if the answer differs."""
    differing: Number = 0
    otherwise: tuple[Otherwise, ...] = ()
    reused: bool = False
    """True if the results and times are those of an earlier run."""
    lookups: tuple[LookupScore, ...] = ()
    """The lookups in order; with a modelled user, the lookups at which the user may ask."""
    courses: tuple[Course, ...] = ()
    """The possible courses. Reports display the first: the likeliest among those that begin at the likeliest lookup."""

    @property
    def until(self) -> int:
        """Return the number of lookups up to the end of the displayed course."""
        return min(self.courses[0].end, len(self.lookups)) if self.courses else len(self.lookups)


class Session(SessionScore, frozen=True, kw_only=True, omit_defaults=True):
    record: Record | None = None
    lookups: tuple[Lookup, ...] = ()
    trace: tuple[str, ...] = ()
    """The lines of the trace of messages in the first round, if they are stored."""


class SourceFile(Value, frozen=True, kw_only=True):
    """A source file with the text that was evaluated. It is the first line of a sessions file."""

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
"""A session of base and the same session of new; None if one side does not have the session."""

ColouredStretch = tuple[int, int, str]
"""The begin and end in code points, and a capital letter that stands for the colour."""


class Paint(msgspec.Struct, frozen=True):
    """The coloured stretches of a file. Each sequence is sorted and has no overlaps."""

    colours: Sequence[ColouredStretch] = ()
    """Keywords (K), strings (S) and comments (C)."""
    unasked: Sequence[ColouredStretch] = ()


def unasked_stretches(places: Mapping[int, int], asked: Container[int]) -> list[ColouredStretch]:
    """Return the stretches (begin → end in `places`) whose begin is not in `asked`."""
    return [(begin, end, "U") for begin, end in sorted(places.items()) if begin not in asked]


class OpenFile(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="OPEN_FILE"):
    """An action that opens a file. `checksum` is the SHA-256 (hex) of its text in UTF-8 with LF line ends."""

    path: str
    checksum: str


class MoveCaret(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="MOVE_CARET"):
    """An action that puts the caret before the code point at `offset`."""

    offset: Number


class DeleteRange(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="DELETE_RANGE"):
    """An action that removes the code points from `begin` to before `end`, and moves the caret to `begin`."""

    begin: Number
    end: Number


class PrintText(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="PRINT_TEXT"):
    """An action that inserts `text` at the caret and moves the caret after it."""

    text: str


class CallCompletion(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="CALL_COMPLETION"):
    """An action that asks the engine at the caret. All calls up to the next FINISH_SESSION belong to one session."""

    session: str
    offset: Number
    prefix: str
    expected_text: Annotated[str, Meta(min_length=1)]
    properties: Properties


class RemovedImport(Value, frozen=True, kw_only=True, gc=False):
    """An import of `module` that was removed from the file: `text` is missing at `offset`."""

    module: str
    offset: Number
    text: str


class UseImport(CallCompletion, frozen=True, kw_only=True, gc=False, tag_field="type", tag="USE_IMPORT"):
    """An action of the task `imports`: it asks at a use of a name whose import was removed."""

    removed: RemovedImport


class PlayItem(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False, tag_field="type", tag="PLAY_ITEM"):
    """An action that lets the task play an item at the caret. Afterwards, the caret is after the whole item."""

    session: str
    offset: Number
    expected_text: str
    """The text of the item; "" only for a record without references."""
    ranges: tuple[tuple[Number, Number], ...]
    properties: Properties
    record: Record | None = None


class CodeGolf(PlayItem, frozen=True, kw_only=True, tag_field="type", tag="CODE_GOLF"):
    """An item of the task `golf`. The action has the same name in the JetBrains plugin."""


class FinishSession(Value, frozen=True, kw_only=True, gc=False, tag_field="type", tag="FINISH_SESSION"):
    """An action that ends the session that began after the last FINISH_SESSION."""


Action = (
    OpenFile | MoveCaret | DeleteRange | PrintText | CallCompletion | UseImport | PlayItem | CodeGolf | FinishSession
)

NOTABLE = 0.01
"""If the grammar cannot parse a larger share of the source, reports mention the share, and figures are not exact."""


class FileHead(Value, frozen=True, kw_only=True):
    """A source file, and the number of sessions in its actions."""

    path: str
    checksum: str
    sessions: Number


class FileActions(FileHead, frozen=True, kw_only=True):
    """The actions of one source file. After all actions, the text is the same as before."""

    unparsable: Annotated[float, Meta(ge=0, le=1)]
    actions: tuple[Action, ...]


class AskedProperties(Value, frozen=True, kw_only=True, gc=False):
    kind: Kind


class Asked(Value, frozen=True, kw_only=True, gc=False):
    """The part of an action that says what is asked. `session` is empty if the action does not ask."""

    session: str = ""
    offset: Number = 0
    expected_text: str = ""
    prefix: str = ""
    properties: AskedProperties | None = None


class FileAsked(FileHead, frozen=True, kw_only=True):
    """The actions of one source file, of which only the questions are decoded, since this is faster."""

    actions: tuple[Asked, ...]


Extension = Literal["", "clangd", "gopls"]

REMOVED, REMOVED_BEFORE = "⌫", "⇤"
"""In a tail, the marks before text that acceptance removes after the caret, and before the token."""
ELSEWHERE = "⇡"
"""In a tail, the mark before text that acceptance inserts elsewhere in the file."""


class Offer(Suggestion, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A suggestion as an editor displays it. `tail` is the whole text that follows `text` after acceptance."""

    filtered_by: str | None = None
    """The server's `filterText`; None if the editor filters by the label."""
    begin: int = 0
    firm: int = 0
    """The length of the part of `tail` before the first placeholder."""
    number: int = 0
    """The editor's number for the kind. It orders suggestions that are equal in all other respects."""
    item: int = 0
    preselect: bool = False
    visible: bool = True
    """False if the editor hides the suggestion, since the suggestion's range cannot be replaced."""
    extension: Extension = ""
    """The extension that changes the text by which the editor filters; "" = none."""


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
