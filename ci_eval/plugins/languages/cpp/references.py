"""The part of the C++ walk that finds references and their kinds. It handles namespaces, imports, statements and
lambdas."""

from __future__ import annotations

import re
from collections import defaultdict

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import LOCAL, UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node, leaves, read_keywords
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, Walk, handle_nodes
from ci_eval.core.model import Kind, Location

NAMESPACE, CLASS, MEMBER, EITHER = "module", "class", "member", "either"
"""The values of `Origin.holder`: a namespace; a type; a field, method or enum constant; a type or something else."""
MACRO = Origin(True, None, EITHER)
# Headers are not read, so the namespaces inside `std` are listed here.
_IN_STD = frozenset("chrono experimental filesystem literals numbers placeholders pmr ranges this_thread views".split())

_TOP = re.compile(
    # A short namespace has no comment at its closing brace, so it is matched as a whole.
    r"^(?:(?:inline )?namespace\b[ \w:]*\{[^{}]*(?:\{[^{}]*\}[^{}]*)?\}|"
    r"(?:inline )?namespace\b *([\w:]*)[^\n;={]*(?:\{|$)|(\} *// *.*namespace)|"
    r"(?:class|struct|union|enum(?: class| struct)?) (?:[A-Z_]+(?:\([^)\n]*\))? )?(\w+)(?=[^\n;]*[{:\n])|"
    r"using (\w+) *=|[\w:][\w:<>,&*\t ]*[ &*](\w+) ?\()",
    re.MULTILINE,
)


class CppScope(Scope):
    package: str = ""


def enclosing_namespace(scope: Scope) -> str:
    """Return the name of the namespace around a scope, or "" for the global namespace."""
    return scope.package if isinstance(scope, CppScope) else ""


def inside(kind: str, place: NodePlace, argument: bool = False) -> NodePlace:
    return NodePlace(CppScope(kind, place.scope, package=enclosing_namespace(place.scope)), argument)


def declaring_scope(scope: Scope) -> Scope:
    # A template scope contains only the template's parameters.
    while scope.kind == "template" and scope.parent:
        scope = scope.parent
    return scope


def declare(text: str, _path: str) -> tuple[str, frozenset[str]]:
    """Return the namespace with the most declarations at the start of a line, and the names of these declarations."""
    declarations: dict[str, set[str]] = defaultdict(set)
    path: list[str] = []
    for match in _TOP.finditer(text):
        if match[2]:
            del path[-1:]
        elif name := match[3] or match[4] or match[5]:
            declarations["::".join(filter(None, path))].add(name)
        elif match[1] is not None:
            path.append(match[1])
    # Declarations in `std` are specialisations of standard templates.
    declarations.pop("std", None)
    # Prefer any other namespace to the global one, even if it has fewer declarations.
    package = max(declarations, key=lambda namespace: (namespace != "", len(declarations[namespace])), default="")
    return package, frozenset(declarations[package])


class Namespaces:
    """The namespaces of a file and its project, and the types of the file."""

    def __init__(self, declared: Declarations) -> None:
        self._declared = declared
        self._names: dict[str, dict[str, Origin]] = {}
        self._roots = {package.partition("::")[0] for package in declared}
        # If `a::b::c` exists, `a::b` also exists, even if no file declares anything else in it.
        self._packages = {package[: match.start()] for package in declared for match in re.finditer("::|$", package)}
        self.types: dict[str, CppScope] = {}
        """The name of a class or enum → the scope with its members."""

    def names(self, package: str) -> dict[str, Origin]:
        """Return the known declarations of a namespace. The table grows while the file is read."""
        if package not in self._names:
            # Other files are scanned by a pattern that cannot tell types from functions.
            self._names[package] = dict.fromkeys(self._declared.get(package, ()), Origin(True, package, EITHER))
        return self._names[package]

    def open(self, name: str, outer: Scope) -> CppScope:
        """Return the scope of `namespace name { … }` inside `outer`, and define the name there."""
        around = enclosing_namespace(outer)
        package = f"{around}::{name}" if around else name
        outer.names[name] = Origin(True, package, NAMESPACE)
        self._roots.add(package.partition("::")[0])
        return CppScope("namespace", outer, self.names(package), package=package)

    def absolute(self, path: str, scope: Scope) -> str:
        """Return the full name of the namespace `path`, as seen from `scope`."""
        head, _, tail = path.lstrip(":").partition("::")
        package = self.head(head, scope).package or head
        return f"{package}::{tail}" if tail else package

    def is_own(self, package: str) -> bool:
        """Return whether the project or the file declares the outermost namespace of `package`. False for `std`."""
        root = package.partition("::")[0]
        return root != "std" and root in self._roots

    def head(self, name: str, scope: Scope) -> Origin:
        """Return the origin of `name` in `name::x`, or UNKNOWN."""
        origin = scope.find(name)
        if origin.holder in {NAMESPACE, CLASS}:
            return origin
        outer = enclosing_namespace(scope)
        while outer:
            if f"{outer}::{name}" in self._packages:
                return Origin(True, f"{outer}::{name}", NAMESPACE)
            outer = outer.rpartition("::")[0]
        if name == "std" or name in self._roots:
            return Origin(True, name, NAMESPACE)
        # By convention, an unknown name before `::` is a type if it begins with a capital letter.
        return Origin(True, origin.package, CLASS) if name[:1].isupper() or origin.holder == EITHER else UNKNOWN

    def member(self, holder: Origin, holder_name: str, name: str) -> Origin:
        if holder.holder == NAMESPACE:
            package = holder.package or ""
            known = self._names.get(package, {}).get(name)
            if known:
                return known
            path = f"{package}::{name}" if package else name
            if path in self._packages or (package == "std" and name in _IN_STD):
                return Origin(True, path, NAMESPACE)
            return Origin(True, package or None, EITHER)
        known = self.types[holder_name].names.get(name) if holder_name in self.types else None
        return Origin(True, holder.package, (known.holder if known else "") or MEMBER)


_OF_C = "NULL defined import module noreturn offsetof restrict".split()
KEYWORDS = (
    read_keywords("cpp")
    .union("auto bool char char16_t char32_t char8_t const_cast double dynamic_cast false float int".split())
    .union("reinterpret_cast static_cast this true typeid void wchar_t".split())
    .difference(_OF_C)
)
STATIC, IMPORTED, SIGNATURE, VALUE, TEMPLATE = "static", "imported", "signature", "value", "template"
"""The roles: the definition of a static member; a name in a using declaration; a function whose body is visited later;
a value that the grammar parses as a type; a type that the grammar parses as a function."""
_TYPES = frozenset(["type_identifier", "primitive_type"])
LEAVES = frozenset(["identifier", "type_identifier", "field_identifier", "namespace_identifier"])


class CppReferences(Walk):
    # The grammar parses TRUE as `true` and size_t as `primitive_type`, so these nodes may be names.
    names = LEAVES | {"primitive_type", "NULL", "true", "false"}
    # Outside of module declarations, `import` and `module` are names.
    keywords = KEYWORDS | {"import", "module"}
    ignored = "attribute_specifier destructor_name ms_declspec_modifier preproc_include string_literal"

    sequences = "condition_clause"
    blocks = (
        "compound_statement requires_expression if_statement while_statement switch_statement for_statement "
        "catch_clause"
    )

    def __init__(self, source: bytes, declared: Declarations) -> None:
        super().__init__(source, "", declared)
        self.spaces = Namespaces(declared)
        self.file = CppScope("namespace", names=self.spaces.names(""))

    def outermost(self, _root: Node) -> CppScope:
        return self.file

    def _location(self, package: str) -> Location:
        if package and self.spaces.is_own(package):
            return "project"
        return super()._location(package)

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.source[node.start_byte : node.end_byte].decode()
        kind = node.type
        if role in {BOUND, STATIC} and kind in {"identifier", "field_identifier"}:
            self._define(name, role, place.scope)
        elif kind == "field_identifier":
            self.emit(node, Kind.METHOD_CALL if role == CALLED else Kind.FIELD, place, UNKNOWN, name)
        elif name in KEYWORDS:
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
        else:
            origin = place.scope.find(name)
            self.emit(node, self._kind(kind, role, origin), place, origin, name)

    @handle_nodes("attribute_declaration")
    def attributes(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit the condition of `[[assume(a < b)]]`. The arguments of other attributes are not expressions."""
        for attribute in node.children:
            if attribute.type == "attribute" and self.text(attribute.children[0]) == "assume":
                self.push(attribute.children[1:], REFERENCE, place)

    def _define(self, name: str, role: str, scope: Scope) -> None:
        scope = declaring_scope(scope)
        if scope.kind == "namespace":
            scope.names[name] = Origin(True, enclosing_namespace(scope))
        elif scope.kind == "class":
            if scope.names.get(name, UNKNOWN).holder == CLASS:
                return  # a constructor
            scope.names[name] = Origin(role == STATIC, enclosing_namespace(scope), MEMBER)
        else:
            scope.names[name] = LOCAL

    def _kind(self, node_type: str, role: str, origin: Origin) -> Kind:
        holder = origin.holder
        if role == IMPORTED:
            return Kind.IMPORT
        if role == CALLED:
            return Kind.METHOD_CALL
        if holder == MEMBER and role != TEMPLATE:
            return Kind.FIELD
        if holder == CLASS or role == TEMPLATE:
            return Kind.TYPE_REFERENCE
        # The grammar parses some values as types, such as n in `f<n>`.
        typed = role != VALUE and node_type in _TYPES and (origin.static is None or holder == EITHER)
        return Kind.TYPE_REFERENCE if typed else Kind.VARIABLE

    @handle_nodes("call_expression")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        function, *arguments = node.children
        inner = function.children[-1] if function.type == "call_expression" else node
        if inner.child_count == 3 and inner.children[1].type == "pointer_expression":
            type_ = function.children[0]
            origin = place.scope.find(self.text(type_))
            is_type = type_.type == "primitive_type" or origin.holder == CLASS
            if is_type or declaring_scope(place.scope).kind == "namespace":
                # The grammar parses the declaration `T (*name)(A);` as two calls. The name may have array sizes.
                name = inner.children[1].children[-1]
                while name.child_count:
                    name, *sizes = name.children
                    self.push(sizes, REFERENCE, place)
                self._define(self.text(name), BOUND, place.scope)
                self.push([part for child in arguments for part in child.children], TEMPLATE, place)
                self.push([type_], TEMPLATE, place)
                return
        self.push(arguments, REFERENCE, place)
        self.push([function], CALLED, place)

    @handle_nodes("argument_list")
    def arguments(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, place if place.argument else NodePlace(place.scope, True))

    @handle_nodes("field_expression")
    def field(self, node: Node, role: str, place: NodePlace) -> None:
        receiver, operator, *_, member = node.children
        if operator.type == ".*":
            # In `a.*b`, the variable b points to a member.
            self.push([receiver], REFERENCE, place)
            self.emit(member, Kind.VARIABLE, place, place.scope.find(self.text(member)))
            return
        origin = UNKNOWN
        # The types of receivers other than `this` are not known.
        if receiver.type == "this" and member.type == "field_identifier":
            class_ = place.scope.enclosing("class")
            known = class_.names.get(self.text(member)) if class_ else None
            origin = known or Origin(False)
        if member.type == "field_identifier":
            self.emit(member, Kind.METHOD_CALL if role == CALLED else Kind.FIELD, place, origin)
        else:
            self.push([member], role, place)
        self.push([receiver], REFERENCE, place)

    @handle_nodes("template_argument_list")
    def template_arguments(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `<a::b<T>, c_v<T>>`. By convention, an argument that has arguments is a value if its name ends
        in `_v`; otherwise it is a type."""
        for child in reversed(node.children):
            if child.type == "type_descriptor" and child.child_count == 1:
                child = child.children[0]
            last = child
            while last.type == "qualified_identifier":
                last = last.children[-1]
            role = REFERENCE
            if child.type == "type_descriptor" and child.children[-1].type == "abstract_function_declarator":
                name = place.scope.find(self.text(child.children[0]))
                if name.static is not None and name.holder in {"", MEMBER}:
                    # The grammar parses the call in `<f(a)>` as a function type.
                    self.push(child.children[1:], REFERENCE, place)
                    child, role = child.children[0], CALLED
            elif last.type in {"template_function", "template_type"} and last.child_count:
                role = VALUE if self.text(last.children[0]).endswith("_v") else TEMPLATE
            self.push([child], role, place)

    @handle_nodes("template_function", "template_method", "template_type", "dependent_name", "parenthesized_expression")
    def same_role(self, node: Node, role: str, place: NodePlace) -> None:
        children = node.children
        # In dependent names and parenthesized expressions (node types `d…` and `p…`), the name is not the first child.
        self.push(children[1:], role if node.type[0] in "dp" else REFERENCE, place)
        self.push(children[:1], role, place)

    @handle_nodes("qualified_identifier")
    def qualified(self, node: Node, role: str, place: NodePlace) -> None:
        """Emit the names in `a::B::c` from left to right."""
        holder, holder_name = Origin(True, "", NAMESPACE), ""
        # Paths are nested and may be long, so this is a loop instead of a recursion.
        while True:
            children = node.children
            head, last = children[0], children[-1]
            if len(children) > 2 or head.type != "::":
                holder_name, holder = self._step(head, holder, holder_name, role, place)
            if last.type != "qualified_identifier":
                break
            node = last
        if last.type == "dependent_name":
            self.push(last.children[:-1], REFERENCE, place)
            last = last.children[-1]
        if last.child_count and last.type.startswith("template_"):
            self.push(last.children[1:], REFERENCE, place)
            last = last.children[0]
        if last.type not in LEAVES:
            self.push([last], role, place)
        # A declaration passes its role to its type, too, but T in `A::T x;` is a reference.
        elif role not in {BOUND, STATIC, SIGNATURE} or (last.type == "type_identifier" and role != SIGNATURE):
            self._last(last, holder, holder_name, role, place)

    def _step(self, head: Node, holder: Origin, holder_name: str, role: str, place: NodePlace) -> tuple[str, Origin]:
        """Emit one of the names before `::`. Return the name and its origin."""
        has_arguments = head.type == "template_type"
        if has_arguments:
            self.push(head.children[1:], REFERENCE, place)
            head = head.children[0]
        if head.type not in LEAVES:
            self.push([head], REFERENCE, place)
            return "", UNKNOWN
        name = self.text(head)
        if holder_name:
            origin = self.spaces.member(holder, holder_name, name)
            if origin.holder != NAMESPACE:
                # By convention, an unknown lower-case name in a namespace is itself a namespace.
                is_space = holder.holder in {NAMESPACE, ""} and holder.package != "std" and name[:1].islower()
                is_known = has_arguments or name in self.spaces.names(holder.package or "")
                origin = UNKNOWN if is_space and not is_known else Origin(True, origin.package, CLASS)
        else:
            origin = self.spaces.head(name, place.scope)
        kind = Kind.TYPE_REFERENCE if origin.holder == CLASS or head.type == "type_identifier" else Kind.VARIABLE
        token_origin = Origin(True, holder.package) if holder_name else origin
        self.emit(head, Kind.IMPORT if role == IMPORTED else kind, place, token_origin, name)
        return name, origin

    def _last(self, last: Node, holder: Origin, holder_name: str, role: str, place: NodePlace) -> None:
        name = self.text(last)
        origin = self.spaces.member(holder, holder_name, name) if holder.holder else Origin(True)
        typed = (last.type == "type_identifier" and role not in {CALLED, VALUE}) or (
            role == TYPE and last.type == "field_identifier"
        )
        kind = Kind.TYPE_REFERENCE if typed else self._kind("identifier", role, origin)
        if role == IMPORTED:
            kind = Kind.IMPORT
            place.scope.names[name] = Origin(True, origin.package, origin.holder or EITHER)
        package = holder.package if origin.holder == NAMESPACE else origin.package
        self.emit(last, kind, place, Origin(True, package), name)

    @handle_nodes("module_declaration", "import_declaration")
    def module(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `import a.b`, whose names are references, or `module a.b`, whose names are definitions."""
        for child in node.children:
            if child.type not in {"module_name", "module_partition"}:
                self.push([child], REFERENCE, place)
            elif node.type == "import_declaration":
                self.push([leaf for leaf in leaves(child) if leaf.type in LEAVES], IMPORTED, place)

    @handle_nodes("namespace_definition")
    def namespace(self, node: Node, _role: str, place: NodePlace) -> None:
        scope = place.scope
        for child in node.children:
            if child.type in {"namespace_identifier", "identifier", "nested_namespace_specifier"}:
                for name in self.text(child).split("::"):
                    scope = self.spaces.open(name.strip(), scope)
            elif child.type == "declaration_list":
                self.push(child.children, REFERENCE, NodePlace(scope, False))
            else:
                self.push([child], REFERENCE, place)

    @handle_nodes("namespace_alias_definition")
    def namespace_alias(self, node: Node, _role: str, place: NodePlace) -> None:
        names = [leaf for leaf in leaves(node) if leaf.type in LEAVES]
        holder, before = Origin(True, "", NAMESPACE), ""
        for leaf in names[1:]:
            before, holder = self._step(leaf, holder, before, REFERENCE, place)
        if names:
            place.scope.names[self.text(names[0])] = Origin(True, holder.package, NAMESPACE)
        self.push([child for child in node.children if not child.is_named], REFERENCE, place)

    @handle_nodes("using_declaration")
    def using(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        path = next((child for child in children if child.type in {"identifier", "qualified_identifier"}), None)
        whole = any(child.type == "namespace" for child in children)
        package = self.spaces.absolute(self.text(path), place.scope) if path and whole else ""
        if path and not path.child_count:
            self.emit(path, Kind.IMPORT, place, Origin(True, package or None))
            children = [child for child in children if not child.is_named]
        self.push(children, IMPORTED, place)
        if package:
            known = self.spaces.names(package)
            # Declarations in the scope hide the names from `using namespace`.
            place.scope.names.update({name: known[name] for name in known if name not in place.scope.names})

    @handle_nodes("preproc_def", "preproc_function_def")
    def macro(self, node: Node, _role: str, _place: NodePlace) -> None:
        # Macros ignore namespaces and scopes.
        name = node.child_by_field_name("name")
        if name:
            self.file.names.setdefault(self.text(name), MACRO)

    @handle_nodes("lambda_expression")
    def lambda_(self, node: Node, _role: str, place: NodePlace) -> None:
        inner = inside("function", place)
        for child in reversed(node.children):
            if child.type == "lambda_capture_specifier":
                references = []
                for capture in child.children:
                    # In `[x, y = z]`, y is a new variable.
                    is_new = capture.type == "lambda_capture_initializer"
                    if is_new:
                        self.define(capture.children[0], inner.scope)
                    references += capture.children[1:] if is_new else [capture]
                self.push(references, REFERENCE, NodePlace(place.scope, False))
            else:
                parameters = child.type in {"abstract_function_declarator", "lambda_declarator"}
                # The body of a lambda sees the parameters, so they share its scope.
                self.push(child.children if parameters else [child], REFERENCE, inner)

    @handle_nodes("abstract_function_declarator")
    def abstract_function(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, inside("function", place))

    def in_block(self, node: Node, _role: str, place: NodePlace) -> None:
        self.in_order(node.children, inside("block", place, place.argument))

    @handle_nodes("for_range_loop")
    def for_range(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `for (T x : y) …`. y is visited first."""
        inner = inside("block", place, place.argument)
        children = node.children
        colon = next((i for i, child in enumerate(children) if child.type == ":"), len(children) - 1)
        self._stack += [(children[-1], REFERENCE, inner), (children[colon - 1], BOUND, inner)]
        self.push([*children[: colon - 1], *children[colon:-1]], REFERENCE, inner)
