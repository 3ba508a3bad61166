"""The references of Go, and what kind each is."""

from __future__ import annotations

from ci_eval.core.contracts import Declarations
from ci_eval.core.grammar.scopes import UNKNOWN, Origin, Scope
from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import BOUND, CALLED, REFERENCE, TYPE, BlockWalk, NodePlace, handle_nodes
from ci_eval.core.model import Kind
from ci_eval.plugins.languages.go.names import UNIVERSE, TopLevel, derive_package

KEYWORDS = frozenset(
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package "
    "range return select struct switch type var false iota nil true".split()
)
LOCAL = Origin(False)
LOCAL_TYPE = Origin(False, None, "class")
RECEIVER = "of "
"""The beginning of the holder of a method's receiver; the name of its type follows."""
DEFINED = "defined"
"""The role of a name that is new even if its scope has one like it: `var x`, a parameter."""
OTHERS, FIELDS = "[", "{"
"""The roles of the braces of a composite literal, one letter for each level of nesting; at the last, `{`, keys are
names of fields."""
_COLLECTIONS = frozenset(["slice_type", "array_type", "implicit_length_array_type", "map_type"])


class GoReferences(BlockWalk):
    names = frozenset(["identifier", "type_identifier", "field_identifier", "package_identifier", "label_name"])
    keywords = KEYWORDS
    ignored = frozenset(
        "( ) [ ] { } , . : ; = := + - * / % & | ^ < > ! ~ && || == != <= >= << >> &^ ++ -- += -= *= /= %= &= |= ^= <<= "
        ">>= &^= <- ... \n \0 comment int_literal float_literal imaginary_literal rune_literal raw_string_literal "
        "interpreted_string_literal import_spec import_spec_list blank_identifier package_clause".split(" ")
    )

    def __init__(self, source: bytes, text: str, path: str, declared: Declarations) -> None:
        super().__init__(source, derive_package(text, path), declared)
        self.top = TopLevel(source, self.package, declared)

    def outermost(self, root: Node) -> Scope:
        return Scope("file", Scope("universe", names=UNIVERSE), self.top.read(root))

    # ------------------------------------------------------------------------------------------------- references

    def name(self, node: Node, role: str, place: NodePlace) -> None:
        name = self.text(node)
        kind = node.type
        if kind == "type_identifier" and role != DEFINED:
            if name in KEYWORDS:  # the case of nil, where it is no case for a type
                self.emit(node, Kind.KEYWORD, place)
            else:
                self.emit(node, Kind.TYPE_REFERENCE, place, place.scope.find(name), name)
        elif role == DEFINED or (role == BOUND and name not in place.scope.names):
            place.scope.names[name] = LOCAL
        elif kind == "identifier":
            self._plain(node, name, role, place)
        elif kind == "label_name":
            self.emit(node, Kind.VARIABLE, place, LOCAL, name)

    def _plain(self, node: Node, name: str, role: str, place: NodePlace) -> Origin:
        """Emit a name that no dot precedes, and return its origin."""
        origin = place.scope.find(name)
        if name == "_":
            return origin
        kind = Kind.VARIABLE
        if origin.holder == "class" or (role == TYPE and origin.static is not False):
            kind = Kind.TYPE_REFERENCE
        # `(*f)(x)` with a local f is a call, though f has the role of a type.
        elif role in {CALLED, TYPE}:
            kind = Kind.METHOD_CALL
        self.emit(node, kind, place, origin, name)
        return origin

    @handle_nodes("selector_expression", "qualified_type")
    def member(self, node: Node, role: str, place: NodePlace) -> None:
        """Emit `y` of `x.y`, and visit x."""
        receiver, *_, member = node.children
        origin = UNKNOWN
        if receiver.child_count or receiver.type not in self.names:
            self._stack.append((receiver, REFERENCE, place))
        else:
            origin = self._plain(receiver, self.text(receiver), REFERENCE, place)
        kind = Kind.METHOD_CALL if role == CALLED else Kind.FIELD
        # What x is tells types of packages from what the grammar mistakes for them.
        if member.type == "type_identifier" and role != CALLED and origin.static is not False:
            kind = Kind.TYPE_REFERENCE
        text = self.text(member)
        self.emit(member, kind, place, self._find_member_origin(origin, text) if origin.holder else UNKNOWN, text)

    def _find_member_origin(self, origin: Origin, member: str) -> Origin:
        if origin.holder in {"module", "class"}:
            return Origin(True, origin.package)
        if origin.holder.startswith(RECEIVER):
            members = self.top.members.get(origin.holder.removeprefix(RECEIVER), ())
            return Origin(False, self.package if member in members else None)
        return UNKNOWN

    @handle_nodes("call_expression")
    def call(self, node: Node, _role: str, place: NodePlace) -> None:
        function, *arguments = node.children
        self.push(arguments[-1:], REFERENCE, NodePlace(place.scope, True))
        if len(arguments) > 1:
            self._instantiate(function, arguments[0], place)
        else:
            self.push([function], CALLED, place)

    @handle_nodes("type_conversion_expression")
    def conversion(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit a conversion such as `[]byte(x)`."""
        type_, *value = node.children
        self.push(value, REFERENCE, NodePlace(place.scope, True))
        # The newer grammar finds `f[int](x)` to be a conversion as well.
        if type_.type == "generic_type":
            parts = type_.children
            self._instantiate(parts[0], parts[-1], place)
        else:
            self.push([type_], TYPE, place)

    def _instantiate(self, called: Node, arguments: Node, place: NodePlace) -> None:
        """Visit `called[arguments](…)`: a call of a generic function, or of an element of something that holds
        functions."""
        inner = [node for child in arguments.children for node in _unwrap(child)]
        head = called if called.type in self.names else called.children[0] if called.child_count else called
        origin = place.scope.find(self.text(head)) if head.type in self.names else LOCAL
        # Local variables, and arguments that are values, make it an index.
        by_value = origin.static is False and origin.holder != "class"
        by_value |= any(self._is_value(child, place.scope) for child in inner)
        if not by_value:
            self.push(inner, TYPE, place)
            self._visit_callee(called, CALLED, place)
            return
        for child in inner:
            if child.type == "type_identifier":
                self._plain(child, self.text(child), REFERENCE, place)
            else:
                self.push([child], REFERENCE, place)
        self._visit_callee(called, REFERENCE, place)

    def _visit_callee(self, called: Node, role: str, place: NodePlace) -> None:
        if called.type == "type_identifier":
            self._plain(called, self.text(called), role, place)
        else:
            self.push([called], role, place)

    def _is_value(self, node: Node, scope: Scope) -> bool:
        if node.type not in {"type_identifier", "qualified_type"}:
            return False
        head = node.children[0] if node.child_count else node
        origin = scope.find(self.text(head))
        return origin.static is not None and origin.holder not in {"class", "module"} and origin.package != "builtin"

    @handle_nodes("parenthesized_expression")
    def parentheses(self, node: Node, role: str, place: NodePlace) -> None:
        self.push(node.children, role, place)

    @handle_nodes("unary_expression")
    def unary(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit an operator and its operand; `(*T)(x)` is a conversion."""
        self.push(node.children, TYPE if role == CALLED else REFERENCE, place)

    @handle_nodes("array_type")
    def array(self, node: Node, _role: str, place: NodePlace) -> None:
        """Visit an array type, whose length is a constant."""
        self.push(node.children, REFERENCE, place)

    # ------------------------------------------------------------------------------------------ composite literals

    @handle_nodes("composite_literal")
    def composite(self, node: Node, _role: str, place: NodePlace) -> None:
        type_, *body = node.children
        self.push(body, self._levels(type_, place.scope), place)
        self.push([type_], TYPE, place)

    def _levels(self, type_: Node, scope: Scope) -> str:
        """Return the role of the outermost braces of a literal of this type; see OTHERS and FIELDS."""
        levels = ""
        for _ in range(8):  # a type may be declared through itself
            kind = type_.type
            if kind == "type_identifier":
                stands_for = self.top.types.get(self.text(type_))
                if not stands_for or stands_for.type not in _COLLECTIONS:
                    break
                type_ = stands_for
            elif kind in _COLLECTIONS or kind == "pointer_type":
                levels += OTHERS if kind in _COLLECTIONS else ""
                type_ = type_.children[-1]
            else:
                break
        while type_.child_count and type_.type in {"generic_type", "qualified_type"}:
            type_ = type_.children[0]
        package = scope.find(self.text(type_)).package if type_.type in self.names else None
        return levels + FIELDS + (self.package if type_.type == "struct_type" else package or "")

    @handle_nodes("literal_value")
    def literal_value(self, node: Node, role: str, place: NodePlace) -> None:
        self.push(node.children, role if role[0] in "[{" else FIELDS, place)

    @handle_nodes("literal_element")
    def literal_element(self, node: Node, role: str, place: NodePlace) -> None:
        """Visit an element of a literal. Braces without a type are those of an element of the collection."""
        children = node.children
        braces = children and children[0].type == "literal_value"
        self.push(children, (role if role[0] == FIELDS else role[1:]) if braces else REFERENCE, place)

    @handle_nodes("keyed_element")
    def key_value_pair(self, node: Node, role: str, place: NodePlace) -> None:
        children = node.children
        key = children[0].children[:1] if children[0].type == "literal_element" else children[:1]
        self.push(children[1:], role, place)
        if role[0] == FIELDS and key and key[0].type in self.names:
            self.emit(key[0], Kind.FIELD, place, Origin(False, role[1:] or None))
        else:
            self.push(children[:1], role, place)


def _unwrap(node: Node) -> list[Node]:
    """Return the nodes of a type argument."""
    # The newer grammar puts each type argument into a node of its own.
    return node.children if node.type == "type_elem" else [node]
