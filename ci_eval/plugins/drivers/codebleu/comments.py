"""A function that removes comments as MERA CODE's CodeBLEU does, and a tokenizer for Python.

The tokenizer works as the standard library of Python 3.8 to 3.11 does. From 3.12 on, `tokenize` takes f-strings apart
and fails at other texts, so the remaining text would depend on the version of Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator


class Unreadable(Exception):
    """A text in which a string or bracket is not closed, or a line ends a block that did not begin."""


# The expressions and their order are those of CPython's Lib/tokenize.py. Numbers are read as names, and operators as
# single characters, since these tokens stay in the text anyway.
_PREFIX = r"(?:[bB][rR]?|[rR][bBfF]?|[fF][rR]?|[uU])?"
_LINE_OF_STRING = r"'[^\n'\\]*(?:\\.[^\n'\\]*)*(?:'|\\\r?\n)|" r'"[^\n"\\]*(?:\\.[^\n"\\]*)*(?:"|\\\r?\n)'
_NEXT = re.compile(
    rf"[ \f\t]*(?:(?P<joined>\\\r?\n)|(?P<end>\Z)|(?P<comment>#[^\r\n]*)|(?P<long>{_PREFIX}(?:'''|\"\"\"))|"
    rf"(?P<newline>\r?\n)|(?P<sign>!=|[%&()*+,\-./:;<=>@\[\]^{{|}}~])|"
    rf"(?P<string>{_PREFIX}(?:{_LINE_OF_STRING}))|(?P<name>\w+))"
)
_CLOSING = {
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*'"),
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"'),
    "'''": re.compile(r"[^'\\]*(?:(?s:\\.|'(?!''))[^'\\]*)*'''"),
    '"""': re.compile(r'[^"\\]*(?:(?s:\\.|"(?!""))[^"\\]*)*"""'),
}
_TAB = 8
"""A tab ends at the next multiple of these columns."""


def read(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind (comment, string, newline, indent or another) of each token, its begin and its end. Tokens without
    a text end a line or a block. Raises Unreadable."""
    at, brackets, indents = 0, 0, [0]
    is_new, is_joined = True, False
    while at < len(text):
        if is_new and not brackets and not is_joined:
            begin, line_end = at, text.find("\n", at) + 1 or len(text)
            line = text[begin:line_end]
            at += len(line) - len(line.lstrip(" \f\t"))
            if at == len(text):
                return
            if text[at] in "#\r\n":
                end = begin + len(line.rstrip("\r\n")) if text[at] == "#" else at
                yield "comment", at, end
                yield "end of line", end, line_end
                at = line_end
                continue
            yield from _read_indentation(text, begin, at, indents)
        is_new = is_joined = False
        match = _NEXT.match(text, at)
        kind = (match.lastgroup or "") if match else "unknown"
        begin, at = match.span(kind) if match else (at, at + 1)
        word = text[begin:at]
        if kind == "joined":
            is_new = is_joined = True
            continue
        if kind == "long":
            kind, at = _close(text, at, word[-3:])
        elif kind == "string" and word.endswith("\n"):
            kind, at = _close(text, at, word.lstrip("bBrRuUfF")[0])
            is_new = kind != "string"
        elif kind == "newline":
            is_new, kind = True, kind if brackets <= 0 else "end of line"
        elif kind == "sign":
            brackets += (word in "([{") - (word in ")]}")
        if kind != "end":
            yield kind, begin, at
    if brackets or is_joined:
        raise Unreadable("the text ends within brackets or after a backslash")
    if text[-1:] not in ("", "\r", "\n") and not text.rpartition("\n")[2].strip().startswith("#"):
        yield "newline", at, at


def _read_indentation(text: str, begin: int, end: int, indents: list[int]) -> Iterator[tuple[str, int, int]]:
    # As in CPython, a form feed starts the columns again.
    column = len(text[begin:end].rpartition("\f")[2].expandtabs(_TAB))
    if column > indents[-1]:
        indents.append(column)
        yield "indent", begin, end
    while column < indents[-1]:
        if column not in indents:
            raise Unreadable("the indentation of a line matches no earlier line")
        indents.pop()
        yield "dedent", end, end


def _close(text: str, at: int, quote: str) -> tuple[str, int]:
    """Return `string` and the end of the string that is open at `at`. If a line of it neither closes it nor ends in a
    backslash, return another kind and the end of that line."""
    if len(quote) == 3 and (closed := _CLOSING[quote].match(text, at)):
        return "string", closed.end()
    while at < len(text) and len(quote) == 1:
        end = text.find("\n", at) + 1 or len(text)
        if closed := _CLOSING[quote].match(text, at, end):
            return "string", closed.end()
        if not text.endswith(("\\\n", "\\\r\n"), at, end):
            return "broken string", end
        at = end
    raise Unreadable("the text ends within a string")


# After `remove_comments_and_docstrings` of Microsoft's CodeXGLUE (MIT). It knows no template strings, regular
# expressions or raw strings, so `//` in one of these begins a comment, and a quote in one of these a string.
_COMMENT_OR_STRING = re.compile(r"//.*?$|/\*.*?\*/|'(?:\\.|[^\\'])*'|\"(?:\\.|[^\\\"])*\"", re.DOTALL | re.MULTILINE)


def strip_comments(language: str, text: str) -> str:
    """Return the text without comments and empty lines, in Python also without docstrings; unreadable Python stays."""
    if language == "python":
        parts: list[str] = []
        before, last = "indent", 0
        try:
            for kind, begin, end in read(text):
                line = text.rfind("\n", 0, begin) + 1
                parts.append(" " * (begin - max(last, line)))
                # As in the original, a string at the beginning of a statement is taken for a docstring, and one at the
                # beginning of a line within brackets as well.
                is_docstring = kind == "string" and (before in ("indent", "newline") or begin == line)
                if kind != "comment" and not is_docstring:
                    parts.append(text[begin:end])
                before, last = kind, end
        except Unreadable:
            return text
        stripped = "".join(parts)
    else:
        stripped = _COMMENT_OR_STRING.sub(lambda match: " " if match[0].startswith("/") else match[0], text)
    return "\n".join(line for line in stripped.split("\n") if line.strip())
