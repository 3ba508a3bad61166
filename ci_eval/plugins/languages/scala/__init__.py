"""The language Scala: finds the references in a file and their kinds."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.parsing import ROUND, Match, Repair, outside, replace_groups
from ci_eval.core.grammar.scopes import LOCAL, LOCAL_TYPE, Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BOUND, REFERENCE, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.jvm import JVM_WORD, Names, read_package
from ci_eval.plugins.languages.scala.references import KEYWORDS, NEW, USUAL, ReferenceWalk

_GIVEN = rb"\bgiven\b[^\n={}]{0,1000}?"
_CLAUSE = rb"(?:\[[^\[\]]{0,500}(?:\[[^\[\]]{0,500}\][^\[\]]{0,500}){0,9}\]|\((?:using\s)?\s*\w+\s*:" + ROUND + rb"\))"


def _match_type(match: Match) -> bytes:
    """Rewrite `X match { case A => B; case C => D }` with one line per case."""
    head = match.start("cases") - match.start()
    return match[0][:head] + re.sub(rb"[{};]", b"\n", match["cases"])


REPAIRS = (
    # A `given` with a body in braces becomes a `given` with `=` and a block.
    Repair(outside(_GIVEN + rb"(?:\b(?P<k>with)\s*|(?P<s>[ \t]))(?=\{)"), lambda m: replace_groups(m, k=b"=", s=b"=")),
    # `given a: [T] => (b: B) => C` becomes `given a [T] (b: B): C`.
    Repair(
        outside(
            rb"\bgiven\b\s+(?:\w+\s*(?P<colon>:)\s*)?"
            + _CLAUSE
            + rb"\s*(?P<a1>=>)(?:\s*"
            + _CLAUSE
            + rb"\s*(?P<a2>=>))?"
        ),
        lambda m: replace_groups(m, colon=b"", a1=b"" if m["a2"] else b":", a2=b":"),
    ),
    Repair(outside(rb"\btype\b[^\n={}]{0,300}=[^\n={}]{0,300}\bmatch[ \t]*(?P<cases>\{[^{}]{0,5000}\})"), _match_type),
    # A union type becomes an intersection type: the grammar would parse a union as the alternatives of a pattern.
    Repair(
        outside(rb"\bva[lr]\s+\w+\s*:(?:[^\n={}]|=>){0,500}"),
        lambda m: m[0].replace(b"|", b"&"),
        always=True,
        trigger=re.compile(rb"\bva[lr]\s+\w+\s*:[^\n{}]*\|"),
    ),
    # In `class A @Inject() (b: B)`, the grammar would parse `(b: B)` as arguments of the annotation.
    Repair(
        outside(rb"\bclass\s+\w+(?:\[[^\[\]\n]{0,200}\])?\s+(?P<a>@(?P<t>\w+)\(\))(?=\s*\()"),
        always=True,
        trigger=re.compile(rb"@\w+\(\)\s*\("),
    ),
)


# The number of annotations and modifiers is limited: a hostile file of nothing else would take very long to match.
_TOP = re.compile(
    r"^(?:@\S+\s+){0,20}(?:[a-z]+(?:\[\w+\])?\s+){0,20}"
    r"(?:class|trait|object|def|val|var|type|enum|given)\s+(\w+)",
    re.MULTILINE,
)
_CLASSES = frozenset(["class_definition", "trait_definition", "object_definition", "enum_definition"])
_OBJECTS = frozenset(["object_definition", "package_object"])
_BODIES = frozenset(["template_body", "enum_body"])
_VALUES = frozenset(["val_definition", "var_definition", "val_declaration", "var_declaration"])
_FUNCTIONS = frozenset(["function_definition", "function_declaration"])
_VARIANT = ("covariant_type_parameter", "contravariant_type_parameter")
_TYPES = ("type_identifier", "generic_type", "stable_type_identifier", "tuple_type", "function_type", "compound_type")


class ScalaWalk(ReferenceWalk):
    names = frozenset(["identifier", "type_identifier"])
    keywords = KEYWORDS | {"null_literal"}
    ignored = "namespace_wildcard package_identifier string"

    paths = frozenset(["field_expression", "stable_identifier"])

    roles = {
        BOUND: (
            "tuple_pattern named_tuple_pattern case_class_pattern typed_pattern alternative_pattern repeat_pattern "
            "infix_pattern capture_pattern bindings parameter_types"
        ),
    }
    transparent = "named_tuple_type"

    def __init__(self, text: str, path: str, declared: Declarations) -> None:
        super().__init__(text.encode(), read_package(text, path, nested=True), declared)
        self.known = Names(self.package, declared, USUAL, text)

    def outermost(self, root: Node) -> Scope:
        return Scope("file", names=self._declared_names(root.children, static=True))

    def _declared_names(self, nodes: Sequence[Node], *, static: bool) -> dict[str, Origin]:
        """Return the origins of the names that a file or class body declares. They are known in the whole file or body,
        even before their declaration."""
        origins: dict[str, Origin] = {}
        for child in nodes:
            kind = child.type
            if kind in _FUNCTIONS:
                # A function without parameters is called without parentheses, so it also has the key of a variable.
                keys: tuple[str, ...] = ("{}", "{}()")
            elif kind in _CLASSES:
                # Case classes are created without `new`, so the name of a class also has the key of a function.
                keys = ("{}", "{}()", "<{}>")
            elif kind == "type_definition":
                keys = ("<{}>",)
            elif kind == "enum_case_definitions":
                for case in child.children:
                    if (name := case.child_by_field_name("name")) is not None:
                        # Cases with parameters are classes; other cases are constants.
                        holder = "class" if case.type == "full_enum_case" else ""
                        origins[self.text(name)] = Origin(True, self.package, holder)
                        if not holder:
                            self.constants.add(self.text(name))
                continue
            else:
                names = self._given_names(child) if kind == "given_definition" else []
                names += self._pattern_names(child) if kind in _VALUES else []
                origins.update({self.text(name): Origin(static, self.package) for name in names})
                continue
            name = child.child_by_field_name("name")
            if name is not None:
                holder = "class" if kind in _CLASSES else ""
                origin = Origin(static or (None if holder else False), self.package, holder)
                origins.update({key.format(self.text(name)): origin for key in keys})
        return origins

    def _given_names(self, node: Node) -> list[Node]:
        """Return the name of a given, or an empty list if the given has no name."""
        unmodified = [child for child in node.children if child.type != "modifiers"]
        return [child for child in unmodified[1:2] if child.type == "identifier"]

    def _pattern_names(self, node: Node) -> list[Node]:
        """Return the names of a `val` that are direct children of the node or its pattern."""
        pattern = node.child_by_field_name("pattern")
        nodes = node.children if pattern is None else [pattern] if pattern.type == "identifier" else pattern.children
        return [leaf for leaf in nodes if leaf.type == "identifier"]

    @handle_nodes("package_clause")
    def package_clause(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the content of `package a { … }`."""
        for child in node.children:
            if child.type == "template_body":
                names = self._declared_names(child.children, static=True)
                self.in_order(child.children, NodePlace(Scope("file", place.scope, names), False))

    @handle_nodes("package_object", *_CLASSES)
    def class_(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a class. Its body knows its parameters; those with `val` or `var`, or of a case class, are fields."""
        children = node.children
        around = Scope("block", place.scope)
        scope = Scope("class", around)
        is_case = any(child.type == "case" for child in children)
        for child in children:
            if child.type in _BODIES:
                scope.names.update(self._declared_names(child.children, static=node.type in _OBJECTS))
                # These are the names before `=>` in `self =>`.
                leaves = [leaf for part in child.children if part.type == "self_type" for leaf in part.children]
                around.names.update({self.text(leaf): LOCAL for leaf in leaves if leaf.type == "identifier"})
            elif child.type == "type_parameters":
                self._type_parameters(child, around)
            for parameter in child.children if child.type == "class_parameters" else ():
                if parameter.type == "class_parameter":
                    name = parameter.child_by_field_name("name")
                    self.define(name, around)
                    if is_case or any(part.type in {"val", "var"} for part in parameter.children):
                        self.define(name, scope, Origin(False, self.package))
        inner, outer = NodePlace(scope, False), NodePlace(around, False)
        name = node.child_by_field_name("name")
        self.each(
            [(child, REFERENCE, inner if child.type in _BODIES else outer) for child in children if child != name]
        )

    def _type_parameters(self, node: Node, scope: Scope) -> None:
        for child in node.children:
            if child.type in _VARIANT:
                self._type_parameters(child, scope)
            elif child.type in self.names:
                self.define(child, scope, LOCAL_TYPE, "<{}>")

    @handle_nodes("type_parameters", *_VARIANT)
    def type_parameters(self, node: Node, _role: str, place: NodePlace) -> None:
        others = [child for child in node.children if child.type not in self.names]
        self.push(others, TYPE, place)

    @handle_nodes("self_type")
    def self_type(self, node: Node, _role: str, place: NodePlace) -> None:
        for child in node.children:
            if child.type != "identifier":
                self.push([child], TYPE, place)
            elif self.text(child) == "this":
                self.emit(child, Kind.KEYWORD, place)

    @handle_nodes("type_lambda")
    def type_lambda(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), place.argument)
        self._type_parameters(node, inner.scope)
        # The parameters are plain identifiers; their uses are type identifiers.
        self.push([child for child in node.children if child.type != "identifier"], TYPE, inner)

    @handle_nodes("context_bound")
    def context_bound(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `Ord as o` and define o."""
        children = node.children
        if len(children) > 2 and children[-2].type == "as":
            self.define(children.pop(), place.scope)
        self.push(children, TYPE, place)

    @handle_nodes("function_type")
    def function_type(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `[T] => (x: A) => x.B`. The parameters are known inside it."""
        inner = NodePlace(Scope("block", place.scope), place.argument)
        for child in node.children:
            if child.type == "type_parameters":
                self._type_parameters(child, inner.scope)
        self.push(node.children, TYPE, inner)

    @handle_nodes("template_body", "with_template_body", "enum_body")
    def template_body(self, node: Node, _role: str, place: NodePlace) -> None:
        if place.scope.kind != "class":
            # This is the body of an anonymous class.
            place = NodePlace(Scope("class", place.scope, self._declared_names(node.children, static=False)), False)
        self.in_order(node.children, place)

    @handle_nodes(*_FUNCTIONS, "given_definition")
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), False)
        is_given = node.type == "given_definition"
        name = next(iter(self._given_names(node)), None) if is_given else node.child_by_field_name("name")
        for child in node.children:
            if child.type == "type_parameters":
                self._type_parameters(child, inner.scope)
        if name is not None and self.text(name) == "this":
            # This is a constructor.
            self.emit(name, Kind.KEYWORD, place)
        elif place.scope.kind == "block":
            self.define(name, place.scope)
            self.define(name, place.scope, key="{}()")
        self.in_order([child for child in node.children if child != name], inner)

    @handle_nodes(*"parameter class_parameter binding type_definition simple_enum_case full_enum_case".split())
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name")
        if node.type in {"parameter", "binding"}:
            self.define(name, place.scope)
        self.push([child for child in node.children if child != name], REFERENCE, place)

    @handle_nodes(*_VALUES)
    def value(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define variables after their value is visited. The members of a class are already defined."""
        pattern = node.child_by_field_name("pattern")
        if pattern is None or pattern.type in {"identifier", "identifiers"}:
            names = self._pattern_names(node)
            # The role NEW also defines names that begin with a capital letter.
            if place.scope.kind == "block":
                self._stack += [(name, NEW, place) for name in names]
        else:
            # Members are already defined, so the definitions in their pattern go to a separate scope.
            scope = place.scope if place.scope.kind == "block" else Scope("block", place.scope)
            self._stack.append((pattern, BOUND, NodePlace(scope, place.argument)))
        bound = self._pattern_names(node) if pattern is None else [pattern]
        self.in_order([child for child in node.children if child not in bound], place)

    @handle_nodes("enumerator")
    def enumerator(self, node: Node, _role: str, place: NodePlace) -> None:
        pattern, *siblings = node.children
        # The names in the pattern are known in the guard, but not in the value.
        self.push([child for child in siblings if child.type == "guard"], REFERENCE, place)
        self._stack.append((pattern, BOUND, place))
        self.in_order([child for child in siblings if child.type != "guard"], place)

    @handle_nodes(
        *"extension_definition for_expression block case_clause lambda_expression colon_argument indented_block".split()
    )
    def block(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a scope. Define the parameters of a lambda or the names in the pattern of a case."""
        children = node.children
        is_lambda = node.type == "lambda_expression" or any(child.type == "=>" for child in children[1:2])
        inner = NodePlace(Scope("block", place.scope), place.argument and not is_lambda)
        bound = 1 if node.type == "case_clause" else 0 if is_lambda else -1
        if 0 <= bound < len(children):
            self.in_order(children[bound + 1 :], inner)
            self.each([(children[bound], BOUND, inner)])
            self.push(children[:bound], REFERENCE, inner)
        else:
            self.in_order(children, inner)

    @handle_nodes("named_pattern", "name_and_type")
    def named_part(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit an element of a named tuple, tuple type or tuple pattern, or a parameter of a function type."""
        name, *siblings = node.children
        if node.type == "name_and_type" and role == BOUND:
            self.define(name, place.scope)
        else:
            self.emit(name, Kind.ARGUMENT_NAME, place)
        self.push(siblings, role, place)


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    return read_package(text, path, nested=True), frozenset(_TOP.findall(text))


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    # Parsing comments is as slow as parsing code, so comments are blanked. If that blanked code by mistake, the text
    # cannot be parsed, and the original text is parsed instead.
    blanked = _LITERAL_OR_COMMENT.sub(_blank_comment, text)
    extraction = extract_tokens(ScalaWalk(blanked, path, declared), "scala", REPAIRS)
    if not extraction.unparsable or blanked == text:
        return extraction
    return extract_tokens(ScalaWalk(text, path, declared), "scala", REPAIRS)


_LITERAL_OR_COMMENT = re.compile(
    r"""'(?:\\.|[^'\\\n])'|\"{3}[\s\S]*?\"{3}|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*[\s\S]*?\*/"""
)


def _blank_comment(match: re.Match[str]) -> str:
    """Return spaces for a comment, keeping its line ends. Literals and nested comments are kept."""
    text = match[0]
    if text[0] != "/" or "/*" in text[2:]:
        return text
    return "\n".join([" " * len(line) for line in text.split("\n")])


LANGUAGE: Language = Language(
    name="scala",
    title="Scala",
    dependencies="jvm",
    grammars={".scala": "scala", ".sc": "scala"},
    keywords=KEYWORDS,
    word=JVM_WORD,
    extract=extract,
    declare=declare,
    shape=Shape(
        lists=frozenset(["compilation_unit", "template_body"]),
        bodies=frozenset(["function_definition block", "function_definition case_block"]),
        closers=frozenset([")", "]", "}", 'interpolated_string "', 'interpolated_string """', "case_clause =>"]),
        quoted=frozenset(["interpolated_string"]),
        stand_ins={
            "template_body": "{}",
            "catch_clause": " finally {}",
            # The grammar does not support a function that has neither a type nor a body.
            **{f"{function} {type_}": ": Any" for function in sorted(_FUNCTIONS) for type_ in _TYPES},
        },
    ),
)
