"""The namespaces of C++, and what the text of one file says about the names in them."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.core.grammar.walk import NodePlace

NAMESPACE, CLASS, MEMBER, EITHER = "module", "class", "member", "either"
"""The holders: a namespace; a type; a field, method or enum constant; what may be a type or not."""
LOCAL = Origin(False)
LOCAL_TYPE = Origin(False, None, CLASS)
MACRO = Origin(True, None, EITHER)
# Headers are not read, so the namespaces within `std` must be listed.
_IN_STD = frozenset("chrono experimental filesystem literals numbers placeholders pmr ranges this_thread views".split())

_TOP = re.compile(
    # Namespaces that hold little end without a comment that says so.
    r"^(?:(?:inline )?namespace\b[ \w:]*\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}|"
    r"(?:inline )?namespace\b *([\w:]*)[^\n;={]*(?:\{|$)|(\} *// *.*namespace)|"
    r"(?:class|struct|union|enum(?: class| struct)?) (?:[A-Z_]+(?:\([^)\n]*\))? )?(\w+)(?=[^\n;]*[{:\n])|"
    r"using (\w+) *=|[\w:][\w:<>,&*\t ]*[ &*](\w+) ?\()",
    re.MULTILINE,
)


@dataclass
class CppScope(Scope):
    package: str = ""


def enclosing_namespace(scope: Scope) -> str:
    """Return the namespace around a scope; "" for the global one."""
    return scope.package if isinstance(scope, CppScope) else ""


def inside(kind: str, place: NodePlace, argument: bool = False) -> NodePlace:
    """Return a place in a new scope, which is inside that of `place`."""
    return NodePlace(CppScope(kind, place.scope, package=enclosing_namespace(place.scope)), argument)


def declaring(scope: Scope) -> Scope:
    """Return the scope that a declaration belongs to."""
    # Template parameters have a scope of their own, in which nothing else is declared.
    while scope.kind == "template" and scope.parent:
        scope = scope.parent
    return scope


def declare(text: str, _path: str) -> tuple[str, frozenset[str]]:
    """Return the namespace with the most declarations at the start of a line, and these declarations."""
    declarations: dict[str, set[str]] = defaultdict(set)
    path: list[str] = []
    for match in _TOP.finditer(text):
        if match[2]:
            del path[-1:]
        elif name := match[3] or match[4] or match[5]:
            declarations["::".join(filter(None, path))].add(name)
        elif match[1] is not None:
            path.append(match[1])
    # What is in `std` specialises templates of the standard library.
    declarations.pop("std", None)
    # Any namespace goes before the global one, however little it declares.
    package = max(declarations, key=lambda namespace: (namespace != "", len(declarations[namespace])), default="")
    return package, frozenset(declarations[package])


class Namespaces:
    """The namespaces of a file and of its project, and the types of the file."""

    def __init__(self, declared: Declarations) -> None:
        self._declared = declared
        self._names: dict[str, dict[str, Origin]] = {}
        self._roots = {package.partition("::")[0] for package in declared}
        # `a::b::c` tells of `a::b`, in which no file may declare anything else.
        self._packages = {package[: match.start()] for package in declared for match in re.finditer("::|$", package)}
        self.types: dict[str, CppScope] = {}
        """A table: name of a class or an enum → what is declared in it."""

    def names(self, package: str) -> dict[str, Origin]:
        """Return what is known to be declared in a namespace; the table grows while the file is read."""
        if package not in self._names:
            # Other files are read by a pattern that does not tell types from functions.
            self._names[package] = dict.fromkeys(self._declared.get(package, ()), Origin(True, package, EITHER))
        return self._names[package]

    def open(self, name: str, outer: Scope) -> CppScope:
        """Return the scope of `namespace name { … }` inside `outer`, and define the name there."""
        around = enclosing_namespace(outer)
        package = f"{around}::{name}" if around else name
        outer.names[name] = Origin(True, package, NAMESPACE)
        self._roots.add(package.partition("::")[0])
        return CppScope("namespace", outer, self.names(package), package=package)

    def absolute(self, path: str, scope: Scope) -> str:
        """Return the full name of a namespace that is written as `path`."""
        head, _, tail = path.lstrip(":").partition("::")
        package = self.head(head, scope).package or head
        return f"{package}::{tail}" if tail else package

    def is_own(self, package: str) -> bool:
        """Return whether the project or the file declares a namespace with the same outermost one; `std` is never
        own."""
        root = package.partition("::")[0]
        return root != "std" and root in self._roots

    def head(self, name: str, scope: Scope) -> Origin:
        """Return what `name` is in `name::x`; UNKNOWN if nothing tells."""
        origin = scope.find(name)
        if origin.holder in {NAMESPACE, CLASS}:
            return origin
        outer = enclosing_namespace(scope)
        while outer:
            if f"{outer}::{name}" in self._packages:
                return Origin(True, f"{outer}::{name}", NAMESPACE)
            outer = outer.rpartition("::")[0]
        if name == "std" or name in self._roots:
            return Origin(True, name, NAMESPACE)
        # By convention, an unknown name with a capital letter before `::` is a type.
        return Origin(True, origin.package, CLASS) if name[:1].isupper() or origin.holder == EITHER else UNKNOWN

    def member(self, holder: Origin, holder_name: str, name: str) -> Origin:
        if holder.holder == NAMESPACE:
            package = holder.package or ""
            known = self._names.get(package, {}).get(name)
            if known:
                return known
            path = f"{package}::{name}" if package else name
            if path in self._packages or (package == "std" and name in _IN_STD):
                return Origin(True, path, NAMESPACE)
            return Origin(True, package or None, EITHER)
        known = self.types[holder_name].names.get(name) if holder_name in self.types else None
        return Origin(True, holder.package, (known.holder if known else "") or MEMBER)
