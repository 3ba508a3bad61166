"""The interface of a language whose object usages can be mined, the mined usages, and the code shared by all walks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from re import Pattern
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args

import msgspec
from msgspec.structs import replace

from ci_eval.core.grammar.syntax import Node
from ci_eval.core.model import Definition, ObjectPlace, ObjectUsage
from ci_eval.plugins.mining.sources import node_text
from ci_eval.plugins.mining.usages.places import Layout, Origin, Places, Site

Receiver = Literal["object", "unknown", "module", "class", "this", "array", "type parameter"]
"""The kind of the expression before the dot of a call: an object of known or unknown type, or something else."""

Infer = Callable[[bytes, int], tuple[Receiver, str]]
"""Source, offset of a receiver's last byte → receiver's kind, and qualified type or "". Used if local rules fail."""


class ProjectContext(msgspec.Struct, frozen=True, kw_only=True):
    own: frozenset[str] = frozenset()
    """Qualified names of the project's modules (Python) or types (Java). Names inside these are the project's, too."""
    infer: Infer | None = None
    places: bool = False
    """True to return the locations of objects."""


class MinedUsage(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    """The fully qualified name of the method that uses the object."""
    usage: ObjectUsage
    own: bool = False
    place: ObjectPlace | None = None
    """The object's location, without the text's digest. None if it was not requested or does not exist."""


class MinedText(msgspec.Struct, frozen=True, kw_only=True):
    """The usages of a text, at most one for each type and method."""

    usages: tuple[MinedUsage, ...] = ()
    receivers: Counter[Receiver] = msgspec.field(default_factory=Counter)
    bases: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Type that the text declares → its known base types. All names are fully qualified."""
    broken: bool = False
    """True if the text has syntax errors."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """A language whose usages can be mined. The functions are sent to worker processes, so they cannot be lambdas."""

    name: str
    grammars: Mapping[str, str]
    mine: Callable[[bytes, str, Node, ProjectContext], MinedText]
    """UTF-8 text, path in the project, root of the tree, project → usages. Skips syntax errors; raises no exception."""
    dangling: Pattern[bytes]
    """Matches the dot of a call being typed. A blank replaces the dot, to separate the call from the next line."""
    own: Callable[[Iterable[str]], frozenset[str]]
    """Paths of the project's files → `ProjectContext.own`."""


PRIORITY = {
    kind: rank
    for rank, kinds in enumerate(
        ("UNKNOWN", "THIS", "FIELD GLOBAL", "PARAM LOOP EXCEPT CAST", "CONSTANT", "UNPACK WITH RETURN NEW")
    )
    for kind in kinds.split()
}
"""Kind of definition → rank. If an object has several definitions, the one of the highest rank counts. The order is
that of the paper (science.md 1.7): UNKNOWN < THIS < FIELD < PARAM < CONSTANT < RETURN = NEW."""
LONGEST = 200
"""Receivers that are longer than this number of bytes count as different objects."""


class Enclosing(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    """The qualified name of the enclosing method in its file."""
    class_: str = ""
    """The enclosing class's base class if a library declares the base class; otherwise the enclosing class."""
    method: str = ""
    """The library's method that the enclosing method overrides; if there is none, the enclosing method."""


class _UsageDraft(msgspec.Struct):
    enclosing: Enclosing
    own: bool
    definitions: dict[str, Definition] = msgspec.field(default_factory=dict)
    """Variable or other expression → its definition. The last assignment counts."""
    origins: list[Origin] = msgspec.field(default_factory=list)
    calls: list[tuple[int, str]] = msgspec.field(default_factory=list)
    """The (offset, name) of each call."""
    sites: list[Site] = msgspec.field(default_factory=list)

    def call(self, definition: Definition, thing: str, name: str, at: int) -> None:
        if definition.kind == "FIELD":
            # If the same method assigns the field, keep that definition: an assignment says more.
            self.definitions.setdefault(thing, definition)
        else:
            self.definitions[thing] = definition
        self.calls.append((at, name))


class UsageCollection:
    def __init__(self) -> None:
        self._drafts: dict[tuple[str, str], _UsageDraft] = {}

    def of(self, enclosing: Enclosing, type_: str, *, own: bool) -> _UsageDraft:
        return self._drafts.setdefault((enclosing.key, type_), _UsageDraft(enclosing, own))

    def usages(self, places: Places | None = None) -> tuple[MinedUsage, ...]:
        mined = []
        for (key, type_), draft in self._drafts.items():
            thing, definition = max(draft.definitions.items(), key=lambda item: PRIORITY[item[1].kind])
            usage = ObjectUsage(
                type=type_,
                class_=draft.enclosing.class_,
                method=draft.enclosing.method,
                definition=definition,
                calls=tuple(dict.fromkeys(name for _, name in sorted(draft.calls))),
            )
            last = next((origin for origin in reversed(draft.origins) if origin.thing == thing), None)
            place = places.of(draft.sites, draft.origins, last) if places else None
            mined.append(MinedUsage(method=key, usage=usage, own=draft.own, place=place))
        return tuple(mined)


NOWHERE = Definition()


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    """The meaning of an expression or name."""

    sort: Receiver | Literal["function", "imported"] = "unknown"
    """`imported`: a name from another file; nothing else is known about it."""
    name: str = ""
    element: str = ""
    """The type of the object's elements, such as `Foo` for a list[Foo]."""
    definition: Definition = NOWHERE
    scope: Any = None
    returns: Meaning | None = None

    def with_definition(self, kind: str, member: str = "", argument: int | None = None) -> Meaning:
        return replace(self, definition=Definition(kind=kind, member=member, argument=argument))

    @property
    def is_typed(self) -> bool:
        return self.sort == "object" and bool(self.name)


UNKNOWN = Meaning()


def instance(type_: str, kind: str = "UNKNOWN", member: str = "", element: str = "") -> Meaning:
    return Meaning(sort="object", name=type_, element=element, definition=Definition(kind=kind, member=member))


class NameScope(msgspec.Struct, kw_only=True):
    enclosing: Enclosing
    parent: Any = None
    names: dict[str, Meaning] = msgspec.field(default_factory=dict)

    def around(self: Scope) -> Iterator[Scope]:
        """Yield this scope and its outer scopes, innermost first."""
        scope: Scope | None = self
        while scope:
            yield scope
            scope = scope.parent


Scope = TypeVar("Scope", bound=NameScope)


class Walk(Generic[Scope]):
    """A walk over the tree of one text. It uses a stack of tasks, so deep nesting cannot exceed the recursion limit."""

    _readers: ClassVar[Mapping[str, Callable[[Any, Node, Any], None]]] = {}
    """Type of a node → the method that reads such nodes, which `@handle_nodes` marks."""

    def __init_subclass__(cls) -> None:
        cls._readers = {kind: method for method in vars(cls).values() for kind in getattr(method, "handles", ())}

    def __init__(self, source: bytes, around: ProjectContext, layout: Layout) -> None:
        self.source, self.around = source, around
        self.receivers: Counter[Receiver] = Counter()
        self.bases: dict[str, tuple[str, ...]] = {}
        self._collection = UsageCollection()
        self._places = Places(source, layout) if around.places else None
        self._todo: list[Callable[[], None]] = []

    def _read(self, node: Node, scope: Scope) -> None:
        if reader := self._readers.get(node.type):
            reader(self, node, scope)
        else:
            self._visit_all(node.children, scope)

    def is_own(self, type_: str) -> bool:
        parts = type_.split(".")
        return any(".".join(parts[:count]) in self.around.own for count in range(len(parts), 0, -1))

    def text(self, node: Node | None) -> str:
        return node_text(self.source, node)

    def field_text(self, node: Node, name: str) -> str:
        return node_text(self.source, node.child_by_field_name(name))

    def mined(self, root: Node) -> MinedText:
        usages = self._collection.usages(self._places)
        return MinedText(usages=usages, receivers=self.receivers, bases=self.bases, broken=root.has_error)

    def _define(self, enclosing: Enclosing, meaning: Meaning, thing: str, node: Node) -> None:
        if meaning.is_typed:
            draft = self._collection.of(enclosing, meaning.name, own=self.is_own(meaning.name))
            draft.definitions[thing] = meaning.definition
            draft.origins.append(Origin(thing=thing, node=node))

    def _add_call(
        self, receiver: Node | None, name: Node | None, call: Node, scope: Scope, read: Callable[[Node, Scope], Meaning]
    ) -> None:
        """Add a call to the usages of its scope. `read` returns the meaning of the receiver."""
        # The name is empty if it is missing in the text and the parser has inserted it.
        if receiver is None or name is None or name.end_byte == name.start_byte:
            return
        meaning = read(receiver, scope)
        sort: Receiver = "object" if meaning.is_typed else SORTS.get(meaning.sort, "unknown")
        # jedi can infer only the types of names, so other receivers, such as the results of calls, are skipped.
        if sort == "unknown" and self.around.infer and receiver.type in {"identifier", "attribute"}:
            sort, type_ = self.around.infer(self.source, receiver.end_byte - 1)
            meaning = replace(meaning, sort="object", name=type_) if sort == "object" else meaning
        self.receivers[sort] += 1
        if sort == "object":
            is_short = receiver.end_byte - receiver.start_byte < LONGEST
            thing = self.text(receiver) if is_short else str(receiver.end_byte)
            draft = self._collection.of(scope.enclosing, meaning.name, own=self.is_own(meaning.name))
            draft.call(meaning.definition, thing, self.text(name), name.start_byte)
            draft.sites.append(Site(name=name, receiver=receiver, call=call))

    def _work(self) -> None:
        while self._todo:
            self._todo.pop()()

    def _visit(self, node: Node | None, scope: Scope) -> None:
        if node is not None and node.child_count:
            self._todo.append(lambda: self._read(node, scope))

    def _visit_all(self, nodes: Iterable[Node | None], scope: Scope) -> None:
        for node in reversed(list(nodes)):
            self._visit(node, scope)

    def _then(self, nodes: Iterable[Node | None], scope: Scope, task: Callable[[], None]) -> None:
        self._todo.append(task)
        self._visit_all(nodes, scope)


SORTS: dict[str, Receiver] = {sort: sort for sort in get_args(Receiver) if sort != "object"}
