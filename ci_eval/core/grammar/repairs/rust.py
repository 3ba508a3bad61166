"""The rewriting of Rust before its grammar reads it: macros that take expressions become calls."""

from __future__ import annotations

import re

from ci_eval.core.grammar.repairs.repair import Repair, Rewritten, outside, spaces

_LITERALS = (
    rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|\bb?r(?P<hashes>\#*)\"(?:[\s\S]*?\"(?P=hashes)|[\s\S]*)"
    rb"|\"(?:\\[\s\S]|[^\"\\])*\"|'(?:\\[^\n']+|\\'|[^\\\n'])'"
)
_PARTS = re.compile(
    rb"(?:" + _LITERALS + rb")|\b(?:(?:debug_)?assert(?:_eq|_ne)?|dbg|e?print(?:ln)?|format(?:_args)?|panic|todo"
    rb"|unimplemented|unreachable|vec|write(?:ln)?)(?P<head>![ \t\n]*[(\[])|(?P<bracket>[()\[\]{}])|(?P<semicolon>;)"
)


class _Calls:
    """A rewriting of `vec![a; n]` into `vec (a, n)`, since a grammar does not look into macros."""

    always = True

    def apply(self, source: bytes) -> Rewritten:
        """Return the text with the macros of the standard library that take expressions as calls."""
        out = bytearray(source)
        # For each bracket that is open: whether it was rewritten.
        opened: list[bool] = []
        for match in _PARTS.finditer(source):
            if match["head"]:
                begin, end = match.span("head")
                out[begin : begin + 1] = b" "
                out[end - 1 : end] = b"("
                opened.append(True)
            elif match["semicolon"]:
                if opened and opened[-1]:
                    out[match.start() : match.end()] = b","
            elif match["bracket"]:
                if match[0] in b"([{":
                    opened.append(False)
                elif opened and opened.pop():
                    out[match.start() : match.end()] = b")"
        return Rewritten(bytes(out))


def _keywords(pattern: bytes) -> Repair:
    return Repair(outside(pattern, _LITERALS), spaces)


REPAIRS = (
    _Calls(),
    # The grammar takes `use` for a type.
    Repair(outside(rb"\+\s*(?P<k>use)<[^<>\n]*>", _LITERALS), spaces, always=True, trigger=re.compile(rb"\buse<")),
    _keywords(rb"\b(?P<k>safe)(?=\s+(?:fn|static)\b)"),
)
