"""The language TypeScript: which names in a file are references, and what kind each is."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from ci_eval.core.contracts import Declarations, Language
from ci_eval.core.grammar.ecmascript.definitions import EcmaDefinitions
from ci_eval.core.grammar.ecmascript.names import NAME, declare
from ci_eval.core.grammar.ecmascript.shape import SHAPE
from ci_eval.core.grammar.ecmascript.walk import KEYWORDS as SHARED
from ci_eval.core.grammar.ecmascript.walk import ecma_scope
from ci_eval.core.grammar.importing.ecmascript import SYNTAX
from ci_eval.core.grammar.imports.ecmascript import imports
from ci_eval.core.grammar.scopes import Origin
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind

KEYWORDS = SHARED | frozenset(
    "abstract accessor any asserts bigint boolean declare enum global implements infer interface intrinsic is "
    "keyof module namespace never number object out override private protected public readonly require "
    "satisfies string symbol type undefined unique unknown".split()
)
_GRAMMARS = {".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx"}


class TypeScriptWalk(EcmaDefinitions):
    keywords = KEYWORDS - {"string", "number", "undefined"} | {"this_type"}
    ignored = EcmaDefinitions.ignored | {"|", "&"}

    @handle_nodes("predefined_type")
    def keyword_type(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit `string` or `any` as one keyword, though it may be several leaves, and `unique symbol` as two."""
        # In one grammar the two words are one leaf.
        for word in re.finditer(r"\w+", self.text(node)):
            self.emit(node, Kind.KEYWORD, place, text=word[0], skip=word.start())

    @handle_nodes("literal_type")
    def literal_type(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the type `undefined` as a keyword, like `null`."""
        leaf = node.children[0]
        if leaf.type == "undefined":
            self.emit(leaf, Kind.KEYWORD, place)
        else:
            self.push(node.children, REFERENCE, place)

    def type_name(self, node: Node, name: str, place: NodePlace) -> None:
        """Emit a type, or the keyword `bigint`."""
        # The grammar has a name where `bigint` is a word of the language.
        if name == "bigint":
            self.emit(node, Kind.KEYWORD, place)
        else:
            super().type_name(node, name, place)

    @handle_nodes("required_parameter", "optional_parameter")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        # The name of a part of a tuple, which is only said here, is a field `name` or `pattern` of the same node.
        pattern = node.child_by_field_name("pattern") or node.child_by_field_name("name")
        begin = pattern.start_byte if pattern is not None else -1
        for child in reversed(node.children):
            if child.start_byte == begin and (child.type in self.names or child.child_count):
                self.push([child], BOUND, place)
            else:
                self.push([child], REFERENCE, place)

    @handle_nodes(
        *"function_type constructor_type call_signature construct_signature method_signature index_signature".split(),
        "abstract_method_signature",
        "property_signature",
    )
    def signature(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a signature, whose parameters are names of their own."""
        inner = NodePlace(ecma_scope(place).below("function"), False)
        name = node.child_by_field_name("name")
        self._signature(node.children, name, inner)

    @handle_nodes("interface_declaration", "type_alias_declaration", "enum_declaration", "internal_module", "module")
    def declaration(self, node: Node, _role: str, place: NodePlace) -> None:
        scope = ecma_scope(place)
        name = node.child_by_field_name("name")
        begin = name.start_byte if name is not None else -1
        if node.type in {"internal_module", "module"} and name is not None:
            inner = scope.namespace(f"{scope.package}.{self.text(name)}")
        else:
            inner = scope.below("type")
        # Constants of an enum may use each other without a prefix.
        if node.type == "enum_declaration":
            for child in node.children[-1].children:
                member = child.children[0] if child.child_count else child
                if member.type == "property_identifier":
                    inner.names[self.text(member)] = Origin(True, scope.package, "field")
        others = [child for child in node.children if child.start_byte != begin or child.type in {"interface", "type"}]
        for child in reversed(others):
            if child.child_count:
                self._stack.append(
                    (child, TYPE if node.type == "type_alias_declaration" else REFERENCE, NodePlace(inner, False))
                )
        self.push([child for child in others if not child.child_count], TYPE, NodePlace(inner, False))

    @handle_nodes("import_alias")
    def import_alias(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `import a = b.c`, which defines a."""
        word, name, *path = node.children
        place.scope.names[self.text(name)] = Origin(True, self.package, "module")
        self.push([word, *path], REFERENCE, place)

    @handle_nodes("binary_expression")
    def binary(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit two operands, or ``tag<T>`text` ``, which the grammar takes for two comparisons."""
        left, *_, right = node.children
        if right.type == "template_string" and [child.type for child in left.children[1:2]] == ["<"]:
            self.push([right], REFERENCE, place)
            self.push(left.children[2:], TYPE, place)
            self.push(left.children[:1], CALLED, place)
        else:
            super().binary(node, role, place)

    @handle_nodes("type_parameter", "mapped_type_clause", "infer_type")
    def type_parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        names = [child for child in node.children if child.type == "type_identifier"][:1]
        for name in names:
            place.scope.names[self.text(name)] = Origin(False, None, "class")
        begin = names[0].start_byte if names else -1
        self.push([child for child in node.children if child.start_byte != begin], TYPE, place)

    @handle_nodes("conditional_type")
    def conditional(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a condition and its branches, in which the names inferred in the condition are known."""
        self.in_order(node.children, place)

    @handle_nodes("enum_assignment")
    def enum_assignment(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children[1:], REFERENCE, place)

    @handle_nodes("type_predicate", "asserts", "as_expression", "satisfies_expression", "type_query")
    def value_and_type(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, place)

    @handle_nodes("implements_clause", "extends_type_clause", "type_arguments")
    def types(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, TYPE, place)


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    grammar = _GRAMMARS.get(PurePosixPath(path).suffix, "typescript")
    return extract_tokens(TypeScriptWalk(text.encode(), path, declared), grammar)


LANGUAGE: Language = Language(
    name="typescript",
    title="TypeScript",
    dependencies="node",
    grammars=_GRAMMARS,
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    shape=SHAPE,
    word=NAME,
    imports=imports,
    import_syntax=SYNTAX,
)
