"""The rewriting of Go before its grammar reads it."""

from __future__ import annotations

from ci_eval.core.grammar.repairs.repair import Repair, outside, replace_groups

_LITERALS = rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|`[^`]*`|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"

# An alias with parameters is read as a type of its own.
REPAIRS = (
    Repair(
        outside(rb"^[ \t]*(?:type\s+)?\w+\[[^\]\n]+\]\s*(?P<alias>=)(?!=)", _LITERALS),
        lambda m: replace_groups(m, alias=b""),
    ),
)
