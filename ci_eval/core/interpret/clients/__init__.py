"""The clients, one in each file. A client decides how the list of an engine is shown to the user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from ci_eval.core.base.catalog import Catalog
from ci_eval.core.model import Offer, Suggestion


class TypedToken(msgspec.Struct, frozen=True, kw_only=True):
    line: str
    prefix: str
    asked: int
    """The number of characters of the prefix that were typed when the engine was asked for the list."""
    follows: str | None
    """The code after the token; None if it is not needed."""
    mark: Callable[[Sequence[Suggestion]], Sequence[Suggestion]] = list
    """Adds the edits elsewhere in the file to the tails of suggestions."""


class Listing(NamedTuple):
    suggestions: list[Suggestion]
    highlighted: int = 0


class Client(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    summary: str
    show: Callable[[Sequence[Suggestion], TypedToken], Listing]
    keeps: bool
    """True if the client keeps a complete list, and only filters it, while the user continues to type."""


CATALOG: Catalog[Client] = Catalog(__name__, "CLIENT")
_OPERATORS = frozenset("=<>&|:+-*/%!?.~^")
LONGEST = 200
"""The number of characters of the code after the token that are compared with a tail."""


def remaining_tail(suggestion: Suggestion, follows: str | None) -> str:
    """Return the tail; "" if the code after the token (None: not needed) begins with the tail, apart from blanks. Only
    the tail up to its first placeholder is compared: for `join(${1:parts})`, only the bracket must follow `join`."""
    tail = suggestion.tail
    if not tail or follows is None:
        return ""
    firm = suggestion.firm if isinstance(suggestion, Offer) else len(tail)
    following = _without_blanks(follows)
    # This test is cheap, and usually decides.
    if firm and not tail[0].isspace() and tail[0] != following[:1]:
        return tail
    literal = "".join(tail[:firm].split())
    if not following.startswith(literal):
        return tail
    # The tail `=` (of `name=`) does not match the `==` of `== 1`: an operator matches only as a whole.
    longer = literal[-1:] in _OPERATORS and following[len(literal) : len(literal) + 1] in _OPERATORS
    return tail if literal and longer else ""


@lru_cache(maxsize=1)
def _without_blanks(follows: str) -> str:
    # All suggestions of a list are compared with the same code.
    return "".join(follows[:LONGEST].split())


def duplicates(shown: Sequence[Suggestion]) -> int:
    """Return the number of suggestions that would leave the same text as a suggestion above them."""
    return len(shown) - len({(suggestion.text, suggestion.tail) for suggestion in shown})
