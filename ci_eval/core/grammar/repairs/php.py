"""The rewriting of PHP before its grammar reads it."""

from __future__ import annotations

from ci_eval.core.grammar.repairs.repair import Repair, outside

_LITERALS = (
    rb"//[^\n]*|\#(?!\[)[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\""
    rb"|<<<[ \t]*(?P<quote>['\"]?)(?P<label>\w+)(?P=quote)\n(?:[\s\S]*?^[ \t]*(?P=label)\b|[\s\S]*)"
)

REPAIRS = (
    # `public private(set)`
    Repair(
        outside(rb"\b(?:public|protected|private)\s+(?P<k1>public|protected|private)\((?P<k2>set)\)", _LITERALS),
        lambda m: m[0][: m.start("k1") - m.start()] + b" " * (m.end() - m.start("k1")),
    ),
)
