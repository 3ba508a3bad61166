"""The language Rust: finds the references in a file and their kinds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.parsing import Repair, Rewritten, outside, spaces
from ci_eval.core.grammar.scopes import LOCAL, LOCAL_TYPE, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, SourceReader, leaves
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, Walk, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.rust.crates import imports as list_crates

_LITERALS = (
    rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|\bb?r(?P<hashes>\#*)\"(?:[\s\S]*?\"(?P=hashes)|[\s\S]*)"
    rb"|\"(?:\\[\s\S]|[^\"\\])*\"|'(?:\\[^\n']+|\\'|[^\\\n'])'"
)
_PARTS = re.compile(
    rb"(?:" + _LITERALS + rb")|\b(?:(?:debug_)?assert(?:_eq|_ne)?|dbg|e?print(?:ln)?|format(?:_args)?|panic|todo"
    rb"|unimplemented|unreachable|vec|write(?:ln)?)(?P<head>![ \t\n]*[(\[])|(?P<bracket>[()\[\]{}])|(?P<semicolon>;)"
)


class _MacroCalls:
    """Rewrites `vec![a; n]` as `vec (a, n)` because the grammar does not parse the arguments of macros."""

    always = True

    def apply(self, source: bytes) -> Rewritten:
        """Turn each call of a standard-library macro that takes expressions into a call of a function."""
        out = bytearray(source)
        # Whether each open bracket was rewritten.
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
    _MacroCalls(),
    # The grammar parses `use` as a type.
    Repair(outside(rb"\+\s*(?P<k>use)<[^<>\n]*>", _LITERALS), spaces, always=True, trigger=re.compile(rb"\buse<")),
    Repair(outside(rb"\b(?P<k>safe)(?=\s+(?:fn|static)\b)", _LITERALS)),
)


KEYWORDS = frozenset(
    "as async auto await break const continue crate default dyn else enum extern false fn for gen if impl in let loop "
    "macro_rules match mod move mut pub raw ref return safe self Self static struct super trait true try type union "
    "unsafe use where while yield".split()
)
_PRIMITIVES = (
    "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize AsMut AsRef Box Clone Copy Default "
    "DoubleEndedIterator Drop Eq Err Extend ExactSizeIterator Fn FnMut FnOnce From FromIterator Into IntoIterator "
    "Iterator None Ok Option Ord PartialEq PartialOrd Result Send Sized Some String Sync ToOwned ToString TryFrom "
    "TryInto Unpin Vec"
).split()
_MACROS = (
    "assert assert_eq assert_ne cfg column compile_error concat dbg debug_assert debug_assert_eq debug_assert_ne drop "
    "env eprint eprintln file format format_args include include_bytes include_str line matches module_path option_env "
    "panic print println stringify thread_local todo unimplemented unreachable vec write writeln"
).split()
PRELUDE = {
    **dict.fromkeys(_PRIMITIVES, Origin(True, "std", "class")),
    **dict.fromkeys(_MACROS, Origin(True, "std")),
    **dict.fromkeys(("alloc", "core", "std"), Origin(True, "std", "module")),
}
"""The names that are known in every file: types, traits, variants, functions and macros."""

TYPES = frozenset("struct_item enum_item union_item trait_item type_item".split())
_FUNCTIONS = frozenset(["function_item", "function_signature_item"])
DECLARED = TYPES | _FUNCTIONS | {"const_item", "static_item", "mod_item"}
"""The types of nodes that declare a name in the whole enclosing block."""

# rustfmt indents everything except the top level.
_TOP = re.compile(
    r"^(?:pub(?:\([^)\n]*\))? )?(?:(?:default|unsafe|async|const|extern(?: \"[^\"\n]*\")?) )*"
    r"(?:fn|struct|enum|union|trait|type|const|static(?: mut)?|mod|macro_rules!) (\w+)",
    re.MULTILINE,
)


def derive_package(path: str) -> str:
    """Return the full name of a file's module. The crate is named after the folder around `src`; if this folder
    is the project's root, the crate is "crate"."""
    parts = PurePosixPath(path).with_suffix("").parts
    crate = "crate"
    if "src" in parts:
        at = parts.index("src")
        crate = parts[at - 1].replace("-", "_") if at else crate
        parts = parts[at + 1 :]
    modules = parts[:-1] if parts[-1:] and parts[-1] in {"lib", "main", "mod"} else parts
    return "::".join((crate, *modules))


def declare(text: str, path: str) -> tuple[str, frozenset[str]]:
    return derive_package(path), frozenset(_TOP.findall(text))


class TopLevel(SourceReader):
    """The names that are known in a whole file or block, and the members of types."""

    def __init__(self, source: bytes, package: str, declared: Declarations) -> None:
        super().__init__(source)
        self._package = package
        self._declared = declared
        self.members: dict[str, set[str]] = {}
        """The name of a type → its fields and methods in the file."""

    def read(self, nodes: list[Node]) -> dict[str, Origin]:
        """Return the origins of the names that `nodes` declare and import, and collect the members of types."""
        names = {name: Origin(True, self._package) for name in self._declared.get(self._package, ())}
        for node in nodes:
            kind = node.type
            name = node.child_by_field_name("name")
            if kind == "use_declaration":
                for leaf, path, alias in imports(node):
                    if path is not None and leaf.type == "identifier":
                        text = self.text(leaf)
                        holder = "class" if text[:1].isupper() else "module" if text.islower() else ""
                        names[self.text(alias) if alias else text] = Origin(True, self.resolve(path), holder)
            elif kind == "impl_item":
                type_ = node.child_by_field_name("type")
                self._gather(head(self.text(type_)) if type_ else "", node.child_by_field_name("body"))
            elif kind in DECLARED and name:
                text = self.text(name)
                body = node.child_by_field_name("body")
                # The names in a module inside the file have the package of the file.
                holder = "class" if kind in TYPES else "" if kind != "mod_item" else "inner" if body else "module"
                names[text] = Origin(True, self._package, holder)
                if kind in TYPES:
                    self._gather(text, body)
            elif kind == "macro_definition" and name:
                names[self.text(name)] = Origin(True, self._package)
        return names

    def _gather(self, type_: str, body: Node | None) -> None:
        for member in body.children if body else ():
            if name := member.child_by_field_name("name"):
                self.members.setdefault(type_, set()).add(self.text(name))

    def resolve(self, path: tuple[Node, ...]) -> str:
        """Return the full name of the module in an import path."""
        written = [self.text(node) for node in path]
        here = self._package.split("::")
        if written[:1] == ["crate"]:
            return "::".join((here[0], *written[1:]))
        inside = written[:1] == ["self"]
        ups = 0
        while written[ups : ups + 1] == ["super"]:
            ups += 1
        if inside or ups:
            return "::".join((*here[: max(len(here) - ups, 1)], *written[ups or 1 :]))
        return "::".join(written)


def head(type_: str) -> str:
    """Return the name of a type without path and type parameters."""
    return type_.partition("<")[0].rpartition("::")[2].strip()


def imports(declaration: Node) -> Iterator[tuple[Node, tuple[Node, ...] | None, Node | None]]:
    """Yield the leaves of an import in order. Each leaf comes with the path before it, as leaves (None if the
    leaf is not a name in a path), and with its alias."""
    stack: list[tuple[Node, tuple[Node, ...], Node | None]] = [
        (child, (), None) for child in reversed(declaration.children)
    ]
    while stack:
        node, path, alias = stack.pop()
        children = node.children
        kind = node.type
        if kind == "use_as_clause":
            # In `path as alias`, the alias is not a token.
            stack += [(children[1], path, None), (children[0], path, children[-1])]
        elif kind in {"scoped_identifier", "scoped_use_list"}:
            *front, last = [child for child in children if child.type != "::"]
            inner = path + tuple(leaf for child in front for leaf in leaves(child) if leaf.type != "::")
            stack.append((last, inner, alias))
            stack += [(child, path, None) for child in front]
        elif kind in {"use_list", "use_wildcard"}:
            stack += [(child, path, None) for child in reversed(children)]
        else:
            yield node, path if kind in {"identifier", "self", "super", "crate"} else None, alias


QUALIFIER = "qualifier"
"""The role of a name before `::`."""


_SCOPED = TYPES | {"impl_item"}
_UNSCOPED = "enum_variant associated_type mod_item field_declaration const_item static_item".split()


class RustWalk(Walk):
    names = frozenset("identifier type_identifier field_identifier shorthand_field_identifier primitive_type".split())
    # The node type of `mut` is `mutable_specifier`.
    keywords = KEYWORDS | {"mutable_specifier"}
    ignored = "label lifetime raw_string_literal string_literal token_tree"

    roles = {
        TYPE: "generic_type generic_type_with_turbofish type_arguments bounded_type",
        # The length of an array is an expression.
        REFERENCE: "visibility_modifier array_type",
        BOUND: "closure_parameters",
    }
    transparent = (
        "tuple_pattern slice_pattern or_pattern captured_pattern ref_pattern mut_pattern reference_pattern "
        "field_pattern"
    )

    # Names bound in a condition are known after it.
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
        # The grammar parses `_` as a type.
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
        """Emit the first name of a path and return its origin."""
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
        """Emit the names in `a::B::c`."""
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
        """Visit `Item = T`. The name is an associated type of a trait."""
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
        """Visit arguments. `name = value` is an argument of a rewritten macro."""
        for child in reversed(node.children):
            children = child.children
            if child.type == "assignment_expression" and children[0].type == "identifier":
                self.push(children[1:], REFERENCE, place)
                self.emit(children[0], Kind.ARGUMENT_NAME, place)
            else:
                self.push([child], REFERENCE, place)

    @handle_nodes("macro_invocation")
    def macro(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the name of a macro. Its arguments can be any tokens, so they are skipped."""
        self.push(node.children[:1], CALLED, place)

    @handle_nodes("macro_definition")
    def macro_definition(self, node: Node, _role: str, place: NodePlace) -> None:
        self.emit(node.children[0], Kind.KEYWORD, place, text="macro_rules")

    @handle_nodes("attribute")
    def attribute(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit an attribute, which counts as a call, and the traits in `derive`."""
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

    @handle_nodes(*_SCOPED, *_FUNCTIONS, *_UNSCOPED)
    def declaration(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a declaration. Its name is not a token; its type parameters are known inside it."""
        name, scope = node.child_by_field_name("name"), place.scope
        if node.type in _SCOPED:
            type_ = node.child_by_field_name("type") if node.type == "impl_item" else name
            scope = Scope("type", scope, self_name=head(self.text(type_)) if type_ else "")
        elif node.type in _FUNCTIONS:
            scope = Scope("function", scope)
        inner = place if scope is place.scope else NodePlace(scope, False)
        role = TYPE if node.type in {"impl_item", *_FUNCTIONS} else REFERENCE
        self.push([child for child in node.children if child != name], role, inner)

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

    @handle_nodes("closure_expression")
    def closure(self, node: Node, _role: str, place: NodePlace) -> None:
        self.in_order(node.children, NodePlace(Scope("function", place.scope), False))

    @handle_nodes("parameter", "let_declaration", "let_condition")
    def bind(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the type and the value first: the names in the pattern are not known there."""
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
    """Return whether a name is a type or variant by convention: `Foo` is, `FOO` is not."""
    return text[:1].isupper() and (len(text) == 1 or any(map(str.islower, text)))


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    return extract_tokens(RustWalk(text.encode(), path, declared), "rust", REPAIRS)


LANGUAGE: Language = Language(
    name="rust",
    title="Rust",
    dependencies="cargo",
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
    imports=list_crates,
)
