"""C#: methods with an attribute of NUnit, xUnit or MSTest, whose names contain that of the method they call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ci_eval.grammar.syntax import Node
from ci_eval.mining.trees import below, field, lines_of, named, text_of, without
from ci_eval.mining.unit_tests.contract import Call, Dialect, Function, Index, Parsed, Test, Tier
from ci_eval.mining.unit_tests.places import place
from ci_eval.mining.unit_tests.words import tells

TESTS = {"Test", "TestCase", "TestCaseSource", "Theory", "Fact", "TestMethod", "DataTestMethod"}
"""Attributes of NUnit, xUnit and MSTest."""
CLASSES = {"class_declaration", "record_declaration", "struct_declaration", "record_struct_declaration"}
NAMESPACES = {"namespace_declaration", "file_scoped_namespace_declaration"}
CONDITIONAL = {"preproc_if", "preproc_elif", "preproc_else"}
"""In newer grammars they hold what stands between them."""
BODIES = {"declaration_list", *NAMESPACES, *CLASSES, *CONDITIONAL}
USINGS = {"using_directive", "extern_alias_directive", "global_attribute", "global_attribute_list"}


@dataclass(frozen=True)
class _Method:
    node: Node
    classes: tuple[Node, ...]
    """Those around it, the outermost first."""
    attributes: frozenset[str]


def read(source: bytes, path: str, root: Node) -> Parsed:
    """See Dialect."""
    found = list(_methods(source, root))
    tests = [each for each in found if each.attributes & TESTS]
    if not tests:
        with_body = [each for each in found if each.node.child_by_field_name("body") and each.classes]
        return Parsed(functions=[_function(source, path, each) for each in with_body], broken=root.has_error)
    around = dict.fromkeys(each.classes for each in tests)
    contexts = {classes: "\n".join(_context(source, root, classes, tests)) for classes in around}
    return Parsed(tests=[_test(source, path, each, contexts[each.classes]) for each in tests], broken=root.has_error)


def _methods(source: bytes, root: Node) -> Iterator[_Method]:
    stack: list[tuple[Node, tuple[Node, ...]]] = [(node, ()) for node in reversed(named(root))]
    while stack:
        node, classes = stack.pop()
        if node.type == "method_declaration":
            yield _Method(node, classes, _attributes(source, node))
        elif node.type in BODIES:
            around = (*classes, node) if node.type in CLASSES else classes
            stack += [(child, around) for child in reversed(named(node))]


def _attributes(source: bytes, node: Node) -> frozenset[str]:
    lists = [each for each in named(node) if each.type == "attribute_list"]
    names = [text_of(source, each.child_by_field_name("name")) for every in lists for each in named(every)]
    return frozenset(name.rpartition(".")[2].removesuffix("Attribute") for name in names)


def _name(source: bytes, node: Node) -> str:
    return text_of(source, node.child_by_field_name("name"))


def _function(source: bytes, path: str, found: _Method) -> Function:
    least, most = _arguments(source, found.node.child_by_field_name("parameters"))
    return Function(
        name=_name(source, found.node),
        place=place(source, path, found.node),
        owner=_name(source, found.classes[-1]),
        least=least,
        most=most,
        broken=found.node.has_error,
    )


def _arguments(source: bytes, parameters: Node | None) -> tuple[int, int | None]:
    """How many may be given; what an extension method extends stands in front of its name or among them."""
    written = [text_of(source, each) for each in named(parameters) if each.type == "parameter"]
    text = text_of(source, parameters)
    # The grammar has no node for the parameter that `params` is written before.
    spread = any(each.split()[:1] == ["params"] for each in text.strip("()").split(","))
    declared = len(written) + (spread and not any(each.startswith("params") for each in written))
    optional = sum("=" in each for each in written) + spread
    extends = text.lstrip("( ").startswith("this ")
    return declared - optional - extends, None if spread else declared


def _test(source: bytes, path: str, found: _Method, context: str) -> Test:
    body = found.node.child_by_field_name("body")
    return Test(
        name=_name(source, found.node),
        place=place(source, path, found.node),
        owner=_name(source, found.classes[-1]) if found.classes else "",
        calls=tuple(_calls(source, found.node)),
        context=context,
        kind="method",
        broken=found.node.has_error,
        empty=not named(body),
    )


def _calls(source: bytes, node: Node) -> Iterator[Call]:
    for each in below(node):
        called = each.child_by_field_name("function") if each.type == "invocation_expression" else None
        if called:
            name, receiver = _named(source, called)
            yield Call(name, receiver, len(named(each.child_by_field_name("arguments"))))


def _named(source: bytes, called: Node) -> tuple[str, str]:
    """The name in `name`, `….name`, `…?.name` and `name<T>`, and what stands before it where that is one word."""
    before = field(called, "expression")
    receiver = text_of(source, before) if before and before.child_count == 0 else ""
    last: Node | None = called
    while last and last.type != "identifier":
        inner = named(last)
        last = field(last, "name") or next(
            (child for child in reversed(inner) if child.type != "type_argument_list"), None
        )
    return text_of(source, last), receiver


# -------------------------------------------------------------------------------------------------------- context


def _context(source: bytes, root: Node, classes: Sequence[Node], tests: Sequence[_Method]) -> Iterator[str]:
    """Usings and global code, and the test's class without tests."""
    declarations = BODIES | {"interface_declaration", "enum_declaration", "delegate_declaration"}
    for node in _global(root):
        is_instruction = node.type.endswith("_directive") or node.type.startswith("preproc")
        if node.type in USINGS or not (is_instruction or node.type in declarations):
            yield text_of(source, node)
    if classes:
        outer = classes[0]
        inner = [each.node for each in tests if outer.start_byte <= each.node.start_byte < outer.end_byte]
        cut = [(node.start_byte, node.end_byte) for node in sorted(inner, key=lambda node: node.start_byte)]
        begin = outer.start_byte - (len(lines_of(source, outer)) - len(text_of(source, outer)))
        yield without(source, begin, outer.end_byte, cut)


def _global(root: Node) -> Iterator[Node]:
    """What stands at the top of the file, and usings within namespaces and conditions."""
    stack = [(node, True) for node in reversed(named(root))]
    while stack:
        node, is_top = stack.pop()
        if node.type in NAMESPACES | CONDITIONAL:
            inner = named(node.child_by_field_name("body") or node)
            stack += [(child, False) for child in reversed(inner)]
        elif is_top or node.type in USINGS:
            yield node


# ---------------------------------------------------------------------------------------------------------- tiers


def tiers(test: Test, index: Index) -> Iterator[Tier]:
    """Methods that the test calls, and whose names its own contains as whole words; the longest such name."""
    called = dict.fromkeys(call.name for call in test.calls)
    names = [name for name in called if tells([test.name], name)]
    longest = max(map(len, names), default=0)
    found = [each for each in index.named(*(name for name in names if len(name) == longest)) if test.calls_to(each)]
    yield Tier("exact" if longest == len(test.name) else "prefix", found)


DIALECT = Dialect(name="csharp", grammars={".cs": "c_sharp"}, read=read, tiers=tiers)
