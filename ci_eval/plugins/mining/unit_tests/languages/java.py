"""The pairing of Java tests: methods with @Test and similar, and methods of the class that the test class names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.sources import (
    child_of_type,
    descendants,
    field_text,
    named_children,
    node_lines,
    node_text,
    remove_comments,
)
from ci_eval.plugins.mining.unit_tests import pairing

TESTS = {"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "Theory"}
FIXTURES = {"Before", "After", "BeforeClass", "AfterClass", "BeforeEach", "AfterEach", "BeforeAll", "AfterAll"}
FIXTURE_NAMES = {"setUp", "tearDown"}
KEPT = {"field_declaration", "constructor_declaration", "static_initializer"}
CLASSES = {"class_declaration", "record_declaration", "enum_declaration", "interface_declaration"}
HEAD = {"package_declaration", "import_declaration"}
BODIES = {"class_body", "enum_body", "enum_body_declarations", "interface_body", *CLASSES}


def read(source: bytes, path: str, root: Node) -> pairing.Parsed:
    declared = next((node for node in root.children if node.type == "package_declaration"), None)
    package = node_text(source, named_children(declared)[-1]) if named_children(declared) else ""
    methods = list(pairing.find_methods(root, "method_declaration", CLASSES, BODIES, partial(_annotations, source)))
    # Java 25 allows methods outside of classes, but no framework runs such a test.
    tests = [method for method in methods if method.marks & TESTS and method.classes]
    # By Maven's convention, src/test has only tests and their helpers.
    if tests or "src/test/" in f"/{path}":
        head = [node_text(source, node) for node in named_children(root) if node.type in HEAD]

        def more(method: pairing.Method) -> dict[str, object]:
            owner, *titles = (field_text(source, class_node, "name") for class_node in method.classes)
            return {"scope": package, "owner": owner, "titles": tuple(titles)}

        read_tests = pairing.read_tests(
            source, path, tests, _calls, lambda classes: [*head, *_class(source, classes)], more
        )
        return pairing.Parsed(tests=read_tests, broken=root.has_error)
    functions = []
    for method in methods:
        if method.node.child_by_field_name("body"):
            kinds = [parameter.type for parameter in named_children(method.node.child_by_field_name("parameters"))]
            spread, owner = kinds[-1:] == ["spread_parameter"], method.owner(source)
            # No call passes a receiver parameter (`Foo this`).
            count = len(kinds) - kinds.count("receiver_parameter")
            functions.append(
                pairing.read_function(source, path, method.node, owner, count, spread=spread, scope=package)
            )
    return pairing.Parsed(functions=functions, broken=root.has_error)


def _annotations(source: bytes, node: Node) -> frozenset[str]:
    modifiers = named_children(child_of_type(node, "modifiers"))
    annotations = [modifier for modifier in modifiers if "annotation" in modifier.type]
    return frozenset(field_text(source, annotation, "name").rpartition(".")[2] for annotation in annotations)


def _calls(source: bytes, node: Node) -> Iterator[pairing.Call]:
    for call_node in descendants(node):
        if call_node.type == "method_invocation":
            receiver = call_node.child_by_field_name("object")
            short = node_text(source, receiver) if receiver and receiver.child_count == 0 else ""
            arguments = named_children(call_node.child_by_field_name("arguments"))
            yield pairing.Call(field_text(source, call_node, "name"), short, len(arguments))
        elif call_node.type == "method_reference" and call_node.children[-1].type == "identifier":
            yield pairing.Call(node_text(source, call_node.children[-1]), node_text(source, call_node.children[0]))


def _class(source: bytes, classes: Sequence[Node]) -> Iterator[str]:
    body = classes[0].child_by_field_name("body")
    yield f"{_until(source, classes[0], body)} {{"
    for member in named_children(body):
        if len(classes) > 1 and member.start_byte == classes[1].start_byte:
            yield from _class(source, classes[1:])
        elif member.type in KEPT:
            yield remove_comments(source, member)
        elif member.type == "method_declaration":
            annotations = _annotations(source, member)
            if field_text(source, member, "name") in FIXTURE_NAMES or annotations & FIXTURES:
                yield remove_comments(source, member)
            elif "public" in node_text(source, child_of_type(member, "modifiers")).split() and not annotations & TESTS:
                # A method without a body already ends with a semicolon.
                yield f"{_until(source, member, member.child_by_field_name('body'))};".replace(";;", ";")
    blanks = node_lines(source, classes[0])
    yield f"{blanks[: len(blanks) - len(blanks.lstrip())]}}}"


def _until(source: bytes, node: Node, body: Node | None) -> str:
    return remove_comments(source, node, end=body.start_byte if body else node.end_byte).rstrip()


def tiers(test: pairing.Test, index: pairing.Index) -> Iterator[pairing.Tier]:
    """Yield methods of the class after which the test's class is named: first by name, then the only called method.

    This is the class of the same package whose name is the longest beginning of the test class's name. If there is
    none, it is the only class of exactly this name in other packages.
    """
    about = pairing.subject(test.owner)
    near = ([method for method in index.of(begin) if method.scope == test.scope] for begin in pairing.beginnings(about))
    focal: Sequence[pairing.Function] = next(filter(None, near), [])
    if not focal and len({function.place.path for function in index.of(about)}) == 1:
        focal = index.of(about)
    name = re.sub(r"^tests?(?![a-z])_?|_tests?$|Tests?$", "", test.name) or test.name
    for begin in pairing.beginnings(name):
        remainder = name[len(begin) :]
        functions = [function for function in focal if function.name in {begin, pairing.lower_first(begin)}]
        is_certain = remainder[:1] in {"", "_"}
        yield pairing.Tier("prefix" if remainder else "exact", functions if is_certain else test.called(functions))
    called = test.called(focal)
    # If another class has a method with the test's name, such as an inherited `equals`, the test is about that method.
    elsewhere = index.named(name, pairing.lower_first(name))
    yield pairing.Tier("call", called if len({function.name for function in called}) == 1 and not elsewhere else [])


DIALECT = pairing.Dialect(name="java", grammars={".java": "java"}, read=read, tiers=tiers)
