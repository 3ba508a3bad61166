"""The tokens that a language finds in a file, and their properties."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The base of all values of the data model."""


Number = Annotated[int, Meta(ge=0, le=1_000_000_000)]
"""A count of sessions, characters and the like; bounded, since stored data may come from an attacker."""
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
    """A name at its definition, or one that refers to nothing; it and the next three are of the task `tokens` only."""
    LITERAL = "LITERAL"
    OPERATOR = "OPERATOR"
    PUNCTUATION = "PUNCTUATION"
    """A bracket, or a mark that separates or ends parts of the code."""
    COMMENT = "COMMENT"
    """A word in a comment, in the task `silent` only."""
    LINE = "LINE"
    """A whole line, if lines are completed (golf)."""
    RECORD = "RECORD"


UNREFERRING = frozenset({Kind.DEFINITION, Kind.LITERAL, Kind.OPERATOR, Kind.PUNCTUATION, Kind.COMMENT})
"""The kinds of tokens that refer to nothing, and are therefore not completed."""

MASKED = "masked tokens"
"""The unit of the task `tokens`: figures of tokens are figures of these, too."""

Location = Literal["project", "library"]


class Properties(Value, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The properties of a token that are known; None means "could not be decided", which is not the same as False."""

    kind: Kind
    is_argument: bool | None = None
    is_static: bool | None = None
    package: str | None = None
    """The module, package or namespace of the declaration."""
    location: Location | None = None
    """The owner of the declaration: the project itself, or a library."""
    first_use: bool | None = None
    """True if the text does not occur earlier in the file, as a whole word."""
    language: str | None = None
    """The language of a sample, if a dataset has several."""
    prompt: str | None = None
    """The name of the prompt of a sample, if its dataset has named prompts or templates."""
    strategy: str | None = None
    """The strategy that made the query of an object's calls: LINEAR, RANDOM, REAL* or REAL; `package` is its type."""
    scenario: str | None = None
    """The number of the requested calls that were there: NEW, 0|1, 0|2+, 1|2, N|3+ or M-1|M."""
    evolution: str | None = None
    """The change of the context until the requested calls were there: NEW, 0, -M, dD or -M+dD."""
    change: str | None = None
    """The calls at first, minus removed, plus added: 3-2+1."""
    case: Number | None = None
    """The number of the query case in its history."""


class Token(Value, frozen=True, kw_only=True, gc=False):
    """A completable token: a reference to something that exists, or a keyword."""

    offset: int
    text: str
    properties: Properties


class Extraction(Value, frozen=True, kw_only=True):
    """The tokens that a language found in one file."""

    tokens: tuple[Token, ...]
    unparsable: float
    """The share of the words that the grammar could not read, 0 to 1."""
    trouble: str = ""
    """What failed while the text was made readable, and was left out."""


class Vocabulary(Value, frozen=True, kw_only=True):
    """The different texts among the tokens of a project."""

    tokens: Number
    texts: Number
    open: Annotated[float, Meta(ge=0, le=1)]
    """The open-vocabulary rate: the share of tokens whose text is in no other file of the project."""
    new: Annotated[float, Meta(ge=0, le=1)]
    """The share of tokens whose text is neither in another file nor before them in their own."""
