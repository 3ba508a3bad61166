"""The rewriting of Scala before its grammar reads it."""

from __future__ import annotations

from ci_eval.core.grammar.repairs.repair import Repair, outside, replace_groups

_GIVEN = rb"\bgiven\b[^\n={}]{0,1000}?"
REPAIRS = (
    # A given with a body in brackets, or behind a colon, as one that is equal to a block.
    Repair(outside(_GIVEN + rb"(?:\b(?P<k>with)\s*|(?P<s>[ \t]))(?=\{)"), lambda m: replace_groups(m, k=b"=", s=b"=")),
    # The brackets round the cases of a type, which the older grammar knows without.
    Repair(
        outside(rb"\btype\b[^\n={}]{0,300}=[^\n={}]{0,300}\bmatch[ \t]*(?P<open>\{)[ \t]*[^{}]{0,5000}(?P<close>\})"),
        lambda m: replace_groups(m, open=b"", close=b""),
    ),
)
