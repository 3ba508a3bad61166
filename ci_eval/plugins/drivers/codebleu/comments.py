"""The removal of comments as in MERA CODE's CodeBLEU, and a tokenizer for Python.

The tokenizer works as `tokenize` of Python 3.8 to 3.11. Since 3.12, `tokenize` splits f-strings into parts and fails on
other texts, so the result would depend on the version of Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator


class Unreadable(Exception):
    """Raised if a string or bracket is not closed, or if a line's indentation fits no block around it."""


# The expressions and their order are from CPython's Lib/tokenize.py. Numbers are read as names, and operators as single
# characters: these tokens are kept, so their kind does not matter.
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
"""The distance of two tab stops, in columns."""


def read(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the kind (comment, string, newline, indent or another), begin and end of each token. Tokens that mark the
    end of a line or block may be empty. Raises Unreadable."""
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
    # As in CPython, columns are counted from the last form feed.
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
    """Return `string` and the end of the string that is open at `at`. If a line neither closes the string nor ends in a
    backslash, return another kind and the end of this line."""
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


# After `remove_comments_and_docstrings` of Microsoft's CodeXGLUE (MIT). The pattern knows no template strings, regular
# expressions and raw strings. So `//` inside them begins a comment, and a quote inside them begins a string.
_COMMENT_OR_STRING = re.compile(r"//.*?$|/\*.*?\*/|'(?:\\.|[^\\'])*'|\"(?:\\.|[^\\\"])*\"", re.DOTALL | re.MULTILINE)


def strip_comments(language: str, text: str) -> str:
    """Remove comments and empty lines, and in Python also docstrings. Python that is unreadable is not changed."""
    if language == "python":
        parts: list[str] = []
        before, last = "indent", 0
        try:
            for kind, begin, end in read(text):
                line = text.rfind("\n", 0, begin) + 1
                parts.append(" " * (begin - max(last, line)))
                # As in the original, any string at the beginning of a statement, or of a line within brackets, counts
                # as a docstring.
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
