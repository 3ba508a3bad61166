"""An oracle of Python: the names and keywords of files, by `ast` and `tokenize` of the interpreter that runs it.

Paths are read from standard input, one a line; a line of JSON is written for each: `path`, and `tokens` (offset in code
points, text, kind) or `error`. DEFINITION is the kind of names that refer to nothing.
"""

# `ast` names the nodes by which the methods are called.
# ruff: noqa: N802, N815

from __future__ import annotations

import ast
import bisect
import io
import json
import keyword
import sys
import tokenize
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

Position = tuple[int, int]
"""A line (from 1) and a column in bytes."""

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Scope:
    """The names that are bound in a module, class or function so far."""

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.names: set[str] = set()
        self.receiver = ""
        if isinstance(node, FUNCTIONS) and parent is not None and isinstance(parent.node, ast.ClassDef):
            parameters = node.args.posonlyargs + node.args.args
            self.receiver = parameters[0].arg if parameters else ""

    def class_of(self, name: str) -> Scope | None:
        """Return the class whose instance a name is, the receiver of a method."""
        scope: Scope | None = self
        while scope is not None:
            if scope.receiver == name:
                return scope.parent
            if name in scope.names:
                return None
            scope = scope.parent
        return None


class Kinds:
    """The kinds of the names of a file, by position."""

    def __init__(self, tree: ast.Module, names: Names) -> None:
        self.names = names
        self.by_position: dict[Position, str] = {}
        self.soft: set[Position] = set()
        """The positions of `match`, `case` and `type` that are keywords."""
        self.body(tree.body, Scope(tree, None))

    def body(self, nodes: list[ast.stmt], scope: Scope) -> None:
        for node in nodes:
            self.visit(node, scope)

    def visit(self, node: ast.AST | None, scope: Scope, role: str = "VARIABLE") -> None:
        """Visit a node in the order of the source; `role` is TYPE_REFERENCE in annotations, bases and handlers."""
        if node is None:
            return
        method = getattr(self, f"visit_{type(node).__name__}", None)
        if method is not None:
            method(node, scope, role)
            return
        keeps = isinstance(
            node, (ast.Subscript, ast.Tuple, ast.List, ast.BinOp, ast.BoolOp, ast.IfExp, ast.UnaryOp, ast.Starred)
        )
        for child in ast.iter_child_nodes(node):
            self.visit(child, scope, role if keeps else "VARIABLE")

    def bind(self, name: str, scope: Scope) -> str:
        """Return the kind of a name that is assigned to: the first assignment in a scope defines it."""
        if name in scope.names:
            return "VARIABLE"
        scope.names.add(name)
        return "DEFINITION"

    # ----------------------------------------------------------------------------------------------- expressions

    def visit_Name(self, node: ast.Name, scope: Scope, role: str) -> None:
        kind = self.bind(node.id, scope) if isinstance(node.ctx, ast.Store) and role != "augmented" else role
        self.by_position[node.lineno, node.col_offset] = "VARIABLE" if kind == "augmented" else kind

    def visit_Attribute(self, node: ast.Attribute, scope: Scope, role: str) -> None:
        self.visit(node.value, scope)
        kind = "FIELD" if role in {"VARIABLE", "augmented"} else role
        if isinstance(node.ctx, ast.Store) and role != "augmented" and isinstance(node.value, ast.Name):
            owner = scope.class_of(node.value.id)
            if owner is not None and node.attr not in owner.names:
                owner.names.add(node.attr)
                kind = "DEFINITION"
        column = (node.end_col_offset or 0) - len(node.attr.encode())
        self.by_position[node.end_lineno or 0, column] = kind

    def visit_Call(self, node: ast.Call, scope: Scope, _role: str) -> None:
        self.visit(node.func, scope, "METHOD_CALL" if isinstance(node.func, (ast.Name, ast.Attribute)) else "VARIABLE")
        arguments: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        for child in sorted(arguments, key=lambda argument: (argument.lineno, argument.col_offset)):
            self.visit(child, scope)

    def visit_keyword(self, node: ast.keyword, scope: Scope, _role: str) -> None:
        if node.arg:
            self.by_position[node.lineno, node.col_offset] = "ARGUMENT_NAME"
        self.visit(node.value, scope)

    def visit_Lambda(self, node: ast.Lambda, scope: Scope, _role: str) -> None:
        inner = Scope(node, scope)
        self.parameters(node.args, scope, inner)
        self.visit(node.body, inner)

    def visit_comprehension_like(self, node: ast.AST, scope: Scope, _role: str) -> None:
        inner = Scope(node, scope)
        generators: list[ast.comprehension] = getattr(node, "generators", [])
        for generator in generators:
            self.visit(generator.iter, inner)
            self.visit(generator.target, inner)
            for condition in generator.ifs:
                self.visit(condition, inner)
        for field in ("elt", "key", "value"):
            self.visit(getattr(node, field, None), inner)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_comprehension_like

    def visit_NamedExpr(self, node: ast.NamedExpr, scope: Scope, _role: str) -> None:
        # In a comprehension, the name belongs to the function around it.
        owner = scope
        while isinstance(owner.node, COMPREHENSIONS) and owner.parent is not None:
            owner = owner.parent
        self.visit(node.target, owner)
        self.visit(node.value, scope)

    # ------------------------------------------------------------------------------------------------ statements

    def visit_Assign(self, node: ast.Assign, scope: Scope, _role: str) -> None:
        for target in node.targets:
            self.visit(target, scope)
        self.visit(node.value, scope)

    def visit_AnnAssign(self, node: ast.AnnAssign, scope: Scope, _role: str) -> None:
        self.visit(node.target, scope)
        self.visit(node.annotation, scope, "TYPE_REFERENCE")
        self.visit(node.value, scope)

    def visit_AugAssign(self, node: ast.AugAssign, scope: Scope, _role: str) -> None:
        self.visit(node.target, scope, "augmented")
        self.visit(node.value, scope)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, _role: str) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator, scope)
        scope.names.add(node.name)
        self.type_parameters(node, scope)
        inner = Scope(node, scope)
        self.parameters(node.args, scope, inner)
        self.visit(node.returns, scope, "TYPE_REFERENCE")
        self.body(node.body, inner)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: ast.ClassDef, scope: Scope, _role: str) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator, scope)
        scope.names.add(node.name)
        self.type_parameters(node, scope)
        for base in node.bases:
            self.visit(base, scope, "TYPE_REFERENCE")
        for argument in node.keywords:
            self.visit(argument, scope)
        self.body(node.body, Scope(node, scope))

    def parameters(self, arguments: ast.arguments, outer: Scope, inner: Scope) -> None:
        """Define parameters; their annotations and defaults belong to the scope around the function."""
        every = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
        for parameter in [*every, *filter(None, [arguments.vararg, arguments.kwarg])]:
            inner.names.add(parameter.arg)
            self.by_position[parameter.lineno, parameter.col_offset] = "DEFINITION"
            self.visit(parameter.annotation, outer, "TYPE_REFERENCE")
        for default in [*arguments.defaults, *arguments.kw_defaults]:
            self.visit(default, outer)

    def type_parameters(self, node: ast.AST, scope: Scope) -> None:
        for parameter in getattr(node, "type_params", []):
            # The position of `*Ts` and `**P` is that of the asterisk.
            asterisks = {"TypeVarTuple": 1, "ParamSpec": 2}.get(type(parameter).__name__, 0)
            self.by_position[parameter.lineno, parameter.col_offset + asterisks] = "DEFINITION"
            self.visit(getattr(parameter, "bound", None), scope, "TYPE_REFERENCE")
            self.visit(getattr(parameter, "default_value", None), scope, "TYPE_REFERENCE")

    def visit_TypeAlias(self, node: ast.AST, scope: Scope, _role: str) -> None:
        self.soft.add((getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        self.visit(getattr(node, "name", None), scope)
        self.type_parameters(node, scope)
        self.visit(getattr(node, "value", None), scope, "TYPE_REFERENCE")

    def visit_For(self, node: ast.For | ast.AsyncFor, scope: Scope, _role: str) -> None:
        self.visit(node.target, scope)
        self.visit(node.iter, scope)
        self.body(node.body + node.orelse, scope)

    visit_AsyncFor = visit_For

    def visit_ExceptHandler(self, node: ast.ExceptHandler, scope: Scope, _role: str) -> None:
        self.visit(node.type, scope, "TYPE_REFERENCE")
        if node.name and node.type:
            self.define(node.name, scope, self.names.after(end_of(node.type), node.name))
        self.body(node.body, scope)

    def define(self, name: str, scope: Scope, position: Position) -> None:
        self.by_position[position] = self.bind(name, scope)

    def visit_Global(self, node: ast.Global | ast.Nonlocal, scope: Scope, _role: str) -> None:
        for name in self.names.within(node):
            self.by_position[name] = "VARIABLE"
        scope.names.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_Import(self, node: ast.Import | ast.ImportFrom, scope: Scope, _role: str) -> None:
        is_alias = False
        for position in self.names.within(node):
            self.by_position[position] = "DEFINITION" if is_alias else "IMPORT"
            is_alias = self.names.followed_by_as(position)
        scope.names.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)

    visit_ImportFrom = visit_Import

    # -------------------------------------------------------------------------------------------------- patterns

    def visit_Match(self, node: ast.Match, scope: Scope, _role: str) -> None:
        self.soft.add((node.lineno, node.col_offset))
        self.visit(node.subject, scope)
        for case in node.cases:
            self.soft.add(self.names.before(begin_of(case.pattern), "case"))
            self.visit(case.pattern, scope)
            self.visit(case.guard, scope)
            self.body(case.body, scope)

    def visit_MatchAs(self, node: ast.MatchAs, scope: Scope, _role: str) -> None:
        self.visit(node.pattern, scope)
        if node.name:
            begin = end_of(node.pattern) if node.pattern else begin_of(node)
            self.define(node.name, scope, self.names.after(begin, node.name))

    def visit_MatchStar(self, node: ast.MatchStar, scope: Scope, _role: str) -> None:
        if node.name:
            self.define(node.name, scope, self.names.after(begin_of(node), node.name))

    def visit_MatchMapping(self, node: ast.MatchMapping, scope: Scope, _role: str) -> None:
        for key, pattern in zip(node.keys, node.patterns, strict=True):
            self.visit(key, scope)
            self.visit(pattern, scope)
        if node.rest:
            self.define(node.rest, scope, self.names.before(end_of(node), node.rest))

    def visit_MatchClass(self, node: ast.MatchClass, scope: Scope, _role: str) -> None:
        self.visit(node.cls, scope, "TYPE_REFERENCE")
        for pattern in node.patterns:
            self.visit(pattern, scope)
        for name, pattern in zip(node.kwd_attrs, node.kwd_patterns, strict=True):
            self.by_position[self.names.before(begin_of(pattern), name)] = "ARGUMENT_NAME"
            self.visit(pattern, scope)


class Names:
    """The words of a file in order, keywords included."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        begins = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self.texts: dict[Position, str] = {}
        self.offsets: dict[Position, int] = {}
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            row, column = token.start
            if token.type == tokenize.NAME:
                position = row, len(lines[row - 1][:column].encode())
                self.texts[position] = token.string
                self.offsets[position] = begins[row - 1] + column
        self.positions = list(self.texts)

    def after(self, begin: Position, name: str) -> Position:
        """Return the first place of a name at a position or behind it."""
        index = bisect.bisect_left(self.positions, begin)
        return next(position for position in self.positions[index:] if self.texts[position] == name)

    def before(self, end: Position, name: str) -> Position:
        """Return the last place of a name before a position."""
        index = bisect.bisect_left(self.positions, end)
        return next(position for position in reversed(self.positions[:index]) if self.texts[position] == name)

    def within(self, node: ast.stmt) -> list[Position]:
        """Return the positions of a statement's names that are no keywords."""
        begin = bisect.bisect_left(self.positions, begin_of(node))
        end = bisect.bisect_left(self.positions, end_of(node))
        return [position for position in self.positions[begin:end] if not keyword.iskeyword(self.texts[position])]

    def followed_by_as(self, position: Position) -> bool:
        """Return whether the next word is `as`."""
        index = bisect.bisect_right(self.positions, position)
        return index < len(self.positions) and self.texts[self.positions[index]] == "as"


def begin_of(node: ast.stmt | ast.expr | ast.pattern) -> Position:
    return node.lineno, node.col_offset


def end_of(node: ast.stmt | ast.expr | ast.pattern) -> Position:
    return node.end_lineno or 0, node.end_col_offset or 0


def tokens(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the offset, text and kind of each name and keyword."""
    names = Names(text)
    kinds = Kinds(ast.parse(text), names)
    for position, word in names.texts.items():
        offset = names.offsets[position]
        if position in kinds.by_position:
            yield offset, word, kinds.by_position[position]
        elif keyword.iskeyword(word) or position in kinds.soft:
            # The asterisk of `except*` belongs to the keyword.
            yield offset, word + "*" * (word == "except" and text.startswith("*", offset + len(word))), "KEYWORD"


def main() -> None:
    """Print the tokens of each path that is read from standard input."""
    for path in sys.stdin.read().splitlines():
        result: dict[str, object] = {"path": path}
        try:
            result["tokens"] = list(tokens(Path(path).read_text(encoding="utf-8")))
        except (SyntaxError, tokenize.TokenError) as error:
            result["error"] = str(error)
        print(json.dumps(result))


if __name__ == "__main__":
    main()
