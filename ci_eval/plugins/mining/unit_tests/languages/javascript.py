"""The pairing of JavaScript and TypeScript: callbacks of it() and test(), by the last call of a project's function.

These tests have titles, but no names (MERA's UnitTests card). If a title names the function, the confidence is high.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from posixpath import dirname, join, normpath
from typing import NamedTuple

from ci_eval.core.grammar.syntax import Node, leaves
from ci_eval.plugins.languages.ecmascript import LANGUAGES
from ci_eval.plugins.mining.sources import descendants, field, field_text, named_children, node_text, remove_ranges
from ci_eval.plugins.mining.unit_tests import pairing

TEST_FILE = re.compile(r"(?:.*/)?(?:[^/]*(?:test|spec)[^/]*/.*|[^/]*(?:test|spec))\.[cm]?[jt]sx?", re.IGNORECASE)
GENERATED = re.compile(
    r"(?:.*/)?(?:dist|build|coverage|vendor|examples?|bench(?:mark)?s?)/.*|.*\.min\.[cm]?js|.*\.d\.ts"
)
GRAMMARS = {end: grammar for language in LANGUAGES.values() for end, grammar in language.grammars.items()}
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
"""Methods of built-in objects, strings, lists, promises, streams. Such names do not identify a project's function."""


def read(source: bytes, path: str, root: Node) -> pairing.Parsed:
    """Read the tests or functions of a file. Generated files are skipped."""
    if GENERATED.fullmatch(path):
        return pairing.Parsed()
    if TEST_FILE.fullmatch(path):
        return pairing.Parsed(tests=_tests(source, path, root), broken=root.has_error)
    return pairing.Parsed(functions=list(_functions(source, path, root)), broken=root.has_error)


def _functions(source: bytes, path: str, root: Node) -> Iterator[pairing.Function]:
    """Yield the functions. Functions inside other functions are skipped, unless they are members or are returned."""
    stack: list[tuple[Node, str, Callable[[str], bool]]] = [(root, "", lambda _: True)]
    while stack:
        node, owner, seen = stack.pop()
        definition = _definition(source, node)
        name = definition.name if definition else ""
        if definition and name not in {"", "constructor"} and (node.type not in LOCAL or seen(name)):
            parameters = definition.function.child_by_field_name("parameters") if definition.function else None
            spread = parameters is None or "..." in node_text(source, parameters)
            yield pairing.Function(
                # Callers usually name a module's only export after its file.
                name=pairing.stem(path) if name in {"exports", "default"} else name,
                place=pairing.place(source, path, definition.whole),
                owner=owner if definition.owner is None else definition.owner,
                most=None if spread else len(named_children(parameters)),
                broken=definition.whole.has_error,
            )
        if definition and definition.function and node.type != "pair":
            body = named_children(definition.function.child_by_field_name("body"))
            returned = [named_children(statement)[:1] for statement in body if statement.type == "return_statement"]
            seen = {node_text(source, value) for values in returned for value in values}.__contains__
        value = node.child_by_field_name("value") if node.type == "variable_declarator" else None
        # A holder is a class, or a variable whose value is an object.
        is_holder = node.type in {"class_declaration", "class"} or (value and value.type == "object")
        inner = field_text(source, node, "name") or owner if is_holder else owner
        stack += [(child, inner, seen) for child in reversed(node.children) if child.child_count]


class _Definition(NamedTuple):
    name: str
    whole: Node
    function: Node | None
    """The function; None if it is the result of a call, such as `debounce(f)`."""
    owner: str | None = None
    """The class or object that has the function as a member. None stands for the enclosing class or object."""


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
    owner = None
    if node.type != "pair":
        # The owner is `Box` for Box.prototype.grow and Box.grow, and "" for exports.grow and variables.
        parts = field_text(source, left, "object").split(".")
        kept = [part for part in parts if part not in {"prototype", "exports", "module", "this"}]
        owner = kept[-1] if kept and kept[-1].isidentifier() else ""
    return _Definition(node_text(source, last), alone, right if right.type in FUNCTIONS else None, owner)


def _is_function(value: Node) -> bool:
    """Return whether a value is a function, or a call that gets one: debounce(function …), typed({…: function …})."""
    if value.type in FUNCTIONS:
        return True
    for argument in named_children(value.child_by_field_name("arguments")) if value.type == "call_expression" else []:
        members = named_children(argument) if argument.type == "object" else []
        kinds = {(member.child_by_field_name("value") or member).type for member in members}
        if kinds & {*FUNCTIONS, "method_definition"} or (argument.type != "object" and _is_function(argument)):
            return True
    return False


def _tests(source: bytes, path: str, root: Node) -> list[pairing.Test]:
    imports = _imports(source, root)
    parts = [(node, list(_framework_calls(source, node))) for node in named_children(root)]

    @cache
    def context(suite: int) -> str:
        """Return the code outside of suites and tests, and the suite (not its tests) that begins at byte `suite`."""
        texts = []
        for node, inner in parts:
            if not inner or node.start_byte <= suite < node.end_byte:
                tests = [call_node for call_node, _ in inner if _runner(source, call_node) in TESTS]
                cut = [(test.start_byte, test.end_byte) for test in tests]
                texts.append(remove_ranges(source, node.start_byte, node.end_byte, cut))
        return "\n".join(texts)

    tests = []
    for node, around in (call_of_part for _, inner in parts for call_of_part in inner):
        arguments = named_children(node.child_by_field_name("arguments"))
        callback = next((argument for argument in arguments if argument.type in FUNCTIONS), None)
        called = field_text(source, node, "function")
        # Frameworks skip tests that are defined by `xit` and the like.
        is_skipped = called.startswith("x") or called.endswith((".skip", ".todo"))
        if callback and _runner(source, node) in TESTS and not is_skipped:
            test = pairing.Test(
                name=_title(source, node),
                place=pairing.place(source, path, node),
                titles=tuple(_title(source, suite) for suite in around),
                calls=tuple(sorted_calls(source, callback)),
                context=context(around[0].start_byte if around else -1),
                broken=node.has_error,
                empty=not named_children(callback.child_by_field_name("body")),
                imports=imports,
            )
            tests.append(test)
    return tests


def _framework_calls(source: bytes, root: Node) -> Iterator[tuple[Node, tuple[Node, ...]]]:
    """Yield each call of the framework outside of tests, with the suites that contain the call, outermost first."""
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
    return node_text(source, _first_object(node.child_by_field_name("function")))


def _first_object(node: Node | None) -> Node | None:
    """Return `a` for a.b, a.b() and a()."""
    while node and node.type in {"call_expression", "member_expression"}:
        node = node.child_by_field_name("function") or node.child_by_field_name("object")
    return node


def _title(source: bytes, node: Node) -> str:
    arguments = named_children(node.child_by_field_name("arguments"))
    return node_text(source, arguments[0]).strip("'\"`") if arguments and "string" in arguments[0].type else ""


def sorted_calls(source: bytes, node: Node) -> list[pairing.Call]:
    """Return the calls by the position of their names: `a.b(c()).d()` calls b, c, d."""
    calls = []
    for call_node in descendants(node):
        called = call_node.child_by_field_name("function") if call_node.type == "call_expression" else None
        if called and called.type in {"identifier", "member_expression"}:
            last = called.child_by_field_name("property") or called
            first = _first_object(field(called, "object"))
            receiver = node_text(source, first) if first is None or first.type in {"identifier", "this"} else "…"
            kinds = [argument.type for argument in named_children(call_node.child_by_field_name("arguments"))]
            count = None if "spread_element" in kinds else len(kinds)
            calls.append((last.start_byte, pairing.Call(node_text(source, last), receiver, count)))
    return [call for _, call in sorted(calls, key=lambda positioned_call: positioned_call[0])]


def _imports(source: bytes, root: Node) -> dict[str, str]:
    modules: dict[str, str] = {}
    for node in descendants(root, into=lambda descendant: descendant.type not in FUNCTIONS | DECLARED):
        if node.type == "import_statement":
            module = field_text(source, node, "source").strip("'\"`")
            modules |= {node_text(source, name): module for name in _names(node)}
        elif node.type == "variable_declarator":
            left = node.child_by_field_name("name")
            text = field_text(source, node, "value")
            required = re.match(r"(?:await )?(?:require|import)\(\s*['\"`]([^'\"`]+)", text)
            # A member of a module, or the result of a module's function, is attributed to the module.
            taken = re.match(r"(?:await |new )?(\w+)", text)
            module = required[1] if required else modules.get(taken[1], "") if taken else ""
            if module and left:
                modules |= {node_text(source, name): module for name in _names(left)}
    return modules


def _names(node: Node) -> list[Node]:
    return [leaf for leaf in leaves(node) if leaf.type in {"identifier", "shorthand_property_identifier_pattern"}]


def tiers(test: pairing.Test, index: pairing.Index) -> Iterator[pairing.Tier]:
    """Yield the last called function after which the file or a suite is named, then the last called function
    that a title mentions, then the last called function."""
    # Assertions and methods of built-in objects are not candidates.
    candidates = [functions for call in reversed(test.calls) if (functions := _callees(test, call, index))]
    subjects = [pairing.words(title) for title in (pairing.subject(pairing.stem(test.place.path)), *test.titles)]
    titles = [test.name, *test.titles]
    yield pairing.Tier(
        "call", next((functions for functions in candidates if pairing.words(functions[0].name) in subjects), ())
    )
    yield pairing.Tier(
        "call", next((functions for functions in candidates if pairing.mentions(titles, functions[0].name)), ())
    )
    yield pairing.Tier("call", next(iter(candidates), ()))


def _callees(test: pairing.Test, call: pairing.Call, index: pairing.Index) -> list[pairing.Function]:
    """Return the fitting functions of the imported file. Without an import, return methods that are not built in."""
    module = test.imports.get(call.receiver or call.name)
    functions = [function for function in index.named(call.name) if call.fits(function)]
    if call.receiver in ASSERTIONS:
        return []
    if module is None:
        return [function for function in functions if function.owner and call.receiver and call.name not in BUILT_IN]
    if not module.startswith("."):
        return []
    path = normpath(join(dirname(test.place.path), module))
    present = [file for end in ("", *GRAMMARS) if (file := f"{path}{end}") in index.paths]
    if present:
        return [] if TEST_FILE.fullmatch(present[0]) else functions
    is_folder = path == "." or any(f"{path}/index{end}" in index.paths for end in GRAMMARS)
    return functions if is_folder else []


def framework(package: Mapping[str, object]) -> str:
    """Return the test framework that a package.json names, or "" if it names no known framework."""
    tables = [package.get(key) for key in ("dependencies", "devDependencies")]
    needed = {name for table in tables if isinstance(table, dict) for name in table}
    return next((name for name in FRAMEWORKS if name in needed), "")


DIALECT = pairing.Dialect(name="javascript", grammars=GRAMMARS, read=read, tiers=tiers, framework=framework)
