"""The rewriting of Kotlin before its grammar reads it."""

from __future__ import annotations

import re

from ci_eval.core.grammar.parsing import ROUND, Match, Repair, outside, replace_groups


def _dollars(match: Match) -> bytes:
    """Return `$$"a $b $$c"`, in which `$b` is text, as a text in which one `$` is enough."""
    before, text = match["dollars"], match["text"]
    inner = re.sub(
        rb"\$+",
        lambda run: run[0].replace(b"$", b" ")[:-1] + b"$" if len(run[0]) >= len(before) else b" " * len(run[0]),
        text,
    )
    return b" " * len(before) + inner


def _context(match: Match) -> bytes:
    """Return `context(a: A)` as a function's head, and `context(A)` as a value's type."""
    named = re.match(rb"\s*\w+\s*:", match["inner"])
    before, after = (b"fun con(", b")") if named else (b"val c:x<", b">")
    return match["indent"] + before + match["inner"] + after


REPAIRS = (
    Repair(
        re.compile(
            rb"(?P<skip>/(?:/[^\n]*|\*[\s\S]*?\*/))|(?P<dollars>\$\$+)(?P<text>\"\"\"[\s\S]*?\"\"\"+|"
            rb"\"(?:\\.|[^\"\\\n])*\")"
        ),
        _dollars,
    ),
    Repair(outside(rb"^(?P<indent>[ \t]*)(?P<k>context)\((?P<inner>" + ROUND + rb")\)(?=\s*(?:@|\w))"), _context),
    Repair(
        outside(rb"(?:^|[{;])[ \t]*!?(?:is|in)\b[^\n{}]{0,200}?[ \t](?P<k>if)\b(?=[^\n]{0,200}?->)"),
        lambda m: replace_groups(m, k=b","),
    ),
    Repair(
        outside(rb"(?:^|[{;])[ \t]*(?P<k1>else)[ \t]+(?P<k2>if)\b(?=[^\n{]{0,200}?->)"),
        lambda m: replace_groups(m, k1=b"", k2=b""),
    ),
    # `@A @B() internal expect annotation class C()`, which would be a call of `expect`.
    Repair(
        outside(rb"\bexpect[ \t]+(?P<k>annotation)(?=\s+class\b)"),
        lambda m: replace_groups(m, k=b""),
        always=True,
        trigger=re.compile(rb"expect[ \t]+annotation"),
    ),
    # `: A by a {`, which would be a call of `a` with a lambda.
    Repair(
        outside(
            rb"^(?:[^\n{}/\"]{0,200}\b(?:class|object)\b[^\n{}/\"]{0,300}|[ \t]*\)[ \t]*)"
            rb":[^\n{}=/\"]{0,300}[ \t](?P<k>by)(?=[ \t]+[\w.]+(?:\([^()\n]{0,200}\))?[ \t]*\{)"
        ),
        lambda m: replace_groups(m, k=b","),
    ),
    # A constructor on a line of its own.
    Repair(
        outside(
            rb"\bclass\s+\w+(?:[ \t]*<[^<>{}()]{0,200}>)?(?P<gap>(?:[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/)){0,2000}\*/)?\n){1,5}\s*)(?=(?:@\w+\s+|[a-z]+\s+){0,5}constructor\b)"
        ),
        lambda m: replace_groups(m, gap=b""),
    ),
    # `actual val x: Int` as a parameter of a constructor; `public` is a modifier as long.
    Repair(outside(rb"\b(?P<k>actual)(?=\s+va[lr]\b)"), lambda _: b"public"),
    # `A<*>::f`
    Repair(outside(rb"\b[A-Z]\w*(?P<type><\*>)(?=::)"), lambda m: replace_groups(m, type=b"")),
    # `return !isEmpty()`, which would be `return !is Empty`.
    Repair(
        outside(rb"\breturn(?:@\w+)?[ \t]+(?P<not>!)(?=i[sn]\w)"),
        lambda m: replace_groups(m, **{"not": b""}),
        always=True,
        trigger=re.compile(rb"return(?:@\w+)?[ \t]+!i[sn]\w"),
    ),
    # `"\$$name"`
    Repair(re.compile(rb"(?P<dollar>\\\$)(?=\$)"), lambda _: b"  ", always=True, trigger=re.compile(rb"\\\$\$")),
    # `{ val x: Int }` on one line is read only if a line ends before the bracket.
    Repair(outside(rb"[ \t](?=\})"), lambda _: b"\n"),
)
