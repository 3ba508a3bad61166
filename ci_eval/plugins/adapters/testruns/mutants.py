"""Mutants: wrong versions of a function, on which a good test fails.

Each mutant changes one thing in the function's body. There are six operators, as in most tools for mutation testing:

comparison (`<` → `<=`, `==` → `!=` …), arithmetic (`+` → `-`, `*` → `/` …), boolean (`and` → `or`, `not x` → `x`),
constant (a number → one more, `true` → `false`, a text → an empty text), return value (→ nothing), statement (removed).

Some mutants behave like the function, so no test can kill them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from ci_eval.core.base.chance import draw
from ci_eval.core.grammar.syntax import Node, parse_tree
from ci_eval.core.model import Stretch
from ci_eval.plugins.adapters.testruns.sandbox import Runner, Syntax

LONGEST = 60
"""A longer text is cut to this number of characters."""


class Mutant(msgspec.Struct, frozen=True):
    """A replacement of a range; offsets are in bytes."""

    begin: int
    end: int
    replacement: str

    def apply_mutation(self, source: bytes) -> str:
        return (source[: self.begin] + self.replacement.encode() + source[self.end :]).decode()

    def described(self, text: str, focal: Stretch) -> str:
        """Return for example `line 3: < → <=`. Line 1 is the first line of the function."""
        source = text.encode()
        line = source.count(b"\n", len(text[: focal.begin].encode()), self.begin) + 1
        before = " ".join(source[self.begin : self.end].decode().split())
        return f"line {line}: {_short(before)} → {_short(self.replacement) or 'nothing'}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def mutants(runner: Runner, text: str, focal: Stretch) -> list[Mutant]:
    """Return the mutants of the function at `focal`, if any, in a random order that depends only on the function."""
    source = text.encode()
    function = find_function(runner, text, focal)
    if function is None:
        return []
    _, body = function
    # A grammar that cannot read the original file cannot tell which mutants are broken.
    broken = _is_broken(runner, text)
    changes: dict[Mutant, None] = {}
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if node.type in runner.syntax.left_alone:
            continue
        for mutant in _changes_of(node, runner.syntax, source):
            if source[mutant.begin : mutant.end] != mutant.replacement.encode():
                changes[mutant] = None
        if node.type not in runner.syntax.strings:
            waiting += reversed(node.children)
    valid = [mutant for mutant in changes if broken or not _is_broken(runner, mutant.apply_mutation(source))]
    own = source[body.start_byte : body.end_byte].decode()
    return sorted(valid, key=lambda mutant: draw(0, f"{own}\0{mutant.begin - body.start_byte}\0{mutant.replacement}"))


def stub(runner: Runner, text: str, focal: Stretch) -> str | None:
    """Return the file with a stub of the function at `focal`, or None if there is no function or valid stub."""
    source = text.encode()
    function = find_function(runner, text, focal)
    change = runner.stub(*function, source) if function else None
    changed = Mutant(*change).apply_mutation(source) if change else None
    return None if changed is None or _is_broken(runner, changed) else changed


def find_function(runner: Runner, text: str, focal: Stretch) -> tuple[Node, Node] | None:
    """Return the outermost function with a body within `focal`, and its body, or None."""
    begin, end = (len(text[:offset].encode()) for offset in (focal.begin, focal.end))
    waiting = [parse_tree(text.encode(), runner.name).root_node]
    while waiting:
        node = waiting.pop()
        if node.end_byte <= begin or node.start_byte >= end:
            continue
        within = begin <= node.start_byte and node.end_byte <= end
        if within and node.type in runner.syntax.functions and (body := node.child_by_field_name("body")):
            return node, body
        waiting += reversed(node.children)
    return None


def _is_broken(runner: Runner, text: str) -> bool:
    return parse_tree(text.encode(), runner.name).root_node.has_error


def _changes_of(node: Node, syntax: Syntax, source: bytes) -> Iterator[Mutant]:
    code, span = source[node.start_byte : node.end_byte].decode(), (node.start_byte, node.end_byte)
    if node.type in syntax.operations:
        # In some grammars, `not in` consists of two leaves with that name.
        for operator, children in groupby(node.children, key=lambda child: child.type):
            leaves = list(children)
            if not leaves[0].is_named and (swapped := syntax.swaps.get(operator)):
                yield Mutant(leaves[0].start_byte, leaves[-1].end_byte, swapped)
    if node.type in syntax.negations and node.children[0].type in {"not", "!"}:
        operand = node.children[-1]
        yield Mutant(*span, source[operand.start_byte : operand.end_byte].decode())
    if node.type in syntax.numbers:
        yield Mutant(*span, str(int(code) + 1) if code.isdecimal() and code.isascii() else f"({code} + 1)")
    if opposite := syntax.booleans.get(node.type):
        yield Mutant(*span, opposite)
    if node.type in syntax.strings and not _is_docstring(node) and (emptied := _empty(node, code)):
        yield Mutant(*span, emptied)
    value = next((child for child in node.children[1:] if child.is_named), None)
    if node.type == "return_statement" and syntax.returned and value:
        yield Mutant(value.start_byte, value.end_byte, syntax.returned)
    below = f"{node.parent.type} {node.type}" if node.parent else ""
    gone = syntax.removed.get(node.type, syntax.removed.get(below))
    if gone is not None and not any(map(_is_docstring, node.children)):
        yield Mutant(*span, gone)


def _is_docstring(node: Node) -> bool:
    around = node.parent
    return "string" in node.type and around is not None and around.type in {"expression_statement", "block"}


def _empty(node: Node, code: str) -> str:
    if any(child.type in {"interpolation", "template_substitution"} for child in node.children):
        return ""
    quote = next((mark for mark in ('"""', "'''", '"', "'", "`") if code.endswith(mark)), None)
    prefix, _, inner = code.partition(quote) if quote else ("", "", "")
    # Prefixes such as `rb` have at most two letters.
    return f"{prefix}{quote}{quote}" if quote and len(prefix) <= 2 and inner != quote else ""
