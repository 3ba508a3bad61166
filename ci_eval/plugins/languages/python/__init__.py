"""The language Python: finds the references in a file and their kinds."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.parsing import PYTHON_LIKE, Match, Repair, outside, read
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, read_keywords
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, Walk, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.python.imports import SYNTAX, imports
from ci_eval.plugins.languages.python.origins import BUILTINS, RESOLVER, PythonNames, PythonScope, declare, resolve

_BRACKETS = rb"\[(?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]{0,500}\]){0,500}\]){0,1000}\]"
"""The pattern of square brackets with up to two levels of nested brackets."""


def _defaults(match: Match) -> bytes:
    """Rewrite `[T = D]` as `[T : D]`, and `[T: B = D]` as `[T: B | D]`."""
    out, depth, bound = bytearray(match[0]), 0, False
    for at in range(match.start("list") - match.start(), len(out)):
        # The grammar supports bounds of type parameters, but not their defaults.
        byte = out[at : at + 1]
        depth += (byte in b"[({") - (byte in b"])}")
        if depth == 1 and byte == b"=":
            out[at : at + 1] = b"|" if bound else b":"
        bound = depth > 0 and byte != b"," and (bound or byte == b":") if depth == 1 else bound
    return bytes(out)


REPAIRS = (Repair(outside(rb"\b(?:class|def|type)\s+\w+\s*(?P<list>" + _BRACKETS + rb")", PYTHON_LIKE), _defaults),)


# The grammar also reads Python 2.
KEYWORDS = read_keywords("python") - {"exec", "print"} | {"False", "None", "True"}
_BODY_AND_CLAUSES = frozenset(["identifier", "for_in_clause"])

_KINDS = {REFERENCE: Kind.VARIABLE, CALLED: Kind.METHOD_CALL, TYPE: Kind.TYPE_REFERENCE, BOUND: Kind.VARIABLE}
_MEMBER_KINDS = _KINDS | {REFERENCE: Kind.FIELD, BOUND: Kind.FIELD}


class PythonWalk(Walk):
    names = frozenset(["identifier"])
    # A keyword's node type is the keyword itself, except for these types.
    keywords = KEYWORDS | {"true", "false", "none", "is not", "not in"}

    roles = {
        TYPE: "type",
        BOUND: "as_pattern_target case_pattern",
    }
    transparent = (
        "pattern_list tuple_pattern list_pattern list_splat_pattern dictionary_splat_pattern tuple list "
        "splat_pattern dict_pattern union_pattern parenthesized_expression"
    )

    def __init__(self, source: bytes, path: str, declared: Declarations) -> None:
        self.python = PythonNames(source, path)
        super().__init__(source, self.python.module, declared)

    def outermost(self, root: Node) -> Scope:
        # Imports and definitions are in an outer scope, so the first assignment to such a name still is a definition.
        return PythonScope("module", PythonScope("module", names=self.python.top_level(root)))

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        if role == BOUND and name not in place.scope.names:
            module = place.scope.kind == "module"
            place.scope.names[name] = Origin(module, self.python.module if module else None)
        else:
            self.emit(node, _KINDS[role], place, place.scope.find(name), name)

    @handle_nodes("attribute")
    def attribute(self, node: Node, role: str, place: NodePlace) -> None:
        receiver, member = node.children[0], node.children[-1]
        name = self.text(member)
        is_self = role == BOUND and receiver.type == "identifier"
        owner = place.scope.find_instance_class(self.text(receiver)) if is_self else None
        # The first assignment to `self.x` in a class defines x.
        if owner is not None and name not in owner.names:
            owner.names[name] = Origin(False, self.python.module)
        else:
            self.emit(member, _MEMBER_KINDS[role], place, self.python.member(receiver, name, place.scope), name)
        of_class = receiver.type == "identifier" and place.scope.find(self.text(receiver)).holder == "class"
        self.push([receiver], TYPE if of_class else REFERENCE, place)

    @handle_nodes("call")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        function, *arguments = node.children
        self.push(arguments, REFERENCE, NodePlace(place.scope, True))
        self.push([function], CALLED, place)

    @handle_nodes("keyword_argument")
    def keyword_argument(self, node: Node, _role: str, place: NodePlace) -> None:
        name, *value = node.children
        self.emit(name, Kind.ARGUMENT_NAME, place)
        self.push(value, REFERENCE, place)

    @handle_nodes("function_definition", "class_definition")
    def definition(self, node: Node, _role: str, place: NodePlace) -> None:
        # Define the name before the body is visited: a function may call itself.
        if name := node.child_by_field_name("name"):
            place.scope.names[self.text(name)] = self.python.definition_origin(node, place.scope.kind)
        inner = NodePlace(PythonScope(node.type.partition("_")[0], place.scope), False)
        for child in reversed(node.children):
            if child.type == "parameters":
                first = next((part for part in child.children if part.is_named), child)
                first = first.children[0] if first.type == "typed_parameter" else first
                if place.scope.kind == "class" and first.type == "identifier":
                    inner.scope.self_name = self.text(first)
                self.push(child.children, BOUND, inner)
            elif child.type == "argument_list":
                self.push(child.children, TYPE, place)
            elif child.type == "type_parameter":
                self._type_parameters(child, place)
            elif child.type != "identifier":
                self.push([child], REFERENCE, inner if child.type == "block" else place)

    def _type_parameters(self, node: Node, place: NodePlace) -> None:
        """Visit the bounds in `[T: Bound, *Ts, **P]`, which are types. The names are definitions."""
        for parameter in node.children:
            inner = parameter.children[0] if parameter.type == "type" else parameter
            if inner.type == "constrained_type":
                self.push(inner.children[1:], TYPE, place)

    @handle_nodes("lambda")
    def lambda_(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(PythonScope("function", place.scope), False)
        for child in reversed(node.children):
            bound = child.type == "lambda_parameters"
            self.push(child.children if bound else [child], BOUND if bound else REFERENCE, inner)

    @handle_nodes("default_parameter", "typed_parameter", "typed_default_parameter")
    def parameter(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define x of `x: T`, `x=1`, `x: T = 1`, `*x` or `**x`."""
        # Python evaluates defaults and annotations in the scope around the function.
        outer = NodePlace(place.scope.parent or place.scope, False)
        first = next((i for i, child in enumerate(node.children) if child.is_named), 0)
        self.push(node.children[first + 1 :], REFERENCE, outer)
        self.push([node.children[first]], BOUND, place)

    @handle_nodes("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")
    def comprehension(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(PythonScope("function", place.scope), place.argument)
        # The body precedes the clauses that bind its names. Put even a single name on the stack to visit it last.
        self._stack += [(child, REFERENCE, inner) for child in node.children if child.type == "identifier"]
        self.push([child for child in node.children if child.type not in _BODY_AND_CLAUSES], REFERENCE, inner)
        self.push([child for child in node.children if child.type == "for_in_clause"], REFERENCE, inner)

    @handle_nodes("assignment", "for_in_clause", "for_statement", "named_expression")
    def target_first(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define the target of `x = …`, `for x in …` or `x := …`: the first named child, which may follow a keyword."""
        first = next((i for i, child in enumerate(node.children) if child.is_named), 0)
        self.push(node.children[first + 1 :], REFERENCE, place)
        self.push([node.children[first]], BOUND, place)
        self.push(node.children[:first], REFERENCE, place)

    @handle_nodes("as_pattern")
    def as_pattern(self, node: Node, role: str, place: NodePlace) -> None:
        """Define x of `with f() as x`, `except E as x` or `case p as x`."""
        self.push(node.children[-1:], BOUND, place)
        self.push(node.children[:-1], role, place)

    @handle_nodes("except_clause")
    def except_clause(self, node: Node, _role: str, place: NodePlace) -> None:
        for child in reversed(node.children):
            self.push([child], REFERENCE if child.type == "block" else TYPE, place)

    @handle_nodes("type_alias_statement")
    def alias(self, node: Node, _role: str, place: NodePlace) -> None:
        """Define the name X of `type X = …`."""
        keyword, name, *siblings = node.children
        # The grammar parses the call in `type(x).y = …` as an alias.
        if self.source.startswith(b"(", name.start_byte):
            for part in (*reversed(siblings), name):
                self.push(part.children, REFERENCE, place)
            self.emit(keyword, Kind.METHOD_CALL, place, place.scope.find("type"), "type")
            return
        self.push(siblings, REFERENCE, place)
        defined = name.children
        if defined and defined[0].type == "generic_type":
            defined, parameters = defined[0].children[:1], defined[0].children[1:]
            for child in parameters:
                self._type_parameters(child, place)
        self.push(defined, BOUND, place)
        self.push([keyword], REFERENCE, place)

    @handle_nodes("global_statement", "nonlocal_statement")
    def declared_elsewhere(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `global x` or `nonlocal x`. After this statement, an assignment to x is not a definition."""
        for child in node.children:
            if child.type == "identifier":
                name = self.text(child)
                place.scope.names[name] = place.scope.find(name)
        self.push(node.children, REFERENCE, place)

    @handle_nodes("class_pattern")
    def class_pattern(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children[1:], BOUND, place)
        self.push(node.children[:1], TYPE, place)

    @handle_nodes("keyword_pattern")
    def keyword_pattern(self, node: Node, _role: str, place: NodePlace) -> None:
        self.emit(node.children[0], Kind.ARGUMENT_NAME, place)
        self.push(node.children[1:], BOUND, place)

    @handle_nodes("dotted_name")
    def dotted_name(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit a dotted or single name."""
        first, *members = [child for child in node.children if child.type == "identifier"]
        # In a pattern, a single name is bound, but a dotted name is looked up.
        self.name(first, REFERENCE if members else role, place)
        for member in members:
            self.emit(member, Kind.TYPE_REFERENCE if role == TYPE else Kind.FIELD, place)

    @handle_nodes("import_statement", "import_from_statement", "future_import_statement")
    def import_(self, node: Node, _role: str, place: NodePlace) -> None:
        place.scope.names.update(self.python.imported(node))
        source = node.child_by_field_name("module_name")
        package = self.python.absolute(self.text(source)) if source else ""
        if node.type == "future_import_statement":
            package = "__future__"
        for child in node.children:
            is_member = child.is_named and not (source and child.start_byte == source.start_byte)
            self._import_part(child, package if is_member else "", place)

    def _import_part(self, node: Node, package: str, place: NodePlace) -> None:
        """Emit the names of modules and their members. An alias is a definition, not a token."""
        if node.type in self.keywords:
            self.emit(node, Kind.KEYWORD, place)
        elif node.type == "identifier":
            self.emit(node, Kind.IMPORT, place, Origin(True, package or self.text(node)))
        elif node.type == "aliased_import":
            for child in node.children[:-1]:
                self._import_part(child, package, place)
        else:
            for child in node.children:
                self._import_part(child, package, place)
                if node.type == "dotted_name" and child.type == "identifier":
                    package = f"{package}.{self.text(child)}".lstrip(".")


def extract(text: str, path: str, declared: Declarations) -> Extraction:
    walk = PythonWalk(text.encode(), path, declared)
    return extract_tokens(walk, "python", REPAIRS)


class ScopedWalk(PythonWalk):
    """A walk that also records the scope of each token, by byte offset, and whether the token is directly in a class
    body."""

    def __init__(self, source: bytes, path: str) -> None:
        super().__init__(source, path, {})
        self.scopes: dict[int, tuple[Scope, bool]] = {}

    def emit(
        self, node: Node, kind: Kind, place: NodePlace, origin: Origin = UNKNOWN, text: str = "", skip: int = 0
    ) -> None:
        around = node.parent
        while around is not None and around.type not in {"function_definition", "lambda", "class_definition"}:
            around = around.parent
        is_in_class = around is not None and around.type == "class_definition"
        self.scopes[node.start_byte + skip] = place.scope, is_in_class
        super().emit(node, kind, place, origin, text, skip)

    @handle_nodes("global_statement")
    def global_(self, node: Node, role: str, place: NodePlace) -> None:
        """Define the names in the module, too: an assignment in the function defines them there."""
        *_, module = place.scope.around()
        for child in node.children:
            if child.type == "identifier":
                module.names.setdefault(self.text(child), UNKNOWN)
        self.declared_elsewhere(node, role, place)


def see_names(text: str, path: str) -> Visibility:
    source = text.encode()
    walk = ScopedWalk(source, path)
    reading = read(source, "python", REPAIRS)
    walk.source = reading.source
    walk.run(*reading.roots)
    return Visibility(text, walk.scopes)


_COMPOUND = (
    "if_statement elif_clause while_statement for_statement with_statement try_statement except_clause case_clause"
)
SHAPE = Shape(
    lists=frozenset(["module", "if_statement block", "try_statement block", "with_statement block"])
    | {"class_definition block"},
    bodies=frozenset(["function_definition block"]),
    closers=frozenset([")", "]", "}", "string_end", '"', "'"])
    | {f"{header} :" for header in f"{_COMPOUND} match_statement function_definition class_definition".split()},
    # Closers and stand-ins are joined without spaces, so this stand-in begins with a space.
    stand_ins={"block": " pass"},
)

LANGUAGE: Language = Language(
    name="python",
    title="Python",
    dependencies="python",
    comment="#",
    grammars={".py": "python", ".pyi": "python"},
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    shape=SHAPE,
    resolve=resolve,
    resolver=RESOLVER,
    imports=imports,
    import_syntax=SYNTAX,
    see_names=see_names,
)


_VISIBLE = BUILTINS | frozenset(
    # Python itself defines these names in modules, or in classes and their methods.
    "__file__ __path__ __package__ __all__ __annotations__ __class__ __qualname__ __module__".split()
)
_STAR = re.compile(r"\bimport\s*\(?\s*\*")


class Visibility:
    """The names that are visible in a file. After a star import, not all names of the file are known."""

    def __init__(self, text: str, scopes: Mapping[int, tuple[Scope, bool]]) -> None:
        """`scopes` maps a token's byte offset to its scope and whether the token is directly in a class body."""
        self._text = text
        self._scopes = scopes
        self._has_star = bool(_STAR.search(text))

    def _place(self, offset: int) -> tuple[Scope, bool] | None:
        byte = offset if self._text.isascii() else len(self._text[:offset].encode())
        return self._scopes.get(byte)

    def origin(self, offset: int, name: str) -> str:
        """Return where a name that is visible at an offset (in code points) is defined. Return "" if the name is not
        visible or not known."""
        place = self._place(offset)
        own = place[0] if place else None
        for scope in own.around() if own else ():
            if name in scope.names and (scope is own or scope.kind != "class"):
                return "local" if scope.kind == "function" else "file"
        return "builtin" if name in _VISIBLE else ""

    def is_barred(self, offset: int, name: str, *, is_member: bool) -> bool | None:
        """Return whether a bare name is wrong because it can only be a member of an object; None if that is not known.
        `is_member` is whether the engine reports the name as a member."""
        place = self._place(offset)
        if place is None or self._has_star:
            return None
        scope, in_class_body = place
        if self.origin(offset, name):
            return False
        in_class = any(name in part.names for part in scope.around() if part.kind == "class" and part is not scope)
        # The first iterable of a comprehension in a class body sees the names of the class.
        return False if in_class_body and in_class else is_member or in_class

    def is_standard(self, package: str) -> bool:
        return package.partition(".")[0] in sys.stdlib_module_names
