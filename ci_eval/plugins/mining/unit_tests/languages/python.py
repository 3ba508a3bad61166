"""The pairing of Python: functions and methods `test*` in test_*.py and *_test.py, for pytest and unittest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import msgspec

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.sources import descendants, field, field_text, named_children, node_lines, node_text
from ci_eval.plugins.mining.unit_tests.pairing import (
    Call,
    Dialect,
    Function,
    Index,
    Parsed,
    Test,
    Tier,
    lower_first,
    place,
    snake,
    stem,
    subject,
)

TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
OF_TESTS = re.compile(r"(?:.*/)?(?:tests?/.*|conftest\.py)")
FIXTURES = re.compile(r"(?:setup|teardown|set_up|tear_down)(?:_?(?:class|method|module|function))?", re.IGNORECASE)
RAISES = re.compile("raises|warns", re.IGNORECASE)
NOTHING = {"pass_statement", "string", "ellipsis"}
"""Statements that do nothing."""


class _Definition(msgspec.Struct, frozen=True):
    whole: Node
    function: Node
    classes: tuple[Node, ...] = ()

    def owner(self, source: bytes) -> str:
        return field_text(source, self.classes[-1], "name") if self.classes else ""


def read(source: bytes, path: str, root: Node) -> Parsed:
    """Read the tests or functions of a file; nothing from helpers of tests."""
    definitions = list(_definitions(root))
    if TEST_FILE.fullmatch(path):
        return Parsed(tests=_tests(source, path, root, definitions), broken=root.has_error)
    if OF_TESTS.fullmatch(path):
        return Parsed(broken=root.has_error)
    functions = []
    for definition in definitions:
        name = field_text(source, definition.function, "name")
        decorators = source[definition.whole.start_byte : definition.function.start_byte]
        # An overload has no body, and a setter has its property's name.
        if not name.startswith("__") and b"overload" not in decorators and b".setter" not in decorators:
            where = place(source, path, definition.whole)
            owner = definition.owner(source)
            functions.append(Function(name=name, place=where, owner=owner, broken=definition.whole.has_error))
    return Parsed(functions=functions, broken=root.has_error)


def _definitions(root: Node) -> Iterator[_Definition]:
    stack: list[tuple[Node, Node, tuple[Node, ...]]] = [(root, root, ())]
    while stack:
        node, whole, classes = stack.pop()
        if node.type == "function_definition":
            yield _Definition(whole, node, classes)
        elif node.type == "decorated_definition":
            if inner := node.child_by_field_name("definition"):
                stack.append((inner, node, classes))
        elif node.type == "class_definition":
            body = named_children(node.child_by_field_name("body"))
            stack += [(child, child, (*classes, node)) for child in reversed(body)]
        elif node.type.endswith(("_clause", "block", "module")) or node.type in {"if_statement", "try_statement"}:
            stack += [(child, child, classes) for child in reversed(named_children(node))]


def _is_test(source: bytes, node: Node) -> bool:
    return node.type == "function_definition" and field_text(source, node, "name").startswith("test")


# ---------------------------------------------------------------------------------------------------------- tests


def _tests(source: bytes, path: str, root: Node, definitions: Sequence[_Definition]) -> list[Test]:
    chosen = [definition for definition in definitions if _is_test(source, definition.function)]
    imports = _imports(source, root)
    context = cache(lambda classes: "\n".join(_context(source, root, classes, chosen)))
    return [
        Test(
            name=field_text(source, definition.function, "name"),
            place=place(source, path, definition.whole),
            owner=definition.owner(source),
            calls=tuple(_calls(source, definition.function)),
            context=context(definition.classes),
            kind="method" if definition.classes else "function",
            broken=definition.whole.has_error,
            empty=all(
                statement.type in NOTHING
                for statement in named_children(definition.function.child_by_field_name("body"))
            ),
            imports=imports,
        )
        for definition in chosen
    ]


def _calls(source: bytes, node: Node) -> Iterator[Call]:
    for call_node in descendants(node):
        if call_node.type == "call":
            name = _last_name(source, call_node.child_by_field_name("function"))
            yield Call(name)
            # raises(Error, function, argument …) and assertRaises call the function themselves.
            arguments = named_children(call_node.child_by_field_name("arguments")) if RAISES.search(name) else []
            yield from (Call(called) for argument in arguments if (called := _last_name(source, argument)))


def _last_name(source: bytes, node: Node | None) -> str:
    """Return `name` for `name` and `….name`, else ""."""
    last = node.child_by_field_name("attribute") if node and node.type == "attribute" else node
    return node_text(source, last) if last and last.type == "identifier" else ""


def _imports(source: bytes, root: Node) -> Mapping[str, str]:
    modules = {}
    for node in descendants(root, into=lambda inner: inner.type not in {"function_definition", "class_definition"}):
        if node.type == "import_from_statement":
            module = field_text(source, node, "module_name")
            # The first three children are `from`, the module and `import`.
            for child in node.children[3:]:
                last = field(child, "alias") or child
                modules[node_text(source, last)] = module
    return modules


# -------------------------------------------------------------------------------------------------------- context


def _context(
    source: bytes, parent: Node, classes: Sequence[Node], tests: Sequence[_Definition], indent: str = ""
) -> Iterator[str]:
    """Yield the code without tests: imports, global code and other classes in full, functions as signatures, and the
    test's class as its header, fields and fixtures.
    """
    with_tests = {node.start_byte for test in tests for node in test.classes}
    for child in named_children(parent):
        definition = child.child_by_field_name("definition") if child.type == "decorated_definition" else child
        if definition is None or _is_test(source, definition):
            continue
        name = field_text(source, definition, "name")
        if definition.type == "class_definition" and definition.start_byte in with_tests:
            if classes and definition.start_byte == classes[0].start_byte:
                yield _until_body(source, child, definition)
                if body := definition.child_by_field_name("body"):
                    inner = list(_context(source, body, classes[1:], tests, f"{indent}    "))
                    yield from inner or [f"{indent}    ..."]
        elif definition.type == "function_definition" and not FIXTURES.fullmatch(name):
            yield f"{_until_body(source, child, definition)} ..."
        else:
            yield node_lines(source, child)


def _until_body(source: bytes, whole: Node, definition: Node) -> str:
    body = definition.child_by_field_name("body")
    end = body.start_byte if body else definition.end_byte
    header = source[whole.start_byte : end].decode(errors="replace")
    kept = "\n".join(line for line in header.split("\n") if not line.strip().startswith("#")).rstrip()
    blanks = len(node_lines(source, whole)) - len(node_text(source, whole))
    return " " * blanks + kept


# --------------------------------------------------------------------------------------------------------- tiers


def tiers(test: Test, index: Index) -> Iterator[Tier]:
    """Yield candidates by pytest's names: test_NAME, test_NAME_how, class TestName. A function that the test does not
    call must be in the module or class that the test's module or class is named after.
    """
    about, module = subject(test.owner), subject(stem(test.place.path))

    def fits(function: Function) -> bool:
        near = function.owner == about if function.owner else stem(function.place.path) == module
        return near or test.has_call(function)

    bare_name = test.name.removeprefix("test").lstrip("_")
    spellings = (bare_name, lower_first(bare_name), snake(bare_name))
    yield Tier("exact", [function for function in index.named(*spellings) if fits(function)])
    parts = snake(bare_name).split("_") if "_" not in bare_name else bare_name.split("_")
    # In `split_words_and_join_words`, the words after `and` may name a second function: then the test has several.
    joined = ["_".join(parts[at + 1 :]) for at, word in enumerate(parts) if word == "and"]
    others = [function for function in index.named(*joined) if fits(function)]
    for count in range(len(parts) - 1, 0, -1):
        functions = [function for function in index.named("_".join(parts[:count])) if fits(function)]
        yield Tier("prefix", [*functions, *others] if functions else [])
    if test.owner:
        of_class = index.named(about, snake(about))
        yield Tier("class", [function for function in of_class if not function.owner and fits(function)])


DIALECT = Dialect(name="python", grammars={".py": "python"}, read=read, tiers=tiers, nothing="pass")
