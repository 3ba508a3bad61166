"""What a language finds in a file: tokens and their properties."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of all values here."""


Number = Annotated[int, Meta(ge=0, le=1_000_000_000)]
"""A count of sessions, characters and the like; bounded, since what is stored may come from somebody who means harm."""
Place = Annotated[int, Meta(ge=1, le=1_000_000_000)]
"""A rank or other position in a list, from 1."""
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
    """A name where it is defined, or another one that refers to nothing; this and the next three are tokens of the task
    `tokens` only."""
    LITERAL = "LITERAL"
    OPERATOR = "OPERATOR"
    PUNCTUATION = "PUNCTUATION"
    """A bracket, or what separates or ends parts of the code."""
    LINE = "LINE"
    """A whole line, where lines are completed (golf)."""
    RECORD = "RECORD"
    """A record of a dataset."""


UNREFERRING = frozenset({Kind.DEFINITION, Kind.LITERAL, Kind.OPERATOR, Kind.PUNCTUATION})
"""Kinds of what refers to nothing, and is therefore not completed."""

MASKED = "masked tokens"
"""Unit of the task `tokens`: figures of tokens are figures of these, too."""

Location = Literal["project", "library"]


class Properties(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What is known about a token; None means "could not be decided", which is not the same as False."""

    kind: Kind
    is_argument: bool | None = None
    is_static: bool | None = None
    package: str | None = None
    """Where the declaration stands: its module, package or namespace."""
    location: Location | None = None
    """Whether the declaration is the project's own or a library's."""
    first_use: bool | None = None
    """Whether the text does not occur in the file before this place, as a whole word."""
    language: str | None = None
    """Of a record, where a dataset has several."""
    strategy: str | None = None
    """How the query of an object's calls was made: LINEAR, RANDOM, REAL* or REAL; `package` is then its type."""
    scenario: str | None = None
    """How many of the wanted calls were there: NEW, 0|1, 0|2+, 1|2, N|3+ or M-1|M."""
    evolution: str | None = None
    """What of the context changed until the wanted calls were there: NEW, 0, -M, dD or -M+dD."""
    change: str | None = None
    """Calls at first, minus removed, plus added: 3-2+1."""
    case: Number | None = None
    """Number of the query case in its history."""


class Token(Value, frozen=True, kw_only=True, gc=False):
    """A completable token: a reference to something that exists, or a keyword."""

    offset: int
    text: str
    properties: Properties


class Extraction(Value, frozen=True, kw_only=True):
    """What a language found in one file."""

    tokens: tuple[Token, ...]
    unparsable: float
    """Share of the text (0..1) the grammar could not read."""


class Vocabulary(Value, frozen=True, kw_only=True):
    """The different texts among the tokens of a project."""

    tokens: Number
    texts: Number
    """How many different ones there are."""
    open: Annotated[float, Meta(ge=0, le=1)]
    """The open-vocabulary rate: the share of tokens whose text is in no other file of the project."""
    new: Annotated[float, Meta(ge=0, le=1)]
    """The share of tokens whose text is neither in another file nor before them in their own."""
