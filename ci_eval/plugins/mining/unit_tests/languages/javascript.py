"""The pairing of JavaScript and TypeScript: callbacks of it() and test(), by the last call of a project's function.

Their tests have no names (MERA's UnitTests card). If a title names the function, the confidence is high.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from posixpath import dirname, join, normpath

import msgspec

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.sources import descendants, field, field_text, named_children, node_text, remove_ranges
from ci_eval.plugins.mining.unit_tests.pairing import (
    Call,
    Dialect,
    Function,
    Index,
    Parsed,
    Test,
    Tier,
    place,
    stem,
    subject,
    tells,
    words,
)

TEST_FILE = re.compile(r"(?:.*/)?(?:[^/]*(?:test|spec)[^/]*/.*|[^/]*(?:test|spec))\.[cm]?[jt]sx?", re.IGNORECASE)
_Part = tuple[Node, Sequence[tuple[Node, Sequence[Node]]]]
"""A node at the top of the file, and what a framework runs in it, each with its suites."""
GENERATED = re.compile(
    r"(?:.*/)?(?:dist|build|coverage|vendor|examples?|bench(?:mark)?s?)/.*|.*\.min\.[cm]?js|.*\.d\.ts"
)
FRAMEWORKS = ("mocha", "jest", "jasmine", "qunit", "nightwatch")
TESTS = {"it", "test", "specify", "fit", "xit", "xtest", "xspecify"}
SUITES = {"describe", "context", "suite", "fdescribe", "xdescribe"}
RUN = TESTS | SUITES | {"before", "after", "beforeEach", "afterEach"}
FUNCTIONS = {"function", "function_expression", "arrow_function", "generator_function"}
DECLARED = {"function_declaration", "generator_function_declaration", "method_definition"}
SIDES = {"variable_declarator": ("name", "value"), "pair": ("key", "value"), "assignment_expression": ("left", "right")}
LOCAL = {"function_declaration", "generator_function_declaration", "variable_declarator"}
ASSERTIONS = {"expect", "assert", "should", "t", "chai", "sinon", "jest"}
BUILT_IN = frozenset(
    "at bind call apply catch charAt charCodeAt concat entries every exec fill filter finally find findIndex flat "
    "flatMap forEach from get has includes indexOf isArray join keys log map match next of parse pop push reduce "
    "repeat replace resolve reject reverse set shift slice some sort splice split startsWith endsWith stringify "
    "substr substring test then toFixed toLowerCase toString toUpperCase trim unshift valueOf values assign create "
    "defineProperty freeze on once emit end write done floor round max min abs pow sqrt random".split()
)
"""Methods of every object, string, list, promise or stream: the receiver decides, not the name."""


def read(source: bytes, path: str, root: Node) -> Parsed:
    """Read tests or functions, and neither from generated files."""
    if GENERATED.fullmatch(path):
        return Parsed()
    if TEST_FILE.fullmatch(path):
        return Parsed(tests=_tests(source, path, root), broken=root.has_error)
    return Parsed(functions=list(_functions(source, path, root)), broken=root.has_error)


def _functions(source: bytes, path: str, root: Node) -> Iterator[Function]:
    """Yield only members and what is returned of functions inside others."""
    stack: list[tuple[Node, str, Callable[[str], bool]]] = [(root, "", lambda _: True)]
    while stack:
        node, owner, seen = stack.pop()
        definition = _definition(source, node)
        if (
            definition
            and definition.name not in {"", "constructor"}
            and (node.type not in LOCAL or seen(definition.name))
        ):
            yield _function(source, path, definition, owner)
        if definition and definition.function and node.type != "pair":
            seen = _returned_names(source, definition.function)
        value = node.child_by_field_name("value") if node.type == "variable_declarator" else None
        # A class, or a variable that holds an object.
        is_holder = node.type in {"class_declaration", "class"} or (value and value.type == "object")
        inner = field_text(source, node, "name") or owner if is_holder else owner
        stack += [(child, inner, seen) for child in reversed(node.children) if child.child_count]


def _returned_names(source: bytes, function: Node) -> Callable[[str], bool]:
    statements = named_children(function.child_by_field_name("body"))
    returned = [
        named_children(statement)[0]
        for statement in statements
        if statement.type == "return_statement" and named_children(statement)
    ]
    return {node_text(source, value) for value in returned}.__contains__


class _Definition(msgspec.Struct, frozen=True):
    name: str
    whole: Node
    function: Node | None
    """The function; None if a call makes it from others."""
    owner: str | None = None
    """The class or object; None for whatever is around the definition."""


def _definition(source: bytes, node: Node) -> _Definition | None:
    if node.type in DECLARED:
        is_method = node.type == "method_definition"
        return _Definition(field_text(source, node, "name"), node, node, None if is_method else "")
    left, right = (node.child_by_field_name(name) for name in SIDES.get(node.type, ("name", "value")))
    if node.type not in SIDES or left is None or right is None:
        return None
    last = left.child_by_field_name("property") or left
    if last.type not in {"identifier", "property_identifier"} or not _is_function(right):
        return None
    alone = node.parent if node.type != "pair" and node.parent and len(named_children(node.parent)) == 1 else node
    owner = {"pair": None, "variable_declarator": ""}.get(node.type, _owner(source, left))
    return _Definition(node_text(source, last), alone, right if right.type in FUNCTIONS else None, owner)


def _is_function(value: Node) -> bool:
    """Calls that make one of functions count: debounce(function …), typed(name, { …: function … })."""
    if value.type in FUNCTIONS:
        return True
    arguments = named_children(value.child_by_field_name("arguments")) if value.type == "call_expression" else []
    return any(
        _has_functions(argument) if argument.type == "object" else _is_function(argument) for argument in arguments
    )


def _has_functions(node: Node) -> bool:
    values = [member.child_by_field_name("value") or member for member in named_children(node)]
    return any(value.type in FUNCTIONS or value.type == "method_definition" for value in values)


def _owner(source: bytes, left: Node) -> str:
    """Return `Box` for Box.prototype.grow and Box.grow, "" for exports.grow."""
    parts = field_text(source, left, "object").split(".")
    kept = [part for part in parts if part not in {"prototype", "exports", "module", "this"}]
    return kept[-1] if kept and kept[-1].isidentifier() else ""


def _function(source: bytes, path: str, definition: _Definition, around: str) -> Function:
    parameters = definition.function.child_by_field_name("parameters") if definition.function else None
    return Function(
        # A module's only export is called by the name of its file.
        name=stem(path) if definition.name in {"exports", "default"} else definition.name,
        place=place(source, path, definition.whole),
        owner=around if definition.owner is None else definition.owner,
        most=None if parameters is None or "..." in node_text(source, parameters) else len(named_children(parameters)),
        broken=definition.whole.has_error,
    )


# ---------------------------------------------------------------------------------------------------------- tests


def _tests(source: bytes, path: str, root: Node) -> list[Test]:
    imports = _imports(source, root)
    parts = [(node, list(_framework_calls(source, node))) for node in named_children(root)]
    contexts: dict[int, str] = {}
    tests = []
    for node, around in (call_of_part for _, inner in parts for call_of_part in inner):
        arguments = named_children(node.child_by_field_name("arguments"))
        callback = next((argument for argument in arguments if argument.type in FUNCTIONS), None)
        called = field_text(source, node, "function")
        # Frameworks skip what begins with `x`, such as `xit`.
        is_skipped = called.startswith("x") or called.endswith((".skip", ".todo"))
        if callback and _runner(source, node) in TESTS and not is_skipped:
            suite = around[0].start_byte if around else -1
            if suite not in contexts:
                contexts[suite] = "\n".join(_context(source, parts, suite))
            tests.append(_test(source, path, node, around, callback, imports, contexts[suite]))
    return tests


def _framework_calls(source: bytes, root: Node) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield calls with the suites around them, the outermost first; nothing inside tests."""
    stack: list[tuple[Node, tuple[Node, ...]]] = [(root, ())]
    while stack:
        node, around = stack.pop()
        runner = _runner(source, node) if node.type == "call_expression" else ""
        if runner in RUN:
            yield node, around
        if runner in TESTS:
            continue
        inner = (*around, node) if runner in SUITES else around
        stack += [(child, inner) for child in reversed(node.children) if child.child_count]


def _runner(source: bytes, node: Node) -> str:
    """Return `it` for it(…), it.only(…) and it.each(…)(…)."""
    called = node.child_by_field_name("function")
    while called and called.type in {"call_expression", "member_expression"}:
        called = called.child_by_field_name("function") or called.child_by_field_name("object")
    return node_text(source, called)


def _title(source: bytes, node: Node) -> str:
    arguments = named_children(node.child_by_field_name("arguments"))
    return node_text(source, arguments[0]).strip("'\"`") if arguments and "string" in arguments[0].type else ""


def _test(
    source: bytes,
    path: str,
    node: Node,
    around: Sequence[Node],
    callback: Node,
    imports: Mapping[str, str],
    context: str,
) -> Test:
    body = callback.child_by_field_name("body")
    return Test(
        name=_title(source, node),
        place=place(source, path, node),
        titles=tuple(_title(source, suite) for suite in around),
        calls=tuple(sorted_calls(source, callback)),
        context=context,
        broken=node.has_error,
        empty=body is None or not named_children(body),
        imports=imports,
    )


def sorted_calls(source: bytes, node: Node) -> list[Call]:
    """Return the calls by the position of their names: `a.b(c()).d()` calls b, c, d."""
    calls = []
    for call_node in descendants(node):
        called = call_node.child_by_field_name("function") if call_node.type == "call_expression" else None
        if called and called.type in {"identifier", "member_expression"}:
            last = called.child_by_field_name("property") or called
            receiver = _receiver(source, field(called, "object"))
            arguments = named_children(call_node.child_by_field_name("arguments"))
            spread = any(node.type == "spread_element" for node in arguments)
            call = Call(node_text(source, last), receiver, None if spread else len(arguments))
            calls.append((last.start_byte, call))
    return [call for _, call in sorted(calls, key=lambda positioned_call: positioned_call[0])]


def _receiver(source: bytes, node: Node | None) -> str:
    while node and node.type in {"call_expression", "member_expression"}:
        node = node.child_by_field_name("function") or node.child_by_field_name("object")
    return node_text(source, node) if node and node.type in {"identifier", "this"} else "…" if node else ""


def _imports(source: bytes, root: Node) -> dict[str, str]:
    modules: dict[str, str] = {}
    for node in descendants(root, into=lambda descendant: descendant.type not in FUNCTIONS | DECLARED):
        if node.type == "import_statement":
            module = field_text(source, node, "source").strip("'\"`")
            modules |= {node_text(source, name): module for name in _names(node)}
        elif node.type == "variable_declarator":
            value, left = node.child_by_field_name("value"), node.child_by_field_name("name")
            text = node_text(source, value)
            required = re.match(r"(?:await )?(?:require|import)\(\s*['\"`]([^'\"`]+)", text)
            # A value that is taken from a module, or made by it, belongs to the module.
            taken = re.match(r"(?:await |new )?(\w+)", text)
            module = required[1] if required else modules.get(taken[1], "") if taken else ""
            if module and left:
                modules |= {node_text(source, name): module for name in _names(left)}
    return modules


def _names(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        inner = stack.pop()
        if inner.type in {"identifier", "shorthand_property_identifier_pattern"}:
            yield inner
        stack += inner.children


# -------------------------------------------------------------------------------------------------------- context


def _context(source: bytes, parts: Sequence[_Part], suite: int) -> Iterator[str]:
    """Yield what is outside of suites and tests, and the test's outermost suite, from the byte `suite`, without its
    tests."""
    for node, inner in parts:
        if not inner:
            yield node_text(source, node)
        elif node.start_byte <= suite < node.end_byte:
            tests = [call_node for call_node, _ in inner if _runner(source, call_node) in TESTS]
            cut = [(test.start_byte, test.end_byte) for test in tests]
            yield remove_ranges(source, node.start_byte, node.end_byte, cut)


# ---------------------------------------------------------------------------------------------------------- tiers


def tiers(test: Test, index: Index) -> Iterator[Tier]:
    """Yield the last called function that the test's file or a suite is named after; else that a title names; else the
    last."""
    # Assertions, and methods that every object has, are no candidates.
    candidates = [functions for call in reversed(test.calls) if (functions := _callees(test, call, index))]
    subjects = [words(title) for title in (subject(stem(test.place.path)), *test.titles)]
    titles = [test.name, *test.titles]
    yield Tier("call", next((functions for functions in candidates if words(functions[0].name) in subjects), ()))
    yield Tier("call", next((functions for functions in candidates if tells(titles, functions[0].name)), ()))
    yield Tier("call", next(iter(candidates), ()))


def _callees(test: Test, call: Call, index: Index) -> list[Function]:
    """Return functions of an imported project file, or, if no import shows it, methods whose name is not built in."""
    module = test.imports.get(call.receiver or call.name)
    functions = [function for function in index.named(call.name) if call.fits(function)]
    if call.receiver in ASSERTIONS:
        return []
    if module is None:
        return [function for function in functions if function.owner and call.receiver and call.name not in BUILT_IN]
    is_ours = module.startswith(".") and _is_project_module(normpath(join(dirname(test.place.path), module)), index)
    return functions if is_ours else []


def _is_project_module(module: str, index: Index) -> bool:
    """A module is a file of the project without tests, or a folder of it."""
    files = [module, *(f"{module}{end}" for end in SCRIPT | TYPED)]
    present = [path for path in files if path in index.paths]
    if present:
        return not TEST_FILE.fullmatch(present[0])
    return module == "." or any(f"{module}/index{end}" in index.paths for end in SCRIPT | TYPED)


def framework(package: Mapping[str, object]) -> str:
    """Return "" without a known test framework."""
    needed: set[str] = set()
    for key in ("dependencies", "devDependencies"):
        dependencies = package.get(key)
        needed |= set(dependencies) if isinstance(dependencies, dict) else set()
    return next((name for name in FRAMEWORKS if name in needed), "")


SCRIPT = dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript")
TYPED = dict.fromkeys((".ts", ".mts", ".cts"), "typescript")
DIALECT = Dialect(
    name="javascript",
    grammars={**SCRIPT, **TYPED, ".tsx": "tsx"},
    read=read,
    tiers=tiers,
    framework=framework,
)
