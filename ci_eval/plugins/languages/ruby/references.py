"""The references of Ruby: locals, methods without a receiver, constants, fields, globals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, Walk, handle_nodes
from ci_eval.core.model import Kind, Location
from ci_eval.plugins.languages.ruby.names import GLOBALS, LONGEST, TYPES, RubyNames, RubyScope, Space, declare

KEYWORDS = frozenset(
    "BEGIN END __ENCODING__ __FILE__ __LINE__ alias and begin break case class def defined? do else elsif end ensure "
    "false for if in module next nil not or redo rescue retry return self super then true undef unless until when "
    "while yield".split()
)
LOCAL, GLOBAL = Origin(False), Origin(True)
PARAMETER, PATTERN, ARGUMENTS = "parameter", "pattern", "arguments"
"""The roles: a local that is new even if there is one of that name; what a pattern binds; the arguments of a call."""
CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+")


class RubyReferences(Walk):
    """The part of the walk over Ruby that tells what a name is. Fields and globals keep `@` and `$`, as in engines."""

    names = frozenset(["identifier", "constant", "instance_variable", "class_variable", "global_variable"])
    keywords = KEYWORDS
    ignored = frozenset(
        "( ) [ ] { } , . &. : :: ; = => -> + - * / % & | ^ ~ < > ! ? && || == === != =~ !~ <= >= <=> << >> ** .. ... "
        '+= -= *= /= %= **= ||= &&= |= &= ^= <<= >>= " \' ` #{ :" %w( %i( comment integer float rational complex '
        "character simple_symbol hash_key_symbol string_content escape_sequence heredoc_beginning heredoc_content "
        "heredoc_end uninterpreted operator setter".split()
    )

    def __init__(self, source: bytes, text: str, declared: Declarations) -> None:
        super().__init__(source, declare(text, "")[0], declared)
        self.ruby = RubyNames(source, declared)

    def outermost(self, root: Node) -> Scope:
        self.ruby.read(root)
        return RubyScope("file", space=self.ruby.top)

    def _location(self, package: str | None) -> Location | None:
        """Return the location of a package; a class is a package, too."""
        if package is None:
            return None
        around, _, name = package.rpartition("::")
        own = package in self.ruby.spaces or package in self.declared or name in self.declared.get(around, ())
        return "project" if own else "library"

    def push(self, nodes: Sequence[Node], role: str, place: NodePlace) -> None:
        """Visit nodes next, in their order, as for any language; but a name waits for the nodes before it."""
        # What stands before a name may define it.
        names, ignored, keywords = self.names, self.ignored, self.keywords
        inner: list[tuple[Node, str, NodePlace]] = []
        for node in nodes:
            kind = node.type
            if kind in ignored:
                continue
            if kind in names:
                if inner:
                    inner.append((node, role, place))
                else:
                    self.name(node, role, place)
            elif node.child_count:
                inner.append((node, role, place))
            elif kind in keywords:
                self.emit(node, Kind.KEYWORD, place)
        inner.reverse()
        self._stack += inner

    def each(self, nodes: Sequence[tuple[Node, str, NodePlace]]) -> None:
        """Visit these nodes next, in their order; names wait."""
        names = self.names
        for child, role, place in reversed(nodes):
            if child.type in names:
                self._stack.append((child, role, place))
            else:
                self.push([child], role, place)

    # ------------------------------------------------------------------------------------------------------ names

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        kind = node.type
        if kind == "identifier":
            self.identifier(node, name, role, place)
        elif kind == "constant":
            self._constant(node, name, role, place)
        elif kind == "global_variable":
            self._global(node, name, role, place)
        else:
            self._field(node, name, role, place)

    def identifier(self, node: Node, name: str, role: str, place: NodePlace) -> None:
        scope = place.scope
        if role == PARAMETER:
            scope.names[name] = LOCAL
        elif name in KEYWORDS:
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
        elif role in {BOUND, PATTERN}:
            if scope.owner(name):
                self.emit(node, Kind.VARIABLE, place, LOCAL, name)
            else:
                scope.names[name] = LOCAL
        # With arguments, a name is that of a method, even if there is such a local.
        elif role != CALLED and (scope.owner(name) or _is_implicit(name, scope)):
            self.emit(node, Kind.VARIABLE, place, LOCAL, name)
        else:
            self.emit(node, Kind.METHOD_CALL, place, self.own_method(name, place), name)

    def _constant(self, node: Node, name: str, role: str, place: NodePlace) -> None:
        if role == BOUND:
            return
        if role == CALLED:
            self.emit(node, Kind.METHOD_CALL, place, self.own_method(name, place), name)
            return
        origin = self.ruby.constant(name, enclosing_space(place))
        is_type = origin.holder == "class" or role == TYPE or not CAPITALS.fullmatch(name)
        kind = Kind.TYPE_REFERENCE if is_type else Kind.VARIABLE
        self.emit(node, kind, place, Origin(True, origin.package), name)

    def _global(self, node: Node, name: str, role: str, place: NodePlace) -> None:
        top = self.ruby.top.variables
        # Globals such as `$1` and `$stdout` exist without an assignment.
        if (
            role in {BOUND, PARAMETER, PATTERN}
            and (name, True) not in top
            and name not in GLOBALS
            and name[1:2].isalpha()
        ):
            top.add((name, True))
        else:
            self.emit(node, Kind.VARIABLE, place, GLOBAL, name)

    def _field(self, node: Node, name: str, role: str, place: NodePlace) -> None:
        """Emit `@x` or `@@x`, or define it if this is the first assignment in a class."""
        space, static = enclosing_space(place), name.startswith("@@") or is_static(place)
        known = (name, static) in space.variables
        if role in {BOUND, PARAMETER, PATTERN} and not known:
            space.variables.add((name, static))
        else:
            package = space.name or None
            self.emit(node, Kind.FIELD, place, Origin(static, package if known else None), name)

    def own_method(self, name: str, place: NodePlace) -> Origin:
        return self.ruby.method(name, enclosing_space(place), is_static(place))

    @handle_nodes("scope_resolution")
    def scoped_constant(self, node: Node, role: str, place: NodePlace) -> None:
        """Emit the names of `A::B::C`, from left to right."""
        names: list[Node] = []
        first: Node | None = node
        # A loop, since chains may be long.
        while first is not None and first.type == "scope_resolution":
            children = first.children
            names.append(children[-1])
            first = children[0] if len(children) > 2 else None
        package: str | None = ""
        if first is not None and first.type == "constant":
            origin = self.ruby.constant(self.text(first), enclosing_space(place))
            self.emit(first, Kind.TYPE_REFERENCE, place, Origin(True, origin.package))
            package = "::".join(filter(None, [origin.package, self.text(first)]))
        elif first is not None:
            self.push([first], REFERENCE, place)
            package = None
        for child in reversed(names[1:]):
            self.emit(child, Kind.TYPE_REFERENCE, place, Origin(True, package or None))
            package = None if package is None else "::".join(filter(None, [package, self.text(child)]))
            package = None if package and len(package) > LONGEST else package
        if role == BOUND:
            return
        name = self.text(names[0])
        if names[0].type != "constant":
            # `A::b`, as older grammars have it.
            self.emit(names[0], Kind.METHOD_CALL, place, Origin(True, package or None), name)
            return
        plain = role != TYPE and CAPITALS.fullmatch(name) and not self.is_module(name, package)
        alone = Kind.FIELD if len(node.children) > 2 else Kind.VARIABLE
        kind = Kind.METHOD_CALL if role == CALLED else alone if plain else Kind.TYPE_REFERENCE
        self.emit(names[0], kind, place, Origin(True, package or None), name)

    def is_module(self, name: str, package: str | None) -> bool:
        """Return whether `name`, a constant of `package`, is known to be a module or class."""
        full = f"{package}::{name}" if package else name
        return full in self.ruby.spaces or full in self.declared or name in TYPES


def _is_implicit(name: str, scope: Scope) -> bool:
    """Return whether a block has this parameter undeclared: `_1`, or `it` if the block declares none."""
    numbered = name[:1] == "_" and name[1:].isdigit()
    return numbered or (name == "it" and isinstance(scope, RubyScope) and scope.takes_it)


def enclosing_space(place: NodePlace) -> Space:
    scope = place.scope
    return scope.space if isinstance(scope, RubyScope) else Space("", ())


def is_static(place: NodePlace) -> bool:
    """Return whether `self` is a module."""
    return isinstance(place.scope, RubyScope) and place.scope.static


def knows(name: str, place: NodePlace) -> bool:
    return (name, is_static(place)) in enclosing_space(place).methods
