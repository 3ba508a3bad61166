"""The pairing of Python tests: functions and methods `test*` in test_*.py and *_test.py, for pytest and unittest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.sources import descendants, field, field_text, named_children, node_lines, node_text
from ci_eval.plugins.mining.unit_tests import pairing

TEST_FILE = re.compile(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
OF_TESTS = re.compile(r"(?:.*/)?(?:tests?/.*|conftest\.py)")
FIXTURES = re.compile(r"(?:setup|teardown|set_up|tear_down)(?:_?(?:class|method|module|function))?", re.IGNORECASE)
RAISES = re.compile("raises|warns", re.IGNORECASE)
CLASSES = {"class_definition"}
BODIES = CLASSES.union(
    "block if_statement elif_clause else_clause try_statement except_clause except_group_clause finally_clause".split(),
    [pairing.DECORATED],
)


def read(source: bytes, path: str, root: Node) -> pairing.Parsed:
    """Read the tests or functions of a file. Files with helpers of tests are skipped."""
    whole = root if root.type == "module" else None
    methods = list(pairing.find_methods(whole, "function_definition", CLASSES, BODIES, lambda _: frozenset()))
    if TEST_FILE.fullmatch(path):
        tests = [method for method in methods if _is_test(source, method.node)]
        more = {"imports": _imports(source, root)}
        read_tests = pairing.read_tests(
            source, path, tests, _calls, lambda classes: _context(source, root, classes, tests), lambda _: more
        )
        return pairing.Parsed(tests=read_tests, broken=root.has_error)
    if OF_TESTS.fullmatch(path):
        return pairing.Parsed(broken=root.has_error)
    functions = []
    for method in methods:
        name = field_text(source, method.node, "name")
        decorators = source[method.whole.start_byte : method.node.start_byte]
        # Skip overloads, which have no body, and setters, which have the name of their property.
        if not name.startswith("__") and b"overload" not in decorators and b".setter" not in decorators:
            where, owner = pairing.place(source, path, method.whole), method.owner(source)
            functions.append(pairing.Function(name=name, place=where, owner=owner, broken=method.whole.has_error))
    return pairing.Parsed(functions=functions, broken=root.has_error)


def _is_test(source: bytes, node: Node) -> bool:
    return node.type == "function_definition" and field_text(source, node, "name").startswith("test")


def _calls(source: bytes, node: Node) -> Iterator[pairing.Call]:
    for call_node in descendants(node):
        if call_node.type == "call":
            name = _last_name(source, call_node.child_by_field_name("function"))
            yield pairing.Call(name)
            # raises(Error, function, argument …) and assertRaises call the function that they get.
            arguments = named_children(call_node.child_by_field_name("arguments")) if RAISES.search(name) else []
            yield from (pairing.Call(called) for argument in arguments if (called := _last_name(source, argument)))


def _last_name(source: bytes, node: Node | None) -> str:
    """Return `name` for the expressions `name` and `….name`, and "" for others."""
    last = node.child_by_field_name("attribute") if node and node.type == "attribute" else node
    return node_text(source, last) if last and last.type == "identifier" else ""


def _imports(source: bytes, root: Node) -> Mapping[str, str]:
    modules = {}
    for node in descendants(root, into=lambda inner: inner.type not in {"function_definition", "class_definition"}):
        if node.type == "import_from_statement":
            module = field_text(source, node, "module_name")
            # The names follow three children: `from`, the module and `import`.
            for child in node.children[3:]:
                last = field(child, "alias") or child
                modules[node_text(source, last)] = module
    return modules


def _context(
    source: bytes, parent: Node, classes: Sequence[Node], tests: Sequence[pairing.Method], indent: str = ""
) -> Iterator[str]:
    """Yield the code without tests: imports, global code and other classes in full, functions as signatures, and the
    test's class as its header, fields and fixtures."""
    with_tests = {node.start_byte for test in tests for node in test.classes}
    for child in named_children(parent):
        definition = child.child_by_field_name("definition") if child.type == pairing.DECORATED else child
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


def tiers(test: pairing.Test, index: pairing.Index) -> Iterator[pairing.Tier]:
    """Yield candidates by pytest's names: test_NAME, test_NAME_how, class TestName. A function that the test does
    not call is a candidate only in the module or class after which the test's module or class is named."""
    about, module = pairing.subject(test.owner), pairing.subject(pairing.stem(test.place.path))

    def fits(function: pairing.Function) -> bool:
        near = function.owner == about if function.owner else pairing.stem(function.place.path) == module
        return near or test.has_call(function)

    bare_name = test.name.removeprefix("test").lstrip("_")
    spellings = (bare_name, pairing.lower_first(bare_name), pairing.snake(bare_name))
    yield pairing.Tier("exact", [function for function in index.named(*spellings) if fits(function)])
    parts = pairing.snake(bare_name).split("_") if "_" not in bare_name else bare_name.split("_")
    # In `split_words_and_join_words`, the words after `and` may name a second function: then the test has two.
    joined = ["_".join(parts[at + 1 :]) for at, word in enumerate(parts) if word == "and"]
    others = [function for function in index.named(*joined) if fits(function)]
    for count in range(len(parts) - 1, 0, -1):
        functions = [function for function in index.named("_".join(parts[:count])) if fits(function)]
        yield pairing.Tier("prefix", [*functions, *others] if functions else [])
    if test.owner:
        of_class = index.named(about, pairing.snake(about))
        yield pairing.Tier("class", [function for function in of_class if not function.owner and fits(function)])


DIALECT = pairing.Dialect(name="python", grammars={".py": "python"}, read=read, tiers=tiers, nothing="pass")
