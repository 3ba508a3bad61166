"""Walks over a Java file and gathers what is called on its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ci_eval.grammar.syntax import Node
from ci_eval.mining.trees import below, named
from ci_eval.mining.usages.contract import MinedText, Surroundings
from ci_eval.mining.usages.gathering import Enclosing, Gathering
from ci_eval.mining.usages.languages.java.expressions import UNKNOWN, Expressions, Scope, Thing
from ci_eval.mining.usages.languages.java.layout import LAYOUT
from ci_eval.mining.usages.languages.java.names import TYPES, names_of
from ci_eval.mining.usages.places import Places, Site
from ci_eval.mining.usages.walking import StackWalk

METHODS = {"method_declaration", "constructor_declaration", "compact_constructor_declaration"}
PARAMETERS = {"formal_parameter", "spread_parameter"}
BODIES = {"enum_body_declarations", "ERROR"}
OF_OBJECT = {"clone()", "equals(Object)", "finalize()", "hashCode()", "toString()"}
LONGEST = 200
"""Bytes of the longest expression that may be the same object elsewhere."""


class JavaWalk(StackWalk[Scope]):
    """The reading of one text."""

    def __init__(self, source: bytes, root: Node, around: Surroundings) -> None:
        super().__init__()
        self.root = root
        self.names = names_of(source, root, around.own)
        self.expressions = Expressions(source, self.names)
        self.text = self.expressions.text
        self.gathering = Gathering(Places(source, LAYOUT) if around.places else None)

    def run(self) -> MinedText:
        """Read all of it."""
        self._visit_all(self.root.children, Scope(enclosing=Enclosing(key=self.names.package)))
        self._work()
        return self.gathering.mined(broken=self.root.has_error)

    # ------------------------------------------------------------------------------------------------ order

    def _read(self, node: Node, scope: Scope) -> None:
        handler = _HANDLERS.get(node.type)
        if node.type in TYPES:
            self._class(node, scope)
        elif node.type in METHODS:
            self._method(node, scope)
        elif handler:
            handler(self, node, scope)
        else:
            self._visit_all(node.children, scope)

    # ------------------------------------------------------------------------------------------------ definitions

    def _class(self, node: Node, scope: Scope) -> None:
        name = self.text(node.child_by_field_name("name"))
        outer = scope.own_class()
        prefix = outer.class_ if outer else self.names.package
        self._enter(node, scope, f"{prefix}.{name}".lstrip("."), list(self._bases(node)))

    def _bases(self, node: Node) -> Iterable[Node]:
        for child in named(node):
            if child.type in {"superclass", "super_interfaces", "extends_interfaces"}:
                for each in named(child):
                    yield from named(each) if each.type in {"type_list", "interface_type_list"} else (each,)

    def _enter(self, node: Node, scope: Scope, qualified: str, bases: list[Node]) -> None:
        """The fields and methods first: what is in the methods may use all of them."""
        types = [found.type for base in bases if (found := self.expressions.type_of(base, scope)).sort == "object"]
        self.gathering.bases[qualified] = tuple(types)
        context = next((type_ for type_ in types if not self.names.is_own(type_)), qualified)
        enclosing = Enclosing(key=f"{qualified}.<init>", class_=context, method=f"{context}.<init>")
        inner = Scope(
            enclosing=enclosing, parent=scope, class_=qualified, parameters=frozenset(self._type_parameters(node))
        )
        body = node.child_by_field_name("body") or next(
            (each for each in named(node) if each.type == "class_body"), None
        )
        for member in self._members(body):
            if member.type == "field_declaration":
                for name, thing, _ in self._declared(member, inner):
                    inner.names[name] = thing
            elif member.type == "method_declaration":
                thing = self.expressions.type_of(member.child_by_field_name("type"), inner)
                inner.returns.setdefault(self.text(member.child_by_field_name("name")), thing)
        for number, each in enumerate(named(node.child_by_field_name("parameters"))):
            self._parameter(each, number, inner, bind_only=True)
        self._visit_all(body.children if body else [], inner)

    def _members(self, body: Node | None) -> Iterable[Node]:
        for member in named(body):
            if member.type in BODIES:
                yield from named(member)
            else:
                yield member

    def _type_parameters(self, node: Node) -> Iterable[str]:
        found = node.child_by_field_name("type_parameters") or next(
            (child for child in named(node) if child.type == "type_parameters"), None
        )
        for each in named(found):
            yield self.text(next((child for child in named(each) if "identifier" in child.type), None))

    def _method(self, node: Node, scope: Scope) -> None:
        name = self.text(node.child_by_field_name("name"))
        owner = scope.own_class()
        given = [each for each in named(node.child_by_field_name("parameters")) if each.type in PARAMETERS]
        signature = f"{name}({','.join(self._written_type(each) for each in given)})"
        key = f"{owner.class_ if owner else ''}.{signature}".lstrip(".")
        context = owner.enclosing.class_ if owner else ""
        overridden = self._overridden(node, signature, owner) if owner else ""
        enclosing = Enclosing(key=key, class_=context, method=overridden or key)
        inner = Scope(enclosing=enclosing, parent=scope, parameters=frozenset(self._type_parameters(node)))
        for number, each in enumerate(given):
            self._parameter(each, number, inner)
        self._visit(node.child_by_field_name("body"), inner)

    def _overridden(self, node: Node, signature: str, owner: Scope) -> str:
        """The method of a library that it overrides; "" where it is not marked so."""
        modifiers = next((child for child in named(node) if child.type == "modifiers"), None)
        names = {self.text(each.child_by_field_name("name")) for each in named(modifiers)}
        if "Override" not in names:
            return ""
        if owner.enclosing.class_ != owner.class_:
            return f"{owner.enclosing.class_}.{signature}"
        return f"java.lang.Object.{signature}" if signature in OF_OBJECT else ""

    def _written_type(self, parameter: Node) -> str:
        """Of a parameter, without what is in angle brackets."""
        kinds = [child for child in named(parameter) if "type" in child.type]
        text = self.text(kinds[0] if kinds else None).partition("<")[0].rpartition(".")[2]
        more = "[]" if any(child.type == "dimensions" for child in named(parameter)) else ""
        return f"{text}{'...' if parameter.type == 'spread_parameter' else more}"

    def _parameter(self, node: Node, number: int, scope: Scope, *, bind_only: bool = False) -> None:
        kinds = [child for child in named(node) if "type" in child.type]
        thing = self.expressions.type_of(kinds[0] if kinds else None, scope)
        if node.type == "spread_parameter" or any(child.type == "dimensions" for child in named(node)):
            thing = Thing(sort="array", type=thing.type)
        declarator = next((child for child in named(node) if child.type == "variable_declarator"), node)
        name = self.text(declarator.child_by_field_name("name") or next(iter(named(declarator)), None))
        thing = thing.defined("PARAM", scope.enclosing.method, number)
        if bind_only:
            scope.names[name] = thing
        else:
            self._bind(name, thing, scope, node)

    # ------------------------------------------------------------------------------------------------ variables

    def _bind(self, name: str, thing: Thing, scope: Scope, node: Node) -> None:
        if scope.class_:
            return
        scope.names[name] = thing
        self._define(name, thing, scope, node)

    def _define(self, name: str, thing: Thing, scope: Scope, node: Node) -> None:
        if thing.sort == "object" and thing.type:
            own = self.names.is_own(thing.type)
            self.gathering.define(scope.enclosing, thing.type, thing.definition, name, node, own=own)

    def _declared(self, node: Node, scope: Scope) -> Iterable[tuple[str, Thing, Node | None]]:
        """The variables of a declaration: name, what they are, and what they begin with."""
        type_node = node.child_by_field_name("type")
        declared = self.expressions.type_of(type_node, scope)
        is_var = self.text(type_node) == "var"
        for each in named(node):
            if each.type == "variable_declarator":
                value = each.child_by_field_name("value")
                found = self.expressions.of(value, scope)
                thing = found if is_var else declared.defined(*_parts(found))
                if any(child.type == "dimensions" for child in named(each)):
                    thing = Thing(sort="array", type=declared.type)
                yield self.text(each.child_by_field_name("name")), thing, value

    def _variables(self, node: Node, scope: Scope) -> None:
        def bind() -> None:
            for name, thing, _ in self._declared(node, scope):
                self._bind(name, thing, scope, node)

        self._then(node.children, scope, bind)

    def _assignment(self, node: Node, scope: Scope) -> None:
        self._then(node.children, scope, lambda: self._assigned(node, scope))

    def _assigned(self, node: Node, scope: Scope) -> None:
        """The type stays the declared one; where the object comes from is new."""
        left = node.child_by_field_name("left")
        found = self.expressions.of(node.child_by_field_name("right"), scope)
        known = self.expressions.of(left, scope)
        if left is None or known.sort != "object":
            return
        name = self.text(left)
        thing = known.defined(*_parts(found))
        if left.type == "identifier" and known.definition.kind != "FIELD":
            holder: Scope | None = scope
            while holder and name not in holder.names:
                holder = holder.parent
            if holder:
                holder.names[name] = thing
        self._define(name, thing, scope, node)

    def _for(self, node: Node, scope: Scope) -> None:
        type_node, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        thing = self.expressions.type_of(type_node, scope)
        if self.text(type_node) == "var":
            thing = self.expressions.element(value, scope)
        self._bind(self.text(node.child_by_field_name("name")), thing.defined("LOOP"), scope, type_node or node)
        self._visit_all(node.children, scope)

    def _resource(self, node: Node, scope: Scope) -> None:
        type_node = node.child_by_field_name("type")
        if type_node:
            found = self.expressions.of(node.child_by_field_name("value"), scope)
            thing = found if self.text(type_node) == "var" else self.expressions.type_of(type_node, scope)
            name = self.text(node.child_by_field_name("name"))
            kind, member = ("WITH", found.definition.member)
            self._bind(name, thing.defined(kind, member), scope, node)
        self._visit_all(node.children, scope)

    def _catch(self, node: Node, scope: Scope) -> None:
        kinds = [child for child in named(node) if "type" in child.type]
        thing = self.expressions.type_of(kinds[0] if kinds else None, scope)
        self._bind(self.text(node.child_by_field_name("name")), thing.defined("EXCEPT"), scope, node)

    def _pattern(self, node: Node, scope: Scope) -> None:
        """`x instanceof Foo foo`."""
        holder = (
            node
            if node.child_by_field_name("name")
            else next((child for child in below(node) if child.type == "type_pattern"), node)
        )
        parts = named(holder)
        if len(parts) > 1 and parts[-1].type == "identifier":
            thing = self.expressions.type_of(parts[-2], scope)
            if thing.sort == "object":
                self._bind(self.text(parts[-1]), thing.defined("CAST"), scope, node)
        self._visit_all(node.children, scope)

    def _lambda(self, node: Node, scope: Scope) -> None:
        """Its parameters have no type unless one is written; they are the method's names until it ends."""
        given = node.child_by_field_name("parameters")
        inner = Scope(enclosing=scope.enclosing, parent=scope)
        if given is not None and given.type == "formal_parameters":
            for number, each in enumerate(named(given)):
                self._parameter(each, number, inner)
        elif given is not None:
            for each in [given] if given.type == "identifier" else named(given):
                inner.names[self.text(each)] = UNKNOWN.defined("PARAM")
        self._visit(node.child_by_field_name("body"), inner)

    # ------------------------------------------------------------------------------------------------ calls

    def _new(self, node: Node, scope: Scope) -> None:
        body = next((child for child in named(node) if child.type == "class_body"), None)
        type_node = node.child_by_field_name("type")
        self._visit_all((child for child in node.children if child.type != "class_body"), scope)
        if body is not None and type_node is not None:
            qualified = f"{scope.enclosing.key}.{self.text(type_node).partition('<')[0]}"
            self._todo.append(lambda: self._enter(node, scope, qualified, [type_node]))

    def _call(self, node: Node, scope: Scope) -> None:
        receiver, name = node.child_by_field_name("object"), node.child_by_field_name("name")
        if receiver is not None and name is not None and name.end_byte > name.start_byte:
            self._site(Site(name=name, receiver=receiver, call=node), scope)
        self._visit_all(node.children, scope)

    def _site(self, site: Site, scope: Scope) -> None:
        receiver = site.receiver
        found = self.expressions.of(receiver, scope)
        self.gathering.receivers[found.sort] += 1
        if found.sort == "object":
            is_short = receiver.end_byte - receiver.start_byte < LONGEST
            self.gathering.call(
                scope.enclosing,
                found.type,
                found.definition,
                self.text(receiver) if is_short else str(receiver.end_byte),
                self.text(site.name),
                site.name.start_byte,
                site,
                own=self.names.is_own(found.type),
            )


def _parts(thing: Thing) -> tuple[str, str, int | None]:
    return thing.definition.kind, thing.definition.member, thing.definition.argument


_HANDLERS: dict[str, Callable[[JavaWalk, Node, Scope], None]] = {
    "local_variable_declaration": JavaWalk._variables,
    "assignment_expression": JavaWalk._assignment,
    "enhanced_for_statement": JavaWalk._for,
    "resource": JavaWalk._resource,
    "catch_formal_parameter": JavaWalk._catch,
    "instanceof_expression": JavaWalk._pattern,
    "lambda_expression": JavaWalk._lambda,
    "object_creation_expression": JavaWalk._new,
    "method_invocation": JavaWalk._call,
}
