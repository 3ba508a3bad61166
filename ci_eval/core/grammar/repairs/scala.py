"""The rewriting of Scala before its grammar reads it."""

from __future__ import annotations

from ci_eval.core.grammar.repairs.repair import Repair, outside, replace_groups

_GIVEN = rb"\bgiven\b[^\n={}]{0,1000}?"
REPAIRS = (
    # A given with a body in brackets, or behind a colon, as one that is equal to a block.
    Repair(outside(_GIVEN + rb"(?:\b(?P<k>with)\s*|(?P<s>[ \t]))(?=\{)"), lambda m: replace_groups(m, k=b"=", s=b"=")),
    Repair(outside(_GIVEN + rb"(?P<colon>:)[ \t]*$"), lambda m: replace_groups(m, colon=b"=")),
)
