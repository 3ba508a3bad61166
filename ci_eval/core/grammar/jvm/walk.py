"""The walk of Kotlin and Scala: what is in front of a dot tells where the member behind it comes from."""

from __future__ import annotations

from typing import ClassVar

from ci_eval.core.grammar.jvm.names import Known, is_type_name, package_part
from ci_eval.core.grammar.scopes import Origin
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BlockWalk, NodePlace
from ci_eval.core.model import Kind

LOCAL = Origin(False)
# Longer ones are chains of calls, not paths.
LONGEST_PATH = 200
"""The bytes below which `a.b.C` is looked up."""


class JvmWalk(BlockWalk):
    """A walk over a language in which `Foo` in `Foo.bar` may be a type, and `java.util` a package."""

    paths: ClassVar[frozenset[str]] = frozenset()
    """The types of nodes that are a receiver, a dot and a member."""
    known: Known

    def variable(self, node: Node, name: str, place: NodePlace) -> None:
        """Emit a name that is neither called nor in the place of a type."""
        raise NotImplementedError

    def receiver(self, node: Node, place: NodePlace) -> Origin:
        """Visit the name before a dot and return the origin of the members behind it."""
        name = self.text(node).strip("`")
        if place.scope.owner(name) is None and name in self.known.roots:
            # The beginning of `java.util.Locale.ROOT`.
            self.emit(node, Kind.IMPORT, place, Origin(True, name))
            return Origin(None, name, "module")
        self.variable(node, name, place)
        origin = self.known.find(name, place.scope)
        if origin.holder == "class" or (place.scope.owner(name) is None and self.known.is_type(name)):
            return Origin(True, origin.package)
        return LOCAL

    def path_origin(self, node: Node, place: NodePlace) -> Origin:
        """Return the origin of the members behind `a.b.C.`; LOCAL if that is no path to a type or package."""
        is_path = node.type in self.paths and node.end_byte - node.start_byte < LONGEST_PATH
        return self.origin_behind(self.text(node) if is_path else "", place)

    def origin_behind(self, path: str, place: NodePlace) -> Origin:
        """Return the origin of the members behind the text `a.b.C`; LOCAL if that is no path to a type or package."""
        first, _, tail = path.partition(".")
        if not tail or not path.replace(".", "").isidentifier() or place.scope.owner(first) is not None:
            return LOCAL
        last = path.rpartition(".")[2]
        if first in self.known.roots:
            return Origin(True, package_part(path)) if self.known.is_type(last) else Origin(None, path, "module")
        if self.known.is_type(first) and is_type_name(last):
            return Origin(True, self.known.find(f"<{first}>", place.scope).package)
        return LOCAL
