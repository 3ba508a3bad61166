"""The rewriting of Scala before its grammar reads it."""

from __future__ import annotations

import re

from ci_eval.core.grammar.repairs.repair import ROUND, Match, Repair, outside, replace_groups

_GIVEN = rb"\bgiven\b[^\n={}]{0,1000}?"
_CLAUSE = rb"(?:\[[^\[\]]{0,500}(?:\[[^\[\]]{0,500}\][^\[\]]{0,500}){0,9}\]|\((?:using\s)?\s*\w+\s*:" + ROUND + rb"\))"


def _match_type(match: Match) -> bytes:
    """Return `X match { case A => B; case C => D }` with a line for each case."""
    head = match.start("cases") - match.start()
    return match[0][:head] + re.sub(rb"[{};]", b"\n", match["cases"])


REPAIRS = (
    # A given with a body in brackets, or behind a colon, as one that is equal to a block.
    Repair(outside(_GIVEN + rb"(?:\b(?P<k>with)\s*|(?P<s>[ \t]))(?=\{)"), lambda m: replace_groups(m, k=b"=", s=b"=")),
    # `given a: [T] => (b: B) => C` as `given a [T] (b: B): C`.
    Repair(
        outside(
            rb"\bgiven\b\s+(?:\w+\s*(?P<colon>:)\s*)?"
            + _CLAUSE
            + rb"\s*(?P<a1>=>)(?:\s*"
            + _CLAUSE
            + rb"\s*(?P<a2>=>))?"
        ),
        lambda m: replace_groups(m, colon=b"", a1=b"" if m["a2"] else b":", a2=b":"),
    ),
    Repair(outside(rb"\btype\b[^\n={}]{0,300}=[^\n={}]{0,300}\bmatch[ \t]*(?P<cases>\{[^{}]{0,5000}\})"), _match_type),
    # `class A @Inject() (b: B)`, whose parameters would be arguments of the annotation.
    Repair(
        outside(rb"\bclass\s+\w+(?:\[[^\[\]\n]{0,200}\])?\s+(?P<a>@(?P<t>\w+)\(\))(?=\s*\()"),
        lambda m: replace_groups(m, a=b""),
        always=True,
        trigger=re.compile(rb"@\w+\(\)\s*\("),
    ),
)
