"""The contract of a language whose tests are paired with the functions that they test, the locations of both, and the
methods of a language whose code is all in classes, as Java's and C#'s is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Literal

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.sources import field_text, line_number, named_children

Kind = Literal["function", "method"]
Rule = Literal["exact", "prefix", "class", "call"]
"""Rule that paired them: the test's name is that of the function, or begins with it; its class is named so; it calls
it."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A location of code: bytes of the normalised text, and lines (1-based, both ends included)."""

    path: str
    begin: int
    end: int
    lines: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Function:
    name: str
    place: Place
    owner: str = ""
    """Name of its class; "" for a function outside of classes."""
    scope: str = ""
    """Package of the function, in languages whose tests are paired within a package."""
    least: int = 0
    most: int | None = None
    """The most arguments that it takes; None for any number."""
    broken: bool = False

    @property
    def kind(self) -> Kind:
        return "method" if self.owner else "function"


@dataclass(frozen=True)
class Call:
    """A call in a test. `receiver` is the expression in front of the name, if that is short."""

    name: str
    receiver: str = ""
    arguments: int | None = None
    """Number of arguments; None if it is known only at run time."""

    def fits(self, function: Function) -> bool:
        """Return whether it may be a call of the function, by its name and the number of arguments."""
        last = self.receiver.rpartition(".")[2]
        # By convention, a receiver with a capital letter is a class: here another one than the function's own.
        if self.name != function.name or (function.owner and last[:1].isupper() and last != function.owner):
            return False
        if self.arguments is None:
            return True
        return function.least <= self.arguments and (function.most is None or self.arguments <= function.most)


@dataclass(frozen=True, kw_only=True)
class Test:
    name: str
    place: Place
    owner: str = ""
    """Name of its class."""
    scope: str = ""
    titles: tuple[str, ...] = ()
    """Titles that people gave to it and its suites, if these are not identifiers."""
    calls: tuple[Call, ...] = ()
    """Calls in the test, in order of position."""
    context: str = ""
    """Part of its file that a person who writes it sees."""
    kind: Kind = "function"
    broken: bool = False
    empty: bool = False
    imports: Mapping[str, str] = field(default_factory=dict)
    """Name in its file → the module it is from."""

    def matching_calls(self, function: Function) -> list[Call]:
        return [call for call in self.calls if call.fits(function)]


@dataclass(frozen=True, kw_only=True)
class Parsed:
    functions: Sequence[Function] = ()
    tests: Sequence[Test] = ()
    broken: bool = False
    """True if the grammar could not read some of it."""


class Index:
    def __init__(self, functions: Iterable[Function], paths: Iterable[str] = ()) -> None:
        """Index the functions of a project. `paths` names all files that were read."""
        self.paths = frozenset(paths)
        self._named: dict[str, list[Function]] = defaultdict(list)
        self._owned: dict[str, list[Function]] = defaultdict(list)
        for function in functions:
            self._named[function.name].append(function)
            self._owned[function.owner].append(function)

    def named(self, *names: str) -> list[Function]:
        return [function for name in dict.fromkeys(names) for function in self._named.get(name, ())]

    def of(self, owner: str) -> list[Function]:
        return self._owned.get(owner, [])


@dataclass(frozen=True)
class Tier:
    """The functions that a test may be about, according to one rule."""

    rule: Rule
    functions: Sequence[Function]


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """A language, as pairing needs it. Its functions are sent to worker processes, so none is a lambda."""

    name: str
    grammars: Mapping[str, str]
    """Extension of a file → name of its grammar in the bundles; if several fit, the longest counts."""
    read: Callable[[bytes, str, Node], Parsed]
    """The text of a file, its path, the root of its tree → its functions and tests."""
    tiers: Callable[[Test, Index], Iterable[Tier]]
    """Yields the candidates for a test, the best first. The first tier that is not empty decides."""
    mask: Callable[[bytes], bytes] = bytes
    """The text of a file → what the grammar reads of it, as many bytes."""
    nothing: str = ""
    """Statement that does nothing, in place of the other tests in a sample that can be run; "" if samples of this
    language cannot be run."""
    framework: Callable[[Mapping[str, object]], str] | None = None
    """The project's package.json → what runs the tests. None if the test's own text shows it."""


def place(source: bytes, path: str, node: Node) -> Place:
    return between(source, path, node.start_byte, node.end_byte)


def between(source: bytes, path: str, begin: int, end: int) -> Place:
    """Return the location of the bytes from `begin` to `end`."""
    first = line_number(source, begin)
    return Place(path=path, begin=begin, end=end, lines=(first, first + source.count(b"\n", begin, end)))


def folder(path: str) -> str:
    return path.rpartition("/")[0]


def stem(path: str) -> str:
    """Return the file's name without its extensions."""
    return PurePosixPath(path).name.partition(".")[0]


@dataclass(frozen=True)
class Method:
    node: Node
    classes: tuple[Node, ...]
    """Classes around it, the outermost first."""
    marks: frozenset[str]
    """Its annotations (Java) or attributes (C#), by their last names."""

    def owner(self, source: bytes) -> str:
        """Return the name of the innermost class, an empty string outside of classes."""
        return field_text(source, self.classes[-1], "name") if self.classes else ""


def methods(
    root: Node, classes: Set[str], bodies: Set[str], marks: Callable[[Node], frozenset[str]]
) -> Iterator[Method]:
    """Yield the methods below `root`, in order. `classes` and `bodies`: the types of nodes that are classes, and of all
    that methods are found in; `marks` reads those of a method."""
    stack: list[tuple[Node, tuple[Node, ...]]] = [(node, ()) for node in reversed(named_children(root))]
    while stack:
        node, around = stack.pop()
        if node.type == "method_declaration":
            yield Method(node, around, marks(node))
        elif node.type in bodies:
            inner = (*around, node) if node.type in classes else around
            stack += [(child, inner) for child in reversed(named_children(node))]
