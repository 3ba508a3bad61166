"""The rewriting of Scala before its grammar reads it."""

from __future__ import annotations

from ci_eval.core.grammar.repairs.repair import ROUND, Repair, outside, replace_groups

_GIVEN = rb"\bgiven\b[^\n={}]{0,1000}?"
REPAIRS = (
    # A given with a body in brackets, or behind a colon, as one that is equal to a block.
    Repair(outside(_GIVEN + rb"(?:\b(?P<k>with)\s*|(?P<s>[ \t]))(?=\{)"), lambda m: replace_groups(m, k=b"=", s=b"=")),
    Repair(outside(_GIVEN + rb"(?P<colon>:)[ \t]*$"), lambda m: replace_groups(m, colon=b"=")),
    # The brackets round the cases of a type, which the older grammar knows without.
    Repair(
        outside(rb"\btype\b[^\n={}]{0,300}=[^\n={}]{0,300}\bmatch[ \t]*(?P<open>\{)[ \t]*[^{}]{0,5000}(?P<close>\})"),
        lambda m: replace_groups(m, open=b"", close=b""),
    ),
    # `extension (a: A) def f: B`, which the older grammar knows only with a body, as a method with one more list of
    # parameters.
    Repair(
        outside(
            rb"\b(?P<k1>extension)[ \t]*(?:\[[^\n()]{0,200}\][ \t]*)?(?:\(" + ROUND + rb"\)[ \t]*){1,4}"
            rb"(?P<k2>def)(?P<name>[ \t]+[^\s\[(:]+(?:\[\w+(?:,[ \t]*\w+)*\])?)"
        ),
        lambda m: replace_groups(m, k1=b"def ext", k2=b"", name=b""),
    ),
)
