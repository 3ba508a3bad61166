"""The usages in a simplified syntax tree (SST), which KaVE stores for C# instead of a file's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ci_eval.core.model import Definition
from ci_eval.plugins.mining.usages.contract import MinedUsage
from ci_eval.plugins.mining.usages.gathering import Enclosing, Gathering
from ci_eval.plugins.mining.usages.histories import Key
from ci_eval.plugins.mining.usages.kave.names import (
    MethodName,
    TypeName,
    member_name,
    method_name,
    parameter,
    type_name,
)

THIS = {"this", "base", ""}


@dataclass(frozen=True, kw_only=True)
class TreeUsages:
    usages: tuple[MinedUsage, ...]
    completed: Key | None
    """Key of the usage that completion was called on."""


@dataclass
class _Variable:
    type: TypeName
    definition: Definition


@dataclass
class _Method:
    enclosing: Enclosing
    variables: dict[str, _Variable] = field(default_factory=dict)


class SstWalk:
    """The reading of one tree. What it has still to do is a stack, so that no nesting is too deep for it."""

    def __init__(self) -> None:
        self.gathering = Gathering()
        self.completed: Key | None = None
        self._position = 0

    def run(self, tree: Mapping[str, object]) -> TreeUsages:
        methods = tree.get("Methods")
        for method in methods if isinstance(methods, list) else ():
            name = method_name(_text(method, "Name"))
            if name and isinstance(method, dict):
                self._method(name, method.get("Body"), type_name(_text(tree, "EnclosingType")))
        return TreeUsages(usages=self.gathering.mined(broken=False).usages, completed=self.completed)

    def _method(self, name: MethodName, body: object, class_: TypeName) -> None:
        owner = class_.name or name.declared_in.name
        method = _Method(Enclosing(key=name.key, class_=owner, method=name.key))
        for number, (type_, variable) in enumerate(name.parameters):
            definition = Definition(kind="PARAM", member=name.full, argument=number)
            self._bind(method, variable, type_, definition)
        stack: list[object] = [body]
        while stack:
            node = stack.pop()
            if isinstance(node, list):
                stack += reversed(node)
            elif isinstance(node, dict):
                self._position += 1
                stack += reversed(self._read(node, method))

    def _read(self, node: Mapping[str, object], method: _Method) -> Sequence[object]:
        kind = _text(node, "$type").rpartition(".")[2].rstrip("]")
        if kind == "VariableDeclaration":
            self._bind(method, _identifier(node.get("Reference")), type_name(_text(node, "Type")), Definition())
        elif kind == "ForEachLoop" and isinstance(declared := node.get("Declaration"), dict):
            type_ = type_name(_text(declared, "Type"))
            self._bind(method, _identifier(declared.get("Reference")), type_, Definition(kind="LOOP"))
            return [node.get("Body")]
        elif kind == "CatchBlock":
            type_, name = parameter(_text(node, "Parameter"))
            self._bind(method, name, type_, Definition(kind="EXCEPT"))
        elif kind == "Assignment":
            self._assignment(node, method)
        elif kind == "InvocationExpression":
            self._invocation(node, method)
        elif kind == "CompletionExpression":
            variable = method.variables.get(_identifier(node.get("VariableReference")))
            if variable and variable.type.name:
                self.completed = method.enclosing.key, variable.type.name
        return list(node.values())

    def _bind(self, method: _Method, name: str, type_: TypeName, definition: Definition) -> None:
        method.variables[name] = _Variable(type_, definition)
        if type_.name and definition != Definition():
            self.gathering.define(method.enclosing, type_.name, definition, name, own=type_.own)

    def _assignment(self, node: Mapping[str, object], method: _Method) -> None:
        name = _identifier(node.get("Reference"))
        variable = method.variables.get(name)
        if variable:
            self._bind(method, name, variable.type, _definition(node.get("Expression"), method))

    def _invocation(self, node: Mapping[str, object], method: _Method) -> None:
        called = method_name(_text(node, "MethodName"))
        name = _identifier(node.get("Reference"))
        # Calls on classes and on `this`, and constructors, are no usages of an object.
        if called is None or called.is_static or name in THIS or called.name in {".ctor", "ctor"}:
            return
        variable = method.variables.get(name) or _Variable(called.declared_in, Definition())
        type_ = variable.type if variable.type.name else called.declared_in
        if type_.name:
            self.gathering.call(
                method.enclosing, type_.name, variable.definition, name, called.name, self._position, own=type_.own
            )


def _definition(expression: object, method: _Method) -> Definition:
    if not isinstance(expression, dict):
        return Definition()
    kind = _text(expression, "$type").rpartition(".")[2].rstrip("]")
    if kind == "InvocationExpression" and (called := method_name(_text(expression, "MethodName"))):
        if called.name in {".ctor", "ctor"}:
            return Definition(kind="NEW", member=called.declared_in.name)
        return Definition(kind="RETURN", member=called.full)
    if kind in {"ConstantValueExpression", "NullExpression"}:
        return Definition(kind="CONSTANT")
    if kind == "CastExpression":
        return Definition(kind="CAST")
    if kind == "ReferenceExpression" and isinstance(to := expression.get("Reference"), dict):
        full = member_name(_text(to, "FieldName") or _text(to, "PropertyName"))
        if full:
            return Definition(kind="FIELD", member=full)
        variable = method.variables.get(_identifier(to))
        return variable.definition if variable else Definition()
    return Definition()


def _text(node: object, name: str) -> str:
    value = node.get(name) if isinstance(node, dict) else None
    return value if isinstance(value, str) else ""


def _identifier(reference: object) -> str:
    return _text(reference, "Identifier")
