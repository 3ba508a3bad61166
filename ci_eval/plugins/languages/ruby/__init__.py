"""The language Ruby: which names in a file are references, and what kind each is."""

from __future__ import annotations

import re

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.ruby.names import LITERALS, LONGEST, RubyScope, declare
from ci_eval.plugins.languages.ruby.references import (
    ARGUMENTS,
    CAPITALS,
    GLOBAL,
    KEYWORDS,
    LOCAL,
    PARAMETER,
    PATTERN,
    RubyReferences,
    enclosing_space,
    is_static,
    knows,
)

# A group defines a local only if its name could be that of a local.
_CAPTURED = re.compile(r"\(\?<([a-z_]\w*)>")
_DOTS = frozenset([".", "&.", "::"])


class RubyWalk(RubyReferences):
    # ------------------------------------------------------------------------------------------------------ calls

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
            return self.own_method(name, place) if knows(name, place) else UNKNOWN
        if kind in {"constant", "scope_resolution"}:
            return self._member_of_constant(receiver, name, place, True)
        # A literal is an instance of a class of the standard library.
        if kind in LITERALS:
            return Origin(False, LITERALS[kind])
        if kind == "call":
            # `A.new.b` is a method of what A makes.
            parts = receiver.children
            if (
                len(parts) > 2
                and parts[0].type in {"constant", "scope_resolution"}
                and self.source[parts[2].start_byte : parts[2].end_byte] == b"new"
            ):
                return self._member_of_constant(parts[0], "new", place, False)
        return UNKNOWN

    def _member_of_constant(self, receiver: Node, called: str, place: NodePlace, static: bool) -> Origin:
        """Return the origin of a method that a module or class has itself, or (not static) of one that the result of
        its `new` has."""
        if receiver.end_byte - receiver.start_byte > LONGEST:
            return Origin(static)
        name = self.text(receiver)
        first, _, tail = name.removeprefix("::").partition("::")
        if not first[:1].isupper() or not first.isidentifier():
            return Origin(static)
        before = None if name.startswith("::") else self.ruby.constant(first, enclosing_space(place)).package
        package, _, last = "::".join(filter(None, [before, first, tail])).rpartition("::")
        if called != "new" and CAPITALS.fullmatch(last) and not self.is_module(last, package):
            return UNKNOWN  # `LIMIT.to_s`
        return Origin(static, f"{package}::{last}".removeprefix("::"))

    @handle_nodes("argument_list")
    def arguments(self, node: Node, role: str, place: NodePlace) -> None:
        if role == ARGUMENTS:
            self.push(node.children, ARGUMENTS, NodePlace(place.scope, True))
        else:
            self.push(node.children, REFERENCE, place)

    @handle_nodes("yield")
    def yield_(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, ARGUMENTS, place)

    @handle_nodes("pair")
    def pair(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit `k: v`, `"k" => v`, or `k:`, which takes the value from the local or method k."""
        key, *siblings = node.children
        if key.type == "hash_key_symbol":
            if role == ARGUMENTS:
                self.emit(key, Kind.ARGUMENT_NAME, place)
            elif not any(child.is_named for child in siblings):
                self.identifier(key, self.text(key), REFERENCE, place)
            self.push(siblings, REFERENCE, place)
        else:
            self.push(node.children, REFERENCE, place)

    @handle_nodes("block", "do_block")
    def block(self, node: Node, _role: str, place: NodePlace) -> None:
        # The body of a block is no argument of the call around.
        self.push(node.children, REFERENCE, NodePlace(_inside(node, place), False))

    @handle_nodes("lambda")
    def lambda_(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(_inside(node, place), False)
        self.push(node.children, REFERENCE, inner)

    @handle_nodes("alias", "undef")
    def alias(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the old name of `alias new old` or `undef old`."""
        first = True
        for child in node.children:
            if child.type in self.keywords:
                self.emit(child, Kind.KEYWORD, place)
                continue
            if child.type in self.names and not (first and node.type == "alias"):
                name = self.text(child)
                if child.type == "global_variable":
                    self.emit(child, Kind.VARIABLE, place, GLOBAL, name)
                else:
                    static, space = place.scope.kind == "singleton", enclosing_space(place)
                    origin = Origin(static, space.name or None) if (name, static) in space.methods else UNKNOWN
                    self.emit(child, Kind.FIELD, place, origin, name)
            first = False

    # ------------------------------------------------------------------------------------------------ definitions

    @handle_nodes("class", "module")
    def class_(self, node: Node, _role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name")
        space = self.ruby.enter(self.text(name), enclosing_space(place)) if name else enclosing_space(place)
        # A class sees no local variables of the code around it.
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
        inner = NodePlace(RubyScope("singleton", space=enclosing_space(place), static=True), False)
        self.each([(c, REFERENCE, inner if c.type == "body_statement" else place) for c in node.children])

    @handle_nodes("method", "singleton_method")
    def method(self, node: Node, _role: str, place: NodePlace) -> None:
        around = place.scope
        single = node.type == "singleton_method"
        static = single or around.kind == "singleton"
        inner = NodePlace(RubyScope("method", space=enclosing_space(place), static=static), False)
        nodes: list[tuple[Node, str, NodePlace]] = []
        named = False
        for child in node.children:
            if single and child.type == ".":
                single = False
            elif single:
                nodes.append((child, REFERENCE, place))
            elif not named and child.type != "def":
                named = True
            else:
                nodes.append((child, REFERENCE, inner))
        self.each(nodes)

    @handle_nodes("method_parameters", "lambda_parameters", "block_parameters", "parameters")
    def parameters(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, PARAMETER, place)

    @handle_nodes("optional_parameter", "keyword_parameter")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        name, *siblings = node.children
        self.push([name], PARAMETER, place)
        self.push(siblings, REFERENCE, place)

    @handle_nodes(
        *(
            "splat_parameter hash_splat_parameter block_parameter destructured_parameter left_assignment_list "
            "destructured_left_assignment rest_assignment array_pattern find_pattern hash_pattern alternative_pattern "
            "parenthesized_pattern as_pattern exception_variable"
        ).split()
    )
    def same_role(self, node: Node, role: str, place: NodePlace) -> None:
        self.push(node.children, BOUND if node.type == "exception_variable" else role, place)

    @handle_nodes("assignment", "operator_assignment")
    def assignment(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the left side first: a name is known from there on, even on the right side."""
        # In `x = x`, the second x is the new local, which is nil.
        first, *siblings = node.children
        self.each([(first, BOUND, place), *((child, REFERENCE, place) for child in siblings)])

    @handle_nodes("for")
    def for_(self, node: Node, _role: str, place: NodePlace) -> None:
        for_, first, *siblings = node.children
        self.each(
            [(for_, REFERENCE, place), (first, BOUND, place), *((sibling, REFERENCE, place) for sibling in siblings)]
        )

    @handle_nodes("rescue")
    def rescue(self, node: Node, _role: str, place: NodePlace) -> None:
        self.each([(child, TYPE if child.type == "exceptions" else REFERENCE, place) for child in node.children])

    @handle_nodes("splat_argument")
    def splat(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, place)

    @handle_nodes("binary")
    def binary(self, node: Node, _role: str, place: NodePlace) -> None:
        r"""Visit an expression; `/(?<x>…)/ =~ y` defines x."""
        children = node.children
        self.push(children, REFERENCE, place)
        if children[0].type == "regex":
            names = _CAPTURED.findall(self.text(children[0]))
            place.scope.names.update({name: LOCAL for name in names if not place.scope.owner(name)})

    # --------------------------------------------------------------------------------------------------- patterns

    @handle_nodes("in_clause", "match_pattern", "test_pattern")
    def in_clause(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `in pattern`, `value => pattern` or `value in pattern`."""
        children = node.children
        at = next((i for i, child in enumerate(children) if child.type in {"in", "=>"}), 0)
        nodes = [(child, PATTERN if i == at + 1 else REFERENCE, place) for i, child in enumerate(children)]
        self.each(nodes)

    @handle_nodes("keyword_pattern")
    def keyword_pattern(self, node: Node, role: str, place: NodePlace) -> None:
        key, *siblings = node.children
        if key.type == "hash_key_symbol" and not any(child.is_named for child in siblings):
            self.identifier(key, self.text(key), role, place)
        self.push(siblings, role, place)


def _inside(node: Node, place: NodePlace) -> Scope:
    takes_it = all(child.type not in _PARAMETERS for child in node.children)
    around = place.scope if isinstance(place.scope, RubyScope) else None
    return RubyScope("block", around, {}, "", enclosing_space(place), is_static(place), takes_it)


_PARAMETERS = frozenset(["block_parameters", "lambda_parameters"])


def extract(text: str, _path: str, declared: Declarations) -> Extraction:
    return extract_tokens(RubyWalk(text.encode(), text, declared), "ruby")


_HOLDERS = "class module singleton_class do_block"
SHAPE = Shape(
    # Blocks count as well: a program that describes something (tests, tasks, packages) consists of a few long ones.
    lists=frozenset(f"{parent} body_statement" for parent in _HOLDERS.split())
    | {"program", "block block_body", "if then", "unless then", "elsif then", "begin"},
    bodies=frozenset(["method body_statement", "singleton_method body_statement"]),
    closers=frozenset(") ] } end heredoc_end".split())
    | {"block_parameters |", 'string "', 'delimited_symbol "', "regex /", "subshell `"},
)

LANGUAGE: Language = Language(
    name="ruby",
    title="Ruby",
    grammars={".rb": "ruby", ".rake": "ruby", ".gemspec": "ruby"},
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    shape=SHAPE,
    word=re.compile(r"[@$]*\w+[?!]?"),
)
