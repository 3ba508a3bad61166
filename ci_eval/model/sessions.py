"""Stage 2: what the engine answered."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from msgspec import Meta

from ci_eval.model.tokens import Milliseconds, Number, Place, Properties, Value

Grade = Annotated[float, Meta(ge=-1e6, le=1e6)]


class Suggestion(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One candidate; `text` is what would be inserted."""

    text: str
    kind: str = ""
    filter_text: str | None = None
    sort_text: str | None = None
    position: Place | None = None
    """Place (1-based) in the engine's own list, where the completion type moved it."""
    grades: dict[str, Grade] | None = None
    """How close it is to what was expected: name of the score → its value; None where it is not graded."""


class Status(str, Enum):
    """How a planned session ended. Nothing planned is ever without one."""

    OK = "ok"
    EMPTY = "empty"
    NO_MATCH = "no-match"
    TIMEOUT = "timeout"
    ENGINE_CRASH = "engine-crash"
    SKIPPED = "skipped"
    ERROR = "error"


FAILED = frozenset({Status.TIMEOUT, Status.ENGINE_CRASH, Status.ERROR})
"""The engine was asked and failed: a miss in every rank metric, counted on its own as well."""


class LookupScore(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of the engine, as far as metrics look at it."""

    prefix: str
    total: Number
    """Number of suggestions shown."""
    rank: Place | None
    """Place of the expected text among all that was shown, None if absent."""
    latency: Milliseconds
    """Of several rounds: the median."""
    latencies: tuple[Milliseconds | None, ...] = ()
    """Round by round, where there were several; None where a round came to no such answer."""
    cold: bool = False
    """Whether it was the first question about the file after it was opened."""
    selected: bool = False
    """Whether the modelled user took the expected text here."""
    accepted: Number = 0
    """Of an item that its task plays (a line of golf): characters that taking a suggestion here saved typing."""
    grades: dict[str, Grade] | None = None
    """Those of the first suggestion, or of an empty text where there is none; None where nothing is graded."""


class Lookup(LookupScore, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of the engine, as a person would have seen it."""

    suggestions: tuple[Suggestion, ...]
    """In shown order, at most `interpret.maxSuggestions` of them."""


class Otherwise(Value, frozen=True, kw_only=True, omit_defaults=True):
    """What a later round said of a session, where metrics see another answer than in the first."""

    round: Place
    """From 1, the first one's being 0."""
    status: Status
    lookups: tuple[LookupScore, ...] = ()


class SessionScore(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One token typed once, as far as metrics look at it."""

    id: str
    file: str
    offset: Number
    expected_text: Annotated[str, Meta(min_length=1)]
    properties: Properties
    status: Status
    message: str = ""
    """Why, when the status is timeout, engine-crash, skipped or error."""
    typed: Number = 0
    """Characters of the token that were there when completion was first asked for."""
    askable: Number = 0
    """Of an item that its task plays: number of places where completion is asked for if no suggestion is taken."""
    differing: Number = 0
    """Rounds after the first in which the engine answered something else than in the first."""
    otherwise: tuple[Otherwise, ...] = ()
    """Of these rounds, those in which metrics see something else."""
    lookups: tuple[LookupScore, ...] = ()


class Session(SessionScore, frozen=True, kw_only=True, omit_defaults=True):
    """One token typed once: what was asked, what came back, how it ended."""

    lookups: tuple[Lookup, ...] = ()


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
