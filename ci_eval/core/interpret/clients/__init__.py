"""The clients, which show an engine's list to its user; one in each file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.model import Suggestion
from ci_eval.core.model.sessions import Offer


class TypedToken(msgspec.Struct, frozen=True, kw_only=True):
    line: str
    prefix: str
    asked: int
    """The characters of the prefix that were typed when the engine was asked for the list."""
    follows: str | None
    """The code after the token; None if it is not needed."""


class Listing(NamedTuple):
    suggestions: list[Suggestion]
    highlighted: int = 0


class Client(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    summary: str
    show: Callable[[Sequence[Suggestion], TypedToken], Listing]
    keeps: bool
    """True if a complete list is kept while the user types on."""


CATALOG: Catalog[Client] = Catalog(__name__, "CLIENT")
_OPERATORS = frozenset("=<>&|:+-*/%!?.~^")
LONGEST = 200
"""The characters of the code after the token that are compared with a tail."""


def remaining_tail(suggestion: Suggestion, follows: str | None) -> str:
    """Return the text that acceptance leaves after the name, or "" if the code goes on with it, blanks aside. Only the
    tail up to its first placeholder is compared: of `join(${1:parts})`, only the bracket must follow `join`."""
    if not suggestion.tail or follows is None:
        return ""
    firm = suggestion.firm if isinstance(suggestion, Offer) else len(suggestion.tail)
    literal = "".join(suggestion.tail[:firm].split())
    following = "".join(follows[:LONGEST].split())
    if not following.startswith(literal):
        return suggestion.tail
    # `name=` is not how `name == 1` goes on.
    longer = literal[-1:] in _OPERATORS and following[len(literal) : len(literal) + 1] in _OPERATORS
    return suggestion.tail if literal and longer else ""


def duplicates(shown: Sequence[Suggestion]) -> int:
    """Return how many suggestions would leave the same text as one above them."""
    return len(shown) - len({(suggestion.text, suggestion.tail) for suggestion in shown})
