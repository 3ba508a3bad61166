"""The language Ruby: finds the references in a file and their kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.scopes import LOCAL, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, read_keywords
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, Walk, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind, Location
from ci_eval.plugins.languages.ruby.definitions import GLOBALS, LITERALS, LONGEST, TYPES, RubyNames, RubyScope, declare

# `ri` is a suffix of numbers.
KEYWORDS = read_keywords("ruby").union("__ENCODING__ __FILE__ __LINE__ false self super true".split()) - {"ri"}
GLOBAL = Origin(True)
PARAMETER, PATTERN, ARGUMENTS = "parameter", "pattern", "arguments"
"""The roles: a local variable that is new even if the scope has a variable of that name; a name in a pattern; the
arguments of a call."""
CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+")


def ruby_scope(place: NodePlace) -> RubyScope:
    """Return the scope of `place`. In Ruby, all scopes are RubyScopes."""
    return cast(RubyScope, place.scope)


# Only a group with a lower-case name defines a local variable.
_CAPTURED = re.compile(r"\(\?<([a-z_]\w*)>")
_DOTS = frozenset([".", "&.", "::"])


class RubyWalk(Walk):
    """A walk over Ruby. The tokens of fields and globals include `@` and `$`, as in engines."""

    names = frozenset(["identifier", "constant", "instance_variable", "class_variable", "global_variable"])
    keywords = KEYWORDS
    ignored = "setter"

    roles = {
        ARGUMENTS: "yield",
        PARAMETER: "method_parameters lambda_parameters block_parameters parameters",
        REFERENCE: "splat_argument",
        BOUND: "exception_variable",
    }
    transparent = (
        "splat_parameter hash_splat_parameter block_parameter destructured_parameter left_assignment_list "
        "destructured_left_assignment rest_assignment array_pattern find_pattern hash_pattern alternative_pattern "
        "parenthesized_pattern as_pattern"
    )

    def __init__(self, source: bytes, text: str, declared: Declarations) -> None:
        super().__init__(source, declare(text, "")[0], declared)
        self.ruby = RubyNames(source, declared)

    def outermost(self, root: Node) -> Scope:
        self.ruby.read(root)
        return RubyScope("file", space=self.ruby.top)

    def _location(self, package: str) -> Location:
        """Return the location of a package. A class counts as a package."""
        around, _, name = package.rpartition("::")
        own = package in self.ruby.spaces or package in self.declared or name in self.declared.get(around, ())
        return "project" if own else "library"

    def push(self, nodes: Sequence[Node], role: str, place: NodePlace) -> None:
        """Visit nodes next, strictly in order: a node may define the name in a later node."""
        self.each([(node, role, place) for node in nodes])

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        kind = node.type
        if kind == "identifier":
            self.identifier(node, name, role, place)
        elif kind != "constant":
            self._variable(node, name, role, place)
        elif role == CALLED:
            self.emit(node, Kind.METHOD_CALL, place, self.own_method(name, place), name)
        elif role != BOUND:
            origin = self.ruby.constant(name, ruby_scope(place).space)
            is_type = origin.holder == "class" or role == TYPE or not CAPITALS.fullmatch(name)
            self.emit(
                node, Kind.TYPE_REFERENCE if is_type else Kind.VARIABLE, place, Origin(True, origin.package), name
            )

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
        # A name with arguments is a method, even if a local variable has that name. `_1` is a parameter of a block; so
        # is `it` if the block declares no parameters.
        elif role != CALLED and (
            scope.owner(name)
            or (name[:1] == "_" and name[1:].isdigit())
            or (name == "it" and ruby_scope(place).takes_it)
        ):
            self.emit(node, Kind.VARIABLE, place, LOCAL, name)
        else:
            self.emit(node, Kind.METHOD_CALL, place, self.own_method(name, place), name)

    def _variable(self, node: Node, name: str, role: str, place: NodePlace) -> None:
        """Emit `@x`, `@@x` or `$x`. The first assignment to a global, or to a field in a class, is a definition."""
        is_global = node.type == "global_variable"
        space = self.ruby.top if is_global else ruby_scope(place).space
        static = is_global or name.startswith("@@") or ruby_scope(place).static
        known = (name, static) in space.variables
        # Globals such as `$1` and `$stdout` exist without an assignment.
        exists = known or (is_global and (name in GLOBALS or not name[1:2].isalpha()))
        if role in {BOUND, PARAMETER, PATTERN} and not exists:
            space.variables.add((name, static))
        elif is_global:
            self.emit(node, Kind.VARIABLE, place, GLOBAL, name)
        else:
            self.emit(node, Kind.FIELD, place, Origin(static, (space.name or None) if known else None), name)

    def own_method(self, name: str, place: NodePlace) -> Origin:
        return self.ruby.method(name, ruby_scope(place).space, ruby_scope(place).static)

    @handle_nodes("scope_resolution")
    def scoped_constant(self, node: Node, role: str, place: NodePlace) -> None:
        """Emit the names in `A::B::C` from left to right."""
        names: list[Node] = []
        first: Node | None = node
        # Chains may be long, so this is a loop instead of a recursion.
        while first is not None and first.type == "scope_resolution":
            children = first.children
            names.append(children[-1])
            first = children[0] if len(children) > 2 else None
        package: str | None = ""
        if first is not None and first.type == "constant":
            origin = self.ruby.constant(self.text(first), ruby_scope(place).space)
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
            # The older grammar parses `A::b` like a constant.
            self.emit(names[0], Kind.METHOD_CALL, place, Origin(True, package or None), name)
            return
        plain = role != TYPE and CAPITALS.fullmatch(name) and not self.is_module(name, package)
        alone = Kind.FIELD if len(node.children) > 2 else Kind.VARIABLE
        kind = Kind.METHOD_CALL if role == CALLED else alone if plain else Kind.TYPE_REFERENCE
        self.emit(names[0], kind, place, Origin(True, package or None), name)

    def is_module(self, name: str, package: str | None) -> bool:
        """Return whether the constant `name` of `package` is known to be a module or class."""
        full = f"{package}::{name}" if package else name
        return full in self.ruby.spaces or full in self.declared or name in TYPES

    @handle_nodes("call")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        if len(children) < 2 or children[1].type not in _DOTS:
            self._stack += [(child, ARGUMENTS, place) for child in children[:0:-1]]
            self.push(children[:1], CALLED, place)
            return
        receiver, name = children[0], ""
        for child in reversed(children[2:]):
            if child.type in self.names:
                name = self.text(child)
                self.emit(child, Kind.METHOD_CALL, place, self._member(receiver, name, place), name)
            else:
                self._stack.append((child, ARGUMENTS, place))
        self.push([receiver], TYPE if name == "new" else REFERENCE, place)

    def _member(self, receiver: Node, name: str, place: NodePlace) -> Origin:
        kind = receiver.type
        if kind == "self":
            scope = ruby_scope(place)
            return self.own_method(name, place) if (name, scope.static) in scope.space.methods else UNKNOWN
        if kind in {"constant", "scope_resolution"}:
            return self._member_of_constant(receiver, name, place, True)
        # A literal is an instance of a class in the standard library.
        if kind in LITERALS:
            return Origin(False, LITERALS[kind])
        parts = receiver.children if kind == "call" else []
        # `b` in `A.new.b` is a method of an instance of A.
        if len(parts) > 2 and parts[0].type in {"constant", "scope_resolution"} and self.text(parts[2]) == "new":
            return self._member_of_constant(parts[0], "new", place, False)
        return UNKNOWN

    def _member_of_constant(self, receiver: Node, called: str, place: NodePlace, static: bool) -> Origin:
        """Return the origin of a method of the module or class `receiver`, or of its instances if `static` is false."""
        if receiver.end_byte - receiver.start_byte > LONGEST:
            return Origin(static)
        name = self.text(receiver)
        first, _, tail = name.removeprefix("::").partition("::")
        if not first[:1].isupper() or not first.isidentifier():
            return Origin(static)
        before = None if name.startswith("::") else self.ruby.constant(first, ruby_scope(place).space).package
        package, _, last = "::".join(filter(None, [before, first, tail])).rpartition("::")
        if called != "new" and CAPITALS.fullmatch(last) and not self.is_module(last, package):
            return UNKNOWN  # `LIMIT.to_s`: the type of the constant is not known
        return Origin(static, f"{package}::{last}".removeprefix("::"))

    @handle_nodes("argument_list")
    def arguments(self, node: Node, role: str, place: NodePlace) -> None:
        called = role == ARGUMENTS
        self.push(node.children, ARGUMENTS if called else REFERENCE, NodePlace(place.scope, called or place.argument))

    @handle_nodes("pair")
    def pair(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit `k: v`, `"k" => v`, or `k:`, whose value is the local variable or method k."""
        key, *siblings = node.children
        if key.type == "hash_key_symbol" and role == ARGUMENTS:
            self.emit(key, Kind.ARGUMENT_NAME, place)
        elif key.type == "hash_key_symbol" and not any(child.is_named for child in siblings):
            self.identifier(key, self.text(key), REFERENCE, place)
        self.push(node.children, REFERENCE, place)

    @handle_nodes("block", "do_block", "lambda")
    def block(self, node: Node, _role: str, place: NodePlace) -> None:
        takes_it = all(child.type not in {"block_parameters", "lambda_parameters"} for child in node.children)
        around = ruby_scope(place)
        scope = RubyScope("block", around, {}, "", around.space, around.static, takes_it)
        # A block's body is not an argument, even if the block is in one.
        self.push(node.children, REFERENCE, NodePlace(scope, False))

    @handle_nodes("alias", "undef")
    def alias(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the old name in `alias new old` or `undef old`."""
        first = True
        for child in node.children:
            if child.type in self.keywords:
                self.emit(child, Kind.KEYWORD, place)
                continue
            if child.type in self.names and not (first and node.type == "alias"):
                static, space = place.scope.kind == "singleton", ruby_scope(place).space
                known = (self.text(child), static) in space.methods
                if child.type == "global_variable":
                    self.emit(child, Kind.VARIABLE, place, GLOBAL)
                else:
                    self.emit(child, Kind.FIELD, place, Origin(static, space.name or None) if known else UNKNOWN)
            first = False

    @handle_nodes("class", "module")
    def class_(self, node: Node, _role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name")
        around = ruby_scope(place).space
        space = self.ruby.enter(self.text(name), around) if name else around
        # A class does not see the local variables around it.
        inner = NodePlace(RubyScope("class", space=space, static=True), False)
        nodes: list[tuple[Node, str, NodePlace]] = []
        for child in node.children:
            if child.type == "superclass":
                nodes += [(part, TYPE, place) for part in child.children]
            elif child.type == "scope_resolution":
                nodes += [(part, TYPE, place) for part in child.children[:-1]]
            elif child.type != "constant":
                nodes.append((child, REFERENCE, inner))
        self.each(nodes)

    @handle_nodes("singleton_class")
    def singleton_class(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(RubyScope("singleton", space=ruby_scope(place).space, static=True), False)
        self.each([(c, REFERENCE, inner if c.type == "body_statement" else place) for c in node.children])

    @handle_nodes("method", "singleton_method")
    def method(self, node: Node, _role: str, place: NodePlace) -> None:
        around = place.scope
        single = node.type == "singleton_method"
        static = single or around.kind == "singleton"
        inner = NodePlace(RubyScope("method", space=ruby_scope(place).space, static=static), False)
        nodes: list[tuple[Node, str, NodePlace]] = []
        named = False
        for child in node.children:
            if single and child.type == ".":
                single = False
            elif not single and not named and child.type != "def":
                named = True
            else:
                nodes.append((child, REFERENCE, place if single else inner))
        self.each(nodes)

    @handle_nodes("optional_parameter", "keyword_parameter")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        name, *siblings = node.children
        self.push([name], PARAMETER, place)
        self.push(siblings, REFERENCE, place)

    @handle_nodes("assignment", "operator_assignment")
    def assignment(self, node: Node, _role: str, place: NodePlace) -> None:
        # The names on the left are known on the right side: in `x = x`, the second x is the new local, nil.
        self.each([(child, REFERENCE if at else BOUND, place) for at, child in enumerate(node.children)])

    @handle_nodes("for")
    def for_(self, node: Node, _role: str, place: NodePlace) -> None:
        self.each([(child, BOUND if at == 1 else REFERENCE, place) for at, child in enumerate(node.children)])

    @handle_nodes("rescue")
    def rescue(self, node: Node, _role: str, place: NodePlace) -> None:
        self.each([(child, TYPE if child.type == "exceptions" else REFERENCE, place) for child in node.children])

    @handle_nodes("binary")
    def binary(self, node: Node, _role: str, place: NodePlace) -> None:
        r"""Visit an expression. `/(?<x>…)/ =~ y` defines x."""
        children = node.children
        self.push(children, REFERENCE, place)
        if children[0].type == "regex":
            names = _CAPTURED.findall(self.text(children[0]))
            place.scope.names.update({name: LOCAL for name in names if not place.scope.owner(name)})

    @handle_nodes("in_clause", "match_pattern", "test_pattern")
    def in_clause(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `in pattern`, `value => pattern` or `value in pattern`."""
        children = node.children
        at = next((i for i, child in enumerate(children) if child.type in {"in", "=>"}), 0)
        self.each([(child, PATTERN if i == at + 1 else REFERENCE, place) for i, child in enumerate(children)])

    @handle_nodes("keyword_pattern")
    def keyword_pattern(self, node: Node, role: str, place: NodePlace) -> None:
        key, *siblings = node.children
        if key.type == "hash_key_symbol" and not any(child.is_named for child in siblings):
            self.identifier(key, self.text(key), role, place)
        self.push(siblings, role, place)


def extract(text: str, _path: str, declared: Declarations) -> Extraction:
    return extract_tokens(RubyWalk(text.encode(), text, declared), "ruby")


_HOLDERS = "class module singleton_class do_block"
SHAPE = Shape(
    # Blocks are included because tests, Rake tasks and gemspecs consist of a few long blocks.
    lists=frozenset(f"{parent} body_statement" for parent in _HOLDERS.split())
    | {"program", "block block_body", "if then", "unless then", "elsif then", "begin"},
    bodies=frozenset(["method body_statement", "singleton_method body_statement"]),
    closers=frozenset(") ] } end heredoc_end".split())
    | {"block_parameters |", 'string "', 'delimited_symbol "', "regex /", "subshell `"},
)

LANGUAGE: Language = Language(
    name="ruby",
    title="Ruby",
    comment="#",
    grammars={".rb": "ruby", ".rake": "ruby", ".gemspec": "ruby"},
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    shape=SHAPE,
    word=re.compile(r"[@$]*\w+[?!]?"),
)
