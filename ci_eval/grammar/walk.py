"""What the languages share: one pass over a syntax tree that turns names and keywords into tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, TypeVar

from ci_eval.contracts import Declarations
from ci_eval.grammar.document import code_points
from ci_eval.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.grammar.syntax import Node, parser
from ci_eval.model import Extraction, Kind, Location, Properties, Token

REFERENCE, CALLED, TYPE, BOUND = "reference", "called", "type", "bound"
"""What a node is to its parent, as far as it decides the kind of the names in it; BOUND is where names are defined."""


class NodePlace(NamedTuple):
    """Where a node stands."""

    scope: Scope
    argument: bool
    """Whether that is inside the arguments of a call."""


Method = TypeVar("Method", bound=Callable[..., None])


def on(*node_types: str) -> Callable[[Method], Method]:
    """Mark a method `(self, node, role, place)` of a Walk as the handler of these types of nodes."""

    def mark(method: Method) -> Method:
        vars(method)["handles"] = node_types
        return method

    return mark


class Walk:
    """One pass over the syntax tree without recursion: deep nesting is no reason to fail.

    A subclass names the types of leaves that matter, and handles the nodes (`@on(…)`) in which the kind of a name is
    decided or a name is defined. A node without a handler hands its role on to its children if that is TYPE, else they
    are references. What the grammar could not read is measured and left out.
    """

    names: ClassVar[frozenset[str]] = frozenset()
    """Types of leaves that are names; they go to `name`, wherever they stand."""
    keywords: ClassVar[frozenset[str]] = frozenset()
    """Types of leaves that are keywords."""
    ignored: ClassVar[frozenset[str]] = frozenset()
    """Types of nodes in which there is nothing to find: punctuation, comments, literals."""
    _handlers: ClassVar[Mapping[str, Callable[[Any, Node, str, NodePlace], None]]] = {}

    def __init_subclass__(cls) -> None:
        own = {kind: method for method in vars(cls).values() for kind in getattr(method, "handles", ())}
        # A name alone waits on the stack where it must be visited after what stands behind it.
        cls._handlers = {"ERROR": Walk.error, **cls._handlers, **dict.fromkeys(cls.names, cls.name), **own}

    def __init__(self, source: bytes, package: str, declared: Declarations) -> None:
        """`package`: the file's own."""
        self.source = source
        self.package = package
        self.declared = declared
        self.found: list[tuple[int, str, Properties]] = []
        """Offset in bytes, text, properties; in any order."""
        self.unparsable = 0
        """Bytes."""
        self._stack: list[tuple[Node, str, NodePlace]] = []
        self._seen: dict[tuple[Kind, bool, Origin], Properties] = {}

    def run(self, root: Node) -> None:
        """Fill `found` and `unparsable`."""
        handlers = self._handlers
        self.push([root], REFERENCE, NodePlace(self.outermost(root), False))
        while self._stack:
            node, role, place = self._stack.pop()
            handler = handlers.get(node.type)
            if handler:
                handler(self, node, role, place)
            else:
                self.push(node.children, TYPE if role == TYPE else REFERENCE, place)

    def outermost(self, _root: Node) -> Scope:
        """The scope of the file, with the names that are known before it is read."""
        return Scope("file")

    def push(self, nodes: Sequence[Node], role: str, place: NodePlace) -> None:
        """Visit these next, in their order: what is bound first is the definition. Leaves are done at once (speed).

        A later push is visited before what was pushed earlier; leaves are visited even before that.
        """
        names, ignored, keywords = self.names, self.ignored, self.keywords
        inner = []
        for node in nodes:
            kind = node.type
            if kind in names:
                self.name(node, role, place)
            elif kind in ignored:
                continue
            elif node.child_count:
                inner.append((node, role, place))
            elif kind in keywords:
                self.emit(node, Kind.KEYWORD, place)
        inner.reverse()
        self._stack += inner

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        """A leaf that is a name: emit it, or define it where `role` is BOUND."""
        raise NotImplementedError

    def emit(
        self, node: Node, kind: Kind, place: NodePlace, origin: Origin = UNKNOWN, text: str = "", skip: int = 0
    ) -> None:
        """Add the node to what was found; `text`: its text, where that is at hand, behind the bytes to `skip`."""
        key = (kind, place.argument, origin)
        properties = self._seen.get(key)
        if properties is None:
            properties = self._seen[key] = Properties(
                kind=kind,
                is_argument=place.argument,
                is_static=origin.static,
                package=origin.package,
                location=self._location(origin.package),
            )
        self.found.append((node.start_byte + skip, text or self.text(node), properties))

    def _location(self, package: str | None) -> Location | None:
        if package is None:
            return None
        return "project" if package == self.package or package in self.declared else "library"

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.source[node.start_byte : node.end_byte].decode()

    def error(self, node: Node, _role: str, _place: NodePlace) -> None:
        """What the grammar could not read."""
        self.unparsable += node.end_byte - node.start_byte


def tokens_of(walk: Walk, grammar: str) -> Extraction:
    """Parse the source, walk over the tree, and order what was found; offsets in code points."""
    walk.run(parser(grammar).parse(walk.source).root_node)
    found = sorted(walk.found, key=itemgetter(0))
    points = code_points(walk.source) or range(len(walk.source) + 1)
    # A name may be empty: the parser adds what it misses.
    tokens = tuple([Token(offset=points[begin], text=text, properties=known) for begin, text, known in found if text])
    return Extraction(tokens=tokens, unparsable=walk.unparsable / max(len(walk.source), 1))
