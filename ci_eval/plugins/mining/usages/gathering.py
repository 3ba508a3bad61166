"""The collector that merges the calls on objects of one type in one method into a usage; and the order of reading
the nodes of a text for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ci_eval.core.grammar.syntax import Node
from ci_eval.core.model import Definition, ObjectUsage
from ci_eval.plugins.mining.usages.contract import MinedText, MinedUsage, Receiver
from ci_eval.plugins.mining.usages.places import Origin, Places, Site

PRIORITY = {
    kind: rank
    for rank, kinds in enumerate(
        ("UNKNOWN", "THIS", "FIELD GLOBAL", "PARAM LOOP EXCEPT CAST", "CONSTANT", "UNPACK WITH RETURN NEW")
    )
    for kind in kinds.split()
}
"""Rank of each kind of definition. If several objects of one type in one method have definitions, that of the highest
rank counts. The order is that of the original (science.md 1.7), which has UNKNOWN < THIS < FIELD < PARAM < CONSTANT <
RETURN = NEW."""


LONGEST = 200
"""Bytes of the longest expression that may be the same object elsewhere."""


@dataclass(frozen=True, kw_only=True)
class Enclosing:
    key: str
    """Qualified name of the method in its file."""
    class_: str = ""
    """Base class of its class, if that is a type of a library; else the class itself."""
    method: str = ""
    """The method of a library that it overrides, which has the same name in every project; else its own name."""


@dataclass
class _Gathered:
    enclosing: Enclosing
    own: bool
    definitions: dict[str, Definition] = field(default_factory=dict)
    """Object (the variable's name) → its origin. The last assignment counts."""
    origins: list[Origin] = field(default_factory=list)
    calls: list[tuple[int, str]] = field(default_factory=list)
    sites: list[Site] = field(default_factory=list)


class Gathering:
    def __init__(self, places: Places | None = None) -> None:
        """Start without usages. `places` locates the objects, if their locations are needed."""
        self._places = places
        self.receivers: Counter[Receiver] = Counter()
        self.bases: dict[str, tuple[str, ...]] = {}
        self._found: dict[tuple[str, str], _Gathered] = {}

    def define(
        self,
        enclosing: Enclosing,
        type_: str,
        definition: Definition,
        thing: str,
        node: Node | None = None,
        *,
        own: bool,
    ) -> None:
        """Add the definition of an object of this type, which `thing` names, in a text from `node` on."""
        gathered = self._entry(enclosing, type_, own)
        gathered.definitions[thing] = definition
        if node is not None:
            gathered.origins.append(Origin(thing=thing, node=node))

    def call(
        self,
        enclosing: Enclosing,
        type_: str,
        definition: Definition,
        thing: str,
        name: str,
        at: int,
        site: Site | None = None,
        *,
        own: bool,
    ) -> None:
        """Add a call of the method `name` on an object of this type. `at` orders it among the others; `site` is its
        site in a text."""
        gathered = self._entry(enclosing, type_, own)
        if definition.kind == "FIELD":
            # An assignment in the same method says more than the field itself.
            gathered.definitions.setdefault(thing, definition)
        else:
            gathered.definitions[thing] = definition
        gathered.calls.append((at, name))
        if site:
            gathered.sites.append(site)

    def call_at(
        self,
        site: Site,
        text: Callable[[Node], str],
        enclosing: Enclosing,
        type_: str,
        definition: Definition,
        *,
        own: bool,
    ) -> None:
        """Add the call at that site. `text` returns the text of a node."""
        receiver, name = site.receiver, site.name
        is_short = receiver.end_byte - receiver.start_byte < LONGEST
        thing = text(receiver) if is_short else str(receiver.end_byte)
        self.call(enclosing, type_, definition, thing, text(name), name.start_byte, site, own=own)

    def _entry(self, enclosing: Enclosing, type_: str, own: bool) -> _Gathered:
        return self._found.setdefault((enclosing.key, type_), _Gathered(enclosing, own))

    def mined(self, *, broken: bool) -> MinedText:
        return MinedText(usages=tuple(self._usages()), receivers=self.receivers, bases=self.bases, broken=broken)

    def _usages(self) -> Iterator[MinedUsage]:
        for (key, type_), gathered in self._found.items():
            thing, definition = max(gathered.definitions.items(), key=lambda item: PRIORITY[item[1].kind])
            usage = ObjectUsage(
                type=type_,
                class_=gathered.enclosing.class_,
                method=gathered.enclosing.method,
                definition=definition,
                calls=tuple(dict.fromkeys(name for _, name in sorted(gathered.calls))),
            )
            last = next((origin for origin in reversed(gathered.origins) if origin.thing == thing), None)
            place = self._places.of(gathered.sites, gathered.origins, last) if self._places else None
            yield MinedUsage(method=key, usage=usage, own=gathered.own, place=place)


Scope = TypeVar("Scope")


class StackWalk(Generic[Scope]):
    """A reading whose remaining tasks are a stack, so that no nesting is too deep for it."""

    def __init__(self) -> None:
        self._todo: list[Callable[[], None]] = []

    def _read(self, node: Node, scope: Scope) -> None:
        raise NotImplementedError

    def _work(self) -> None:
        while self._todo:
            self._todo.pop()()

    def _visit(self, node: Node | None, scope: Scope) -> None:
        """Read the node next, before what was to be done already."""
        if node is not None and node.child_count:
            self._todo.append(lambda: self._read(node, scope))

    def _visit_all(self, nodes: Iterable[Node], scope: Scope) -> None:
        for node in reversed(list(nodes)):
            self._visit(node, scope)

    def _then(self, nodes: Iterable[Node | None], scope: Scope, task: Callable[[], None]) -> None:
        self._todo.append(task)
        self._visit_all((node for node in nodes if node is not None), scope)
