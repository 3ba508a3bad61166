"""The mining of Java. Types are inferred from the file's declarations and imports."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

import msgspec
from msgspec.structs import replace

from ci_eval.core.grammar.syntax import Node
from ci_eval.core.grammar.walk import handle_nodes
from ci_eval.plugins.languages.java.declarations import LANG, TYPES
from ci_eval.plugins.languages.jvm import package_part
from ci_eval.plugins.mining.sources import child_of_type, descendants, field_text, named_children, node_text
from ci_eval.plugins.mining.usages import dialect
from ci_eval.plugins.mining.usages.places import Layout

DEEPEST = 30
LITERALS = {"string_literal": "String", "class_literal": "Class"}
WIDELY = {
    "java.util": "AbstractCollection AbstractList AbstractMap AbstractSet ArrayDeque ArrayList Arrays BitSet Calendar "
    "Collection Collections Comparator Currency Date Deque EnumMap EnumSet Enumeration EventListener EventObject "
    "Formatter GregorianCalendar HashMap HashSet Hashtable IdentityHashMap Iterator LinkedHashMap LinkedHashSet "
    "LinkedList List ListIterator Locale Map NavigableMap NavigableSet NoSuchElementException Objects Observable "
    "Optional OptionalInt PriorityQueue Properties Queue Random ResourceBundle Scanner ServiceLoader Set SortedMap "
    "SortedSet Spliterator Stack StringJoiner StringTokenizer TimeZone Timer TimerTask TreeMap TreeSet UUID Vector "
    "WeakHashMap ConcurrentModificationException",
    "java.io": "BufferedInputStream BufferedOutputStream BufferedReader BufferedWriter ByteArrayInputStream "
    "ByteArrayOutputStream Closeable DataInput DataInputStream DataOutput DataOutputStream EOFException Externalizable "
    "File FileInputStream FileNotFoundException FileOutputStream FileReader FileWriter FilterInputStream "
    "FilterOutputStream IOException InputStream InputStreamReader ObjectInputStream ObjectOutputStream OutputStream "
    "OutputStreamWriter PrintStream PrintWriter PushbackInputStream RandomAccessFile Reader Serializable StringReader "
    "StringWriter UncheckedIOException Writer",
}
"""Package → its common types, for the two packages that are most often imported with an asterisk."""
OF_PACKAGE = {package: frozenset(names.split()) for package, names in WIDELY.items()}
SOURCES = {"java", "src", "sources", "source"}
METHODS = frozenset(["method_declaration", "constructor_declaration", "compact_constructor_declaration"])
BASES = {"superclass", "super_interfaces", "extends_interfaces"}
BODIES = {"enum_body_declarations", "ERROR"}
# The methods of Object, which a class without a base class may override.
OF_OBJECT = {"clone()", "equals(Object)", "finalize()", "hashCode()", "toString()"}


class Names(msgspec.Struct, frozen=True, kw_only=True):
    package: str
    imports: dict[str, str]
    wholly: list[str]
    declared: dict[str, str]
    own: frozenset[str]

    def find(self, name: str) -> str:
        """Return the qualified name of a type, or "" if the name is ambiguous."""
        first, _, inner = name.partition(".")
        if not first[:1].isupper():
            return name if inner else ""
        here = f"{self.package}.{first}".lstrip(".")
        owners = [owner for owner in (here, *(f"{package}.{first}" for package in self.wholly)) if owner in self.own]
        packages = ["java.lang"] if first in LANG else []
        packages += [package for package in self.wholly if first in OF_PACKAGE.get(package, ())]
        others = [package for package in self.wholly if package not in OF_PACKAGE]
        packages += others if len(others) == 1 else []
        candidates = [self.declared.get(first), self.imports.get(first), *owners, *(f"{of}.{first}" for of in packages)]
        full_name = next(filter(None, candidates), "" if others else here)
        return f"{full_name}.{inner}" if inner and full_name else full_name


def read_names(source: bytes, root: Node, own: frozenset[str]) -> Names:
    package, imports, wholly = "", {}, []
    for node in named_children(root):
        name = node_text(source, _name_node(node))
        kinds = {child.type for child in node.children}
        if node.type == "package_declaration":
            package = name
        # Static imports are skipped, since they mostly import members, not types.
        elif node.type == "import_declaration" and "static" not in kinds:
            if "asterisk" in kinds:
                wholly.append(name)
            else:
                imports[name.rpartition(".")[2]] = name
    declared = {}
    stack = [(child, package) for child in named_children(root)]
    while stack:
        node, outer = stack.pop()
        if node.type in TYPES:
            name = field_text(source, node, "name")
            declared[name] = outer = f"{outer}.{name}" if outer else name
            stack += [(child, outer) for child in named_children(node.child_by_field_name("body"))]
        elif node.type in BODIES:
            stack += [(child, outer) for child in named_children(node)]
    return Names(package=package, imports=imports, wholly=wholly, declared=declared, own=own)


def _name_node(node: Node) -> Node | None:
    return next((child for child in named_children(node) if "identifier" in child.type), None)


def project_types(paths: Iterable[str]) -> frozenset[str]:
    types = set()
    for path in paths:
        parts = list(PurePosixPath(path).with_suffix("").parts)
        roots = [number for number, part in enumerate(parts[:-1]) if part in SOURCES]
        types.add(".".join(parts[roots[-1] + 1 :] if roots else parts))
    return frozenset(types)


class Scope(dialect.NameScope, kw_only=True):
    class_: str = ""
    returns: dict[str, dialect.Meaning] = msgspec.field(default_factory=dict)
    parameters: frozenset[str] = frozenset()

    def find(self, name: str) -> dialect.Meaning | None:
        scope = next((scope for scope in self.around() if name in scope.names), None)
        if scope is None:
            return None
        meaning = scope.names[name]
        return meaning.with_definition("FIELD", f"{scope.class_}.{name}") if scope.class_ else meaning

    def own_class(self) -> Scope | None:
        return next((scope for scope in self.around() if scope.class_), None)


class JavaWalk(dialect.Walk[Scope]):
    def __init__(self, source: bytes, root: Node, around: dialect.ProjectContext) -> None:
        super().__init__(source, around, LAYOUT)
        self.names = read_names(source, root, around.own)

    def run(self, root: Node) -> dialect.MinedText:
        self._visit_all(root.children, Scope(enclosing=dialect.Enclosing(key=self.names.package)))
        self._work()
        return self.mined(root)

    def is_own(self, type_: str) -> bool:
        """Return whether a type belongs to the project, as types of the file's package do."""
        return package_part(type_) == self.names.package or super().is_own(type_)

    @handle_nodes(*TYPES)
    def _type(self, node: Node, scope: Scope) -> None:
        outer = scope.own_class()
        prefix = outer.class_ if outer else self.names.package
        bases: list[Node] = []
        for child in named_children(node):
            for base in named_children(child) if child.type in BASES else ():
                bases += named_children(base) if base.type == "type_list" else [base]
        self._enter(node, scope, f"{prefix}.{self.field_text(node, 'name')}".lstrip("."), bases)

    def _enter(self, node: Node, scope: Scope, qualified: str, bases: list[Node]) -> None:
        types = [meaning.name for base in bases if (meaning := self.resolve_type(base, scope)).sort == "object"]
        self.bases[qualified] = tuple(types)
        context = next((type_ for type_ in types if not self.is_own(type_)), qualified)
        enclosing = dialect.Enclosing(key=f"{qualified}.<init>", class_=context, method=f"{context}.<init>")
        inner = Scope(enclosing=enclosing, parent=scope, class_=qualified, parameters=self._type_parameters(node))
        body = node.child_by_field_name("body") or child_of_type(node, "class_body")
        # Members are defined first, since the code in methods may use all of them.
        for part in named_children(body):
            for member in named_children(part) if part.type in BODIES else [part]:
                if member.type == "field_declaration":
                    inner.names.update(self._declarations(member, inner))
                elif member.type == "method_declaration":
                    meaning = self.resolve_type(member.child_by_field_name("type"), inner)
                    inner.returns.setdefault(self.field_text(member, "name"), meaning)
        # The components of a record are its fields.
        components = enumerate(named_children(node.child_by_field_name("parameters")))
        inner.names.update(self._parameter(component, number, inner) for number, component in components)
        self._visit_all(body.children if body else [], inner)

    def _type_parameters(self, node: Node) -> frozenset[str]:
        parameters = node.child_by_field_name("type_parameters") or child_of_type(node, "type_parameters")
        return frozenset(self.text(_name_node(parameter)) for parameter in named_children(parameters))

    @handle_nodes(*METHODS)
    def _method(self, node: Node, scope: Scope) -> None:
        owner = scope.own_class()
        all_parameters = named_children(node.child_by_field_name("parameters"))
        parameters = [part for part in all_parameters if part.type in {"formal_parameter", "spread_parameter"}]
        signature = f"{self.field_text(node, 'name')}({','.join(map(self._written_type, parameters))})"
        key = f"{owner.class_ if owner else ''}.{signature}".lstrip(".")
        class_, method = owner.enclosing.class_ if owner else "", key
        modifiers = named_children(child_of_type(node, "modifiers"))
        if owner and "Override" in {self.field_text(modifier, "name") for modifier in modifiers}:
            # The method may override a method of a library.
            if class_ != owner.class_:
                method = f"{class_}.{signature}"
            elif signature in OF_OBJECT:
                method = f"java.lang.Object.{signature}"
        enclosing = dialect.Enclosing(key=key, class_=class_, method=method)
        inner = Scope(enclosing=enclosing, parent=scope, parameters=self._type_parameters(node))
        self._bind_parameters(parameters, inner)
        self._visit(node.child_by_field_name("body"), inner)

    def _written_type(self, parameter: Node) -> str:
        text = self.text(_type_node(parameter)).partition("<")[0].rpartition(".")[2]
        more = "[]" if child_of_type(parameter, "dimensions") else ""
        return f"{text}{'...' if parameter.type == 'spread_parameter' else more}"

    def _parameter(self, node: Node, number: int, scope: Scope) -> tuple[str, dialect.Meaning]:
        meaning = self.resolve_type(_type_node(node), scope)
        if node.type == "spread_parameter" or child_of_type(node, "dimensions"):
            meaning = dialect.Meaning(sort="array", name=meaning.name)
        declarator = child_of_type(node, "variable_declarator") or node
        name = self.text(declarator.child_by_field_name("name") or next(iter(named_children(declarator)), None))
        return name, meaning.with_definition("PARAM", scope.enclosing.method, number)

    def _bind_parameters(self, parameters: Iterable[Node], scope: Scope) -> None:
        for number, parameter in enumerate(parameters):
            self._bind(*self._parameter(parameter, number, scope), scope, parameter)

    def _bind(self, name: str, meaning: dialect.Meaning, scope: Scope, node: Node) -> None:
        # `_enter` has defined the fields already.
        if not scope.class_:
            scope.names[name] = meaning
            self._define(scope.enclosing, meaning, name, node)

    def _declarations(self, node: Node, scope: Scope) -> Iterator[tuple[str, dialect.Meaning]]:
        type_node = node.child_by_field_name("type")
        declared = self.resolve_type(type_node, scope)
        for declarator in named_children(node):
            if declarator.type == "variable_declarator":
                assigned = self.of(declarator.child_by_field_name("value"), scope)
                is_var = self.text(type_node) == "var"
                meaning = assigned if is_var else replace(declared, definition=assigned.definition)
                if child_of_type(declarator, "dimensions"):
                    meaning = dialect.Meaning(sort="array", name=declared.name)
                yield self.field_text(declarator, "name"), meaning

    @handle_nodes("local_variable_declaration")
    def _variables(self, node: Node, scope: Scope) -> None:
        def bind() -> None:
            for name, meaning in self._declarations(node, scope):
                self._bind(name, meaning, scope, node)

        self._then(node.children, scope, bind)

    @handle_nodes("assignment_expression")
    def _assignment(self, node: Node, scope: Scope) -> None:
        def assign() -> None:
            left = node.child_by_field_name("left")
            assigned = self.of(node.child_by_field_name("right"), scope)
            known = self.of(left, scope)
            if left is None or known.sort != "object":
                return
            name = self.text(left)
            # An assignment does not change the declared type, only the definition of the object.
            meaning = replace(known, definition=assigned.definition)
            holder = next((outer for outer in scope.around() if name in outer.names), None)
            if left.type == "identifier" and known.definition.kind != "FIELD" and holder:
                holder.names[name] = meaning
            self._define(scope.enclosing, meaning, name, node)

        self._then(node.children, scope, assign)

    @handle_nodes("enhanced_for_statement")
    def _loop(self, node: Node, scope: Scope) -> None:
        type_node = node.child_by_field_name("type")
        meaning = self.resolve_type(type_node, scope)
        if self.text(type_node) == "var":
            holder = self.of(node.child_by_field_name("value"), scope)
            type_ = holder.name if holder.sort == "array" else holder.element
            meaning = dialect.instance(type_) if type_ else dialect.UNKNOWN
        self._bind(self.field_text(node, "name"), meaning.with_definition("LOOP"), scope, type_node or node)
        self._visit_all(node.children, scope)

    @handle_nodes("resource")
    def _resource(self, node: Node, scope: Scope) -> None:
        if type_node := node.child_by_field_name("type"):
            resource = self.of(node.child_by_field_name("value"), scope)
            meaning = resource if self.text(type_node) == "var" else self.resolve_type(type_node, scope)
            meaning = meaning.with_definition("WITH", resource.definition.member)
            self._bind(self.field_text(node, "name"), meaning, scope, node)
        self._visit_all(node.children, scope)

    @handle_nodes("catch_formal_parameter")
    def _catch(self, node: Node, scope: Scope) -> None:
        meaning = self.resolve_type(_type_node(node), scope).with_definition("EXCEPT")
        self._bind(self.field_text(node, "name"), meaning, scope, node)

    @handle_nodes("instanceof_expression")
    def _pattern(self, node: Node, scope: Scope) -> None:
        inner = () if node.child_by_field_name("name") else descendants(node)
        parts = named_children(next((child for child in inner if child.type == "type_pattern"), node))
        if len(parts) > 1 and parts[-1].type == "identifier":
            meaning = self.resolve_type(parts[-2], scope)
            if meaning.sort == "object":
                self._bind(self.text(parts[-1]), meaning.with_definition("CAST"), scope, node)
        self._visit_all(node.children, scope)

    @handle_nodes("lambda_expression")
    def _lambda(self, node: Node, scope: Scope) -> None:
        """Define the parameters and visit the body. Types of parameters are known only if they are written."""
        parameters = node.child_by_field_name("parameters")
        inner = Scope(enclosing=scope.enclosing, parent=scope)
        if parameters is not None and parameters.type == "formal_parameters":
            self._bind_parameters(named_children(parameters), inner)
        elif parameters is not None:
            for parameter in [parameters] if parameters.type == "identifier" else named_children(parameters):
                inner.names[self.text(parameter)] = dialect.UNKNOWN.with_definition("PARAM")
        self._visit(node.child_by_field_name("body"), inner)

    @handle_nodes("object_creation_expression")
    def _new(self, node: Node, scope: Scope) -> None:
        body, type_node = child_of_type(node, "class_body"), node.child_by_field_name("type")
        self._visit_all((child for child in node.children if child.type != "class_body"), scope)
        if body is not None and type_node is not None:
            qualified = f"{scope.enclosing.key}.{self.text(type_node).partition('<')[0]}"
            self._todo.append(lambda: self._enter(node, scope, qualified, [type_node]))

    @handle_nodes("method_invocation")
    def _call(self, node: Node, scope: Scope) -> None:
        receiver, name = node.child_by_field_name("object"), node.child_by_field_name("name")
        self._add_call(receiver, name, node, scope, self.of)
        self._visit_all(node.children, scope)

    def resolve_type(self, node: Node | None, scope: Scope) -> dialect.Meaning:
        if node is None:
            return dialect.UNKNOWN
        if node.type == "array_type":
            return dialect.Meaning(
                sort="array", name=self.resolve_type(node.child_by_field_name("element"), scope).name
            )
        if node.type == "generic_type":
            parts = named_children(node)
            type_arguments = named_children(parts[-1]) if len(parts) > 1 else []
            element = self.resolve_type(type_arguments[0], scope).name if len(type_arguments) == 1 else ""
            return replace(self.resolve_type(parts[0] if parts else None, scope), element=element)
        if node.type in {"type_identifier", "scoped_type_identifier", "identifier", "scoped_identifier"}:
            name = self.text(node)
            if any(name in outer.parameters for outer in scope.around()):
                return dialect.Meaning(sort="type parameter")
            full_name = self.names.find("".join(name.split()))
            return dialect.instance(full_name) if full_name else dialect.UNKNOWN
        if node.type in {"catch_type", "annotated_type", "wildcard"}:
            return self.resolve_type(_type_node(node), scope)
        return dialect.UNKNOWN

    def of(self, node: Node | None, scope: Scope, depth: int = 0) -> dialect.Meaning:
        if node is None or depth > DEEPEST:
            return dialect.UNKNOWN
        if node.type in LITERALS:
            return dialect.instance(f"java.lang.{LITERALS[node.type]}", "CONSTANT")
        if node.type == "null_literal":
            return dialect.UNKNOWN.with_definition("CONSTANT")
        if node.type in {"this", "super"}:
            return dialect.Meaning(sort="this")
        handler = _EXPRESSIONS.get(node.type)
        return handler(self, node, scope, depth + 1) if handler else dialect.UNKNOWN

    def _identifier(self, node: Node, scope: Scope, _: int) -> dialect.Meaning:
        name = self.text(node)
        meaning = scope.find(name)
        # By convention, an unknown name with a capital letter is a class.
        if meaning is None and name[:1].isupper():
            return dialect.Meaning(sort="class", name=self.names.find(name))
        return meaning or dialect.UNKNOWN

    def _object(self, node: Node, scope: Scope, _: int) -> dialect.Meaning:
        meaning = self.resolve_type(node.child_by_field_name("type"), scope)
        if node.type == "array_creation_expression":
            return dialect.Meaning(sort="array", name=meaning.name)
        is_cast = node.type == "cast_expression"
        return meaning.with_definition("CAST") if is_cast else meaning.with_definition("NEW", meaning.name)

    def _inner(self, node: Node, scope: Scope, depth: int) -> dialect.Meaning:
        return self.of(next(iter(named_children(node)), None), scope, depth)

    def _first_known(self, node: Node, scope: Scope, depth: int) -> dialect.Meaning:
        meanings = [self.of(part, scope, depth) for part in named_children(node)[1:]]
        return next((meaning for meaning in meanings if meaning.sort == "object"), dialect.UNKNOWN)

    def _field(self, node: Node, scope: Scope, depth: int) -> dialect.Meaning:
        holder = self.of(node.child_by_field_name("object"), scope, depth)
        name = self.field_text(node, "field")
        if holder.sort == "this":
            owner = scope.own_class()
            return (owner.find(name) if owner else None) or dialect.UNKNOWN.with_definition("FIELD", name)
        if name[:1].isupper() and not name.isupper():
            return dialect.Meaning(sort="class", name=self.names.find("".join(self.text(node).split())))
        return dialect.UNKNOWN.with_definition("FIELD", f"{holder.name}.{name}".lstrip("."))

    def _result(self, node: Node, scope: Scope, depth: int) -> dialect.Meaning:
        receiver = node.child_by_field_name("object")
        name = self.field_text(node, "name")
        holder = self.of(receiver, scope, depth) if receiver else dialect.Meaning(sort="this")
        if holder.sort != "this":
            return dialect.UNKNOWN.with_definition("RETURN", f"{holder.name}.{name}".lstrip("."))
        owner = next((outer for outer in scope.around() if name in outer.returns), None)
        if owner is None:
            return dialect.UNKNOWN.with_definition("RETURN", name)
        return owner.returns[name].with_definition("RETURN", f"{owner.class_}.{name}")

    def _element_of_array(self, node: Node, scope: Scope, depth: int) -> dialect.Meaning:
        holder = self.of(node.child_by_field_name("array"), scope, depth)
        return dialect.instance(holder.name) if holder.sort == "array" and holder.name else dialect.UNKNOWN


def _type_node(node: Node) -> Node | None:
    return next((child for child in named_children(node) if "type" in child.type), None)


_EXPRESSIONS: dict[str, Callable[[JavaWalk, Node, Scope, int], dialect.Meaning]] = {
    "identifier": JavaWalk._identifier,
    **dict.fromkeys(("object_creation_expression", "array_creation_expression", "cast_expression"), JavaWalk._object),
    "parenthesized_expression": JavaWalk._inner,
    "ternary_expression": JavaWalk._first_known,
    "field_access": JavaWalk._field,
    "method_invocation": JavaWalk._result,
    "array_access": JavaWalk._element_of_array,
}

LAYOUT = Layout(
    lists=frozenset(["block", "constructor_body", "switch_block_statement_group"]),
    simple=frozenset(["expression_statement", "local_variable_declaration", "return_statement", "assert_statement"]),
    leaving=frozenset("return_statement throw_statement break_statement continue_statement yield_statement".split()),
    heads=METHODS.union(
        "lambda_expression for_statement enhanced_for_statement while_statement if_statement "
        "try_with_resources_statement catch_clause".split()
    ),
    first=frozenset(["explicit_constructor_invocation"]),
    boundaries=frozenset(["class_body", "interface_body", "enum_body", "enum_body_declarations"]),
)


def mine(source: bytes, _: str, root: Node, around: dialect.ProjectContext) -> dialect.MinedText:
    return JavaWalk(source, root, around).run(root)


# If the next line begins with a call, the dot is part of a chain of calls, so it does not match.
DANGLING = re.compile(rb"\.(?=[ \t]*(?:\n[ \t]*(?![ \t])(?!\w+[ \t]*\()|\Z))")
DIALECT = dialect.Dialect(name="java", grammars={".java": "java"}, mine=mine, dangling=DANGLING, own=project_types)
