"""The references of Kotlin: calls, members, types and imports."""

from __future__ import annotations

from ci_eval.core.grammar.jvm.names import is_type_name, package_part
from ci_eval.core.grammar.jvm.walk import LOCAL, JvmWalk
from ci_eval.core.grammar.scopes import UNKNOWN, Origin
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import CALLED, REFERENCE, TYPE, NodePlace, handle_nodes
from ci_eval.core.model import Kind

_COMMENTS = frozenset(["line_comment", "multiline_comment"])


class ReferenceWalk(JvmWalk):
    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node).strip("`")
        if role == TYPE or node.type == "type_identifier":
            self.emit(node, Kind.TYPE_REFERENCE, place, self.known.find(f"<{name}>", place.scope))
        elif role == CALLED:
            self._emit_call(node, name, place)
        else:
            self.variable(node, name, place)

    def _emit_call(self, node: Node, name: str, place: NodePlace) -> None:
        local = place.scope.owner(name)
        origin = self.known.find(f"{name}()", place.scope)
        if origin is UNKNOWN and local is not None:
            # A function value.
            origin = local.names[name]
        self.emit(node, Kind.METHOD_CALL, place, Origin(origin.static, origin.package))

    def variable(self, node: Node, name: str, place: NodePlace) -> None:
        owner = place.scope.owner(name)
        if name == "this":
            # `$this` in a text.
            self.emit(node, Kind.KEYWORD, place)
            return
        if owner is not None:
            origin = owner.names[name]
            kind = Kind.FIELD if owner.kind == "class" else Kind.VARIABLE
            self.emit(node, Kind.TYPE_REFERENCE if origin.holder == "class" else kind, place, origin)
        # The parameter of a lambda that declares none, and the value behind a property.
        elif name in {"it", "field"}:
            self.emit(node, Kind.VARIABLE, place, LOCAL)
        else:
            origin = self.known.find(name, place.scope)
            self.emit(node, Kind.TYPE_REFERENCE if self.known.is_type(name) else Kind.VARIABLE, place, origin)

    def emit(
        self, node: Node, kind: Kind, place: NodePlace, origin: Origin = UNKNOWN, text: str = "", skip: int = 0
    ) -> None:
        # In one of the grammars, a name in a template still has its `$`.
        if node.type == "interpolated_identifier" and self.source[node.start_byte : node.start_byte + 1] == b"$":
            skip = 1
        super().emit(node, kind, place, origin, text, skip)

    @handle_nodes("call_expression")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        callee, *suffixes = node.children
        role = CALLED
        # The grammars read on where the next line begins with a bracket.
        if suffixes and b"\n" in self.source[callee.end_byte : suffixes[-1].start_byte]:
            arguments = suffixes[-1].children
            if arguments and arguments[0].type == "value_arguments":
                role, suffixes = REFERENCE, [*suffixes[:-1], *arguments[0].children, *arguments[1:]]
        self.push(suffixes, REFERENCE, place)
        if callee.child_count:
            self._stack.append((callee, role, place))
        else:
            self.push([callee], role, place)

    @handle_nodes("navigation_expression")
    def navigation(self, node: Node, role: str, place: NodePlace) -> None:
        receiver, *suffixes = node.children
        if receiver.type == "simple_identifier":
            origin = self.receiver(receiver, place)
        else:
            origin = self.path_origin(receiver, place)
            self._stack.append((receiver, REFERENCE, place))
        for suffix in suffixes:
            self._suffix(suffix, role, origin, receiver, place)

    def _suffix(self, node: Node, role: str, origin: Origin, receiver: Node, place: NodePlace) -> None:
        for member in node.children if node.child_count else [node]:
            if member.type == "simple_identifier":
                self._member(member, role, origin, receiver, place)
            else:
                # What stands behind `::` is a function, if it is no property.
                role = CALLED if member.type == "::" else role
                self.push([member], REFERENCE, place)

    @handle_nodes("directly_assignable_expression")
    def assigned(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit `a.b[c].d` before `=`, of which one node has all suffixes."""
        receiver, *suffixes = node.children
        if suffixes and suffixes[0].type == "navigation_suffix" and receiver.type == "simple_identifier":
            origin = self.receiver(receiver, place)
        else:
            origin = self.path_origin(receiver, place)
            self.push([receiver], REFERENCE, place)
        for suffix in suffixes:
            if suffix.type == "navigation_suffix":
                self._suffix(suffix, REFERENCE, origin, receiver, place)
            else:
                self.push([suffix], REFERENCE, place)
            origin = self.origin_behind(self.source[node.start_byte : suffix.end_byte].decode(), place)
            receiver = suffix

    def _member(self, node: Node, role: str, origin: Origin, receiver: Node, place: NodePlace) -> None:
        name = self.text(node).strip("`")
        known = Origin(origin.static, origin.package)
        if receiver.type == "this_expression":
            owner = place.scope.enclosing("class")
            # A method and a field may have the same name, so methods are known as `x()`.
            known = (owner.names.get(f"{name}()" if role == CALLED else name) if owner else None) or LOCAL
        elif origin.holder == "module":
            kind = (
                Kind.METHOD_CALL if role == CALLED else Kind.TYPE_REFERENCE if self.known.is_type(name) else Kind.IMPORT
            )
            self.emit(node, kind, place, Origin(True, origin.package))
            return
        if role == CALLED:
            # An extension function is static, whatever it is called on.
            static = None if known.static is False and known.package is None else known.static
            self.emit(node, Kind.METHOD_CALL, place, Origin(static, known.package))
        elif origin.static and is_type_name(name):
            self.emit(node, Kind.TYPE_REFERENCE, place, known)
        else:
            self.emit(node, Kind.FIELD, place, known)

    @handle_nodes("infix_expression")
    def infix(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the name in the middle of `a to b`, which is called, and visit its operands."""
        left, *siblings = [child for child in node.children if child.type not in _COMMENTS]
        if siblings and siblings[0].type == "simple_identifier":
            # The grammar takes the `if` of a guard for a function.
            word = siblings.pop(0)
            self.emit(word, Kind.KEYWORD if self.text(word) == "if" else Kind.METHOD_CALL, place)
        self.push([left, *siblings], REFERENCE, place)

    @handle_nodes("callable_reference")
    def callable_reference(self, node: Node, _role: str, place: NodePlace) -> None:
        *before, member = node.children
        for child in before:
            if child.type == "type_identifier":
                self.variable(child, self.text(child), place)
            else:
                self.push([child], REFERENCE, place)
        if member.type == "simple_identifier":
            self.emit(member, Kind.METHOD_CALL, place)
        else:
            self.push([member], REFERENCE, place)

    @handle_nodes("value_arguments", "indexing_suffix")
    def arguments(self, node: Node, _role: str, place: NodePlace) -> None:
        self.push(node.children, REFERENCE, NodePlace(place.scope, node.type == "value_arguments" or place.argument))

    @handle_nodes("value_argument")
    def argument(self, node: Node, _role: str, place: NodePlace) -> None:
        children = node.children
        if len(children) > 2 and children[1].type == "=":
            self.emit(children[0], Kind.ARGUMENT_NAME, place)
            children = children[2:]
        self.push(children, REFERENCE, place)

    @handle_nodes("user_type")
    def user_type(self, node: Node, _role: str, place: NodePlace) -> None:
        """Emit the parts of `java.util.Map.Entry<K, V>`, and visit the arguments."""
        path: list[str] = []
        others = []
        for child in node.children:
            if child.type != "type_identifier":
                others.append(child)
                continue
            name = self.text(child).strip("`")
            # Small letters alone make no package: the imports tell which roots there are.
            if not path and (self.known.is_type(name) or name not in self.known.roots):
                origin = self.known.find(f"<{name}>", place.scope)
                self.emit(child, Kind.TYPE_REFERENCE, place, origin)
                path = [origin.package or "", name]
                continue
            kind = Kind.TYPE_REFERENCE if self.known.is_type(name) else Kind.IMPORT
            self.emit(child, kind, place, Origin(True, (package_part(".".join(path)) if path else name) or None))
            path.append(name)
        self.push(others, TYPE, place)

    @handle_nodes("import_header")
    def import_(self, node: Node, _role: str, place: NodePlace) -> None:
        for child in node.children:
            if child.type == "identifier":
                path: list[str] = []
                for part in child.children:
                    if part.type == "simple_identifier":
                        package = package_part(".".join(path)) if path else self.text(part)
                        self.emit(part, Kind.IMPORT, place, Origin(True, package))
                        path.append(self.text(part))
            elif child.type == "import_alias":
                self.push(child.children[:1], REFERENCE, place)
            else:
                self.push([child], REFERENCE, place)
