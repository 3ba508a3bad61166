"""What a language must tell for object usages to be mined from its source text, and what comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from re import Pattern
from typing import Literal

from ci_eval.grammar.syntax import Node
from ci_eval.model import ObjectPlace, ObjectUsage

Receiver = Literal["object", "unknown", "module", "class", "this", "array", "type parameter"]
"""What stands before the dot of a call: an object whose type is known, one whose type is not, or something whose calls
are no usage of an object."""

Infer = Callable[[bytes, int], tuple[Receiver, str]]
"""Asked where local rules do not tell: source text, offset (bytes) of the last byte of a receiver that ends in a name
→ what it is, and its fully qualified type or ""."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What is known of the project that a text belongs to."""

    own: frozenset[str] = frozenset()
    """Qualified names of its modules (Python) or types (Java): what begins with one of them is the project's own."""
    infer: Infer | None = None
    places: bool = False
    """Whether it is wanted where in the text the objects are."""


@dataclass(frozen=True, kw_only=True)
class MinedUsage:
    """A usage, and the method that it is in."""

    method: str
    """Fully qualified; with the type, it is the key of a history."""
    usage: ObjectUsage
    own: bool = False
    """Whether the type is one of the project's own."""
    place: ObjectPlace | None = None
    """Where it is in the text, without the name of that; None where that is not wanted, or where there is none."""


@dataclass(frozen=True, kw_only=True)
class MinedText:
    """What is in one text."""

    usages: tuple[MinedUsage, ...] = ()
    """Of one type and method there is one at most. Those without calls are there too."""
    receivers: Counter[Receiver] = field(default_factory=Counter)
    """How many calls have a receiver of each kind."""
    bases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Types that the text declares → those that they inherit from, all fully qualified, as far as they are known."""
    broken: bool = False
    """Whether the grammar could not read some of it."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How statements are laid out. All are names of node types, as the grammar has them."""

    lists: frozenset[str]
    """Nodes whose children are statements."""
    simple: frozenset[str]
    """Statements that hold no others."""
    leaving: frozenset[str]
    """Statements behind which nothing is reached."""
    heads: frozenset[str]
    """Nodes that have a list of statements, in which the names of what stands before that are known."""
    first: frozenset[str]
    """What stays first in a list: a statement, or what a statement begins with."""
    walls: frozenset[str] = frozenset()
    """Nodes that are no statements, and hold none but in functions."""
    may_be_empty: bool = True
    """Whether a list may hold nothing."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """One language, as mining needs it. The functions have names, since they are sent to worker processes."""

    name: str
    grammars: Mapping[str, str]
    """End of a file's name → name of its grammar in the bundles."""
    mine: Callable[[bytes, str, Node, Surroundings], MinedText]
    """UTF-8 text, path in the project, root of the tree → its usages. What cannot be read is left out; never raises for
    a text."""
    dangling: Pattern[bytes]
    """Matches the dot of a call that is just being typed: without a blank in its place, the next line would belong to
    it."""
    own: Callable[[Iterable[str]], frozenset[str]]
    """The paths of a project's files → see Surroundings.own."""
