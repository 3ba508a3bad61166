"""The mining of Python. Types are inferred by local rules and from the stubs of the standard library."""

from __future__ import annotations

import builtins
import re
from collections import deque
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import jedi
from msgspec.structs import replace

from ci_eval.core.grammar.syntax import Node, parse_tree
from ci_eval.core.grammar.walk import handle_nodes
from ci_eval.core.model import Definition
from ci_eval.plugins.mining.sources import named_children
from ci_eval.plugins.mining.usages.dialect import (
    UNKNOWN,
    Dialect,
    Enclosing,
    Meaning,
    MinedText,
    ProjectContext,
    Walk,
    instance,
)
from ci_eval.plugins.mining.usages.languages.python.expressions import (
    Expressions,
    Library,
    Scope,
    import_bindings,
    modules,
    qualify_module,
)
from ci_eval.plugins.mining.usages.places import Layout

FIRST = ("__init__", "__new__", "setUp", "__post_init__", "setUpClass", "setup_method")
COMPREHENSIONS = ("list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")


class PythonWalk(Walk[Scope]):
    def __init__(
        self, source: bytes, module: str, library: Library, around: ProjectContext, *, is_package: bool, is_stub: bool
    ) -> None:
        """`is_stub`: whether to read only names and the results of functions."""
        super().__init__(source, around, LAYOUT)
        self.module, self.is_package, self.is_stub = module, is_package, is_stub
        self.expressions = Expressions(source, library)
        top = f"{module}.<module>"
        self.top = Scope(kind="module", qualified=module, enclosing=Enclosing(key=top, method=top))
        self._bodies: deque[tuple[Node, Scope]] = deque()

    def run(self, root: Node) -> None:
        """Visit the whole tree. Bodies of functions are visited last, since they see all names of outer scopes."""
        self._visit(root, self.top)
        while self._todo or self._bodies:
            if not self._todo:
                self._visit(*self._bodies.popleft())
            self._work()

    def is_own(self, type_: str) -> bool:
        return super().is_own(type_) or type_.startswith(f"{self.module}.")

    def _bind(self, scope: Scope, name: str, meaning: Meaning, node: Node) -> None:
        scope.names[name] = meaning
        if scope.kind != "class":
            self._define(scope.enclosing, meaning, name, node)

    def _assign(self, target: Node | None, meaning: Meaning, scope: Scope) -> None:
        if target is None:
            return
        if target.type == "identifier":
            # In a comprehension, `:=` binds its name in the surrounding scope (PEP 572).
            scope = next((outer for outer in scope.around() if outer.kind != "inner" or not outer.parent), scope)
            self._bind(scope, self.text(target), meaning, target)
        elif target.type == "attribute":
            holder, owner = target.child_by_field_name("object"), scope.own_class()
            if holder and owner and scope.is_this(self.text(holder)):
                name = self.field_text(target, "attribute")
                if not owner.attributes.get(name, UNKNOWN).is_typed:
                    owner.attributes[name] = meaning
                self._define(scope.enclosing, meaning, self.text(target), target)
        elif target.type in {"pattern_list", "tuple_pattern", "list_pattern", "tuple", "as_pattern_target"}:
            inner = named_children(target)
            if target.type == "as_pattern_target" and len(inner) == 1:
                self._assign(inner[0], meaning, scope)
            else:
                for part in inner:
                    self._assign(part, UNKNOWN.with_definition("UNPACK"), scope)

    @handle_nodes("import_statement", "import_from_statement")
    def _import(self, node: Node, scope: Scope) -> None:
        for name, full, surely in import_bindings(self.source, node, self.module, self.is_package):
            if name == "*":
                scope.stars.append(full)
            elif surely or full in self.around.own:
                scope.names[name] = Meaning(sort="module", name=full)
            else:
                scope.names[name] = self.expressions.resolve_name(full)

    @handle_nodes("assignment")
    def _assignment(self, node: Node, scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")

        def assign() -> None:
            if left and right and left.type in {"pattern_list", "tuple_pattern"}:
                targets, values = named_children(left), named_children(right)
                if right.type in {"expression_list", "tuple"} and len(targets) == len(values):
                    for target, value in zip(targets, values, strict=True):
                        self._assign(target, self.expressions.of(value, scope), scope)
                    return
            inner = right
            while inner and inner.type == "assignment":  # a = b = …
                inner = inner.child_by_field_name("right")
            meaning = self.expressions.of(inner, scope)
            declared = self.expressions.annotation_object(node.child_by_field_name("type"), scope)
            if declared.is_typed:
                meaning = replace(declared, definition=meaning.definition)
            self._assign(left, UNKNOWN if left and left.type.endswith("pattern_list") else meaning, scope)

        self._then([right], scope, assign)

    @handle_nodes("named_expression")
    def _walrus(self, node: Node, scope: Scope) -> None:
        value, name = node.child_by_field_name("value"), node.child_by_field_name("name")
        self._then([value], scope, lambda: self._assign(name, self.expressions.of(value, scope), scope))

    @handle_nodes("for_statement")
    def _loop(self, node: Node, scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        others = [child for child in named_children(node) if child not in (left, right)]

        def begin() -> None:
            self._assign(left, self.expressions.element(right, scope).with_definition("LOOP"), scope)
            self._visit_all(others, scope)

        self._then([right], scope, begin)

    @handle_nodes("as_pattern")
    def _bind_alias(self, node: Node, scope: Scope) -> None:
        if not named_children(node):
            return
        value, *others = named_children(node)
        target = node.child_by_field_name("alias") or (others[-1] if others else None)

        def bind() -> None:
            if node.parent is not None and node.parent.type.startswith("except"):
                meaning = self.expressions.annotation_object(_first_of_tuple(value), scope).with_definition("EXCEPT")
            else:
                meaning = self.expressions.of(value, scope)
                meaning = meaning.with_definition("WITH", meaning.definition.member)
            self._assign(target, meaning, scope)

        self._then([value], scope, bind)

    @handle_nodes("if_statement")
    def _if(self, node: Node, scope: Scope) -> None:
        """Visit an `if`. In the block of `if isinstance(x, Foo)`, `x` is a Foo."""
        condition, *blocks = named_children(node) or [node]
        is_check = condition.type == "call" and self.field_text(condition, "function") == "isinstance"
        arguments = named_children(condition.child_by_field_name("arguments")) if is_check else []
        meaning = UNKNOWN
        if len(arguments) == 2 and arguments[0].type == "identifier":
            meaning = self.expressions.annotation_object(_first_of_tuple(arguments[1]), scope).with_definition("CAST")
        if not meaning.is_typed:
            self._visit_all(node.children, scope)
            return
        name = self.text(arguments[0])
        before = scope.names.get(name, scope.find(name))

        def restore() -> None:
            if before is None:
                scope.names.pop(name, None)
            else:
                scope.names[name] = before
            self._visit_all(blocks[1:], scope)

        def narrow() -> None:
            self._bind(scope, name, meaning, condition)
            self._then(blocks[:1], scope, restore)

        self._then([condition], scope, narrow)

    @handle_nodes("class_definition")
    def _class(self, node: Node, scope: Scope) -> None:
        bases = node.child_by_field_name("superclasses")
        self._visit(bases, scope)
        inner = self._enter_class(self.field_text(node, "name"), bases, scope)
        self._visit(node.child_by_field_name("body"), inner)

    def _enter_class(self, name: str, superclasses: Node | None, scope: Scope) -> Scope:
        qualified = f"{scope.qualified}.{name}"
        arguments = [base for base in named_children(superclasses) if base.type != "keyword_argument"]
        names = [self.expressions.annotation_object(base, scope).name for base in arguments]
        bases = self.bases[qualified] = tuple(filter(None, names))
        foreign = next((base for base in bases if not self.is_own(base)), "")
        # The bases Generic and Protocol do not tell what a class is for, so the class itself is the context.
        context = qualified if foreign in {"", "typing.Generic", "typing.Protocol"} else foreign
        enclosing = replace(scope.enclosing, class_=context)
        inner = Scope(kind="class", qualified=qualified, enclosing=enclosing, parent=scope, bases=bases)
        scope.names[name] = Meaning(sort="class", name=qualified, scope=inner)
        return inner

    @handle_nodes("decorated_definition")
    def _decorated_definition(self, node: Node, scope: Scope) -> None:
        definition = node.child_by_field_name("definition")
        decorators = [child for child in node.children if child.type == "decorator"]
        self._visit_all(decorators, scope)
        if definition and definition.type == "function_definition":
            names = [self.text(decorator).lstrip("@ ").partition("(")[0] for decorator in decorators]
            self._function(definition, scope, frozenset(name.rpartition(".")[2] for name in names))
        else:
            self._visit(definition, scope)

    @handle_nodes("function_definition")
    def _function(self, node: Node, scope: Scope, decorators: frozenset[str] = frozenset()) -> None:
        name = self.field_text(node, "name")
        parameters, returns = node.child_by_field_name("parameters"), node.child_by_field_name("return_type")
        inner = self._enter_function(name, parameters, returns, scope, decorators)
        body = node.child_by_field_name("body")
        if body is not None and not self.is_stub:
            add = self._bodies.appendleft if scope.kind == "class" and name in FIRST else self._bodies.append
            add((body, inner))

    def _enter_function(
        self, name: str, parameters: Node | None, returns: Node | None, scope: Scope, decorators: frozenset[str]
    ) -> Scope:
        qualified = f"{scope.qualified}.{name}"
        context = self._library_method(name, scope) if scope.kind == "class" else qualified
        enclosing = Enclosing(key=qualified, class_=scope.enclosing.class_, method=context)
        inner = Scope(kind="function", qualified=qualified, enclosing=enclosing, parent=scope)
        result = self.expressions.annotation_object(returns, scope)
        if decorators & {"contextmanager", "asynccontextmanager"} and result.element:
            result = instance(result.element)
        if decorators & {"property", "cached_property"}:
            meaning = replace(result, definition=Definition(kind="FIELD", member=qualified))
        else:
            known = result.is_typed or result.sort == "this"
            meaning = Meaning(sort="function", name=qualified, returns=result if known else None)
        before = scope.names.get(name)
        # Keep the first overload with a known result, since stubs list the most frequent overload first.
        if not (before and before.sort == "function" and before.returns and "overload" in decorators):
            scope.names[name] = meaning
        if not self.is_stub:
            self._parameters(parameters, inner, scope, decorators)
        return inner

    def _library_method(self, name: str, class_: Scope) -> str:
        own = f"{class_.qualified}.{name}"
        foreign = class_.enclosing.class_ if class_.enclosing.class_ != class_.qualified else "builtins.object"
        base = self.expressions.resolve_name(foreign)
        # If the methods of the base are unknown, assume that it has this method.
        if base.scope is None:
            return own if foreign == "builtins.object" else f"{foreign}.{name}"
        if self.expressions.member(self.expressions.resolve_name("builtins.object"), name):
            return f"builtins.object.{name}"
        return f"{foreign}.{name}" if self.expressions.member(base, name) else own

    @handle_nodes("ERROR")
    def _broken(self, node: Node, scope: Scope) -> None:
        """Visit the parts of a syntax error. After the header of a class or function, they count as its body."""
        # The scopes of the last class and the last function.
        around = [scope, scope]
        for i in range(node.child_count - 1, -1, -1):
            self._todo.append(partial(self._broken_part, node.children[i : i + 3], scope, around))

    def _broken_part(self, part: Sequence[Node], scope: Scope, around: list[Scope]) -> None:
        first, name, after = (*part, None, None)[:3]
        self._visit(first, around[1])
        if name is None or name.type != "identifier" or first is None:
            return
        if first.type == "class":
            bases = after if after is not None and after.type == "argument_list" else None
            around[:] = [self._enter_class(self.text(name), bases, scope)] * 2
        elif first.type == "def" and after is not None and after.type == "parameters":
            around[1] = self._enter_function(self.text(name), after, None, around[0], frozenset())

    def _parameters(self, node: Node | None, inner: Scope, scope: Scope, decorators: frozenset[str]) -> None:
        is_method = scope.kind == "class" and "staticmethod" not in decorators
        count = 0
        for parameter in named_children(node):
            name_node = parameter.child_by_field_name("name") or next(iter(named_children(parameter)), None)
            name = self.text(parameter if parameter.type == "identifier" else name_node).lstrip("*")
            if not name:
                continue
            if is_method and not inner.this and count == 0 and parameter.type in {"identifier", "typed_parameter"}:
                inner.this = name
                inner.names[name] = Meaning(sort="this")
                continue
            value = parameter.child_by_field_name("value")
            self._visit(value, scope)
            typed = self.expressions.annotation_object(parameter.child_by_field_name("type"), scope)
            star = next((child for child in named_children(parameter) if "splat" in child.type), parameter).type
            if "splat" in star:
                typed = instance("builtins.dict" if "dictionary" in star else "builtins.tuple", element=typed.name)
            elif not typed.is_typed and (default := self.expressions.of(value, scope)).is_typed:
                typed = default
            self._bind(inner, name, typed.with_definition("PARAM", inner.enclosing.method, count), parameter)
            count += 1

    @handle_nodes("lambda")
    def _lambda(self, node: Node, scope: Scope) -> None:
        inner = Scope(kind="inner", qualified=scope.qualified, enclosing=scope.enclosing, parent=scope)
        for number, parameter in enumerate(named_children(node.child_by_field_name("parameters"))):
            name = parameter if parameter.type == "identifier" else next(iter(named_children(parameter)), None)
            inner.names[self.text(name)] = UNKNOWN.with_definition("PARAM", "", number)
        self._visit(node.child_by_field_name("body"), inner)

    @handle_nodes(*COMPREHENSIONS)
    def _comprehension(self, node: Node, scope: Scope) -> None:
        inner = Scope(kind="inner", qualified=scope.qualified, enclosing=scope.enclosing, parent=scope)
        # Visit the `for` clauses first: they bind names that the expression before them uses.
        clauses = [child for child in node.children if child.type == "for_in_clause"]
        for clause in clauses:
            target, right = clause.child_by_field_name("left"), clause.child_by_field_name("right")
            meaning = self.expressions.element(right, inner).with_definition("LOOP")
            for name in named_children(target) if target and target.child_count else [target]:
                plain = target is not None and target.type == "identifier"
                inner.names[self.text(name)] = meaning if plain else UNKNOWN.with_definition("UNPACK")
        self._visit_all(clauses, inner)
        self._visit_all((child for child in node.children if child.type != "for_in_clause"), inner)

    @handle_nodes("call")
    def _call(self, node: Node, scope: Scope) -> None:
        function = node.child_by_field_name("function")
        if function is not None and function.type == "attribute":
            receiver, name = function.child_by_field_name("object"), function.child_by_field_name("attribute")
            self._add_call(receiver, name, node, scope, self.expressions.of)
        self._visit_all(node.children, scope)


def _first_of_tuple(node: Node) -> Node:
    return next(iter(named_children(node)), node) if node.type == "tuple" else node


_BARE = (
    "assignment augmented_assignment call await yield attribute subscript binary_operator comparison_operator "
    "boolean_operator not_operator conditional_expression expression_list tuple"
).split()
"""Types of expressions that may be statements: the grammar has no node around such an expression."""
LAYOUT = Layout(
    lists=frozenset(["module", "block"]),
    simple=frozenset(["return_statement", "assert_statement", "delete_statement", *_BARE]),
    leaving=frozenset(["return_statement", "raise_statement", "break_statement", "continue_statement"]),
    heads=frozenset(
        "function_definition for_statement while_statement with_statement if_statement elif_clause except_clause "
        "case_clause".split()
    ),
    first=frozenset(["string"]),
    may_be_empty=False,
)

# ------------------------------------------------------------------------------------------------ standard library

STUBS = Path(jedi.__file__).parent / "third_party" / "typeshed" / "stdlib"
"""The stubs of typeshed that are part of jedi. They are parsed; no module is imported."""
FOLDERS = ("", "3", "2and3", "3.7", "3.9")
"""The folders below STUBS to search. All but the first exist only in jedi before 0.20."""
ALIAS_STEPS = 4


@cache
def look_up(full: str, steps: int = ALIAS_STEPS) -> Meaning | None:
    """Return the meaning of a qualified name, or None if the standard library's stubs do not define it. `steps`: the
    limit of aliases that are followed."""
    if _stub(full):
        return Meaning(sort="module", name=full)
    parts = full.split(".")
    # Find the longest prefix of the name that is a module.
    count = next((length for length in range(len(parts) - 1, 0, -1) if _stub(".".join(parts[:length]))), 0)
    scope = _module(".".join(parts[:count])) if count else None
    meaning: Meaning | None = None
    for name in parts[count:]:
        meaning = scope.names.get(name) if scope else None
        if scope and name not in scope.names and steps:
            meaning = next(filter(None, (look_up(f"{star}.{name}", steps - 1) for star in scope.stars)), None)
        scope = meaning.scope if meaning else None
    if meaning is None or meaning.sort == "unknown":
        return None
    if meaning.sort != "imported" and (meaning.sort != "class" or meaning.scope is not None):
        return meaning.with_definition("GLOBAL", full)
    target = look_up(meaning.name, steps - 1) if steps and meaning.name != full else None
    package = full.partition(".")[0]
    # If a package re-exports a name of a submodule or private module, use the package's name for it.
    is_passed_on = target and target.sort in {"class", "function"} and target.name.startswith(("_", f"{package}."))
    return replace(target, name=full) if target and is_passed_on and not package.startswith("_") else target


def _builtin(full: str) -> Meaning | None:
    # Stubs import each other in cycles, so look up only builtins here, and other names when they are used.
    module, _, name = full.rpartition(".")
    if module != "builtins":
        return None
    is_class = isinstance(getattr(builtins, name, None), type)
    return Meaning(sort="class" if is_class else "function", name=full)


@cache
def _stub(module: str) -> Path | None:
    parts = module.split(".")
    # Names come from code, so make sure that they do not lead to other folders.
    if not all(part.isidentifier() for part in parts):
        return None
    paths = (STUBS.joinpath(folder, *parts) for folder in FOLDERS)
    files = (file for path in paths for file in (path.with_name(f"{path.name}.pyi"), path / "__init__.pyi"))
    return next((file for file in files if file.is_file()), None)


@cache
def _module(name: str) -> Scope | None:
    path = _stub(name)
    if path is None:
        return None
    source = path.read_bytes()
    walk = PythonWalk(source, name, _builtin, ProjectContext(), is_package=path.name == "__init__.pyi", is_stub=True)
    walk.run(parse_tree(source, "python").root_node)
    return walk.top


def mine(source: bytes, path: str, root: Node, around: ProjectContext) -> MinedText:
    is_package = path.endswith("__init__.py")
    walk = PythonWalk(source, qualify_module(path), look_up, around, is_package=is_package, is_stub=False)
    walk.run(root)
    return walk.mined(root)


# The last dot of an ellipsis must not match.
DANGLING = re.compile(rb"(?<!\.)\.(?=[ \t]*$)", re.MULTILINE)
DIALECT = Dialect(name="python", grammars={".py": "python"}, mine=mine, dangling=DANGLING, own=modules)
