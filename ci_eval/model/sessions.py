"""Stage 2: what the engine answered."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from msgspec import Meta

from ci_eval.model.records import Record
from ci_eval.model.tokens import Milliseconds, Number, Place, Properties, Value

Grade = Annotated[float, Meta(ge=-1e6, le=1e6)]


class Suggestion(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A candidate; `text` is the name that its acceptance would leave at the caret."""

    text: str
    tail: str = ""
    """What acceptance would leave behind `text` although the code does not go on with it; and behind `⌫` what it would
    remove there, behind `⇤` before the token. Such a suggestion is not what was expected."""
    label: str = ""
    """What the list shows, where that is not `text`."""
    kind: str = ""
    filter_text: str | None = None
    sort_text: str | None = None
    position: Place | None = None
    """Rank in the engine's own list, where the completion type (what orders the suggestions) moved it."""
    grades: dict[str, Grade] | None = None
    """How close it is to what was expected: name of the score → its value; None where it is not graded."""
    remark: str = ""
    """What the judge said about it."""


class Usage(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What an answer of a language model took."""

    first_token: Milliseconds | None = None
    """Until its first token was there; None where it came in one piece."""
    prompt_tokens: Number | None = None
    """Of the question; None where the endpoint does not say."""
    left_out: Number | None = None
    """Characters of the file that the window had no room for; None where no file was shown."""
    answer_tokens: Number | None = None
    cost: Annotated[float, Meta(ge=0, le=1e12)] | None = None
    """By the prices in the configuration; None without any."""
    logprob: Annotated[float, Meta(ge=-1e4, le=0)] | None = None
    """Of its suggestion: the mean over the tokens of ln(how likely the model took each to be)."""
    finish: str = ""
    """Why the model stopped: stop, length, filter, refusal, tool, or unknown where the endpoint does not say."""
    read: tuple[str, ...] = ()
    """The rules that found the suggestions in what the model wrote: thought, end token, fence, heading …"""
    cut_off: bool = False
    """Whether the limit of tokens ended it before what was asked for was complete."""


class Status(str, Enum):
    """How a planned session ended; every one of them has a status."""

    OK = "ok"
    EMPTY = "empty"
    NO_MATCH = "no-match"
    CUT_OFF = "cut-off"
    """Of a language model: the limit of tokens ended the answer."""
    CONTEXT_TOO_LONG = "context-too-long"
    """Of a language model: the question was longer than it can look at."""
    TIMEOUT = "timeout"
    ENGINE_CRASH = "engine-crash"
    SKIPPED = "skipped"
    NO_PLACE = "no-place"
    """Of a record about an object: its text has no place at which a completion engine could be asked."""
    ERROR = "error"


FAILED = frozenset({Status.CONTEXT_TOO_LONG, Status.TIMEOUT, Status.ENGINE_CRASH, Status.ERROR})
"""The engine was asked and failed: a miss in every metric of ranks, and counted by itself as well."""


UNASKED = frozenset({Status.SKIPPED, Status.NO_PLACE})
"""The engine was never asked: no metric counts such a session."""


class LookupScore(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One lookup (one answer of the engine), as far as metrics look at it."""

    prefix: str
    total: Number
    """Number of suggestions shown."""
    duplicates: Number = 0
    """How many of them would leave the same text as one above them."""
    dropped: Number = 0
    """Items of the engine's answer that could not be read, and are missing in the list."""
    highlighted: Number = 0
    """Index (from 0) of the suggestion that is selected when the list appears."""
    rank: Place | None
    """Rank of the expected text among all suggestions shown, None if absent."""
    latency: Milliseconds
    """Where there were several rounds: their median."""
    latencies: tuple[Milliseconds | None, ...] = ()
    """The latency in each round, where there were several; None for a round that did not get to this lookup."""
    cold: bool = False
    """Whether it was the first lookup in the file after that was opened."""
    selected: bool = False
    """Whether the modelled user took the expected text here."""
    accepted: Number = 0
    """Of an item that its task plays (a line of golf): number of characters that taking a suggestion here saved typing.
    """
    usage: Usage | None = None
    """What it took, where a language model answered."""
    grades: dict[str, Grade] | None = None
    """Grades of the first suggestion, or of an empty text where there is none; None where nothing is graded."""


def keys_to(rank: int, highlighted: int) -> int:
    """Return the keys that take the suggestion at a rank: steps from the selected one, and Enter."""
    return abs(rank - 1 - highlighted) + 1


class Lookup(LookupScore, frozen=True, kw_only=True, omit_defaults=True):
    """One lookup with its suggestions, as a person would have seen it."""

    suggestions: tuple[Suggestion, ...]
    """In shown order, at most `interpret.maxSuggestions` of them."""
    answer: str = ""
    """All that the engine wrote, where its suggestions are read from that."""


class Otherwise(Value, frozen=True, kw_only=True, omit_defaults=True):
    """A session as it went in a later round, where metrics see another result than in the first."""

    round: Place
    """Number of the round, from 1; the first round is 0."""
    status: Status
    lookups: tuple[LookupScore, ...] = ()


class SessionScore(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One session (one token typed once, in golf one line; of a dataset one record), as far as metrics look at it."""

    id: str
    file: str
    offset: Number
    expected_text: str
    """Empty only of a record without references."""
    properties: Properties
    status: Status
    message: str = ""
    """The reason, where the status is skipped, or among FAILED."""
    at_caret: bool = False
    """Whether a completion engine is asked at carets, in place of the record."""
    typed: Number = 0
    """Characters of the token that were typed at the first lookup."""
    askable: Number = 0
    """Of an item that its task plays: number of places where completion is asked for if no suggestion is taken."""
    rounds: Number = 1
    """How often it was asked."""
    again: Number = 0
    """How often it was asked again by the same process, only to see whether the answer differs (a seeded sample)."""
    stratum: Number = 0
    """Number (from 1) of its stratum in the manifest's `sampling`; 0 = no such sample was drawn."""
    differing: Number = 0
    """Number of later rounds, or of times that it was asked again, in which the engine's answers differed at all from
    the first ones."""
    otherwise: tuple[Otherwise, ...] = ()
    """Those of these rounds in which metrics see a different result."""
    reused: bool = False
    """Whether this is what an earlier run was answered: its times are not of this one."""
    lookups: tuple[LookupScore, ...] = ()


class Session(SessionScore, frozen=True, kw_only=True, omit_defaults=True):
    """One session, with everything that was suggested in it."""

    record: Record | None = None
    """What was asked, where the session comes from a dataset."""
    lookups: tuple[Lookup, ...] = ()
    trace: tuple[str, ...] = ()
    """What was said to the engine and by it, a line per message; where that is kept, of the first round."""


class SourceFile(Value, frozen=True, kw_only=True):
    """A file of the project as the sessions saw it; the head of its sessions file."""

    path: str
    checksum: str
    text: str


class FileError(Value, frozen=True, kw_only=True):
    """Trouble with one file: what could not be done with it, and why."""

    path: str
    stage: Annotated[str, Meta(pattern=r"\A[a-z]+\Z")]
    message: str
    sessions: Number = 0
    """Planned sessions it cost."""
    trace: str = ""
