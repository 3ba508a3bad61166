"""Tokens, their properties, and samples of them."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of all values of the data model."""


Number = Annotated[int, Meta(ge=0, le=1_000_000_000)]
"""A count with a bound, since stored data may come from an attacker."""
Place = Annotated[int, Meta(ge=1, le=1_000_000_000)]
"""A rank or other position, from 1."""
Milliseconds = Annotated[float, Meta(ge=0, le=1e9)]


class Kind(str, Enum):
    """What a token is in its language."""

    METHOD_CALL = "METHOD_CALL"
    FIELD = "FIELD"
    VARIABLE = "VARIABLE"
    ARGUMENT_NAME = "ARGUMENT_NAME"
    TYPE_REFERENCE = "TYPE_REFERENCE"
    IMPORT = "IMPORT"
    KEYWORD = "KEYWORD"
    DEFINITION = "DEFINITION"
    """A name that refers to nothing, as at its definition. This and the next three are of the task `tokens`."""
    LITERAL = "LITERAL"
    OPERATOR = "OPERATOR"
    PUNCTUATION = "PUNCTUATION"
    """A bracket, or a mark that separates or ends parts of the code."""
    COMMENT = "COMMENT"
    """A word in a comment, in the task `silent`."""
    LINE = "LINE"
    RECORD = "RECORD"


UNREFERRING = frozenset({Kind.DEFINITION, Kind.LITERAL, Kind.OPERATOR, Kind.PUNCTUATION, Kind.COMMENT})
"""Kinds that refer to nothing, and are not completed."""

MASKED = "masked tokens"

Location = Literal["project", "library"]


class Properties(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The properties of a token. None means that a property is not known."""

    kind: Kind
    is_argument: bool | None = None
    is_static: bool | None = None
    package: str | None = None
    location: Location | None = None
    """The declaration is in the project, or in a library."""
    first_use: bool | None = None
    """True if the text does not occur earlier in the file, as a whole word."""
    language: str | None = None
    prompt: str | None = None
    strategy: str | None = None
    """LINEAR, RANDOM, REAL* or REAL; `package` is the object's type."""
    scenario: str | None = None
    """The calls at the start and at the goal of a query case (`settings.Scenario`)."""
    evolution: str | None = None
    """The change of the context until the goal (`settings.Evolution`)."""
    change: str | None = None
    """The number of calls at the start, of removed and of added ones, such as 3-2+1."""
    case: Number | None = None


class Token(Value, frozen=True, kw_only=True, gc=False):
    """A completable token: a reference to something that exists, or a keyword."""

    offset: int
    text: str
    properties: Properties


class Extraction(Value, frozen=True, kw_only=True):
    tokens: tuple[Token, ...]
    unparsable: float
    """The share of unreadable words, 0 to 1."""
    trouble: str = ""


class Vocabulary(Value, frozen=True, kw_only=True):
    """The different texts among the tokens of a project."""

    tokens: Number
    texts: Number
    open: Annotated[float, Meta(ge=0, le=1)]
    """The share of tokens whose text is in no other file of the project."""
    new: Annotated[float, Meta(ge=0, le=1)]
    """The share of tokens whose text is neither in another file nor earlier in their own."""


class Sampling(Value, frozen=True, kw_only=True):
    """The sample that stage 1 drew without parsing all files of a large project."""

    files: Number = 0
    """All source files of the project."""
    read: Number = 0
    """The files that were parsed."""
    drawn: Number = 0
    """The drawn sessions, from which the number of all is estimated; those to ask are among them."""
    sessions: Number = 0
    """The estimated number of all sessions."""
    classes: dict[str, Number] = {}
    """The estimated number of sessions by class; empty for a simple sample."""
