"""The language Scala: which names in a file are references, and what kind each is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.parsing import ROUND, Match, Repair, outside, replace_groups
from ci_eval.core.grammar.scopes import LOCAL, LOCAL_TYPE, Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BOUND, REFERENCE, SAME, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.jvm import JVM_WORD, Known, read_package
from ci_eval.plugins.languages.scala.references import KEYWORDS, NEW, USUAL, ReferenceWalk

_GIVEN = rb"\bgiven\b[^\n={}]{0,1000}?"
_CLAUSE = rb"(?:\[[^\[\]]{0,500}(?:\[[^\[\]]{0,500}\][^\[\]]{0,500}){0,9}\]|\((?:using\s)?\s*\w+\s*:" + ROUND + rb"\))"


def _match_type(match: Match) -> bytes:
    """Return `X match { case A => B; case C => D }` with a line for each case."""
    head = match.start("cases") - match.start()
    return match[0][:head] + re.sub(rb"[{};]", b"\n", match["cases"])


REPAIRS = (
    # A given with a body in brackets, or behind a colon, as one that is equal to a block.
    Repair(outside(_GIVEN + rb"(?:\b(?P<k>with)\s*|(?P<s>[ \t]))(?=\{)"), lambda m: replace_groups(m, k=b"=", s=b"=")),
    # `given a: [T] => (b: B) => C` as `given a [T] (b: B): C`.
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
    # `class A @Inject() (b: B)`, whose parameters would be arguments of the annotation.
    Repair(
        outside(rb"\bclass\s+\w+(?:\[[^\[\]\n]{0,200}\])?\s+(?P<a>@(?P<t>\w+)\(\))(?=\s*\()"),
        lambda m: replace_groups(m, a=b""),
        always=True,
        trigger=re.compile(rb"@\w+\(\)\s*\("),
    ),
)


# The number of annotations and modifiers is limited, since a hostile file may have nothing else, and would take long.
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
    ignored = frozenset(
        "( ) [ ] { } , . ; : = < > @ => <- <: >: _ # | $ * operator_identifier comment block_comment integer_literal "
        "floating_point_literal character_literal package_identifier wildcard namespace_wildcard unit "
        '?=> string_literal string escape_sequence " """ \''.split()
    )

    paths = frozenset(["field_expression", "stable_identifier"])

    roles = {
        BOUND: (
            "tuple_pattern named_tuple_pattern case_class_pattern typed_pattern alternative_pattern repeat_pattern "
            "infix_pattern capture_pattern bindings parameter_types"
        ),
        SAME: "named_tuple_type",
    }

    def __init__(self, text: str, path: str, declared: Declarations) -> None:
        super().__init__(text.encode(), read_package(text, path, nested=True), declared)
        self.known = Known(self.package, declared, USUAL, text)

    def outermost(self, root: Node) -> Scope:
        scope = Scope("file")
        scope.names.update(self._declared_names(root.children, static=True))
        return scope

    def _declared_names(self, nodes: Sequence[Node], *, static: bool) -> dict[str, Origin]:
        """Return the origins of what the file, or the body of a class, declares, by name. A name is known in all of it,
        also before its declaration."""
        origins: dict[str, Origin] = {}
        for child in nodes:
            kind = child.type
            if kind in _FUNCTIONS:
                # A function without parameters is called without brackets, so both keys may find it.
                keys: tuple[str, ...] = ("{}", "{}()")
            elif kind in _CLASSES:
                # Case classes are made without `new`, so the name of a class may be called.
                keys = ("{}", "{}()", "<{}>")
            elif kind == "type_definition":
                keys = ("<{}>",)
            elif kind == "enum_case_definitions":
                origins.update(self._cases(child))
                continue
            elif kind == "given_definition":
                origins.update({self.text(name): Origin(static, self.package) for name in self._given_names(child)})
                continue
            elif kind in _VALUES:
                origins.update({self.text(name): Origin(static, self.package) for name in self._pattern_names(child)})
                continue
            else:
                continue
            name = child.child_by_field_name("name")
            if name is not None:
                holder = "class" if kind in _CLASSES else ""
                origin = Origin(static or (None if holder else False), self.package, holder)
                origins.update({key.format(self.text(name)): origin for key in keys})
        return origins

    def _cases(self, node: Node) -> dict[str, Origin]:
        """Return the cases of an enum by name: one with parameters is a class, any other a constant."""
        origins: dict[str, Origin] = {}
        for case in node.children:
            if (name := case.child_by_field_name("name")) is not None:
                has_parameters = case.type == "full_enum_case"
                origins[self.text(name)] = Origin(True, self.package, "class" if has_parameters else "")
                if not has_parameters:
                    self.constants.add(self.text(name))
        return origins

    def _given_names(self, node: Node) -> list[Node]:
        """Return the name of a given, if it has one: an instance without one begins with its type."""
        return [child for child in node.children[1:2] if child.type == "identifier"]

    def _pattern_names(self, node: Node) -> list[Node]:
        """Return the names of a `val`, or those directly in its pattern."""
        pattern = node.child_by_field_name("pattern")
        nodes = node.children if pattern is None else [pattern] if pattern.type == "identifier" else pattern.children
        return [leaf for leaf in nodes if leaf.type == "identifier"]

    @handle_nodes("package_clause")
    def package_clause(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit what is in the brackets of `package a { … }`."""
        for child in node.children:
            if child.type == "template_body":
                names = self._declared_names(child.children, static=True)
                self.in_order(child.children, NodePlace(Scope("file", place.scope, names), False))

    @handle_nodes("package_object", *_CLASSES)
    def class_(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a class. Its parameters are known in its body; with `val`, `var` or `case class` they are fields."""
        children = node.children
        around = Scope("block", place.scope)
        scope = Scope("class", around)
        is_case = any(child.type == "case" for child in children)
        for child in children:
            if child.type in _BODIES:
                scope.names.update(self._declared_names(child.children, static=node.type in _OBJECTS))
                # The name in `self =>`.
                leaves = [leaf for part in child.children if part.type == "self_type" for leaf in part.children]
                around.names.update({self.text(leaf): LOCAL for leaf in leaves if leaf.type == "identifier"})
            elif child.type == "type_parameters":
                self._type_parameters(child, around)
            elif child.type == "class_parameters":
                self._class_parameters(child, around, scope, every=is_case)
        inner, outer = NodePlace(scope, False), NodePlace(around, False)
        name = node.child_by_field_name("name")
        others = [child for child in children if name is None or child.start_byte != name.start_byte]
        for child in reversed(others):
            if child.child_count:
                self._stack.append((child, REFERENCE, inner if child.type in _BODIES else outer))
        self.push([child for child in others if not child.child_count], REFERENCE, outer)

    def _class_parameters(self, node: Node, around: Scope, fields: Scope, *, every: bool) -> None:
        for parameter in node.children:
            name = parameter.child_by_field_name("name") if parameter.type == "class_parameter" else None
            if name is None:
                continue
            around.names[self.text(name)] = LOCAL
            if every or any(child.type in {"val", "var"} for child in parameter.children):
                fields.names[self.text(name)] = Origin(False, self.package)

    def _type_parameters(self, node: Node, scope: Scope) -> None:
        for child in node.children:
            if child.type in _VARIANT:
                self._type_parameters(child, scope)
            elif child.type in self.names:
                scope.names[f"<{self.text(child)}>"] = LOCAL_TYPE

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
        # The parameters are plain identifiers here, their uses are type identifiers.
        self.push([child for child in node.children if child.type != "identifier"], TYPE, inner)

    @handle_nodes("context_bound")
    def context_bound(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `Ord as o`, which defines o."""
        children = node.children
        if len(children) > 2 and children[-2].type == "as":
            place.scope.names[self.text(children.pop())] = LOCAL
        self.push(children, TYPE, place)

    @handle_nodes("function_type")
    def function_type(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `[T] => (x: A) => x.B`, whose parameters are known in it."""
        inner = NodePlace(Scope("block", place.scope), place.argument)
        for child in node.children:
            if child.type == "type_parameters":
                self._type_parameters(child, inner.scope)
        self.push(node.children, TYPE, inner)

    @handle_nodes("template_body", "with_template_body", "enum_body")
    def template_body(self, node: Node, _role: str, place: NodePlace) -> None:
        if place.scope.kind != "class":
            # Of an anonymous class.
            place = NodePlace(Scope("class", place.scope, self._declared_names(node.children, static=False)), False)
        self.in_order(node.children, place)

    @handle_nodes("function_definition", "function_declaration", "given_definition")
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), False)
        is_given = node.type == "given_definition"
        name = next(iter(self._given_names(node)), None) if is_given else node.child_by_field_name("name")
        begin = name.start_byte if name is not None else -1
        for child in node.children:
            if child.type == "type_parameters":
                self._type_parameters(child, inner.scope)
        if name is not None and self.text(name) == "this":
            # A constructor.
            self.emit(name, Kind.KEYWORD, place)
        elif name is not None and place.scope.kind == "block":
            place.scope.names.update({self.text(name): LOCAL, f"{self.text(name)}()": LOCAL})
        self.in_order([child for child in node.children if not self._is_name(child, begin)], inner)

    @handle_nodes("parameter", "class_parameter", "binding")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name")
        if name is not None and node.type != "class_parameter":
            place.scope.names[self.text(name)] = LOCAL
        self._push_siblings(node, name, place)

    @handle_nodes("type_definition", "simple_enum_case", "full_enum_case")
    def named(self, node: Node, _role: str, place: NodePlace) -> None:
        self._push_siblings(node, node.child_by_field_name("name"), place)

    def _push_siblings(self, node: Node, name: Node | None, place: NodePlace) -> None:
        begin = name.start_byte if name is not None else -1
        self.push([child for child in node.children if not self._is_name(child, begin)], REFERENCE, place)

    def _is_name(self, node: Node, begin: int) -> bool:
        # Soft keywords, such as `end`, are names that have a child.
        return node.start_byte == begin and (not node.child_count or node.type in self.names)

    @handle_nodes("val_definition", "var_definition", "val_declaration", "var_declaration")
    def value(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define a variable, which is known after its value; members of a class are known everywhere in it."""
        pattern = node.child_by_field_name("pattern")
        if pattern is None or pattern.type in {"identifier", "identifiers"}:
            names = self._pattern_names(node)
            begins = {name.start_byte for name in names}
            # Also those that begin with a capital. Members are known already.
            if place.scope.kind == "block":
                self._stack += [(name, NEW, place) for name in names]
        else:
            begins = {pattern.start_byte}
            # Members are known already, so a pattern of them is bound in a scope that is thrown away.
            scope = place.scope if place.scope.kind == "block" else Scope("block", place.scope)
            self._stack.append((pattern, BOUND, NodePlace(scope, place.argument)))
        others = [child for child in node.children if child.start_byte not in begins]
        self.in_order(others, place)

    @handle_nodes("enumerator")
    def enumerator(self, node: Node, _role: str, place: NodePlace) -> None:
        pattern, *siblings = node.children
        # A guard sees the names of the pattern, the source of the values does not.
        guards = [child for child in siblings if child.type == "guard"]
        self.push(guards, REFERENCE, place)
        self._stack.append((pattern, BOUND, place))
        self.in_order([child for child in siblings if child.type != "guard"], place)

    @handle_nodes(
        "extension_definition",
        "for_expression",
        "block",
        "case_clause",
        "lambda_expression",
        "colon_argument",
        "indented_block",
    )
    def block(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a scope, in which a lambda's parameter or the pattern of a case is bound."""
        children = node.children
        is_lambda = node.type == "lambda_expression" or any(child.type == "=>" for child in children[1:2])
        inner = NodePlace(Scope("block", place.scope), place.argument and not is_lambda)
        bound = 1 if node.type == "case_clause" else 0 if is_lambda else -1
        if 0 <= bound < len(children):
            self.in_order(children[bound + 1 :], inner)
            if children[bound].child_count or children[bound].type in self.names:
                self._stack.append((children[bound], BOUND, inner))
            else:
                self.push([children[bound]], BOUND, inner)
            self.push(children[:bound], REFERENCE, inner)
        else:
            self.in_order(children, inner)

    @handle_nodes("named_pattern", "name_and_type")
    def named_part(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit a part of a named tuple, of its type or pattern, or a parameter of a function's type."""
        name, *siblings = node.children
        if node.type == "name_and_type" and role == BOUND:
            place.scope.names[self.text(name)] = LOCAL
        else:
            self.emit(name, Kind.ARGUMENT_NAME, place)
        self.push(siblings, role, place)


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    """Return the package, and what is declared without indentation."""
    return read_package(text, path, nested=True), frozenset(_TOP.findall(text))


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    # The grammar takes as long for comments as for code, so they are blanked out. Where that was wrong, the text no
    # longer parses, which shows.
    blanked = _LITERAL_OR_COMMENT.sub(_blank_comment, text)
    extraction = extract_tokens(ScalaWalk(blanked, path, declared), "scala", REPAIRS)
    if not extraction.unparsable or blanked == text:
        return extraction
    return extract_tokens(ScalaWalk(text, path, declared), "scala", REPAIRS)


_LITERAL_OR_COMMENT = re.compile(
    r"""'(?:\\.|[^'\\\n])'|\"{3}[\s\S]*?\"{3}|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*[\s\S]*?\*/"""
)


def _blank_comment(match: re.Match[str]) -> str:
    """Return a comment as blanks with the same line ends. Literals, and comments that contain others, stay."""
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
            # The grammar cannot read a function that has neither a type nor a body.
            **{f"{function} {type_}": ": Any" for function in sorted(_FUNCTIONS) for type_ in _TYPES},
        },
    ),
)
