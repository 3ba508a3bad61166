"""Python: which names in a file are references, and what kind each is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ci_eval.contracts import Language
from ci_eval.model import Extraction, Kind, Properties, Token
from ci_eval.support.document import code_points
from ci_eval.support.python_names import Names, Origin, Scope
from ci_eval.support.python_types import RESOLVER, resolve
from ci_eval.support.syntax import Node, parser

KEYWORDS = frozenset(
    "False None True and as assert async await break case class continue def del elif else except finally for from "
    "global if import in is lambda match nonlocal not or pass raise return try type while with yield".split()
)
# The grammar names keyword leaves like the word, apart from these.
_KEYWORD_LEAVES = KEYWORDS | {"true", "false", "none", "is not", "not in", "except*"}
# Looked at for nothing otherwise: they are a third of all nodes.
_PUNCTUATION = frozenset(["(", ")", "[", "]", "{", "}", ",", ".", ":", "=", "comment", "integer"])
_BODY_AND_CLAUSES = frozenset(["identifier", "for_in_clause"])
_UNKNOWN = Origin()

REFERENCE, CALLED, TYPE, BOUND = "reference", "called", "type", "bound"
"""What a node is to its parent, as far as it decides the kind of the names in it; BOUND is where names are defined."""

_KINDS = {REFERENCE: Kind.VARIABLE, CALLED: Kind.METHOD_CALL, TYPE: Kind.TYPE_REFERENCE, BOUND: Kind.VARIABLE}
_MEMBER_KINDS = _KINDS | {REFERENCE: Kind.FIELD, BOUND: Kind.FIELD}


class Place(NamedTuple):
    """Where a node stands."""

    scope: Scope
    argument: bool


class Walk:
    """One pass over the syntax tree without recursion: deep nesting is no reason to fail."""

    def __init__(self, source: bytes, path: str) -> None:
        self.names = Names(source, path)
        self.found: list[tuple[int, str, Properties]] = []
        self.unparsable = 0
        self._stack: list[tuple[Node, str, Place]] = []
        self._seen: dict[tuple[Kind, bool, Origin], Properties] = {}

    def run(self, root: Node) -> None:
        """Fill `found` (offset in bytes, text, properties; in any order) and `unparsable` (bytes)."""
        known = Scope("module", names=self.names.top_level(root))
        self.push([root], REFERENCE, Place(Scope("module", known), False))
        while self._stack:
            node, role, place = self._stack.pop()
            handler = _HANDLERS.get(node.type)
            if handler:
                handler(self, node, role, place)
            else:
                self.push(node.children, TYPE if role == TYPE else REFERENCE, place)

    def push(self, nodes: Sequence[Node], role: str, place: Place) -> None:
        """Visit these next, in their order: what is bound first is the definition. Leaves are done at once (speed)."""
        inner = []
        for node in nodes:
            kind = node.type
            if kind == "identifier":
                self.name(node, role, place)
            elif kind in _PUNCTUATION:
                continue
            elif node.child_count:
                inner.append((node, role, place))
            elif kind in _KEYWORD_LEAVES:
                self.emit(node, Kind.KEYWORD, place)
        inner.reverse()
        self._stack += inner

    def emit(self, node: Node, kind: Kind, place: Place, origin: Origin = _UNKNOWN, text: str = "") -> None:
        key = (kind, place.argument, origin)
        properties = self._seen.get(key)
        if properties is None:
            properties = self._seen[key] = Properties(
                kind=kind, is_argument=place.argument, is_static=origin.static, package=origin.package
            )
        self.found.append((node.start_byte, text or self.names.text(node), properties))

    # ------------------------------------------------------------------------------------------------- references

    def name(self, node: Node, role: str, place: Place) -> None:
        name = self.names.text(node)
        if role == BOUND and name not in place.scope.names:
            module = place.scope.kind == "module"
            place.scope.names[name] = Origin(module, self.names.module if module else None)
        else:
            self.emit(node, _KINDS[role], place, place.scope.find(name), name)

    def attribute(self, node: Node, role: str, place: Place) -> None:
        receiver, member = node.children[0], node.children[-1]
        name = self.names.text(member)
        if not (role == BOUND and self._defines_attribute(receiver, name, place.scope)):
            self.emit(member, _MEMBER_KINDS[role], place, self.names.member(receiver, name, place.scope), name)
        self.push([receiver], REFERENCE, place)

    def _defines_attribute(self, receiver: Node, name: str, scope: Scope) -> bool:
        """The first `self.x = …` of a class is where x comes into being."""
        owner = scope.instance_of(self.names.text(receiver)) if receiver.type == "identifier" else None
        if owner is None or name in owner.names:
            return False
        owner.names[name] = Origin(False, self.names.module)
        return True

    def call(self, node: Node, _role: str, place: Place) -> None:
        function, *arguments = node.children
        self.push(arguments, REFERENCE, Place(place.scope, True))
        self.push([function], CALLED, place)

    def keyword_argument(self, node: Node, _role: str, place: Place) -> None:
        name, *value = node.children
        self.emit(name, Kind.ARGUMENT_NAME, place)
        self.push(value, REFERENCE, place)

    def type_(self, node: Node, _role: str, place: Place) -> None:
        self.push(node.children, TYPE, place)

    def string(self, node: Node, _role: str, place: Place) -> None:
        """Only what is interpolated is code."""
        if self.names.text(node.children[0]).strip("\"'rRbBuU"):
            self.push(node.children, REFERENCE, place)

    def error(self, node: Node, _role: str, _place: Place) -> None:
        self.unparsable += node.end_byte - node.start_byte

    # ------------------------------------------------------------------------------------------------ definitions

    def function(self, node: Node, _role: str, place: Place) -> None:
        self._define(node, place.scope)
        inner = Place(Scope("function", place.scope), False)
        for child in reversed(node.children):
            if child.type == "parameters":
                if place.scope.kind == "class":
                    inner.scope.self_name = self._first_parameter(child)
                self.push(child.children, BOUND, inner)
            elif child.type == "block":
                self.push([child], REFERENCE, inner)
            elif child.type not in {"identifier", "type_parameter"}:
                self.push([child], REFERENCE, place)

    def class_(self, node: Node, _role: str, place: Place) -> None:
        self._define(node, place.scope)
        for child in reversed(node.children):
            if child.type == "block":
                self.push([child], REFERENCE, Place(Scope("class", place.scope), False))
            elif child.type == "argument_list":
                self.push(child.children, TYPE, place)
            elif child.type not in {"identifier", "type_parameter"}:
                self.push([child], REFERENCE, place)

    def _define(self, node: Node, scope: Scope) -> None:
        name = node.child_by_field_name("name")
        if name:
            scope.names[self.names.text(name)] = self.names.defined(node, scope.kind)

    def _first_parameter(self, parameters: Node) -> str:
        first = next((child for child in parameters.children if child.is_named), None)
        if first is not None and first.type == "typed_parameter":
            first = first.children[0]
        return self.names.text(first) if first is not None and first.type == "identifier" else ""

    def lambda_(self, node: Node, _role: str, place: Place) -> None:
        inner = Place(Scope("function", place.scope), False)
        for child in reversed(node.children):
            bound = child.type == "lambda_parameters"
            self.push(child.children if bound else [child], BOUND if bound else REFERENCE, inner)

    def parameter(self, node: Node, _role: str, place: Place) -> None:
        """`x: T`, `x=1`, `x: T = 1`, `*x`, `**x`: the first name is new, the rest is read outside the function."""
        outer = Place(place.scope.parent or place.scope, False)
        first = next((i for i, child in enumerate(node.children) if child.is_named), 0)
        self.push(node.children[first + 1 :], REFERENCE, outer)
        self.push([node.children[first]], BOUND, place)

    def comprehension(self, node: Node, _role: str, place: Place) -> None:
        inner = Place(Scope("function", place.scope), place.argument)
        # The body stands first, but its names are bound by the clauses: a name alone waits on the stack as well.
        self._stack += [(child, REFERENCE, inner) for child in node.children if child.type == "identifier"]
        self.push([child for child in node.children if child.type not in _BODY_AND_CLAUSES], REFERENCE, inner)
        self.push([child for child in node.children if child.type == "for_in_clause"], REFERENCE, inner)

    def target_first(self, node: Node, _role: str, place: Place) -> None:
        """`x = …`, `for x in …`, `x := …`: the first named child after a keyword, if any, is bound."""
        first = next((i for i, child in enumerate(node.children) if child.is_named), 0)
        self.push(node.children[first + 1 :], REFERENCE, place)
        self.push([node.children[first]], BOUND, place)
        self.push(node.children[:first], REFERENCE, place)

    def same_role(self, node: Node, role: str, place: Place) -> None:
        self.push(node.children, role, place)

    def bound(self, node: Node, _role: str, place: Place) -> None:
        self.push(node.children, BOUND, place)

    def as_pattern(self, node: Node, role: str, place: Place) -> None:
        """`with f() as x`, `except E as x`, `case p as x`."""
        self.push(node.children[-1:], BOUND, place)
        self.push(node.children[:-1], role, place)

    def except_clause(self, node: Node, _role: str, place: Place) -> None:
        for child in reversed(node.children):
            self.push([child], REFERENCE if child.type == "block" else TYPE, place)

    def alias(self, node: Node, _role: str, place: Place) -> None:
        """`type X = …`"""
        keyword, name, *rest = node.children
        self.push(rest, REFERENCE, place)
        self.push(name.children, BOUND, place)
        self.push([keyword], REFERENCE, place)

    def declared_elsewhere(self, node: Node, _role: str, place: Place) -> None:
        """After `global x` or `nonlocal x`, assigning x defines nothing."""
        for child in node.children:
            if child.type == "identifier":
                name = self.names.text(child)
                place.scope.names[name] = place.scope.find(name)
        self.push(node.children, REFERENCE, place)

    # ------------------------------------------------------------------------------- patterns of match, and imports

    def class_pattern(self, node: Node, _role: str, place: Place) -> None:
        self.push(node.children[1:], BOUND, place)
        self.push(node.children[:1], TYPE, place)

    def keyword_pattern(self, node: Node, _role: str, place: Place) -> None:
        self.emit(node.children[0], Kind.ARGUMENT_NAME, place)
        self.push(node.children[1:], BOUND, place)

    def dotted_name(self, node: Node, role: str, place: Place) -> None:
        """In a pattern: one name is bound, a dotted one is looked up."""
        first, *rest = [child for child in node.children if child.type == "identifier"]
        self.name(first, REFERENCE if rest else role, place)
        for member in rest:
            self.emit(member, Kind.TYPE_REFERENCE if role == TYPE else Kind.FIELD, place)

    def import_(self, node: Node, _role: str, place: Place) -> None:
        place.scope.names.update(self.names.imported(node))
        source = node.child_by_field_name("module_name")
        package = self.names.absolute(self.names.text(source)) if source else ""
        if node.type == "future_import_statement":
            package = "__future__"
        for child in node.children:
            taken = child.is_named and not (source and child.start_byte == source.start_byte)
            self._import_part(child, package if taken else "", place)

    def _import_part(self, node: Node, package: str, place: Place) -> None:
        """The names of modules and of what is taken from them; the alias is a definition."""
        if node.type in _KEYWORD_LEAVES:
            self.emit(node, Kind.KEYWORD, place)
        elif node.type == "identifier":
            self.emit(node, Kind.IMPORT, place, Origin(True, package or self.names.text(node)))
        elif node.type == "aliased_import":
            for child in node.children[:-1]:
                self._import_part(child, package, place)
        else:
            for child in node.children:
                self._import_part(child, package, place)
                if node.type == "dotted_name" and child.type == "identifier":
                    package = f"{package}.{self.names.text(child)}".lstrip(".")


_HANDLERS: dict[str, Callable[[Walk, Node, str, Place], None]] = {
    "ERROR": Walk.error,
    "as_pattern": Walk.as_pattern,
    "as_pattern_target": Walk.bound,
    "assignment": Walk.target_first,
    "attribute": Walk.attribute,
    "call": Walk.call,
    "case_pattern": Walk.bound,
    "class_definition": Walk.class_,
    "class_pattern": Walk.class_pattern,
    "dotted_name": Walk.dotted_name,
    "except_clause": Walk.except_clause,
    "except_group_clause": Walk.except_clause,
    "for_in_clause": Walk.target_first,
    "for_statement": Walk.target_first,
    "function_definition": Walk.function,
    "identifier": Walk.name,
    "keyword_argument": Walk.keyword_argument,
    "keyword_pattern": Walk.keyword_pattern,
    "lambda": Walk.lambda_,
    "named_expression": Walk.target_first,
    "string": Walk.string,
    "type": Walk.type_,
    "type_alias_statement": Walk.alias,
    **dict.fromkeys(["default_parameter", "typed_parameter", "typed_default_parameter"], Walk.parameter),
    **dict.fromkeys(["global_statement", "nonlocal_statement"], Walk.declared_elsewhere),
    **dict.fromkeys(["import_statement", "import_from_statement", "future_import_statement"], Walk.import_),
    **dict.fromkeys(
        ["list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"],
        Walk.comprehension,
    ),
    # What passes on the role of the whole: targets like `a, (b, *c)`, the alternatives of a pattern.
    **dict.fromkeys(
        "pattern_list tuple_pattern list_pattern list_splat_pattern dictionary_splat_pattern tuple list splat_pattern "
        "dict_pattern union_pattern parenthesized_expression".split(),
        Walk.same_role,
    ),
}


def extract(text: str, path: str) -> Extraction:
    """The completable tokens of one file."""
    source = text.encode()
    walk = Walk(source, path)
    walk.run(parser("python").parse(source).root_node)
    walk.found.sort()
    points = code_points(source) or range(len(source) + 1)
    tokens = tuple([Token(offset=points[begin], text=name, properties=known) for begin, name, known in walk.found])
    return Extraction(tokens=tokens, unparsable=walk.unparsable / max(len(source), 1))


LANGUAGE: Language = Language(
    name="python",
    title="Python",
    suffixes=(".py", ".pyi"),
    keywords=KEYWORDS,
    extract=extract,
    resolve=resolve,
    resolver=RESOLVER,
)
