"""The pairing of Go tests: functions `TestXxx(t *testing.T)` in *_test.go, paired within their package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.sources import descendants, field, field_text, named_children, node_text
from ci_eval.plugins.mining.unit_tests import pairing

# https://pkg.go.dev/testing: what follows Test does not begin with a lower-case letter.
TEST = re.compile(r"Test(?![a-z])\w*")
RUN_BY_GO = re.compile(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])\w*")
FUNCTIONS = {"function_declaration", "method_declaration"}
INSTANTIATED = {"index_expression", "type_instantiation_expression", "parenthesized_expression"}


def read(source: bytes, path: str, root: Node) -> pairing.Parsed:
    functions = [node for node in root.children if node.type in FUNCTIONS and node.child_by_field_name("body")]
    if not path.endswith("_test.go"):
        return pairing.Parsed(functions=[_function(source, path, node) for node in functions], broken=root.has_error)
    tests = [
        pairing.Method(node)
        for node in functions
        if node.type == "function_declaration"
        and TEST.fullmatch(field_text(source, node, "name"))
        and field_text(source, node, "parameters").rstrip(") ,").endswith("*testing.T")
    ]
    read_tests = pairing.read_tests(
        source, path, tests, _calls, lambda _: _context(source, root), lambda _: {"scope": dirname(path)}
    )
    return pairing.Parsed(tests=read_tests, broken=root.has_error)


def _function(source: bytes, path: str, node: Node) -> pairing.Function:
    declared = named_children(node.child_by_field_name("parameters"))
    # A declaration may have several names (`a, b int`), or none (`int`).
    count = sum(max(len([child for child in node.children if child.type == "identifier"]), 1) for node in declared)
    spread = bool(declared) and declared[-1].type == "variadic_parameter_declaration"
    # The owner is the receiver's type without pointer and type parameters.
    receiver = field_text(source, node, "receiver").partition("[")[0]
    owner = re.split(r"[\s*(]+", receiver.strip("()"))[-1]
    return pairing.read_function(source, path, node, owner, count, spread=spread, scope=dirname(path))


def _calls(source: bytes, node: Node) -> Iterator[pairing.Call]:
    for call_node in descendants(node):
        called = call_node.child_by_field_name("function") if call_node.type == "call_expression" else None
        while called and called.type in INSTANTIATED and named_children(called):
            called = named_children(called)[0]
        if called and called.type in {"identifier", "selector_expression"}:
            last = called.child_by_field_name("field") or called
            receiver = node_text(source, field(called, "operand"))
            kinds = [argument.type for argument in named_children(call_node.child_by_field_name("arguments"))]
            # A spread slice, or a single call that returns several values, may stand for any number of arguments.
            several = "variadic_argument" in kinds or kinds == ["call_expression"]
            yield pairing.Call(node_text(source, last), receiver, None if several else len(kinds))


def _context(source: bytes, root: Node) -> Iterator[str]:
    """Yield the code of a test file without the tests. Of functions other than TestMain, yield only the signatures."""
    for node in named_children(root):
        # TestMain is not a test: it sets up the tests of its package.
        if node.type not in FUNCTIONS or field_text(source, node, "name") == "TestMain":
            yield node_text(source, node)
        elif node.type == "method_declaration" or not RUN_BY_GO.fullmatch(field_text(source, node, "name")):
            body = node.child_by_field_name("body")
            yield source[node.start_byte : body.start_byte if body else node.end_byte].decode().rstrip()


def tiers(test: pairing.Test, index: pairing.Index) -> Iterator[pairing.Tier]:
    """Yield functions of the same package: Foo and foo for TestFoo and TestFoo_case, methods for TestType_Method and
    TestTypeMethod."""
    name = test.name.removeprefix("Test").lstrip("_")
    for begin in pairing.beginnings(name):
        remainder = name[len(begin) :]
        functions = index.named(*_spellings(begin))
        for owner in pairing.beginnings(begin):
            if method := begin[len(owner) :].lstrip("_"):
                owned = [function for spelling in _spellings(owner) for function in index.of(spelling)]
                functions += [function for function in owned if function.name in _spellings(method)]
        functions = [function for function in functions if function.scope == test.scope]
        # If the test's name continues with a capital (TestFooEmpty) or does not name the method's type, the test must
        # also call the function.
        plain = remainder[:1] in {"", "_"}
        certain = [function for function in functions if plain and begin.lower().startswith(function.owner.lower())]
        yield pairing.Tier("prefix" if remainder else "exact", certain or test.called(functions))


def _spellings(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((name, pairing.lower_first(name), name[:1].upper() + name[1:])))


DIALECT = pairing.Dialect(name="go", grammars={".go": "go"}, read=read, tiers=tiers)
