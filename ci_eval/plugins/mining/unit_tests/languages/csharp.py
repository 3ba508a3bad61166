"""The pairing of C# tests: methods with an attribute of NUnit, xUnit or MSTest, named after a method that they call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.sources import (
    descendants,
    field,
    field_text,
    named_children,
    node_lines,
    node_text,
    remove_ranges,
)
from ci_eval.plugins.mining.unit_tests import pairing

TESTS = {"Test", "TestCase", "TestCaseSource", "Theory", "Fact", "TestMethod", "DataTestMethod"}
CLASSES = {"class_declaration", "record_declaration", "struct_declaration"}
NAMESPACES = {"namespace_declaration", "file_scoped_namespace_declaration"}
BODIES = {"declaration_list", *NAMESPACES, *CLASSES}
USINGS = {"using_directive", "extern_alias_directive", "global_attribute"}
DIRECTIVE = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)


def read(source: bytes, path: str, root: Node) -> pairing.Parsed:
    methods = list(pairing.find_methods(root, "method_declaration", CLASSES, BODIES, partial(_attributes, source)))
    tests = [method for method in methods if method.marks & TESTS]
    if not tests:
        with_body = [method for method in methods if method.node.child_by_field_name("body") and method.classes]
        return pairing.Parsed(
            functions=[_function(source, path, method) for method in with_body], broken=root.has_error
        )
    read_tests = pairing.read_tests(source, path, tests, _calls, lambda classes: _context(source, root, classes, tests))
    return pairing.Parsed(tests=read_tests, broken=root.has_error)


def _attributes(source: bytes, node: Node) -> frozenset[str]:
    lists = [attributes for attributes in named_children(node) if attributes.type == "attribute_list"]
    names = [field_text(source, attribute, "name") for attributes in lists for attribute in named_children(attributes)]
    # In C#, the attribute `TestAttribute` may be written `Test`.
    return frozenset(name.rpartition(".")[2].removesuffix("Attribute") for name in names)


def _function(source: bytes, path: str, method: pairing.Method) -> pairing.Function:
    parameters = method.node.child_by_field_name("parameters")
    written = [node_text(source, child) for child in named_children(parameters) if child.type == "parameter"]
    text = node_text(source, parameters)
    # The grammar has no node for the parameter after `params`.
    spread = any(parameter.split()[:1] == ["params"] for parameter in text.strip("()").split(","))
    declared = len(written) + (spread and not any(parameter.startswith("params") for parameter in written))
    # In a call of an extension method, the argument for `this` may be before the dot.
    optional = sum("=" in parameter for parameter in written) + text.lstrip("( ").startswith("this ")
    owner = method.owner(source)
    return pairing.read_function(source, path, method.node, owner, declared, optional=optional, spread=spread)


def _calls(source: bytes, node: Node) -> Iterator[pairing.Call]:
    for call_node in descendants(node):
        called = call_node.child_by_field_name("function") if call_node.type == "invocation_expression" else None
        if called:
            before = field(called, "expression")
            receiver = node_text(source, before) if before and before.child_count == 0 else ""
            last: Node | None = called
            # Find `name` in `….name`, `…?.name` and `name<T>`.
            while last and last.type != "identifier":
                inner = [child for child in named_children(last) if child.type != "type_argument_list"]
                last = field(last, "name") or (inner[-1] if inner else None)
            arguments = named_children(call_node.child_by_field_name("arguments"))
            yield pairing.Call(node_text(source, last), receiver, len(arguments))


def _context(source: bytes, root: Node, classes: Sequence[Node], tests: Sequence[pairing.Method]) -> Iterator[str]:
    declarations = BODIES | {"interface_declaration", "enum_declaration", "delegate_declaration"}
    stack = [(node, True) for node in reversed(named_children(root))]
    while stack:
        node, is_top = stack.pop()
        if node.type in NAMESPACES:
            inner = named_children(node.child_by_field_name("body") or node)
            stack += [(child, False) for child in reversed(inner)]
        elif node.type in USINGS or (is_top and node.type not in declarations):
            yield node_text(source, node)
    if classes:
        outer = classes[0]
        spans = [(test.node.start_byte, test.node.end_byte) for test in tests]
        cut = sorted(span for span in spans if outer.start_byte <= span[0] < outer.end_byte)
        begin = outer.start_byte - (len(node_lines(source, outer)) - len(node_text(source, outer)))
        yield remove_ranges(source, begin, outer.end_byte, cut)


def tiers(test: pairing.Test, index: pairing.Index) -> Iterator[pairing.Tier]:
    """Yield the called methods whose names occur in the test's name as whole words. Only the longest names count."""
    called = dict.fromkeys(call.name for call in test.calls)
    names = [name for name in called if pairing.mentions([test.name], name)]
    longest = max(map(len, names), default=0)
    functions = test.called(index.named(*(name for name in names if len(name) == longest)))
    yield pairing.Tier("exact" if longest == len(test.name) else "prefix", functions)


def blank_directives(source: bytes) -> bytes:
    # C# allows `#if` between any two lines, but the grammar reads it only around whole statements and members.
    return DIRECTIVE.sub(lambda line: b" " * len(line[0]), source)


DIALECT = pairing.Dialect(name="csharp", grammars={".cs": "c_sharp"}, read=read, tiers=tiers, mask=blank_directives)
