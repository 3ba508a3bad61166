"""The references of PHP: variables, types, functions, constants, namespaces, imports."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, Walk, handle_nodes
from ci_eval.core.model import Kind
from ci_eval.plugins.languages.php.names import LONGEST, PART, PhpClass, PhpNames, PhpScope

_MAGIC = "__CLASS__ __DIR__ __FILE__ __FUNCTION__ __LINE__ __METHOD__ __NAMESPACE__ __TRAIT__ __PROPERTY__".split()
CONSTRUCTS = frozenset("die empty eval exit isset __halt_compiler".split())
_TYPES = (
    "array binary bool boolean callable double false float int integer iterable mixed never null object real string "
    "true unset void"
).split()
KEYWORDS = frozenset(
    "abstract and as break case catch class clone const continue declare default do echo else elseif encoding "
    "enddeclare endfor endforeach endif endswitch endwhile enum extends final finally fn for foreach from function get "
    "global goto if implements include include_once instanceof insteadof interface list match namespace new or parent "
    "print private protected public readonly require require_once return self set static strict_types switch this "
    "throw ticks trait try use var while xor yield FALSE NULL TRUE".split()
).union(_MAGIC, CONSTRUCTS, _TYPES)
LOCAL, GLOBAL = Origin(False), Origin(True)
_SUPER_GLOBALS = frozenset("GLOBALS _COOKIE _ENV _FILES _GET _POST _REQUEST _SERVER _SESSION".split())
PARAMETER, OUT = "parameter", "out"
"""The roles: a variable that is new even if there is one of that name; what a function may define (by reference)."""
_IN_CLASS = frozenset(["self", "static", "parent"])
_RESERVED = frozenset("bool false float int iterable mixed never null object string true void".split())
"""The types that no class may be called, whatever the grammar takes them for."""
NAMES = frozenset(["name", "qualified_name", "relative_name", "relative_scope"])


class PhpReferences(Walk):
    """The part of the walk over PHP that tells what a name is. Variables are without their `$`: the caret is behind."""

    names = frozenset(["name", "variable_name"])
    # The grammar names keyword leaves like the word, apart from these.
    keywords = KEYWORDS | set("boolean null bottom_type primitive_type cast_type operation var_modifier".split())
    ignored = frozenset(
        "( ) [ ] { } , . : :: ; = -> ?-> => + - * / % & | ^ ~ < > ! @ ? ?? && || == === != !== <= >= <=> += -= *= /= "
        ".= %= &= |= ^= ??= ** **= << >> <<= >>= ++ -- ... #[ $ \\ \" ' ` <<< <> ?> php_end_tag php_tag text comment "
        "integer float string nowdoc string_content escape_sequence heredoc_start heredoc_end".split()
    )

    def __init__(self, source: bytes, text: str, declared: Declarations) -> None:
        self.php = PhpNames(text, declared)
        super().__init__(source, self.php.namespace, declared)

    def outermost(self, _root: Node) -> Scope:
        return PhpScope("file")

    def each(self, nodes: Sequence[tuple[Node, str, NodePlace]]) -> None:
        """Visit these nodes next, in their order."""
        for child, role, place in reversed(nodes):
            self.push([child], role, place)

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        if node.type == "variable_name":
            self._variable(node, name[1:].lstrip(), role, place, node.end_byte - node.start_byte)
        elif role == TYPE:
            self._type(node, name, place)
        elif name in KEYWORDS and (name in CONSTRUCTS or name.startswith("__")):
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
        elif role == CALLED:
            origin = self.php.find("function", name)
            self.emit(node, Kind.METHOD_CALL, place, Origin(origin.static, origin.package), name)
        else:
            origin = self.php.find("const", name)
            self.emit(node, Kind.VARIABLE, place, Origin(origin.static, origin.package), name)

    def _variable(self, node: Node, name: str, role: str, place: NodePlace, length: int = 0) -> None:
        """Emit a variable or define it. `length`: that of the node in bytes, with what stands before the name."""
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
            # Outside functions, a variable may come from a file that includes this one.
            scope.names[name] = UNKNOWN if scope.kind == "file" else LOCAL
        else:
            kind = Kind.METHOD_CALL if role == CALLED else Kind.VARIABLE
            self.emit(node, kind, place, self._origin(name, scope), name, skip)

    def _origin(self, name: str, scope: Scope) -> Origin:
        """Return the origin of a variable; in a function it is local even if nothing shows where it gets its value."""
        if name in _SUPER_GLOBALS:
            return GLOBAL
        owner = scope.owner(name)
        return owner.names[name] if owner else UNKNOWN if scope.kind == "file" else LOCAL

    def _type(self, node: Node, name: str, place: NodePlace) -> None:
        if name.lower() in _IN_CLASS | _RESERVED:
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
        else:
            origin = self.php.find("class", name)
            self.emit(node, Kind.TYPE_REFERENCE, place, origin, name)

    @handle_nodes("qualified_name", "relative_name")
    def qualified(self, node: Node, role: str, place: NodePlace) -> None:
        r"""Emit `A\b`, `\A\b` or `namespace\b`; the names before the last are namespaces."""
        kinds = {TYPE: Kind.TYPE_REFERENCE, CALLED: Kind.METHOD_CALL}
        text = self.text(node)
        full = self.php.absolute(text) if len(text) < LONGEST else ""
        self._path(node, full, kinds.get(role, Kind.VARIABLE), Kind.TYPE_REFERENCE, place)

    def _path(self, node: Node, full: str, last: Kind, others: Kind, place: NodePlace) -> None:
        """Emit each name of a qualified one, whose absolute spelling is `full` ("" = unknown)."""
        begin, end = node.start_byte, node.end_byte
        parts = [(m.start() - begin, m[0].decode()) for m in PART.finditer(self.source, begin, end)]
        if parts and parts[0][1].lower() == "namespace":
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, parts.pop(0)[1])
        known = full.split("\\") if full else []
        namespace = bool(known) and (len(parts) > 1 or node.type == "namespace_name")
        for i, (skip, name) in enumerate(parts):
            before = "\\".join(known[: len(known) - len(parts) + i])
            # The first name of all is a namespace that is a member of no other.
            package = before or (name if namespace and not i else None)
            self.emit(node, last if i == len(parts) - 1 else others, place, Origin(True, package), name, skip)

    # ------------------------------------------------------------------------------------- namespaces, use, traits

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
        """Define the import of `A\\B as C`; return what is imported: "class", "function" or "const"."""
        children = [c for child in clause.children for c in (child.children if "alias" in child.type else [child])]
        name = alias = ""
        for child in children:
            # What is imported is told by the first clause for all, or by each for itself.
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


def enclosing_class(place: NodePlace) -> PhpClass | None:
    """Return the class around a place; None if there is none."""
    return place.scope.class_ if isinstance(place.scope, PhpScope) else None
