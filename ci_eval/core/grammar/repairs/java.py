"""The rewriting of Java before its grammar reads it."""

from __future__ import annotations

from ci_eval.core.grammar.repairs.repair import Repair, outside, replace_groups, spaces

REPAIRS = (
    # Imports of modules came with Java 25, and are newer than the grammars.
    Repair(outside(rb"^[ \t]*import\s+(?P<k>module)(?=\s+[\w.]+\s*;)"), lambda m: replace_groups(m, k=b"")),
    # Behind other statements, the call of another constructor is read as that of a method.
    Repair(outside(rb"(?<=[;}])\s*(?P<k>super|this)(?=\s*\()"), lambda m: replace_groups(m, k=b"x" * len(m["k"]))),
    # No grammar reads an annotation right before the dots of `String @A ... x`.
    Repair(outside(rb"@(?:\w+\.)*(?P<t>[A-Z]\w*)(?=\s*\.\.\.)"), spaces),
)
