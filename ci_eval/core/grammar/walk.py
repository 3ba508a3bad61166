"""A pass over a syntax tree that finds the tokens of a file. The walks of all languages are based on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, TypeVar

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.document import code_points
from ci_eval.core.grammar.parsing import Rewriting, read, share_lost
from ci_eval.core.grammar.scopes import LOCAL, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, SourceReader
from ci_eval.core.model import Extraction, Kind, Location, Properties, Token

REFERENCE, CALLED, TYPE, BOUND = "reference", "called", "type", "bound"
"""The roles of a node, which decide the kind of the names inside. The names inside a BOUND node are defined there."""


class NodePlace(NamedTuple):
    scope: Scope
    argument: bool
    """True if the node is inside the arguments of a call."""


Method = TypeVar("Method", bound=Callable[..., None])


def handle_nodes(*node_types: str) -> Callable[[Method], Method]:
    """Mark a method `(self, node, role, place)` of a Walk as the handler of these types of nodes."""

    def mark(method: Method) -> Method:
        vars(method)["handles"] = node_types
        return method

    return mark


class Walk(SourceReader):
    """A pass over the syntax tree, without recursion, so that deep nesting cannot fail.

    A subclass lists the types of leaves that matter. It has handlers (`@handle_nodes(…)`) for nodes that define a name
    or decide the kind of a name, and an entry in `roles` for nodes that only give their children a role. The children
    of other nodes are visited with the role TYPE if the node has that role, otherwise as references. Text that the
    grammar could not read is skipped.
    """

    names: ClassVar[frozenset[str]] = frozenset()
    """The types of leaves that are names. The method `name` handles them."""
    keywords: ClassVar[frozenset[str]] = frozenset()
    ignored: ClassVar[str] = ""
    """The types of nodes, joined by spaces, that are skipped with all names and keywords in them."""
    roles: ClassVar[Mapping[str, str]] = {}
    """A table: role → the types of nodes, joined by spaces, whose children have that role."""
    transparent: ClassVar[str] = ""
    """The types of nodes, joined by spaces, whose children have the same role as the node itself."""
    blocks: ClassVar[str] = ""
    """The types of nodes, joined by spaces, whose children are visited in order in a new scope."""
    sequences: ClassVar[str] = ""
    """The types of nodes, joined by spaces, whose children are visited in order."""
    unnamed: ClassVar[str] = ""
    """The types of nodes, joined by spaces, whose first name is a definition or a label, not a token."""
    _ignored: ClassVar[frozenset[str]] = frozenset()
    _handlers: ClassVar[Mapping[str, Callable[[Any, Node, str, NodePlace], None]]] = {}

    def __init_subclass__(cls) -> None:
        # Signs are a third of all nodes. They are skipped early, for speed.
        cls._ignored = frozenset([*cls.ignored.split(), *"()[]{},.:;="])
        own = {kind: method for method in vars(cls).values() for kind in getattr(method, "handles", ())}
        by_role = {"": vars(cls).get("transparent", ""), **vars(cls).get("roles", {})}
        roles = {kind: _visit_as(role) for role, kinds in by_role.items() for kind in kinds.split()}
        ordered = {
            **dict.fromkeys(cls.blocks.split(), cls.in_block),
            **dict.fromkeys(cls.sequences.split(), Walk.ordered),
            **dict.fromkeys(cls.unnamed.split(), Walk.without_name),
        }
        # `push` handles names itself; a handler is needed for names that `each` puts on the stack.
        names = dict.fromkeys(cls.names, cls.name)
        skipped = dict.fromkeys(["ERROR", *cls.ignored.split()], Walk.error)
        cls._handlers = {**skipped, **cls._handlers, **names, **ordered, **roles, **own}

    def __init__(self, source: bytes, package: str, declared: Declarations) -> None:
        super().__init__(source)
        self.package = package
        self.declared = declared
        self.found: list[tuple[int, str, Properties]] = []
        """The tokens found so far, in any order: offset in bytes, text, and properties."""
        self._stack: list[tuple[Node, str, NodePlace]] = []
        self._seen: dict[tuple[Kind, bool, Origin], Properties] = {}

    def run(self, *roots: Node) -> None:
        """Fill `found`. `roots`: the tree of a file, then the trees of pieces that were parsed separately."""
        handlers = self._handlers
        # A node keeps its children in memory. New root nodes, which nothing else holds, let visited nodes be freed.
        own = [node for root in roots if (node := root.walk().node)]
        self.push(own, REFERENCE, NodePlace(self.outermost(roots[0]), False))
        del own
        while self._stack:
            node, role, place = self._stack.pop()
            handler = handlers.get(node.type)
            if handler:
                handler(self, node, role, place)
            else:
                self.push(node.children, TYPE if role == TYPE else REFERENCE, place)

    def outermost(self, _root: Node) -> Scope:
        return Scope("file")

    def push(self, nodes: Sequence[Node], role: str, place: NodePlace) -> None:
        """Visit these nodes next, in order, before nodes that were pushed earlier. For speed, leaves are handled at
        once, before any node with children."""
        names, ignored, keywords = self.names, self._ignored, self.keywords
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

    def in_order(self, nodes: Sequence[Node], place: NodePlace) -> None:
        """Visit nodes as references, strictly in order (see `each`)."""
        self.each([(node, REFERENCE, place) for node in nodes])

    def each(self, nodes: Sequence[tuple[Node, str, NodePlace]]) -> None:
        """Visit nodes next, strictly in order: in `if (T x = f(); x)`, `x` must be defined before it is used."""
        # `push` would handle a name before the nodes in front of it, so here names are put on the stack as well.
        names, ignored, keywords, waiting = self.names, self._ignored, self.keywords, []
        for item in nodes:
            node = item[0]
            kind = node.type
            if node.child_count or kind in names:
                waiting.append(item)
            elif kind in keywords and kind not in ignored:
                self.emit(node, Kind.KEYWORD, item[2])
        waiting.reverse()
        self._stack += waiting

    def in_block(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the children in order, in a new scope."""
        self.in_order(node.children, NodePlace(Scope("block", place.scope), place.argument))

    def ordered(self, node: Node, _role: str, place: NodePlace) -> None:
        self.in_order(node.children, place)

    def find_name(self, node: Node) -> Node | None:
        """Return the first name among the node's children."""
        return next((child for child in node.children if child.type in self.names), None)

    def without_name(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit all children except the first name."""
        name = self.find_name(node)
        self.push([child for child in node.children if child != name], REFERENCE, place)

    def define(self, name: Node | None, scope: Scope, origin: Origin = LOCAL, key: str = "") -> None:
        """Define a name in `scope`, unless `name` is None. `key`: the key in `scope.names`, with `{}` for the name."""
        if name is not None:
            text = self.text(name)
            scope.names[key.format(text) if key else text] = origin

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        """Handle a leaf that is a name: emit it, or define it if `role` is BOUND."""
        raise NotImplementedError

    def emit(
        self, node: Node, kind: Kind, place: NodePlace, origin: Origin = UNKNOWN, text: str = "", skip: int = 0
    ) -> None:
        """Add a node to the tokens in `found`.

        `origin`: where the name comes from. `text`: the node's text, if the caller already has it. `skip`: the number
        of bytes at the beginning of the node that are not part of the token.
        """
        # Equal properties are one object: files have few kinds of tokens, but many tokens.
        key = (kind, place.argument, origin)
        properties = self._seen.get(key)
        if properties is None:
            properties = self._seen[key] = Properties(
                kind=kind,
                is_argument=place.argument,
                is_static=origin.static,
                package=origin.package,
                location=None if origin.package is None else self._location(origin.package),
            )
        self.found.append((node.start_byte + skip, text or self.text(node), properties))

    def _location(self, package: str) -> Location:
        return "project" if package == self.package or package in self.declared else "library"

    def error(self, _node: Node, _role: str, _place: NodePlace) -> None:
        """Skip text that the grammar could not read. `read` has already measured the loss."""


def _visit_as(children_role: str) -> Callable[[Walk, Node, str, NodePlace], None]:
    """Return a handler that visits the children with this role or, if this role is empty, with the node's own role."""

    def visit(walk: Walk, node: Node, role: str, place: NodePlace) -> None:
        walk.push(node.children, children_role or role, place)

    return visit


def extract_tokens(walk: Walk, grammar: str, repairs: Sequence[Rewriting] = (), head: bytes = b"") -> Extraction:
    """Return the tokens of a file, sorted by offset (code points) and without overlaps, and the share of the text that
    is lost. `repairs` and `head`: as in `read`."""
    source = walk.source
    reading = read(source, grammar, repairs, head)
    walk.source = reading.source
    walk.run(*reading.roots)
    unparsable = share_lost(reading)
    # The trees take more memory than the tokens, so they are freed before the tokens are made.
    reading = reading._replace(roots=())
    candidates = walk.found
    if reading.source is not source:
        replaced = ((Kind.KEYWORD, reading.rewritten.keywords), (Kind.TYPE_REFERENCE, reading.rewritten.types))
        # Replaced keywords and types come first: if several tokens have the same offset, the first one counts.
        candidates = [
            (begin, source[begin:end].decode(), Properties(kind=kind))
            for kind, spans in replaced
            for begin, end in spans
        ]
        # Tokens of the rewritten text count only if the source has the same text at their offset.
        candidates += [token for token in walk.found if source.startswith(token[1].encode(), token[0])]
    points = code_points(source)
    tokens: list[Token] = []
    end = 0
    for begin, text, properties in sorted(candidates, key=itemgetter(0)):
        # A missing name that the parser adds has no text. If tokens overlap, the first one counts.
        offset = points[begin]
        if text and "\ufffd" not in text and offset >= end:
            tokens.append(Token(offset=offset, text=text, properties=properties))
            end = offset + len(text)
    return Extraction(tokens=tuple(tokens), unparsable=unparsable, trouble=reading.rewritten.trouble)
