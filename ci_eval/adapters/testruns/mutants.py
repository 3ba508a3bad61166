"""Versions of a function that are wrong: a test that is worth something fails on them.

Each mutant changes one thing in the function's body. There are six operators, as in most tools for mutation testing:

comparison (`<` → `<=`, `==` → `!=` …), arithmetic (`+` → `-`, `*` → `/` …), boolean (`and` → `or`, `not x` → `x`),
constant (a number → one more, `true` → `false`, a text → an empty one), return value (→ nothing) and statement (gone).

Nothing tells whether a mutant differs from the function in what it does: some do not, and no test can kill these.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from ci_eval.adapters.testruns.contract import Runner, Syntax
from ci_eval.chance import draw
from ci_eval.grammar.syntax import Node, parser
from ci_eval.model import Stretch

COMPARISONS = frozenset({*"< <= > >= == != === !== is in".split(), "is not", "not in"})
BOOLEANS = frozenset("and or && ||".split())
LONGEST = 60
"""Characters of a piece of code, where a mutant is described."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change of a file."""

    begin: int
    """Offset in bytes, as `end`."""
    end: int
    replacement: str
    operator: str

    def applied(self, source: bytes) -> str:
        """The file with that change."""
        return (source[: self.begin] + self.replacement.encode() + source[self.end :]).decode()

    def described(self, text: str, focal: Stretch) -> str:
        """For people, with the line of the function: `line 3: < → <=`."""
        source = text.encode()
        line = source.count(b"\n", len(text[: focal.begin].encode()), self.begin) + 1
        was = " ".join(source[self.begin : self.end].decode().split())
        return f"line {line}: {_short(was)} → {_short(self.replacement) or 'nothing'}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def mutants(runner: Runner, text: str, focal: Stretch) -> list[Mutant]:
    """All mutants of a function that the grammar can read, in an order drawn by place and change.

    `text`: of the function's file. There are none where no function stands at `focal`.
    """
    source = text.encode()
    function = function_at(runner, text, focal)
    body = function.child_by_field_name("body") if function else None
    if body is None:
        return []
    broken = parser(runner.grammar).parse(source).root_node.has_error
    found = {(each.begin, each.end, each.replacement): each for each in _changes(runner.syntax, source, body)}
    valid = [each for each in found.values() if broken or not _is_broken(runner, each.applied(source))]
    own = source[body.start_byte : body.end_byte].decode()
    return sorted(valid, key=lambda each: draw(0, f"{own}\0{each.begin - body.start_byte}\0{each.replacement}"))


def stub(runner: Runner, text: str, focal: Stretch) -> str | None:
    """The file, with a function that returns at once and gives nothing; None where that cannot be."""
    source = text.encode()
    function = function_at(runner, text, focal)
    if function is None:
        return None
    found = runner.stub(function, source)
    if found is None:
        return None
    begin, end, inserted = found
    changed = Mutant(begin=begin, end=end, replacement=inserted, operator="stub").applied(source)
    return None if _is_broken(runner, changed) else changed


def function_at(runner: Runner, text: str, focal: Stretch) -> Node | None:
    """The outermost function with a body that is part of that stretch of the file."""
    begin, end = (len(text[:offset].encode()) for offset in (focal.begin, focal.end))
    waiting = [parser(runner.grammar).parse(text.encode()).root_node]
    while waiting:
        node = waiting.pop()
        if node.end_byte <= begin or node.start_byte >= end:
            continue
        within = begin <= node.start_byte and node.end_byte <= end
        if within and node.type in runner.syntax.functions and node.child_by_field_name("body"):
            return node
        waiting += reversed(node.children)
    return None


def _is_broken(runner: Runner, text: str) -> bool:
    return parser(runner.grammar).parse(text.encode()).root_node.has_error


def _changes(syntax: Syntax, source: bytes, body: Node) -> Iterator[Mutant]:
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if node.type in syntax.left_alone:
            continue
        for operator, begin, end, replacement in _of(syntax, source, node):
            if source[begin:end] != replacement.encode():
                yield Mutant(begin=begin, end=end, replacement=replacement, operator=operator)
        if node.type not in syntax.strings:
            waiting += reversed(node.children)


Change = tuple[str, int, int, str]
"""The operator's name, where what is changed begins and ends (bytes), and what is in its place."""


def _of(syntax: Syntax, source: bytes, node: Node) -> Iterator[Change]:
    said, place = source[node.start_byte : node.end_byte].decode(), (node.start_byte, node.end_byte)
    if node.type in syntax.operations:
        yield from _swapped(syntax, node)
    if node.type in syntax.negations and node.children[0].type in {"not", "!"}:
        operand = node.children[-1]
        yield "boolean", *place, source[operand.start_byte : operand.end_byte].decode()
    if node.type in syntax.numbers:
        yield "constant", *place, str(int(said) + 1) if said.isdecimal() and said.isascii() else f"({said} + 1)"
    if other := syntax.booleans.get(node.type):
        yield "constant", *place, other
    if node.type in syntax.strings and not _is_docstring(node) and (emptied := _emptied(node, said)):
        yield "constant", *place, emptied
    if node.type == "return_statement" and syntax.returned and (value := _returned(node)):
        yield "return value", value.start_byte, value.end_byte, syntax.returned
    below = f"{node.parent.type} {node.type}" if node.parent else ""
    gone = syntax.removed.get(node.type, syntax.removed.get(below))
    if gone is not None and not any(map(_is_docstring, node.children)):
        yield "statement", *place, gone


def _swapped(syntax: Syntax, node: Node) -> Iterator[Change]:
    # Some grammars have `not in` as two leaves of that name.
    for operator, found in groupby(node.children, key=lambda child: child.type):
        leaves = list(found)
        if not leaves[0].is_named and (swapped := syntax.swaps.get(operator)):
            yield _kind(operator), leaves[0].start_byte, leaves[-1].end_byte, swapped


def _returned(node: Node) -> Node | None:
    """The value that a `return` returns."""
    return next((child for child in node.children[1:] if child.is_named), None)


def _kind(operator: str) -> str:
    return "comparison" if operator in COMPARISONS else "boolean" if operator in BOOLEANS else "arithmetic"


def _is_docstring(node: Node) -> bool:
    """Whether it is a text that stands by itself as a statement."""
    around = node.parent
    return "string" in node.type and around is not None and around.type in {"expression_statement", "block"}


def _emptied(node: Node, said: str) -> str:
    """A text without what is between its quotes; "" of one that is computed from others, or empty."""
    if any(child.type in {"interpolation", "template_substitution"} for child in node.children):
        return ""
    quote = next((each for each in ('"""', "'''", '"', "'", "`") if said.endswith(each)), None)
    prefix, _, inner = said.partition(quote) if quote else ("", "", "")
    return f"{prefix}{quote}{quote}" if quote and len(prefix) <= 2 and inner != quote else ""
