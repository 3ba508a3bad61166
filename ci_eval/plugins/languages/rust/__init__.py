"""The language Rust: which names in a file are references, and what kind each is."""

from __future__ import annotations

import re
from itertools import pairwise

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.parsing import Repair, Rewritten, outside, spaces
from ci_eval.core.grammar.scopes import LOCAL, LOCAL_TYPE, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import (
    BOUND,
    CALLED,
    REFERENCE,
    SAME,
    TYPE,
    NodePlace,
    Walk,
    extract_tokens,
    handle_nodes,
)
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.rust.modules import DECLARED, PRELUDE, TopLevel, declare, derive_package, head, imports

_LITERALS = (
    rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|\bb?r(?P<hashes>\#*)\"(?:[\s\S]*?\"(?P=hashes)|[\s\S]*)"
    rb"|\"(?:\\[\s\S]|[^\"\\])*\"|'(?:\\[^\n']+|\\'|[^\\\n'])'"
)
_PARTS = re.compile(
    rb"(?:" + _LITERALS + rb")|\b(?:(?:debug_)?assert(?:_eq|_ne)?|dbg|e?print(?:ln)?|format(?:_args)?|panic|todo"
    rb"|unimplemented|unreachable|vec|write(?:ln)?)(?P<head>![ \t\n]*[(\[])|(?P<bracket>[()\[\]{}])|(?P<semicolon>;)"
)


class _Calls:
    """A rewriting of `vec![a; n]` into `vec (a, n)`, since a grammar does not look into macros."""

    always = True

    def apply(self, source: bytes) -> Rewritten:
        """Return the text with the macros of the standard library that take expressions as calls."""
        out = bytearray(source)
        # For each bracket that is open: whether it was rewritten.
        opened: list[bool] = []
        for match in _PARTS.finditer(source):
            if match["head"]:
                begin, end = match.span("head")
                out[begin : begin + 1] = b" "
                out[end - 1 : end] = b"("
                opened.append(True)
            elif match["semicolon"]:
                if opened and opened[-1]:
                    out[match.start() : match.end()] = b","
            elif match["bracket"]:
                if match[0] in b"([{":
                    opened.append(False)
                elif opened and opened.pop():
                    out[match.start() : match.end()] = b")"
        return Rewritten(bytes(out))


REPAIRS = (
    _Calls(),
    # The grammar takes `use` for a type.
    Repair(outside(rb"\+\s*(?P<k>use)<[^<>\n]*>", _LITERALS), spaces, always=True, trigger=re.compile(rb"\buse<")),
    Repair(outside(rb"\b(?P<k>safe)(?=\s+(?:fn|static)\b)", _LITERALS), spaces),
)


KEYWORDS = frozenset(
    "as async auto await break const continue crate default dyn else enum extern false fn for gen if impl in let loop "
    "macro_rules match mod move mut pub raw ref return safe self Self static struct super trait true try type union "
    "unsafe use where while yield".split()
)
QUALIFIER = "qualifier"
"""The role of what stands before `::`."""


_SCOPED = "struct_item enum_item union_item trait_item type_item impl_item".split()
_UNSCOPED = "enum_variant associated_type mod_item field_declaration const_item static_item".split()


class RustWalk(Walk):
    names = frozenset("identifier type_identifier field_identifier shorthand_field_identifier primitive_type".split())
    # The grammars have `mut` as a node that is named otherwise.
    keywords = KEYWORDS | {"mutable_specifier"}
    ignored = frozenset(
        "( ) [ ] { } < > , . : :: ; = => -> + - * / % & | ^ ! && || == != <= >= << >> += -= *= /= %= &= |= ^= <<= >>= "
        ".. ... ..= ? @ # _ ' \" line_comment block_comment string_literal raw_string_literal char_literal "
        "integer_literal float_literal lifetime label token_tree metavariable shebang".split(" ")
    )

    roles = {
        TYPE: "generic_type generic_type_with_turbofish type_arguments bounded_type",
        # The length of an array is a value.
        REFERENCE: "visibility_modifier array_type",
        BOUND: "closure_parameters",
        SAME: (
            "tuple_pattern slice_pattern or_pattern captured_pattern ref_pattern mut_pattern reference_pattern "
            "field_pattern"
        ),
    }

    # What a condition binds is known after it.
    blocks = "if_expression while_expression match_arm"
    sequences = "let_chain"

    def __init__(self, source: bytes, path: str, declared: Declarations) -> None:
        super().__init__(source, derive_package(path), declared)
        self.top = TopLevel(source, self.package, declared)

    def outermost(self, root: Node) -> Scope:
        return Scope("file", Scope("prelude", names=PRELUDE), self.top.read(root.children))

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        text = self.text(node)
        kind = node.type
        # The older grammar takes `_` for a type.
        if text == "_":
            return
        if text == "Self":
            self.emit(node, Kind.KEYWORD, place)
        elif role == BOUND and kind != "field_identifier" and not text[:1].isupper():
            place.scope.names[text] = LOCAL
        elif kind == "field_identifier":
            self.emit(node, Kind.FIELD, place, LOCAL, text)
        else:
            self._plain(node, text, role, place)

    def _plain(self, node: Node, text: str, role: str, place: NodePlace) -> Origin:
        """Emit a name that is first in its path, and return its origin."""
        origin = place.scope.find(text)
        is_type = role == TYPE or node.type in {"type_identifier", "primitive_type"} or origin.holder == "class"
        kind = Kind.VARIABLE
        if role == CALLED:
            kind = Kind.METHOD_CALL
        elif is_type or (origin.static is not False and _is_type_name(text)):
            kind = Kind.TYPE_REFERENCE
        self.emit(node, kind, place, origin, text)
        return origin

    @handle_nodes("scoped_identifier", "scoped_type_identifier")
    def path(self, node: Node, role: str, place: NodePlace) -> None:
        """Emit the names of `a::B::c`."""
        *before, last = node.children
        text = self.text(last)
        origin = UNKNOWN
        first = before[0] if before else last
        if first.type in self.names and self.text(first) != "Self":
            origin = self._plain(first, self.text(first), QUALIFIER, place)
        else:
            self.push(before, QUALIFIER, place)
        package = origin.package
        if package and origin.holder == "module":
            package = f"{package}::{self.text(first)}" if package != self.text(first) else package
        known = Origin(True, package if origin.holder else None, "class" if _is_type_name(text) else "")
        if role == CALLED:
            kind = Kind.METHOD_CALL
        elif role == TYPE or last.type == "type_identifier" or (role == QUALIFIER and _is_type_name(text)):
            kind = Kind.TYPE_REFERENCE
        else:
            kind = Kind.VARIABLE if role == QUALIFIER else Kind.FIELD
        if last.type in self.names:
            self.emit(last, kind, place, known, text)
        else:
            self.push([last], role, place)

    @handle_nodes("field_expression")
    def member(self, node: Node, role: str, place: NodePlace) -> None:
        """Emit `y` of `x.y`, and visit x."""
        receiver, *_, member = node.children
        self.push([receiver], REFERENCE, place)
        if member.type not in self.names:
            return
        package = None
        if receiver.type == "self":
            around = place.scope.enclosing("type")
            members = self.top.members.get(around.self_name, set()) if around else set()
            package = self.package if self.text(member) in members else None
        self.emit(member, Kind.METHOD_CALL if role == CALLED else Kind.FIELD, place, Origin(False, package))

    @handle_nodes("generic_function")
    def generic_function(self, node: Node, role: str, place: NodePlace) -> None:
        function, *arguments = node.children
        self.push(arguments, TYPE, place)
        self.push([function], role, place)

    @handle_nodes("type_binding")
    def type_binding(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `Item = T`, whose name is that of a trait's type."""
        name, *value = node.children
        self.push(value, TYPE, place)
        self.emit(name, Kind.TYPE_REFERENCE, place)

    @handle_nodes("call_expression")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        function, *arguments = node.children
        self.push(arguments, REFERENCE, NodePlace(place.scope, True))
        self.push([function], CALLED, place)

    @handle_nodes("arguments")
    def arguments(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit arguments; `name = value` is one of a macro that was rewritten into a call."""
        for child in reversed(node.children):
            children = child.children
            if child.type == "assignment_expression" and children[0].type == "identifier":
                self.push(children[1:], REFERENCE, place)
                self.emit(children[0], Kind.ARGUMENT_NAME, place)
            else:
                self.push([child], REFERENCE, place)

    @handle_nodes("macro_invocation")
    def macro(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a macro's name; what it is given may be anything."""
        self.push(node.children[:1], CALLED, place)

    @handle_nodes("label", "token_tree")
    def dropped(self, _node: Node, _role: str, _place: NodePlace) -> None:
        """Drop what is ignored where nodes wait for others, too."""

    @handle_nodes("macro_definition")
    def macro_definition(self, node: Node, _role: str, place: NodePlace) -> None:
        self.emit(node.children[0], Kind.KEYWORD, place, text="macro_rules")

    @handle_nodes("attribute")
    def attribute(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit an attribute, which is called, and the traits that `derive` is given."""
        name, *arguments = node.children
        self.push(arguments, REFERENCE, place)
        if self.text(name) == "unsafe":
            self.emit(name, Kind.KEYWORD, place)
        else:
            self.push([name], CALLED, place)
        if self.text(name) == "derive" and arguments:
            for child, following in pairwise(arguments[-1].children):
                if child.type == "identifier":
                    self._plain(child, self.text(child), QUALIFIER if following.type == "::" else TYPE, place)

    @handle_nodes("use_declaration")
    def use(self, node: Node, _role: str, place: NodePlace) -> None:
        for leaf, path, _ in imports(node):
            if path is not None and leaf.type == "identifier":
                self.emit(leaf, Kind.IMPORT, place, Origin(True, self.top.resolve(path) or None))
            else:
                self.push([leaf], REFERENCE, place)

    @handle_nodes("extern_crate_declaration")
    def extern_crate(self, node: Node, _role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name")
        for child in node.children:
            if child.type not in self.names:
                self.push([child], REFERENCE, place)
            elif name and child.start_byte == name.start_byte:
                self.emit(child, Kind.IMPORT, place, Origin(True))

    @handle_nodes(*_SCOPED, *_UNSCOPED)
    def declaration(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a declaration, whose name is no token. Its parameters are known inside."""
        kind = node.type
        type_ = node.child_by_field_name("type" if kind == "impl_item" else "name")
        inner = place
        if kind in _SCOPED:
            name = head(self.text(type_)) if type_ else ""
            inner = NodePlace(Scope("type", place.scope, self_name=name), False)
        self._without_name(node, TYPE if kind == "impl_item" else REFERENCE, inner)

    def _without_name(self, node: Node, role: str, place: NodePlace) -> None:
        name = node.child_by_field_name("name")
        self.push([child for child in node.children if child != name], role, place)

    @handle_nodes("declaration_list")
    def declarations(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the body of a module, implementation or trait."""
        around = node.parent
        if around is not None and around.type == "mod_item":
            place = NodePlace(Scope("block", place.scope, self.top.read(node.children)), False)
        self.push(node.children, REFERENCE, place)

    @handle_nodes("type_parameters", "for_lifetimes")
    def type_parameters(self, node: Node, _role: str, place: NodePlace) -> None:
        bounds: list[Node] = []
        for parameter in node.children:
            children = parameter.children or [parameter]
            is_defined = False
            for child in children:
                if child.type in self.names and not is_defined:
                    self.define(child, place.scope, LOCAL if parameter.type == "const_parameter" else LOCAL_TYPE)
                    is_defined = True
                else:
                    is_defined |= child.type == "lifetime"
                    bounds.append(child)
        self.push(bounds, TYPE, place)

    @handle_nodes("function_item", "function_signature_item")
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        self._without_name(node, TYPE, NodePlace(Scope("function", place.scope), False))

    @handle_nodes("closure_expression")
    def closure(self, node: Node, _role: str, place: NodePlace) -> None:
        self.in_order(node.children, NodePlace(Scope("function", place.scope), False))

    @handle_nodes("parameter", "let_declaration", "let_condition")
    def bind(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the type and the value of a pattern before the pattern: its names are known after them."""
        pattern = node.child_by_field_name("pattern")
        type_ = node.child_by_field_name("type")
        if pattern is not None and (pattern.child_count or pattern.type in self.names):
            self._stack.append((pattern, BOUND, place))
        elif pattern is not None:  # `self`
            self.push([pattern], BOUND, place)
        self.push([child for child in node.children if child not in (pattern, type_)], REFERENCE, place)
        self.push([type_] if type_ is not None else [], TYPE, place)

    @handle_nodes("block")
    def block(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        declares = any(child.type in DECLARED or child.type == "use_declaration" for child in children)
        names = self.top.read(children) if declares else {}
        self.push(children, REFERENCE, NodePlace(Scope("block", place.scope, names), place.argument))

    @handle_nodes("for_expression")
    def for_(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(Scope("block", place.scope), place.argument)
        pattern, body = node.child_by_field_name("pattern"), node.child_by_field_name("body")
        if body is not None and pattern is not None:
            self._stack += [(body, REFERENCE, inner), (pattern, BOUND, inner)]
        self.push([child for child in node.children if child not in (pattern, body)], REFERENCE, place)

    @handle_nodes("match_pattern")
    def match_pattern(self, node: Node, _role: str, place: NodePlace) -> None:
        pattern, *guard = node.children
        self.push(guard, REFERENCE, place)
        self._stack.append((pattern, BOUND, place))

    @handle_nodes("tuple_struct_pattern", "struct_pattern")
    def of_type(self, node: Node, _role: str, place: NodePlace) -> None:
        type_, *fields = node.children
        self.push([type_], TYPE, place)
        self.push(fields, BOUND, place)


def _is_type_name(text: str) -> bool:
    """Return whether a name is written as types and variants are: `Foo`, but not `FOO`."""
    return text[:1].isupper() and (len(text) == 1 or any(map(str.islower, text)))


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    return extract_tokens(RustWalk(text.encode(), path, declared), "rust", REPAIRS)


LANGUAGE: Language = Language(
    name="rust",
    title="Rust",
    grammars={".rs": "rust"},
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    shape=Shape(
        lists=frozenset(
            "source_file declaration_list field_declaration_list enum_variant_list field_initializer_list".split()
        ),
        bodies=frozenset(["function_item block"]),
        closers=frozenset([")", "]", "}", ";", "type_arguments >", "type_parameters >"]),
        stand_ins=dict.fromkeys(
            "block match_block declaration_list field_declaration_list enum_variant_list".split(), "{}"
        ),
    ),
)
