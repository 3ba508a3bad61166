"""Tokens, their properties, and statistics of them."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta


class Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of all values of the data model."""


def pick(source: msgspec.Struct, *names: str) -> dict[str, Any]:
    """Return name → value of some fields, to make another value of them."""
    return {name: getattr(source, name) for name in names}


Number = Annotated[int, Meta(ge=0, le=1_000_000_000)]
"""A count. It is bounded, since stored data may come from an attacker."""
Place = Annotated[int, Meta(ge=1, le=1_000_000_000)]
"""A rank or another position, counted from 1."""
Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]


class Kind(str, Enum):
    """The syntactic kind of a token."""

    METHOD_CALL = "METHOD_CALL"
    FIELD = "FIELD"
    VARIABLE = "VARIABLE"
    ARGUMENT_NAME = "ARGUMENT_NAME"
    TYPE_REFERENCE = "TYPE_REFERENCE"
    IMPORT = "IMPORT"
    KEYWORD = "KEYWORD"
    DEFINITION = "DEFINITION"
    """A name that refers to nothing, as in its definition. Only the task `tokens` has this and the 3 next kinds."""
    LITERAL = "LITERAL"
    OPERATOR = "OPERATOR"
    PUNCTUATION = "PUNCTUATION"
    """A bracket, a separator or a terminator."""
    COMMENT = "COMMENT"
    """A word in a comment; only in the task `silent`."""
    LINE = "LINE"
    RECORD = "RECORD"


UNREFERRING = frozenset({Kind.DEFINITION, Kind.LITERAL, Kind.OPERATOR, Kind.PUNCTUATION, Kind.COMMENT})
"""The kinds of tokens that refer to nothing. The task `completion` does not ask for them."""

MASKED = "masked tokens"

Location = Literal["project", "library"]


class Properties(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The properties of a token. A property is None if it is not known."""

    kind: Kind
    is_argument: bool | None = None
    is_static: bool | None = None
    package: str | None = None
    location: Location | None = None
    """Whether the project or a library declares the name."""
    first_use: bool | None = None
    """True if the text does not occur earlier in the file as a whole word."""
    language: str | None = None
    prompt: str | None = None
    strategy: str | None = None
    """The strategy that made a usage query (`settings.StrategyName`). `package` is then the type of the object."""
    scenario: str | None = None
    """The calls at the start and at the goal of a query case (see `settings.Scenario`)."""
    evolution: str | None = None
    """The change of the context between start and goal of a query case (see `settings.Evolution`)."""
    change: str | None = None
    """The number of calls at the start, of removed and of added calls: 3-2+1 is 3 calls, 2 of them removed, 1 added."""
    case: Number | None = None


class Token(Value, frozen=True, kw_only=True, gc=False):
    """A completable token: a reference to something that exists, or a keyword."""

    offset: int
    text: str
    properties: Properties


class Extraction(Value, frozen=True, kw_only=True):
    tokens: tuple[Token, ...]
    unparsable: float
    """The share of words, from 0 to 1, that the grammar could not parse."""
    trouble: str = ""


class Vocabulary(Value, frozen=True, kw_only=True):
    """Statistics of the texts of a project's tokens."""

    tokens: Number
    texts: Number
    open: Annotated[float, Meta(ge=0, le=1)]
    """The share of tokens whose text occurs in no other file of the project."""
    new: Annotated[float, Meta(ge=0, le=1)]
    """The share of tokens whose text occurs neither in another file nor earlier in the same file."""


class Sampling(Value, frozen=True, kw_only=True):
    """The sample that stage 1 drew from a large project without parsing all files."""

    files: Number = 0
    """The number of source files in the project."""
    read: Number = 0
    """The number of parsed files."""
    drawn: Number = 0
    """The number of drawn sessions. They are used to estimate `sessions`; the sessions to ask are chosen from them."""
    sessions: Number = 0
    """The estimated number of sessions in the project."""
    classes: dict[str, Number] = {}
    """Class → estimated number of sessions; empty for a simple sample."""
