"""The rewriting of JavaScript and TypeScript before their grammars read them."""

from __future__ import annotations

import re

from ci_eval.core.grammar.parsing import Repair, outside, replace_groups, spaces

_COMMENTS = rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)"
_NAME = rb"(?!(?:in|of|instanceof|as|satisfies)\b)[A-Za-z_$][\w$]*"
_LITERALS = rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|`(?:\\.|[^`\\])*(?:`|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
# The end of a line behind a comment must stay, or the comment would go on.
_LITERALS_AND_LINES = _LITERALS.replace(rb"//[^\n]*", rb"//[^\n]*\n?", 1)

SHARED = (
    # One grammar takes `using` for a name, the other for an operator: `const` defines the same names.
    Repair(
        outside(
            rb"(?<![.\w$])(?:(?P<k1>await)[ \t]+)?(?P<k2>using)(?=[ \t]+" + _NAME + rb"\s*(?:=[^=]|:|of\b))", _LITERALS
        ),
        lambda m: replace_groups(m, k1=b"", k2=b"const"),
        always=True,
        trigger=re.compile(rb"using[ \t]+[A-Za-z_$][\w$]*\s*(?:=[^=]|:|of\b)"),
    ),
    # Attributes of imports are newer than the older grammar.
    Repair(
        outside(
            rb"^[ \t]*(?:import|export)\b[^;'\"`]{0,2000}(?:\"[^\"\n]*\"|'[^'\n]*')"
            rb"(?P<with>[ \t]*(?P<k>with|assert)\s*\{[^{}]*\})",
            _COMMENTS,
        ),
        lambda m: replace_groups(m, **{"with": b""}),
    ),
    # `import defer` and `import source` are newer than the grammars.
    Repair(
        outside(rb"^[ \t]*import[ \t]+(?P<k>defer|source)(?=[ \t]+(?!from\b)[*\w])", _LITERALS),
        lambda m: replace_groups(m, k=b""),
    ),
    Repair(outside(rb"(?<=\bimport)\.(?P<k>defer|source)(?=\()", _LITERALS), spaces),
    # The older grammar does not know `accessor`.
    Repair(outside(rb"\b(?P<k>accessor)(?=[ \t]+[#\w])", _LITERALS), spaces),
)
"""The rewritings that both languages need."""

JAVASCRIPT = (
    *SHARED,
    # Any word may be the new name of what is exported.
    Repair(
        outside(rb"(?<=\bas)(?P<name>[ \t]+(?!default\b)[a-z]+)(?=[ \t\n]*[,}])", _LITERALS),
        lambda m: b" " + b"x" * (len(m["name"]) - 1),
    ),
)

TYPESCRIPT = (
    *SHARED,
    # A declared function without a name gets one.
    Repair(
        outside(rb"\b(?P<k1>default)[ \t]+(?P<k2>function)[ \t]+(?=\()", _LITERALS),
        lambda m: b"function a".rjust(len(m[0])),
    ),
    # The grammars do not know `in` and `out` before type parameters of interfaces.
    Repair(
        outside(
            rb"(?<=[<,])\s*(?:const\s+)?(?:(?P<k1>in)\s+)?(?:(?P<k2>out)\s+)?(?=[A-Z_]\w*\s*(?:[,>=]|extends\b))",
            _LITERALS,
        ),
        lambda m: replace_groups(m, k1=b"", k2=b""),
    ),
    # Behind a type without a semicolon, `<T>` on the next line is read as its arguments.
    Repair(
        outside(
            rb"(?<=[\w\])>}])(?P<end>[ \t]*\n)(?=(?:\s*(?:/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*)){0,5}\s*<[A-Z][^\n]*)",
            _LITERALS_AND_LINES,
        ),
        lambda m: replace_groups(m, end=b";"),
    ),
)
