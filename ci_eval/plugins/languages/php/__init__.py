"""The language PHP: finds the references in a file and their kinds."""

from __future__ import annotations

import re
from typing import cast

from ci_eval.core.contracts import Declarations, Language, Shape
from ci_eval.core.grammar.parsing import Repair, outside, spaces
from ci_eval.core.grammar.scopes import LOCAL, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, read_keywords
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, Walk, extract_tokens, handle_nodes
from ci_eval.core.model import Extraction, Kind
from ci_eval.plugins.languages.php.declarations import LONGEST, PART, PhpNames, PhpScope, declare, imports, members

_REST = rb"\n(?:[\s\S]*?^[ \t]*(?P=label)\b|[\s\S]*)"
_QUOTED = rb"//[^\n]*|\#(?!\[)[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
_LITERALS = _QUOTED + rb"|<<<[ \t]*(?P<quote>['\"]?)(?P<label>\w+)(?P=quote)" + _REST
_BESIDE_NOWDOC = _QUOTED + rb"|<<<[ \t]*(?P<quote>\"?)(?P<label>\w+)(?P=quote)" + _REST

REPAIRS = (
    # The grammar does not support the second modifier in `public private(set)`.
    Repair(
        outside(rb"\b(?:public|protected|private)\s+(?P<k1>public|protected|private)\((?P<k2>set)\)", _LITERALS),
        lambda m: m[0][: m.start("k1") - m.start()] + b" " * (m.end() - m.start("k1")),
    ),
    # The grammar ends a nowdoc only at a label that is alone on its line, so the nowdoc becomes an empty string.
    Repair(
        outside(rb"<<<[ \t]*'(?P<name>\w+)'\n(?:[\s\S]*?^[ \t]*(?P=name)\b|(?P<open>[\s\S]*))", _BESIDE_NOWDOC),
        # An unclosed nowdoc matches the rest of the file and is kept, so that the rest is not searched again.
        lambda m: b"''" + spaces(m)[2:] if m["open"] is None else m[0],
        always=True,
        trigger=re.compile(rb"<<<[ \t]*'"),
    ),
)


_MAGIC = "__CLASS__ __DIR__ __FILE__ __FUNCTION__ __LINE__ __METHOD__ __NAMESPACE__ __TRAIT__ __PROPERTY__".split()
CONSTRUCTS = frozenset("die empty eval exit isset __halt_compiler".split())
_TYPES = (
    "array binary bool boolean callable double false float int integer iterable mixed never null object real string "
    "true unset void"
).split()
KEYWORDS = read_keywords("php").union(_MAGIC, CONSTRUCTS, _TYPES, "FALSE NULL TRUE from get set this var".split())
GLOBAL = Origin(True)
_SUPER_GLOBALS = frozenset("GLOBALS _COOKIE _ENV _FILES _GET _POST _REQUEST _SERVER _SESSION".split())
PARAMETER, OUT = "parameter", "out"
"""The roles: a variable that is new even if the scope has a variable of that name; an argument that the called function
may define by reference."""
_IN_CLASS = frozenset(["self", "static", "parent"])
_RESERVED = frozenset(_TYPES).difference("array binary boolean callable double integer real unset".split())
"""The names of built-in types, which no class can have."""
NAMES = frozenset(["name", "qualified_name", "relative_name", "relative_scope"])


def php_scope(place: NodePlace) -> PhpScope:
    """Return the scope of `place`. In PHP, all scopes are PhpScopes."""
    return cast(PhpScope, place.scope)


_NULLSAFE_MEMBER = re.compile(rb"\?->([A-Za-z_\x80-\xff][\w\x80-\xff]*)")


class PhpWalk(Walk):
    """A walk over PHP. The token of a variable begins after the `$`, as completion does."""

    names = frozenset(["name", "variable_name"])
    # A keyword's node type is the keyword itself, except for these types.
    keywords = KEYWORDS | set("boolean null bottom_type primitive_type cast_type operation var_modifier".split())
    ignored = "float integer nowdoc string"

    roles = {
        TYPE: "named_type base_clause class_interface_clause attribute type_list use_declaration use_instead_of_clause"
    }

    # These are `$k => $v` in a foreach, and `&$v`.
    transparent = "pair by_ref"
    unnamed = "goto_statement named_label_statement property_element const_element enum_case"

    def __init__(self, source: bytes, text: str, declared: Declarations) -> None:
        self.php = PhpNames(text, declared)
        super().__init__(source, self.php.namespace, declared)

    def outermost(self, _root: Node) -> Scope:
        return PhpScope("file")

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        if node.type == "variable_name":
            self._variable(node, name[1:].lstrip(), role, place, node.end_byte - node.start_byte)
        elif role == TYPE and name.lower() in _IN_CLASS | _RESERVED:
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
        elif role == TYPE:
            self.emit(node, Kind.TYPE_REFERENCE, place, self.php.find("class", name), name)
        elif name in KEYWORDS and (name in CONSTRUCTS or name.startswith("__")):
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
        else:
            origin = self.php.find("function" if role == CALLED else "const", name)
            kind = Kind.METHOD_CALL if role == CALLED else Kind.VARIABLE
            self.emit(node, kind, place, Origin(origin.static, origin.package), name)

    def _variable(self, node: Node, name: str, role: str, place: NodePlace, length: int = 0) -> None:
        """Emit or define a variable. `length` is the size of the node in bytes; the name is at the end of the node."""
        skip = length - len(name.encode()) if length else 0
        if not name:
            return
        if name == "this":
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name, skip)
            return
        scope = place.scope
        if role == PARAMETER:
            scope.names[name] = LOCAL
        elif role in {BOUND, OUT} and name not in _SUPER_GLOBALS and not scope.owner(name):
            # Outside of functions, a variable may come from a file that includes this one.
            scope.names[name] = UNKNOWN if scope.kind == "file" else LOCAL
        else:
            owner = scope.owner(name)
            # Inside a function, a variable is local even if nothing assigns it.
            origin = owner.names[name] if owner else UNKNOWN if scope.kind == "file" else LOCAL
            kind = Kind.METHOD_CALL if role == CALLED else Kind.VARIABLE
            self.emit(node, kind, place, GLOBAL if name in _SUPER_GLOBALS else origin, name, skip)

    @handle_nodes("qualified_name", "relative_name")
    def qualified(self, node: Node, role: str, place: NodePlace) -> None:
        r"""Emit `A\b`, `\A\b` or `namespace\b`. All names except the last are namespaces."""
        kinds = {TYPE: Kind.TYPE_REFERENCE, CALLED: Kind.METHOD_CALL}
        text = self.text(node)
        full = self.php.absolute(text) if len(text) < LONGEST else ""
        self._path(node, full, kinds.get(role, Kind.VARIABLE), Kind.TYPE_REFERENCE, place)

    def _path(self, node: Node, full: str, last: Kind, others: Kind, place: NodePlace) -> None:
        """Emit each part of a qualified name. `full` is the absolute name, or "" if it is not known."""
        begin, end = node.start_byte, node.end_byte
        parts = [(m.start() - begin, m[0].decode()) for m in PART.finditer(self.source, begin, end)]
        if parts and parts[0][1].lower() == "namespace":
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, parts.pop(0)[1])
        known = full.split("\\") if full else []
        namespace = bool(known) and (len(parts) > 1 or node.type == "namespace_name")
        for i, (skip, name) in enumerate(parts):
            before = "\\".join(known[: len(known) - len(parts) + i])
            # The first part is a top-level namespace.
            package = before or (name if namespace and not i else None)
            self.emit(node, last if i == len(parts) - 1 else others, place, Origin(True, package), name, skip)

    @handle_nodes("namespace_definition")
    def namespace(self, node: Node, _role: str, place: NodePlace) -> None:
        name = next((child for child in node.children if child.type == "namespace_name"), None)
        self.php.enter(self.text(name) if name and name.end_byte - name.start_byte < LONGEST else "")
        self.push([child for child in node.children if child.type != "namespace_name"], REFERENCE, place)

    @handle_nodes("namespace_use_declaration")
    def use(self, node: Node, _role: str, place: NodePlace) -> None:
        kind, before = "class", ""
        for child in node.children:
            if child.type in self.keywords:
                self.emit(child, Kind.KEYWORD, place)
                kind = child.type if child.type in {"function", "const"} else kind
            elif child.type == "namespace_name":
                before = self.text(child).strip("\\")
                self._emit_import(child, before, place)
            elif child.type == "namespace_use_group":
                for clause in child.children:
                    self._clause(clause, before, kind, place)
            else:
                kind = self._clause(child, "", kind, place)

    def _clause(self, clause: Node, before: str, kind: str, place: NodePlace) -> str:
        """Define the import of `A\\B as C`. Return the kind of the import: "class", "function" or "const"."""
        children = [c for child in clause.children for c in (child.children if "alias" in child.type else [child])]
        name = alias = ""
        for child in children:
            # Each clause names the kind of its import, or the first clause names the kind of all imports.
            if child.type in self.keywords:
                self.emit(child, Kind.KEYWORD, place)
                kind = child.type if child.type in {"function", "const"} else kind
            elif name:
                alias = self.text(child)
            elif child.is_named:
                path = self.text(child).strip("\\")
                name = f"{before}\\{path}" if before else path
                self._emit_import(child, name, place)
        if name and len(name) < LONGEST:
            self.php.import_(kind, name, alias or name.rpartition("\\")[2])
        return kind

    def _emit_import(self, node: Node, full: str, place: NodePlace) -> None:
        self._path(node, full if len(full) < LONGEST else "", Kind.IMPORT, Kind.IMPORT, place)

    @handle_nodes(
        "member_access_expression",
        *"nullsafe_member_access_expression member_call_expression nullsafe_member_call_expression".split(),
        "scoped_call_expression",
    )
    def member(self, node: Node, role: str, place: NodePlace) -> None:
        receiver, *siblings = node.children
        called, scoped = node.type.endswith("_call_expression"), node.type == "scoped_call_expression"
        for child in reversed(siblings):
            if child.type == "name":
                name = self.text(child)
                # `->f()` may also call a static method.
                static = None if called and not scoped else scoped
                origin = self._member(receiver, f"{name.lower()}()" if called else f"${name}", static, place)
                self.emit(child, Kind.METHOD_CALL if called or role == CALLED else Kind.FIELD, place, origin, name)
            else:
                self.push([child], OUT if child.type == "arguments" else REFERENCE, place)
        self.push([receiver], TYPE if scoped else REFERENCE, place)

    @handle_nodes("class_constant_access_expression", "scoped_property_access_expression")
    def static_member(self, node: Node, role: str, place: NodePlace) -> None:
        """Emit `A::B`, `A::class`, `A::$b`, or in a class the name of a trait's method."""
        receiver, *siblings = node.children
        for child in siblings:
            # The name in `A::{$b}` is a variable.
            is_name = child.type == "variable_name" or (child.type == "name" and not child.child_count)
            name = self.text(child) if is_name else ""
            if name.lower() == "class":
                self.emit(child, Kind.KEYWORD, place, UNKNOWN, name)
            elif name:
                origin = self._member(receiver, name, None if role == TYPE else True, place)
                bare = name.lstrip("$")
                kind = Kind.METHOD_CALL if role == CALLED else Kind.FIELD
                if bare:
                    self.emit(child, kind, place, origin, bare, len(name) - len(bare))
            else:
                self.push(child.children or [child], REFERENCE, place)
        self.push([receiver], TYPE if receiver.type in NAMES else REFERENCE, place)

    def _member(self, receiver: Node, name: str, otherwise: bool | None, place: NodePlace) -> Origin:
        """Return the origin of a member. `otherwise` is whether the member is static if its class is not known."""
        kind = receiver.type
        if (kind not in NAMES and kind != "variable_name") or receiver.end_byte - receiver.start_byte > LONGEST:
            return Origin(otherwise)
        text = self.text(receiver)
        low = text.lower()
        if text == "$this" or low in {"self", "static"}:
            class_ = php_scope(place).class_
            return class_.member(name, otherwise) if class_ else Origin(otherwise)
        if kind == "variable_name":
            return Origin(otherwise)
        # `parent::f()` may call an instance method.
        if low == "parent":
            return Origin(None if name.endswith("()") else otherwise)
        if kind == "name":
            return Origin(otherwise, self.php.find("class", text).package)
        return Origin(otherwise, self.php.absolute(text).rpartition("\\")[0] or None)

    @handle_nodes("function_call_expression")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        function, *arguments = node.children
        # `isset(…)` and other language constructs are not calls.
        if function.type == "name" and self.text(function).lower() in CONSTRUCTS:
            self.push([part for child in arguments for part in child.children], REFERENCE, place)
        else:
            self.push(arguments, OUT, place)
        self.push([function], CALLED, place)

    @handle_nodes("arguments")
    def arguments(self, node: Node, role: str, place: NodePlace) -> None:
        inner = NodePlace(place.scope, True)
        self._stack += [(child, role, inner) for child in reversed(node.children) if child.type == "argument"]
        self.push([child for child in node.children if child.type != "argument"], REFERENCE, inner)

    @handle_nodes("argument")
    def argument(self, node: Node, role: str, place: NodePlace) -> None:
        children = node.children
        if len(children) > 1 and children[0].type == "name" and children[1].type == ":":
            self.emit(children[0], Kind.ARGUMENT_NAME, place)
            children = children[2:]
        # The called function may define a variable by reference.
        out = role == OUT and place.scope.kind != "file" and children[-1].type == "variable_name"
        self.push(children, OUT if out else REFERENCE, place)

    @handle_nodes("object_creation_expression", "anonymous_class")
    def new(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        if any(child.type == "declaration_list" for child in children):
            self.class_(node, REFERENCE, place)
            return
        roles = {"arguments": OUT} | dict.fromkeys(NAMES, TYPE)
        self.each([(child, roles.get(child.type, REFERENCE), place) for child in children])

    @handle_nodes("binary_expression")
    def binary(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        if len(children) == 3 and children[1].type == "instanceof":
            self.push(children[1:], TYPE, place)
            self.push(children[:1], REFERENCE, place)
        else:
            self.push(children, REFERENCE, place)

    @handle_nodes("primitive_type")
    def primitive(self, node: Node, _role: str, place: NodePlace) -> None:
        # The keyword `string` has the same node type as a string literal, which the walk ignores.
        self.emit(node, Kind.KEYWORD, place)

    @handle_nodes("encapsed_string", "heredoc_body", "shell_command_expression")
    def text_with_code(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the code in a string. In `"$x[key]"`, without braces, the key is text."""
        before = ""
        nodes: list[Node] = []
        for child in node.children:
            plain = child.type == "subscript_expression" and before != "{"
            nodes += [part for part in child.children if part.type != "name"] if plain else [child]
            is_plain = child.type == "variable_name" and before != "{"
            # The grammar may parse the `?->b` of `$a?->b` as text.
            if is_plain and (member := _NULLSAFE_MEMBER.match(self.source, child.end_byte)):
                skip = member.start(1) - child.start_byte
                self.emit(child, Kind.FIELD, place, Origin(False), member[1].decode(), skip)
            before = child.type
        self.push(nodes, REFERENCE, place)

    @handle_nodes("dynamic_variable_name")
    def dynamic(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `$$x` or `${…}`. In a string, `${x}` and `${x['y']}` refer to the variable x."""
        for child in node.children:
            if child.type == "subscript_expression" and child.child_count:
                first, *siblings = child.children
                self.push(siblings, REFERENCE, place)
                child = first
            if child.type == "name":
                self._variable(child, self.text(child), REFERENCE, place)
            else:
                self.push([child], REFERENCE, place)

    @handle_nodes("yield_expression")
    def yield_(self, node: Node, _role: str, place: NodePlace) -> None:
        first = node.children[0]
        if first.type.startswith("yield "):
            self.emit(first, Kind.KEYWORD, place, UNKNOWN, "yield")
            text = self.text(first)
            self.emit(first, Kind.KEYWORD, place, UNKNOWN, text[-4:], len(text) - 4)
        self.push(node.children, REFERENCE, place)

    @handle_nodes("assignment_expression", "augmented_assignment_expression", "reference_assignment_expression")
    def assignment(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children[1:], REFERENCE, place)
        self.push(node.children[:1], BOUND, place)

    @handle_nodes("list_literal", "array_creation_expression", "array_element_initializer")
    def items(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit `[$a, 'k' => $b] = …`. The keys are references."""
        children = node.children
        if role != BOUND:
            self.push(children, REFERENCE, place)
            return
        for child, after in zip(children[::-1], [None, *children[:0:-1]], strict=True):
            key = after is not None and after.type == "=>"
            # A variable with a subscript is already defined.
            self.push([child], REFERENCE if key or child.type == "subscript_expression" else BOUND, place)

    @handle_nodes("global_declaration")
    def global_(self, node: Node, role: str, place: NodePlace) -> None:
        place.scope.names.update({self.text(c)[1:]: GLOBAL for c in node.children if c.type == "variable_name"})
        self.push(node.children, role, place)

    @handle_nodes("subscript_expression")
    def subscript(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit `$a['k'] = …`, which defines `$a` if it does not exist."""
        self.push(node.children[1:], REFERENCE, place)
        self.push(node.children[:1], BOUND if role == BOUND else REFERENCE, place)

    @handle_nodes("foreach_statement")
    def foreach(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        kinds = [child.type for child in children]
        # Only the names after `as` are defined by the loop.
        begin = kinds.index("as") + 1 if "as" in kinds else 0
        end = kinds.index(")", begin) if ")" in kinds[begin:] else begin
        self.push(children[end:], REFERENCE, place)
        self.push(children[begin:end], BOUND, place)
        self.push(children[:begin], REFERENCE, place)

    @handle_nodes(
        *"catch_clause static_variable_declaration simple_parameter variadic_parameter".split(),
        "property_promotion_parameter",
    )
    def bound_directly(self, node: Node, _role: str, place: NodePlace) -> None:
        bound = PARAMETER if node.type.endswith("_parameter") else BOUND
        for child in reversed(node.children):
            self.push([child], bound if child.type == "variable_name" else REFERENCE, place)

    @handle_nodes("function_definition", "method_declaration", "property_hook")
    def function(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = NodePlace(PhpScope("function", class_=php_scope(place).class_), False)
        hook = node.type == "property_hook"
        if hook:
            # In a `set` hook without parameters, the value is `$value`.
            inner.scope.names["value"] = LOCAL
        nodes: list[tuple[Node, str, NodePlace]] = []
        for child in node.children:
            if child.type == "name":
                if hook:
                    self.emit(child, Kind.KEYWORD, place)
            else:
                # Types, attributes and modifiers belong to the scope around the function.
                outside = child.type.endswith(("_type", "_list", "_modifier", "type_list")) or not child.is_named
                nodes.append((child, REFERENCE, place if outside else inner))
        self.each(nodes)

    @handle_nodes("anonymous_function", "arrow_function")
    def closure(self, node: Node, _role: str, place: NodePlace) -> None:
        arrow = node.type == "arrow_function"
        around = php_scope(place)
        scope = PhpScope("arrow", around) if arrow else PhpScope("function")
        scope.class_ = around.class_
        inner = NodePlace(scope, False)
        nodes: list[tuple[Node, str, NodePlace]] = []
        for child in node.children:
            if child.type != "anonymous_function_use_clause":
                nodes.append((child, REFERENCE, inner))
                continue
            # The variables of `use ($x, &$y)` are known inside the closure.
            for part in child.children:
                variable = part.children[-1] if part.type == "by_ref" else part
                self.push([variable], REFERENCE, place)
                if variable.type == "variable_name":
                    inner.scope.names[self.text(variable)[1:]] = LOCAL
        self.each(nodes)

    @handle_nodes("class_declaration", "interface_declaration", "trait_declaration", "enum_declaration")
    def class_(self, node: Node, _role: str, place: NodePlace) -> None:
        nodes: list[tuple[Node, str, NodePlace]] = []
        declares = node.type.endswith("_declaration")
        for child in node.children:
            if child.type == "name" and declares:
                continue
            if child.type in {"declaration_list", "enum_declaration_list"}:
                body = child.children
                known = members(body, self.php.namespace, self.source)
                inner = NodePlace(PhpScope("class", class_=known), False)
                nodes += [(member, REFERENCE, inner) for member in body]
            else:
                nodes.append((child, OUT if child.type == "arguments" else REFERENCE, place))
        self.each(nodes)

    @handle_nodes("use_as_clause")
    def renamed(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the names of `A::x as y`, `x as protected y` and `x as protected`."""
        before = True
        for child in node.children:
            if child.type == "name" and before:
                self.emit(child, Kind.FIELD, place)
            elif child.type != "name":
                self.push([child], TYPE, place)
            before = before and child.type != "as"


def extract(text: str, _path: str, declared: Declarations) -> Extraction:
    return extract_tokens(PhpWalk(text.encode(), text, declared), "php", REPAIRS, b"<?php")


_BLOCKS = "if_statement else_clause else_if_clause foreach_statement for_statement while_statement do_statement"
_BODIES = "function_definition method_declaration property_hook anonymous_function"
SHAPE = Shape(
    lists=frozenset(["program", "colon_block", "declaration_list", "enum_declaration_list"])
    | {
        f"{parent} compound_statement"
        for parent in f"namespace_definition try_statement catch_clause finally_clause {_BLOCKS}".split()
    },
    bodies=frozenset(f"{parent} compound_statement" for parent in _BODIES.split()),
    closers=frozenset(") ] } ; endif endfor endforeach endwhile endswitch heredoc_end".split())
    | {"case_statement :", "default_statement :", "string '", 'encapsed_string "', "shell_command_expression `"},
    stand_ins=dict.fromkeys(
        ["compound_statement", "declaration_list", "enum_declaration_list", "match_block", "switch_block"], "{}"
    ),
)

LANGUAGE: Language = Language(
    name="php",
    title="PHP",
    dependencies="composer",
    grammars={".php": "php"},
    keywords=KEYWORDS,
    extract=extract,
    declare=declare,
    shape=SHAPE,
    imports=imports,
)
