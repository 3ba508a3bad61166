"""The rewriting of PHP before its grammar reads it. The older of the two grammars ends at PHP 8.1."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ci_eval.core.grammar.repairs.repair import Match, Repair, Rewritten, Span, outside, replace_groups, spaces

_LITERALS = (
    rb"//[^\n]*|\#(?!\[)[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
    rb"|<<<[ \t]*(?P<quote>['\"]?)(?P<label>\w+)(?P=quote)\n(?:[\s\S]*?^[ \t]*(?P=label)\b|[\s\S]*)"
)
_BRACKET = outside(rb"[][(){}]", _LITERALS)
_PROPERTY = outside(
    rb"\$\w+[^;{}()$]{0,500}(?P<open>\{)(?=\s*(?:\#\[[^\]]*\]\s*)*(?:final\s+)?&?\s*[gs]et\s*(?:=>|[{;(]))", _LITERALS
)
_HOOK = re.compile(rb"(?:\#\[[^\]]*\]\s*)*(?:(?P<final>final)\s+)?&?\s*(?P<name>[gs]et)\s*(?P<next>\(|=>|\{|;)")


def _closing(source: bytes, begin: int) -> int:
    """Return the offset behind the bracket that closes the one at `begin`; the end of the text if there is none."""
    depth = 0
    for match in _BRACKET.finditer(source, begin):
        if match["skip"] is None:
            depth += 1 if match[0] in b"([{" else -1
            if not depth:
                return match.end()
    return len(source)


def _statement_end(source: bytes, begin: int) -> int:
    """Return the offset behind the `;` that ends an expression; the end of the text if there is none."""
    at = begin
    while at < len(source):
        match = re.compile(rb"[;([{]").search(source, at)
        if match is None:
            break
        if match[0] == b";":
            return match.end()
        at = _closing(source, match.start())
    return len(source)


def _layer(source: bytes) -> bytearray:
    """Return a text of the same length that is empty but for the mark behind which code begins."""
    # Without the mark, the grammar takes all for text.
    layer, tag = bytearray(b" " * len(source)), max(source.find(b"<?php"), 0)
    layer[tag : tag + 5] = b"<?php"
    return layer


class Hooks:
    """A rewriting that takes the hooks of properties out, and puts their code and parameters into texts of their
    own."""

    always = False

    def apply(self, source: bytes) -> Rewritten:
        """Replace `$x { get => E; set(T $v) { S } }` with `$x ;`, with `E;` and `{ S }` in one layer, `fn(T $v)=>1;` in
        another."""
        text = bytearray(source)
        code, parameters = _layer(source), _layer(source)
        blank = bytes(code)
        keywords: list[Span] = []
        for match in _PROPERTY.finditer(source):
            if match["skip"] is None:
                begin, end = match.start("open"), _closing(source, match.start("open"))
                text[begin:end] = b" " * (end - begin)
                # A promoted parameter of a constructor needs no semicolon.
                if source[end:].lstrip()[:1] not in {b",", b")"}:
                    text[begin : begin + 1] = b";"
                for hook in _hooks(source, begin + 1, end - 1):
                    keywords += [hook.span(name) for name in ("final", "name") if hook[name]]
                    self._copy(source, hook, code, parameters)
        layers = [bytes(layer) for layer in (code, parameters) if layer != blank]
        return Rewritten(bytes(text), tuple(keywords), layers=tuple(layers))

    def _copy(self, source: bytes, hook: Match, code: bytearray, parameters: bytearray) -> None:
        at = hook.start("next")
        if source[at : at + 1] == b"(":
            end = _closing(source, at)
            # `fn` fits in front of the bracket: the word `set` was there.
            parameters[at - 2 : end] = b"fn" + source[at:end]
            parameters[end : end + 4] = b"=>1;"
            at = end + len(source[end:]) - len(source[end:].lstrip())
        if source.startswith(b"=>", at):
            end = _statement_end(source, at + 2)
            code[at + 2 : end] = source[at + 2 : end]
        elif source.startswith(b"{", at):
            end = _closing(source, at)
            code[at:end] = source[at:end]


def _hooks(source: bytes, begin: int, end: int) -> Iterator[Match]:
    while hook := _HOOK.search(source, begin, end):
        yield hook
        at = hook.start("next")
        begin = _closing(source, at) if source[at : at + 1] in {b"(", b"{"} else hook.end()
        if source[at : at + 1] == b"=" or source[begin:].lstrip()[:2] == b"=>":
            begin = _statement_end(source, begin)
        elif source[at : at + 1] == b"(" and source[begin:].lstrip()[:1] == b"{":
            begin = _closing(source, source.index(b"{", begin))


_ENUM = outside(rb"\benum\s+\w+[^{};()]{0,500}(?P<open>\{)", _LITERALS)
_CONSTANT = outside(
    rb"\b(?:(?:(?P<k1>final|public|protected|private)\s+)?(?P<k2>const)|case)\b[^=;(){}]{0,300}(?P<equals>=)(?![>=])",
    _LITERALS,
)


class EnumConstants:
    """A rewriting that makes a constant of an enum one of its cases, and reads the values of both in a layer of their
    own."""

    always = False

    def apply(self, source: bytes) -> Rewritten:
        """Replace `const A = B;` with `case  A ;`, with `B;` in a layer."""
        text, values, keywords = bytearray(source), _layer(source), list[Span]()
        empty = bytes(values)
        for enum in _ENUM.finditer(source):
            if enum["skip"] is not None:
                continue
            begin = enum.start("open")
            for match in _CONSTANT.finditer(source, begin, _closing(source, begin)):
                if match["skip"] is None:
                    at, end = match.start("equals"), _statement_end(source, match.end())
                    values[at + 1 : end] = source[at + 1 : end]
                    text[at:end] = b";".ljust(end - at)
                    if match["k2"]:
                        text[match.start() : match.end("k2")] = b"case".ljust(match.end("k2") - match.start())
                        keywords += [match.span(name) for name in ("k1", "k2") if match[name]]
        return Rewritten(bytes(text), tuple(keywords), layers=(bytes(values),) if values != empty else ())


REPAIRS = (
    # `public private(set)`, and `private(set)` alone.
    Repair(
        outside(rb"\b(?:public|protected|private)\s+(?P<k1>public|protected|private)\((?P<k2>set)\)", _LITERALS),
        lambda m: m[0][: m.start("k1") - m.start()] + b" " * (m.end() - m.start("k1")),
    ),
    Repair(outside(rb"\b(?:public|protected|private)\((?P<k>set)\)", _LITERALS), lambda m: m[0][:-5] + b"     "),
    Hooks(),
    # The pipe came with PHP 8.5; `||` is as long, and has two operands as well.
    Repair(outside(rb"\|>", _LITERALS), lambda _: b"||"),
    Repair(
        outside(rb"\benum\s+\w+\s*(?P<type>:\s*(?P<k>string|int))(?=\s+implements\b)", _LITERALS),
        lambda m: replace_groups(m, type=b""),
    ),
    EnumConstants(),
    # Final constants came with PHP 8.1.
    Repair(outside(rb"\b(?P<k1>final)\s+(?=(?:public|protected|private)\s+const\b)", _LITERALS), spaces),
    # Types of constants came with PHP 8.3.
    Repair(
        outside(
            rb"\bconst\s+(?:(?P<k>array|bool|float|int|string|mixed|iterable|null|callable|object|self|static)|"
            rb"(?P<t>[A-Z]\w*))(?P<more>(?:\s*\|\s*\w+)*)\s+(?=\w+\s*=)",
            _LITERALS,
        ),
        lambda m: b"const" + b" " * (len(m[0]) - 5),
    ),
    # Intersections within a union came with PHP 8.2.
    Repair(
        outside(rb"\((?P<all>\s*[\w\\]+\s*(?:&\s*[\w\\]+\s*)+)\)(?=\s*(?:\||\$|&?\s*\.\.\.))", _LITERALS),
        lambda m: b" " + m["all"].replace(b"&", b"|") + b" ",
    ),
    Repair(
        outside(rb"(?<=\|)(?P<before>\s*)\((?P<all>\s*[\w\\]+\s*(?:&\s*[\w\\]+\s*)+)\)", _LITERALS),
        lambda m: m["before"] + b" " + m["all"].replace(b"&", b"|") + b" ",
    ),
    # Since PHP 8.4, `new A()->b` needs no brackets around `new`.
    Repair(outside(rb"\b(?P<k>new)\s+(?P<t>\w+)(?=\([^()]*\)\s*\??->)", _LITERALS), lambda m: replace_groups(m, k=b"")),
    # Since PHP 8.3, the name of a constant may be in a variable.
    Repair(
        outside(rb"\b(?P<t>[A-Z]\w*)::\{(?P<name>\$\w+)\}", _LITERALS),
        lambda m: m["t"] + b" [ " + m["name"] + b"]",
    ),
)
