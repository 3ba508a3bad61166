"""Rewrites C++ before it is parsed: macros, which the grammar cannot know, and `#if` conditions inside statements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ci_eval.core.grammar.parsing import ROUND, Repair, Rewritten, Span, outside, replace_groups, spaces

_LITERALS = (
    rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|R\"(?P<mark>\w{0,16})\((?:[\s\S]*?\)(?P=mark)\"|[\s\S]*)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
    rb"|^[ \t]*\#[ \t]*(?:define|include|error|pragma)\b(?:[^\\\n]|\\[\s\S])*"
)
_MACRO = rb"[A-Z_][A-Z0-9_]+(?:\(" + ROUND + rb"\))?"
_EXPORT = (
    rb"(?:[A-Z_][A-Z0-9_]*(?:_API|EXPORTS?|_PUBLIC|_VISIBLE|_INLINE|_NOINLINE|_NODISCARD|_NORETURN|_DEPRECATED"
    rb"|_MUST_USE_RESULT|_CONST_INIT|_DLL)|[A-Z0-9]+_ATTRIBUTE_[A-Z0-9_]+)"
)
_TRIGGER = re.compile(
    rb"_(?:API|EXPORT|PUBLIC|VISIBLE|INLINE|NOINLINE|NODISCARD|NORETURN|DEPRECATED|ATTRIBUTE|MUST_USE|CONST_INIT|DLL)|EXPORT"
)
_DIRECTIVE = re.compile(
    rb"(?P<skip>/\*(?:[\s\S]*?\*/|[\s\S]*))|"
    rb"^[ \t]*\#[ \t]*(?P<word>if|ifdef|ifndef|elif|else|endif)\b(?:[^\\\n]|\\[\s\S])*",
    re.MULTILINE,
)
_CODE = outside(rb"[^\s]", _LITERALS)


LONGEST = 20_000
"""The size in bytes of the longest condition that is rewritten. Longer conditions enclose most of a file."""


def _conditions(source: bytes) -> Iterator[list[Span]]:
    """Yield the lines `#if`, `#else` … `#endif` of each condition; inner conditions come before outer ones."""
    stack: list[list[Span]] = []
    for match in _DIRECTIVE.finditer(source):
        word = match["word"]
        if match["skip"] is not None:
            continue
        if word.startswith(b"if"):
            stack.append([])
        if stack:
            stack[-1].append(match.span())
            if word == b"endif":
                yield stack.pop()


class Conditions:
    """Removes the lines from `#if` to `#endif` if they are inside a statement.

    The removed lines become a layer because they contain names. If a branch has unbalanced brackets, only the first
    branch is kept.
    """

    always = False

    def apply(self, source: bytes) -> Rewritten:
        """Blank the lines and, if needed, branches. Return the text, the layer and the number of lost words."""
        text, lines, lost = bytearray(source), bytearray(b" " * len(source)), 0
        for directives in _conditions(source):
            first = directives[0][0]
            if directives[-1][1] - first > LONGEST:
                continue
            branches = [(before[1], after[0]) for before, after in pairwise(directives)]
            is_whole = all(_is_whole(source[begin:end]) for begin, end in branches)
            ends = [_last(source[begin:end]) for begin, end in [(max(first - 2000, 0), first), *branches]]
            # If the code before the condition and all branches end a statement, the condition is between statements.
            if is_whole and all(end in b";{}:" for end in ends if end):
                continue
            for begin, end in directives:
                lines[begin : end + 1] = source[begin : end + 1]
                text[begin:end] = b" " * (end - begin)
            for begin, end in [] if is_whole else branches[1:]:
                lost += len(re.findall(rb"[A-Za-z_]\w*", text[begin:end]))
                text[begin:end] = re.sub(rb"[^\n]", b" ", bytes(text[begin:end]))
        return Rewritten(bytes(text), layers=(bytes(lines),) if lines.strip() else (), lost=lost)


def _is_whole(branch: bytes) -> bool:
    """Return whether the brackets in a branch are balanced."""
    depth = 0
    for match in _CODE.finditer(branch):
        if match["skip"] is None:
            depth += (match[0] in b"([{") - (match[0] in b")]}")
            if depth < 0:
                return False
    return depth == 0


def _last(code: bytes) -> bytes:
    """Return the last character outside of whitespace, comments and directives, or an empty string."""
    code = re.sub(
        rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)|^[ \t]*\#(?:[^\\\n]|\\[\s\S])*", b"", code, flags=re.MULTILINE
    ).rstrip()
    return code[-1:]


class MacroArguments:
    """Blanks macros after declarators, as in `int x GUARDED_BY(m);`. Their arguments become a layer."""

    always = False
    _PATTERN = outside(
        rb"(?<=[\w)])\s+(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]*)(?P<arguments>\("
        + ROUND
        + rb"\))(?=\s*(?:[;{=]|override\b))",
        _LITERALS,
    )

    def apply(self, source: bytes) -> Rewritten:
        """Blank each `GUARDED_BY(m)` and move `(m);` to a layer."""
        text, layer = bytearray(source), bytearray(b" " * len(source))
        skipped = 0
        for match in self._PATTERN.finditer(source):
            if match["skip"] is not None:
                skipped = match.end()
            # If a comment precedes the macro, the word before the macro is not code.
            elif match.start() != skipped and not _is_head(source[max(match.start() - 500, 0) : match.start()]):
                begin, end = match.span("arguments")
                text[match.start("name") : end] = b" " * (end - match.start("name"))
                if b"," not in match["arguments"] and len(match["arguments"]) > 2:
                    layer[begin : end + 1] = match["arguments"] + b";"
        return Rewritten(bytes(text), layers=(bytes(layer),) if layer.strip() else ())


def _is_head(code: bytes) -> bool:
    """Return whether a statement follows: code ends in a directive, `if (…)`, `for (…)`, `while (…)` or `else`."""
    if code.rpartition(b"\n")[2].lstrip().startswith(b"#"):
        return True
    depth = 0
    for match in re.finditer(rb"[()]", code[::-1]):
        depth += 1 if match[0] == b")" else -1
        if depth <= 0:
            code = code[: len(code) - match.end()] if code.endswith(b")") else code
            break
    return re.search(rb"\b(?:if|for|while|else)\s*$", code) is not None


REPAIRS = (
    # These macros have no semicolon, so the grammar would misread the code after them.
    Repair(
        re.compile(
            rb"^[ \t]*(?=\w*_)(?=\w*(?:BEGIN|END|NAMESPACE|OBJECT|DECLS))[A-Z_][A-Z0-9_]*"
            rb"(?:\([^()\n]*\))?[ \t]*$",
            re.MULTILINE,
        ),
        spaces,
        always=True,
    ),
    # The grammar does not support the macro in `class X_API Name : Base`.
    Repair(
        re.compile(
            rb"\b(?:class|struct|union)(?P<macros>(?:\s+" + _MACRO + rb")+)"
            rb"(?=\s+[A-Za-z_][\w:]*(?:<[^<>;{}]*>)?\s*(?:final\s*)?(?::(?!:)|\{))"
        ),
        always=True,
    ),
    Repair(re.compile(rb"\b(?:class|struct)(?P<macros>\s+" + _EXPORT + rb")(?=\s+\w+\s*;)"), always=True),
    Repair(re.compile(rb"__(?:attribute__|declspec)\s*\(" + ROUND + rb"\)"), spaces, always=True),
    Conditions(),
    Repair(
        outside(rb"\bif\s*(?:!|(?P<k1>not)\b)?\s*(?P<k2>consteval)(?=\s*\{)", _LITERALS),
        lambda m: b"if (0)".ljust(len(m[0])),
    ),
    # The grammar does not support macros between strings, such as `PRIu64`.
    Repair(outside(rb"(?<=\")\s*\bPRI[a-zA-Z0-9]+\b", rb"//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)"), spaces),
    # The grammar does not support `x.Base::f()`. `x.Base.f()` has the same tokens.
    Repair(
        outside(rb"(?<=[\w)\]])(?:\.|->)\s*(?P<t>[A-Za-z_]\w*)(?P<colons>::)(?=\w+\s*\()", _LITERALS),
        lambda m: replace_groups(m, colons=b"."),
        trigger=re.compile(rb"(?:\.|->)\w+::"),
    ),
    # The grammar does not support `void (Base::*f)();`, so `Base::` is blanked.
    Repair(
        outside(rb"(?<=\()(?P<t>[A-Za-z_]\w*)(?P<colons>::)(?=\*\s*\w+\s*\)\s*\()", _LITERALS),
        trigger=re.compile(rb"::\*"),
    ),
    # The grammar does not support the `=` in `((a = f()) == b)`, so `+` replaces it.
    Repair(
        outside(rb"(?<=[(?:=<>&|!,+*-])\s*\(\s*\w+\s*(?P<sign>=)(?!=)", _LITERALS),
        lambda m: replace_groups(m, sign=b"+"),
        trigger=re.compile(rb"\(\s*\w+\s*=[^=]"),
    ),
    # The grammar does not support the `->*` in `(a->*b)()`, so `+` replaces it.
    Repair(
        outside(rb"(?P<sign>->\*)", _LITERALS), lambda m: replace_groups(m, sign=b"+"), trigger=re.compile(rb"->\*")
    ),
    # The grammar does not support the `*` in `new T*[n]`, so it is blanked.
    Repair(outside(rb"\bnew\s+[\w:]+(?P<stars>\s*\*[\s*]*)(?=\[)", _LITERALS), trigger=re.compile(rb"\*\s*\[")),
    MacroArguments(),
    # A macro may be alone on its line, without a body after it.
    Repair(outside(rb"^[ \t]*[A-Z][A-Z0-9_]{2,}\(" + ROUND + rb"\)[ \t]*$(?!\s*[{:;.=<-])", _LITERALS), spaces),
    Repair(outside(rb"\b" + _EXPORT + rb"\b(?!\s*\()", _LITERALS), spaces, trigger=_TRIGGER),
)
