"""A language whose object usages are mined from its source text, the result, and what the walks over texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from re import Pattern
from typing import Any, Generic, Literal, TypeVar, get_args

import msgspec
from msgspec.structs import replace

from ci_eval.core.grammar.syntax import Node
from ci_eval.core.model import Definition, ObjectPlace, ObjectUsage
from ci_eval.plugins.mining.sources import node_text
from ci_eval.plugins.mining.usages.places import Layout, Origin, Places, Site

Receiver = Literal["object", "unknown", "module", "class", "this", "array", "type parameter"]
"""Kind of the expression before the dot of a call: an object of known or unknown type, or no object."""

Infer = Callable[[bytes, int], tuple[Receiver, str]]
"""Asked if local rules do not determine a type: source, offset (bytes) of a receiver's last byte → kind, and fully
qualified type or ""."""


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    own: frozenset[str] = frozenset()
    """Qualified names of the project's modules (Python) or types (Java); names that begin with one are its own, too."""
    infer: Infer | None = None
    places: bool = False


class MinedUsage(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    """Fully qualified."""
    usage: ObjectUsage
    own: bool = False
    place: ObjectPlace | None = None
    """Without the text's name. None if it is not needed, or if there is none."""


class MinedText(msgspec.Struct, frozen=True, kw_only=True):
    """Usages, at most one for each type and method."""

    usages: tuple[MinedUsage, ...] = ()
    receivers: Counter[Receiver] = msgspec.field(default_factory=Counter)
    bases: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """Types that the text declares → their base types, fully qualified, if known."""
    broken: bool = False
    """True if the grammar could not read some part."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """A language, as mining needs it. Functions are sent to worker processes, so none is a lambda."""

    name: str
    grammars: Mapping[str, str]
    mine: Callable[[bytes, str, Node, Surroundings], MinedText]
    """UTF-8 text, path in the project, root of the tree, project → usages. Unreadable parts are left out; nothing is
    raised."""
    dangling: Pattern[bytes]
    """Matches the dot of a call that is being typed. Without a blank in its place, the next line would belong to it."""
    own: Callable[[Iterable[str]], frozenset[str]]
    """Paths of a project's files → see Surroundings.own."""


# ------------------------------------------------------------------------------------------------------- gathering

PRIORITY = {
    kind: rank
    for rank, kinds in enumerate(
        ("UNKNOWN", "THIS", "FIELD GLOBAL", "PARAM LOOP EXCEPT CAST", "CONSTANT", "UNPACK WITH RETURN NEW")
    )
    for kind in kinds.split()
}
"""Rank of each kind of definition: of several, the highest counts. The order is the original's (science.md 1.7):
UNKNOWN < THIS < FIELD < PARAM < CONSTANT < RETURN = NEW."""
LONGEST = 200
"""Bytes of the longest expression that may be the same object elsewhere."""


class Enclosing(msgspec.Struct, frozen=True, kw_only=True):
    key: str
    """Qualified name of the method in its file."""
    class_: str = ""
    """Base class of its class, if a library's; else the class itself."""
    method: str = ""
    """The library's method that it overrides, which has the same name in every project; else its own name."""


class _Gathered(msgspec.Struct):
    enclosing: Enclosing
    own: bool
    definitions: dict[str, Definition] = msgspec.field(default_factory=dict)
    """Name of a variable → its origin. The last assignment counts."""
    origins: list[Origin] = msgspec.field(default_factory=list)
    calls: list[tuple[int, str]] = msgspec.field(default_factory=list)
    """(order, name) of each call."""
    sites: list[Site] = msgspec.field(default_factory=list)

    def call(self, definition: Definition, thing: str, name: str, at: int) -> None:
        if definition.kind == "FIELD":
            # An assignment in the same method says more than the field itself.
            self.definitions.setdefault(thing, definition)
        else:
            self.definitions[thing] = definition
        self.calls.append((at, name))


class Gathering:
    def __init__(self) -> None:
        self._gathered: dict[tuple[str, str], _Gathered] = {}

    def of(self, enclosing: Enclosing, type_: str, *, own: bool) -> _Gathered:
        return self._gathered.setdefault((enclosing.key, type_), _Gathered(enclosing, own))

    def usages(self, places: Places | None = None) -> tuple[MinedUsage, ...]:
        mined = []
        for (key, type_), gathered in self._gathered.items():
            thing, definition = max(gathered.definitions.items(), key=lambda item: PRIORITY[item[1].kind])
            usage = ObjectUsage(
                type=type_,
                class_=gathered.enclosing.class_,
                method=gathered.enclosing.method,
                definition=definition,
                calls=tuple(dict.fromkeys(name for _, name in sorted(gathered.calls))),
            )
            last = next((origin for origin in reversed(gathered.origins) if origin.thing == thing), None)
            place = places.of(gathered.sites, gathered.origins, last) if places else None
            mined.append(MinedUsage(method=key, usage=usage, own=gathered.own, place=place))
        return tuple(mined)


# ----------------------------------------------------------------------------------------------------------- walks


NOWHERE = Definition()


class Meaning(msgspec.Struct, frozen=True, kw_only=True):
    sort: Receiver | Literal["function", "imported"] = "unknown"
    """`imported` is a name of another file, of which only the name is known."""
    name: str = ""
    element: str = ""
    """Type of what an object holds, such as `Foo` for a list[Foo]."""
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


Scope = TypeVar("Scope")


class Walk(Generic[Scope]):
    """A reading of one text, with a stack of tasks, so that no nesting is too deep."""

    def __init__(self, source: bytes, around: Surroundings, layout: Layout) -> None:
        self.source, self.around = source, around
        self.receivers: Counter[Receiver] = Counter()
        self.bases: dict[str, tuple[str, ...]] = {}
        self._gathering = Gathering()
        self._places = Places(source, layout) if around.places else None
        self._todo: list[Callable[[], None]] = []

    def _read(self, node: Node, scope: Scope) -> None:
        raise NotImplementedError

    def is_own(self, type_: str) -> bool:
        raise NotImplementedError

    def text(self, node: Node | None) -> str:
        return node_text(self.source, node)

    def field_text(self, node: Node, name: str) -> str:
        return node_text(self.source, node.child_by_field_name(name))

    def mined(self, root: Node) -> MinedText:
        usages = self._gathering.usages(self._places)
        return MinedText(usages=usages, receivers=self.receivers, bases=self.bases, broken=root.has_error)

    def _define(self, enclosing: Enclosing, meaning: Meaning, thing: str, node: Node) -> None:
        if meaning.is_typed:
            gathered = self._gathering.of(enclosing, meaning.name, own=self.is_own(meaning.name))
            gathered.definitions[thing] = meaning.definition
            gathered.origins.append(Origin(thing=thing, node=node))

    def _add_call(self, site: Site, meaning: Meaning, enclosing: Enclosing) -> None:
        receiver, name = site.receiver, site.name
        sort: Receiver = "object" if meaning.is_typed else SORTS.get(meaning.sort, "unknown")
        # The result of a call has no name to infer the type of.
        if sort == "unknown" and self.around.infer and receiver.type in {"identifier", "attribute"}:
            sort, type_ = self.around.infer(self.source, receiver.end_byte - 1)
            meaning = replace(meaning, sort="object", name=type_) if sort == "object" else meaning
        self.receivers[sort] += 1
        if sort == "object":
            is_short = receiver.end_byte - receiver.start_byte < LONGEST
            thing = self.text(receiver) if is_short else str(receiver.end_byte)
            gathered = self._gathering.of(enclosing, meaning.name, own=self.is_own(meaning.name))
            gathered.call(meaning.definition, thing, self.text(name), name.start_byte)
            gathered.sites.append(site)

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
