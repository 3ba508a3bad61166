"""The walk over a Java file, which gathers the calls on its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.trees import descendants, named_children
from ci_eval.plugins.mining.usages.contract import Layout, MinedText, Surroundings
from ci_eval.plugins.mining.usages.gathering import Enclosing, Gathering, StackWalk
from ci_eval.plugins.mining.usages.languages.java.expressions import UNKNOWN, Expressions, Scope, Thing
from ci_eval.plugins.mining.usages.languages.java.names import TYPES, read_names
from ci_eval.plugins.mining.usages.places import Places, Site

METHODS = {"method_declaration", "constructor_declaration", "compact_constructor_declaration"}
PARAMETERS = {"formal_parameter", "spread_parameter"}
BODIES = {"enum_body_declarations", "ERROR"}
# A class that extends nothing may override these methods.
OF_OBJECT = {"clone()", "equals(Object)", "finalize()", "hashCode()", "toString()"}


class JavaWalk(StackWalk[Scope]):
    def __init__(self, source: bytes, root: Node, around: Surroundings) -> None:
        super().__init__()
        self.root = root
        self.names = read_names(source, root, around.own)
        self.expressions = Expressions(source, self.names)
        self.text = self.expressions.text
        self.gathering = Gathering(Places(source, LAYOUT) if around.places else None)

    def run(self) -> MinedText:
        self._visit_all(self.root.children, Scope(enclosing=Enclosing(key=self.names.package)))
        self._work()
        return self.gathering.mined(broken=self.root.has_error)

    # ------------------------------------------------------------------------------------------------ order

    def _read(self, node: Node, scope: Scope) -> None:
        handler = _HANDLERS.get(node.type)
        if node.type in TYPES:
            name = self.text(node.child_by_field_name("name"))
            outer = scope.own_class()
            prefix = outer.class_ if outer else self.names.package
            self._enter(node, scope, f"{prefix}.{name}".lstrip("."), list(self._bases(node)))
        elif node.type in METHODS:
            self._method(node, scope)
        elif handler:
            handler(self, node, scope)
        else:
            self._visit_all(node.children, scope)

    # ------------------------------------------------------------------------------------------------ definitions

    def _bases(self, node: Node) -> Iterable[Node]:
        for child in named_children(node):
            if child.type in {"superclass", "super_interfaces", "extends_interfaces"}:
                for base in named_children(child):
                    yield from named_children(base) if base.type in {"type_list", "interface_type_list"} else (base,)

    def _enter(self, node: Node, scope: Scope, qualified: str, bases: list[Node]) -> None:
        types = [thing.type for base in bases if (thing := self.expressions.resolve_type(base, scope)).sort == "object"]
        self.gathering.bases[qualified] = tuple(types)
        context = next((type_ for type_ in types if not self.names.is_own(type_)), qualified)
        enclosing = Enclosing(key=f"{qualified}.<init>", class_=context, method=f"{context}.<init>")
        inner = Scope(
            enclosing=enclosing, parent=scope, class_=qualified, parameters=frozenset(self._type_parameters(node))
        )
        body = node.child_by_field_name("body") or next(
            (child for child in named_children(node) if child.type == "class_body"), None
        )
        # Fields and methods are defined first, since the code in methods may use all of them.
        for member in self._members(body):
            if member.type == "field_declaration":
                for name, base_thing, _ in self._declarations(member, inner):
                    inner.names[name] = base_thing
            elif member.type == "method_declaration":
                thing = self.expressions.resolve_type(member.child_by_field_name("type"), inner)
                inner.returns.setdefault(self.text(member.child_by_field_name("name")), thing)
        # The components of a record are its fields.
        for number, parameter in enumerate(named_children(node.child_by_field_name("parameters"))):
            self._parameter(parameter, number, inner, bind_only=True)
        self._visit_all(body.children if body else [], inner)

    def _members(self, body: Node | None) -> Iterable[Node]:
        for member in named_children(body):
            if member.type in BODIES:
                yield from named_children(member)
            else:
                yield member

    def _type_parameters(self, node: Node) -> Iterable[str]:
        list_node = node.child_by_field_name("type_parameters") or next(
            (child for child in named_children(node) if child.type == "type_parameters"), None
        )
        for parameter in named_children(list_node):
            yield self.text(next((child for child in named_children(parameter) if "identifier" in child.type), None))

    def _method(self, node: Node, scope: Scope) -> None:
        name = self.text(node.child_by_field_name("name"))
        owner = scope.own_class()
        parameters = [
            parameter
            for parameter in named_children(node.child_by_field_name("parameters"))
            if parameter.type in PARAMETERS
        ]
        signature = f"{name}({','.join(self._written_type(parameter) for parameter in parameters)})"
        key = f"{owner.class_ if owner else ''}.{signature}".lstrip(".")
        context = owner.enclosing.class_ if owner else ""
        overridden = self._library_method(node, signature, owner) if owner else ""
        enclosing = Enclosing(key=key, class_=context, method=overridden or key)
        inner = Scope(enclosing=enclosing, parent=scope, parameters=frozenset(self._type_parameters(node)))
        for number, parameter in enumerate(parameters):
            self._parameter(parameter, number, inner)
        self._visit(node.child_by_field_name("body"), inner)

    def _library_method(self, node: Node, signature: str, owner: Scope) -> str:
        """Return the method of a library that it overrides, or an empty string if it is not marked so."""
        modifiers = next((child for child in named_children(node) if child.type == "modifiers"), None)
        names = {self.text(modifier.child_by_field_name("name")) for modifier in named_children(modifiers)}
        if "Override" not in names:
            return ""
        if owner.enclosing.class_ != owner.class_:
            return f"{owner.enclosing.class_}.{signature}"
        return f"java.lang.Object.{signature}" if signature in OF_OBJECT else ""

    def _written_type(self, parameter: Node) -> str:
        """Return the type of a parameter, without type arguments."""
        kinds = [child for child in named_children(parameter) if "type" in child.type]
        text = self.text(kinds[0] if kinds else None).partition("<")[0].rpartition(".")[2]
        more = "[]" if any(child.type == "dimensions" for child in named_children(parameter)) else ""
        return f"{text}{'...' if parameter.type == 'spread_parameter' else more}"

    def _parameter(self, node: Node, number: int, scope: Scope, *, bind_only: bool = False) -> None:
        kinds = [child for child in named_children(node) if "type" in child.type]
        thing = self.expressions.resolve_type(kinds[0] if kinds else None, scope)
        if node.type == "spread_parameter" or any(child.type == "dimensions" for child in named_children(node)):
            thing = Thing(sort="array", type=thing.type)
        declarator = next((child for child in named_children(node) if child.type == "variable_declarator"), node)
        name = self.text(declarator.child_by_field_name("name") or next(iter(named_children(declarator)), None))
        thing = thing.with_definition("PARAM", scope.enclosing.method, number)
        if bind_only:
            scope.names[name] = thing
        else:
            self._bind(name, thing, scope, node)

    # ------------------------------------------------------------------------------------------------ variables

    def _bind(self, name: str, thing: Thing, scope: Scope, node: Node) -> None:
        # Fields were defined before the members were read.
        if scope.class_:
            return
        scope.names[name] = thing
        self._define(name, thing, scope, node)

    def _define(self, name: str, thing: Thing, scope: Scope, node: Node) -> None:
        if thing.sort == "object" and thing.type:
            own = self.names.is_own(thing.type)
            self.gathering.define(scope.enclosing, thing.type, thing.definition, name, node, own=own)

    def _declarations(self, node: Node, scope: Scope) -> Iterable[tuple[str, Thing, Node | None]]:
        """Yield the variables of a declaration: name, meaning, and initial value."""
        type_node = node.child_by_field_name("type")
        declared = self.expressions.resolve_type(type_node, scope)
        is_var = self.text(type_node) == "var"
        for declarator in named_children(node):
            if declarator.type == "variable_declarator":
                value = declarator.child_by_field_name("value")
                assigned = self.expressions.of(value, scope)
                thing = assigned if is_var else declared.with_definition(*_parts(assigned))
                if any(child.type == "dimensions" for child in named_children(declarator)):
                    thing = Thing(sort="array", type=declared.type)
                yield self.text(declarator.child_by_field_name("name")), thing, value

    def _variables(self, node: Node, scope: Scope) -> None:
        def bind() -> None:
            for name, thing, _ in self._declarations(node, scope):
                self._bind(name, thing, scope, node)

        self._then(node.children, scope, bind)

    def _assignment(self, node: Node, scope: Scope) -> None:
        self._then(node.children, scope, lambda: self._assign(node, scope))

    def _assign(self, node: Node, scope: Scope) -> None:
        left = node.child_by_field_name("left")
        assigned = self.expressions.of(node.child_by_field_name("right"), scope)
        known = self.expressions.of(left, scope)
        if left is None or known.sort != "object":
            return
        name = self.text(left)
        # The type stays the declared one; only the origin of the object is new.
        thing = known.with_definition(*_parts(assigned))
        if left.type == "identifier" and known.definition.kind != "FIELD":
            holder: Scope | None = scope
            while holder and name not in holder.names:
                holder = holder.parent
            if holder:
                holder.names[name] = thing
        self._define(name, thing, scope, node)

    def _loop(self, node: Node, scope: Scope) -> None:
        type_node, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        thing = self.expressions.resolve_type(type_node, scope)
        if self.text(type_node) == "var":
            thing = self.expressions.element(value, scope)
        self._bind(self.text(node.child_by_field_name("name")), thing.with_definition("LOOP"), scope, type_node or node)
        self._visit_all(node.children, scope)

    def _resource(self, node: Node, scope: Scope) -> None:
        type_node = node.child_by_field_name("type")
        if type_node:
            resource = self.expressions.of(node.child_by_field_name("value"), scope)
            thing = resource if self.text(type_node) == "var" else self.expressions.resolve_type(type_node, scope)
            name = self.text(node.child_by_field_name("name"))
            kind, member = ("WITH", resource.definition.member)
            self._bind(name, thing.with_definition(kind, member), scope, node)
        self._visit_all(node.children, scope)

    def _catch(self, node: Node, scope: Scope) -> None:
        kinds = [child for child in named_children(node) if "type" in child.type]
        thing = self.expressions.resolve_type(kinds[0] if kinds else None, scope)
        self._bind(self.text(node.child_by_field_name("name")), thing.with_definition("EXCEPT"), scope, node)

    def _pattern(self, node: Node, scope: Scope) -> None:
        """Bind the variable of `x instanceof Foo foo`."""
        holder = (
            node
            if node.child_by_field_name("name")
            else next((child for child in descendants(node) if child.type == "type_pattern"), node)
        )
        parts = named_children(holder)
        if len(parts) > 1 and parts[-1].type == "identifier":
            thing = self.expressions.resolve_type(parts[-2], scope)
            if thing.sort == "object":
                self._bind(self.text(parts[-1]), thing.with_definition("CAST"), scope, node)
        self._visit_all(node.children, scope)

    def _lambda(self, node: Node, scope: Scope) -> None:
        """Bind the parameters of a lambda, which have no type unless one is written."""
        parameters = node.child_by_field_name("parameters")
        inner = Scope(enclosing=scope.enclosing, parent=scope)
        if parameters is not None and parameters.type == "formal_parameters":
            for number, parameter in enumerate(named_children(parameters)):
                self._parameter(parameter, number, inner)
        elif parameters is not None:
            for parameter in [parameters] if parameters.type == "identifier" else named_children(parameters):
                inner.names[self.text(parameter)] = UNKNOWN.with_definition("PARAM")
        self._visit(node.child_by_field_name("body"), inner)

    # ------------------------------------------------------------------------------------------------ calls

    def _new(self, node: Node, scope: Scope) -> None:
        body = next((child for child in named_children(node) if child.type == "class_body"), None)
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
        thing = self.expressions.of(site.receiver, scope)
        self.gathering.receivers[thing.sort] += 1
        if thing.sort == "object":
            own = self.names.is_own(thing.type)
            self.gathering.call_at(site, self.text, scope.enclosing, thing.type, thing.definition, own=own)


def _parts(thing: Thing) -> tuple[str, str, int | None]:
    return thing.definition.kind, thing.definition.member, thing.definition.argument


_HANDLERS: dict[str, Callable[[JavaWalk, Node, Scope], None]] = {
    "local_variable_declaration": JavaWalk._variables,
    "assignment_expression": JavaWalk._assignment,
    "enhanced_for_statement": JavaWalk._loop,
    "resource": JavaWalk._resource,
    "catch_formal_parameter": JavaWalk._catch,
    "instanceof_expression": JavaWalk._pattern,
    "lambda_expression": JavaWalk._lambda,
    "object_creation_expression": JavaWalk._new,
    "method_invocation": JavaWalk._call,
}


LAYOUT = Layout(
    lists=frozenset(["block", "constructor_body", "switch_block_statement_group"]),
    simple=frozenset(["expression_statement", "local_variable_declaration", "return_statement", "assert_statement"]),
    leaving=frozenset("return_statement throw_statement break_statement continue_statement yield_statement".split()),
    heads=frozenset(
        "method_declaration constructor_declaration compact_constructor_declaration lambda_expression for_statement "
        "enhanced_for_statement while_statement if_statement try_with_resources_statement catch_clause".split()
    ),
    first=frozenset(["explicit_constructor_invocation"]),
    walls=frozenset(["class_body", "interface_body", "enum_body", "enum_body_declarations"]),
)
