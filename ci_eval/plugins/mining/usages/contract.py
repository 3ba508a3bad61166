"""The contract of a language whose object usages are mined from its source text, and the result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from re import Pattern
from typing import Literal

from ci_eval.core.grammar.syntax import Node
from ci_eval.core.model import ObjectPlace, ObjectUsage

Receiver = Literal["object", "unknown", "module", "class", "this", "array", "type parameter"]
"""Kind of the expression before the dot of a call: an object whose type is known, one whose type is not, or something
whose calls are no usage of an object."""

Infer = Callable[[bytes, int], tuple[Receiver, str]]
"""Asked if local rules do not determine a type: source text, offset (bytes) of the last byte of a receiver that ends in
a name → its kind, and its fully qualified type or ""."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    own: frozenset[str] = frozenset()
    """Qualified names of its modules (Python) or types (Java). Names that begin with one of them are the project's
    own."""
    infer: Infer | None = None
    places: bool = False
    """True if the locations of the objects in the text are needed."""


@dataclass(frozen=True, kw_only=True)
class MinedUsage:
    method: str
    """Fully qualified; with the type, it is the key of a history."""
    usage: ObjectUsage
    own: bool = False
    """True if the type is one of the project's own."""
    place: ObjectPlace | None = None
    """Location in the text, without the text's name. None if it is not needed, or if there is none."""


@dataclass(frozen=True, kw_only=True)
class MinedText:
    """The usages in a text, at most one for each type and method."""

    usages: tuple[MinedUsage, ...] = ()
    """Usages, those without calls among them."""
    receivers: Counter[Receiver] = field(default_factory=Counter)
    """Number of calls by kind of receiver."""
    bases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Types that the text declares → those that they inherit from, all fully qualified, as far as they are known."""
    broken: bool = False
    """True if the grammar could not read some of it."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """The layout of a language's statements. All names are node types of the grammar."""

    lists: frozenset[str]
    """Nodes whose children are statements."""
    simple: frozenset[str]
    """Statements that hold no others."""
    leaving: frozenset[str]
    """Statements behind which no code is reached."""
    heads: frozenset[str]
    """Nodes that have a list of statements, in which the names of the preceding children are known."""
    first: frozenset[str]
    """A node that stays first in a list: a statement, or what a statement begins with."""
    walls: frozenset[str] = frozenset()
    """Nodes that are no statements, and hold none but in functions."""
    may_be_empty: bool = True
    """True if a list may hold nothing."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """A language, as mining needs it. Its functions are sent to worker processes, so none is a lambda."""

    name: str
    grammars: Mapping[str, str]
    """Extension of a file → name of its grammar in the bundles."""
    mine: Callable[[bytes, str, Node, Surroundings], MinedText]
    """UTF-8 text, path in the project, root of the tree, project → usages. Unreadable parts are left out; no text
    raises an error."""
    dangling: Pattern[bytes]
    """Matches the dot of a call that is being typed. Without a blank in its place, the next line would belong to it."""
    own: Callable[[Iterable[str]], frozenset[str]]
    """The paths of a project's files → see Surroundings.own."""
