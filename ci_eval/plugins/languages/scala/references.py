"""The references in Scala files: calls, members, types and imports."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import LOCAL, UNKNOWN, Origin
from ci_eval.core.grammar.syntax import Node, read_keywords
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, NodePlace, handle_nodes
from ci_eval.core.model import Kind
from ci_eval.plugins.languages.jvm import JvmWalk, package_part

KEYWORDS = read_keywords("scala") - {"as", "into", "tracked"} | {"forSome", "null", "super"}
# The other keywords can also be names.
HARD = KEYWORDS - frozenset("derives end extension infix inline opaque open transparent using".split())
USUAL = (
    dict.fromkeys(
        "Any AnyRef AnyVal App Array BigDecimal BigInt Boolean Byte Char Double Either Equiv Float Fractional "
        "Function0 Function1 Function2 Int Integral Left Long None Nothing Null Numeric Option Ordered Ordering "
        "PartialFunction Predef Product Right Serializable Short Some StringContext Symbol Tuple1 Tuple2 Tuple3 "
        "Unit".split(),
        "scala",
    )
    | dict.fromkeys("List Map Nil Seq Set Vector Stream".split(), "scala.collection.immutable")
    | dict.fromkeys("IndexedSeq Iterable Iterator Traversable".split(), "scala.collection")
    | dict.fromkeys(
        "Class Comparable Error Exception IllegalArgumentException IllegalStateException IndexOutOfBoundsException "
        "Integer NullPointerException Object Runnable RuntimeException String StringBuilder System Thread Throwable "
        "UnsupportedOperationException".split(),
        "java.lang",
    )
)
"""The types that need no import → their packages."""


NEW = "new"
"""The role of a name that is a definition even if it begins with a capital letter."""


class ReferenceWalk(JvmWalk):
    # In `!a.f[T]`, the grammar applies the type argument to all of `!a.f`.
    roles = {TYPE: "infix_type"}
    transparent = "prefix_expression"

    def __init__(self, source: bytes, package: str, declared: Declarations) -> None:
        super().__init__(source, package, declared)
        self._spliced: dict[int, str] = {}
        """The offset of a splice in quoted code → the role of the quoted code."""
        self._quoted = 0
        """The end offset of the last quoted code."""
        self.constants: set[str] = set()
        """The enum cases without parameters."""

    def emit(
        self, node: Node, kind: Kind, place: NodePlace, origin: Origin = UNKNOWN, text: str = "", skip: int = 0
    ) -> None:
        """Emit a token like `Walk.emit`, but without backquotes around it."""
        text = text or self.text(node)
        if self.source[node.start_byte : node.start_byte + 1] == b"`":
            text, skip = text.strip("`"), 1
        super().emit(node, kind, place, origin, text, skip)

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        # The grammar parses `_`, `?` and `*` as names.
        if name in {"", "_"} or not (name[0].isalpha() or name[0] in "_$`"):
            return
        if name[0] == "$" and node.start_byte in self._spliced:
            name = name[1:]
            # A splice in a pattern is a definition.
            if self._spliced[node.start_byte] == BOUND:
                place.scope.names[name] = LOCAL
            else:
                self.emit(node, Kind.VARIABLE, place, self.known.find(name, place.scope), name, skip=1)
        elif node.type == "type_identifier" or role == TYPE:
            self.emit(node, Kind.TYPE_REFERENCE, place, self.known.find(f"<{name}>", place.scope), name)
        # The grammar parses `this` and `super` as names.
        elif name in HARD:
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
        elif role == CALLED:
            called = self.known.find(f"{name}()", place.scope)
            origin = called if called is not UNKNOWN else place.scope.find(name)
            self.emit(node, Kind.METHOD_CALL, place, Origin(origin.static, origin.package), name)
        # In a pattern, only names that begin with a lower-case letter are definitions.
        elif role == NEW or (role == BOUND and (name[0].islower() or name[0] == "_")):
            place.scope.names[name] = LOCAL
        else:
            self.variable(node, name.strip("`"), place)

    def variable(self, node: Node, name: str, place: NodePlace) -> None:
        owner = place.scope.owner(name)
        origin = owner.names[name] if owner else self.known.find(name, place.scope)
        if origin.holder == "class" or (owner is None and self.known.is_type(name)):
            kind = Kind.TYPE_REFERENCE
        else:
            kind = Kind.FIELD if owner and owner.kind == "class" else Kind.VARIABLE
        self.emit(node, kind, place, origin, name)

    @handle_nodes("quote_expression")
    def quote(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit quoted code. If it is a pattern, its splices are patterns, too."""
        stack = list(node.children)
        # The outermost quote has already registered all splices inside it.
        while stack and node.start_byte >= self._quoted:
            inner = stack.pop()
            if inner.type == "splice_expression" or self.source.startswith(b"$", inner.start_byte):
                self._spliced[inner.start_byte] = role
            stack += inner.children
        self._quoted = max(self._quoted, node.end_byte)
        self.push(node.children, REFERENCE, place)

    @handle_nodes("splice_expression")
    def splice(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, BOUND if self._spliced.get(node.start_byte) == BOUND else REFERENCE, place)

    @handle_nodes("call_expression", "generic_function")
    def call(self, node: Node, role: str, place: NodePlace) -> None:
        callee, *siblings = node.children
        if role == BOUND:
            # The grammar parses a pattern in a splice as an expression.
            self.push([part for child in siblings for part in child.children], BOUND, place)
            self.push([callee], TYPE, place)
            return
        self.push(siblings, REFERENCE, place)
        self.each([(callee, TYPE if role == TYPE else CALLED, place)])

    @handle_nodes("arguments", "tuple_expression", "parenthesized_expression")
    def arguments(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `(a = b)`, which may be the arguments of a call or a named tuple."""
        inner = NodePlace(place.scope, place.argument or node.type == "arguments")
        for child in node.children:
            children = child.children if child.type == "assignment_expression" else []
            if children and children[0].type == "identifier":
                self.emit(children[0], Kind.ARGUMENT_NAME, inner)
                self.push(children[1:], REFERENCE, inner)
            else:
                self.push([child], REFERENCE, inner)

    @handle_nodes("field_expression", "stable_identifier")
    def field(self, node: Node, role: str, place: NodePlace) -> None:
        receiver, *siblings = node.children
        origin = self.expression_before_dot(receiver, place)
        for member in siblings:
            if member.type == "identifier":
                self._member(member, role, origin, receiver, place)
            else:
                self.push([member], REFERENCE, place)

    def receiver(self, node: Node, place: NodePlace) -> Origin:
        name = self.text(node)
        if name in HARD:
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
            return LOCAL if name == "this" else UNKNOWN
        return super().receiver(node, place)

    def _member(self, node: Node, role: str, origin: Origin, receiver: Node, place: NodePlace) -> None:
        name = self.text(node)
        known = origin
        if name == "this":
            self.emit(node, Kind.KEYWORD, place, UNKNOWN, name)
            return
        of_this = receiver.type == "identifier" and self.text(receiver) == "this"
        if of_this:
            owner = place.scope.enclosing("class")
            known = (owner.names.get(f"{name}()" if role == CALLED else name) if owner else None) or LOCAL
        if role == CALLED:
            # The method may be an extension method.
            static = None if known == LOCAL else known.static
            self.emit(node, Kind.METHOD_CALL, place, Origin(static, known.package), name)
        elif of_this or (name in self.constants and origin.holder != "module"):
            self.emit(node, Kind.FIELD, place, known, name)
        else:
            self.plain_member(node, name, known, place)

    @handle_nodes("stable_type_identifier", "projected_type")
    def qualified_type(self, node: Node, _role: str, place: NodePlace) -> None:
        first, *siblings = node.children
        origin = UNKNOWN
        if first.child_count or first.type == "identifier":
            origin = self.expression_before_dot(first, place)
        else:
            self.push([first], TYPE, place)
        for child in siblings:
            if child.type == "type_identifier":
                self.emit(child, Kind.TYPE_REFERENCE, place, Origin(True if origin.package else None, origin.package))
            else:
                self.push([child], TYPE, place)

    @handle_nodes("infix_expression", "postfix_expression")
    def infix(self, node: Node, role: str, place: NodePlace) -> None:
        left, *siblings = node.children
        if siblings and siblings[0].type == "identifier":
            operator = siblings.pop(0)
            # The grammar parses the `with` in `new A() with B { … }` as a name, and `B { … }` as a call.
            if self.text(operator) == "with":
                self.emit(operator, Kind.KEYWORD, place)
                self.push(siblings, TYPE, place)
                self.push([left], REFERENCE, place)
                return
            if self.text(operator) != "_":
                self.emit(operator, Kind.METHOD_CALL, place)
        # In `a to f[T]`, the grammar applies the type argument to all of `a to f`.
        if role == CALLED and siblings:
            self.each([(siblings.pop(), CALLED, place)])
        self.push([left, *siblings], REFERENCE, place)

    @handle_nodes("interpolated_string_expression")
    def interpolation(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit the code in a string. In a pattern, the names are definitions."""
        # The interpolator, such as the `s` before the quote, is part of the literal.
        if role != BOUND:
            self.push(node.children[1:], REFERENCE, place)
            return
        for text in node.children[1:]:
            for hole in text.children:
                for child in hole.children:
                    self.push(child.children or [child], BOUND, place)

    @handle_nodes("import_declaration", "export_declaration")
    def import_(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the names in `import a.b.{C, D => E, _}` and define the imported names in the scope."""
        path: list[str] = []
        for child in node.children:
            kind = child.type
            if kind in self.names:
                self._import(child, path, place)
                path.append(self.text(child))
            elif kind == "namespace_selectors":
                for selector in child.children:
                    if selector.type == "namespace_wildcard":
                        self.known.wildcards.append(".".join(path))
                        continue
                    parts = [leaf for leaf in (selector.children or [selector]) if leaf.type in self.names]
                    for leaf in parts[:1]:
                        self._import(leaf, path, place)
                    for leaf in parts[-1:]:
                        self._bring([*path, self.text(parts[0])], [self.text(leaf)], place)
                path = []
            elif kind == "namespace_wildcard":
                self.known.wildcards.append(".".join(path))
                path = []
            elif kind == ",":
                self._bring(path, path[-1:], place)
                path = []
            else:
                self.push([child], REFERENCE, place)
        self._bring(path, path[-1:], place)

    def _import(self, node: Node, path: Sequence[str], place: NodePlace) -> None:
        name = self.text(node)
        if not path:
            self.known.roots.add(name)
        package = package_part(".".join(path)) if path else name
        self.emit(node, Kind.IMPORT, place, Origin(True, package or None), name)

    def _bring(self, path: Sequence[str], names: Sequence[str], place: NodePlace) -> None:
        for name in names:
            place.scope.names.update(self.known.imported(".".join(path), name))
