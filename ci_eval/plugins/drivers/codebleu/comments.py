"""A function that removes comments as MERA CODE's CodeBLEU does, and a tokenizer for Python.

The tokenizer works as the standard library of Python 3.8 to 3.11 does. From 3.12 on, `tokenize` takes f-strings apart
and fails at other texts, so the remaining text would depend on the version of Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Token = tuple[str, str, tuple[int, int], tuple[int, int]]
"""A tuple: kind (comment, string, newline, indent or other), text, begin and end (lines from 1, columns from 0)."""


class Unreadable(Exception):
    """A text in which a string or bracket is not closed, or a line ends a block that did not begin."""


# The expressions and the order in which they are tried are those of CPython's Lib/tokenize.py.
_DIGITS = r"[0-9](?:_?[0-9])*"
_EXPONENT = rf"[eE][-+]?{_DIGITS}"
_FLOAT = rf"(?:(?:{_DIGITS}\.(?:{_DIGITS})?|\.{_DIGITS})(?:{_EXPONENT})?|{_DIGITS}{_EXPONENT})"
_WHOLE = r"0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?0)*|[1-9](?:_?[0-9])*"
_PREFIX = r"(?:[bB][rR]?|[rR][bBfF]?|[fF][rR]?|[uU])?"
_SIGN = (
    r"//=|>>=|<<=|\*\*=|\.\.\.|!=|%=|&=|\*\*|\*=|\+=|-=|->|//|/=|:=|<<|<=|==|>=|>>|@=|\^=|\|=|"
    r"[%&()*+,\-./:;<=>@\[\]^{|}~]"
)
_LINE_OF_STRING = r"'[^\n'\\]*(?:\\.[^\n'\\]*)*(?:'|\\\r?\n)|" r'"[^\n"\\]*(?:\\.[^\n"\\]*)*(?:"|\\\r?\n)'
_NEXT = re.compile(
    rf"[ \f\t]*(?:(?P<joined>\\\r?\n)|(?P<end>\Z)|(?P<comment>#[^\r\n]*)|(?P<long>{_PREFIX}(?:'''|\"\"\"))|"
    rf"(?P<number>{_DIGITS}[jJ]|{_FLOAT}[jJ]|{_FLOAT}|{_WHOLE})|(?P<newline>\r?\n)|(?P<sign>{_SIGN})|"
    rf"(?P<string>{_PREFIX}(?:{_LINE_OF_STRING}))|(?P<name>\w+))"
)
_CLOSING = {
    "'": re.compile(r"[^'\\]*(?:\\.[^'\\]*)*'"),
    '"': re.compile(r'[^"\\]*(?:\\.[^"\\]*)*"'),
    "'''": re.compile(r"[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"),
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'),
}
_TAB = 8
"""A tab ends at the next multiple of these columns."""


def read(text: str) -> Iterator[Token]:
    """Yield the tokens in order. Tokens without a text end a line or a block. Raises Unreadable."""
    reader = _Reader()
    for row, line in enumerate(re.findall(r"[^\n]*\n|[^\n]+", text), 1):
        yield from reader.line(row, line)
    yield from reader.finish()


class _Reader:
    def __init__(self) -> None:
        self._brackets = 0
        self._joined = False
        """Whether the last line ended in a backslash."""
        self._indents = [0]
        self._string = ""
        """The text so far of a string that continues in the next line."""
        self._begin = (0, 0)
        """The line and column of that string."""
        self._closing = _CLOSING["'"]
        self._one_line = False
        """Whether that string continues because of a backslash."""
        self._row, self._last = 0, ""

    def line(self, row: int, line: str) -> Iterator[Token]:
        self._row, self._last = row, line
        offset = 0
        if self._string:
            closed = self._closing.match(line)
            if not closed:
                self._string += line
                if self._one_line and not line.endswith(("\\\n", "\\\r\n")):
                    yield "other", self._string, self._begin, (self._row, len(line))
                    self._string = ""
                return
            offset = closed.end()
            yield "string", self._string + line[:offset], self._begin, (row, offset)
            self._string = ""
        elif not self._brackets and not self._joined:
            offset, column = _indent(line)
            if offset == len(line):
                self._last = ""
                return
            if line[offset] in "#\r\n":
                end = len(line.rstrip("\r\n")) if line[offset] == "#" else offset
                if end > offset:
                    yield "comment", line[offset:end], (row, offset), (row, end)
                yield "other", line[end:], (row, end), (row, len(line))
                return
            if column > self._indents[-1]:
                self._indents.append(column)
                yield "indent", line[:offset], (row, 0), (row, offset)
            while column < self._indents[-1]:
                if column not in self._indents:
                    raise Unreadable("the indentation of a line matches no earlier line")
                self._indents.pop()
                yield "other", "", (row, offset), (row, offset)
        self._joined = False
        yield from self._within(line, offset)

    def _within(self, line: str, place: int) -> Iterator[Token]:
        """Yield the tokens of a line from the offset `place` on, at which no string is open."""
        while place < len(line):
            match = _NEXT.match(line, place)
            if not match:
                yield "other", line[place], (self._row, place), (self._row, place + 1)
                place += 1
                continue
            kind = match.lastgroup or ""
            begin, place = match.span(kind)
            text = line[begin:place]
            if kind == "long":
                closed = self._open(text[-3:], line, begin).match(line, place)
                if not closed:
                    return
                place = closed.end()
                kind, text, self._string = "string", line[begin:place], ""
            elif kind == "string" and text.endswith("\n"):
                self._open(text.lstrip("bBrRuUfF")[0], line, begin)
                return
            elif kind == "joined":
                self._joined = True
                return
            if kind == "sign":
                self._brackets += (text in "([{") - (text in ")]}")
            if kind == "newline" and self._brackets > 0:
                kind = "other"
            if kind != "end":
                reported = kind if kind in ("comment", "string", "newline") else "other"
                yield reported, text, (self._row, begin), (self._row, place)

    def _open(self, quote: str, line: str, begin: int) -> re.Pattern[str]:
        self._string, self._begin, self._one_line = line[begin:], (self._row, begin), len(quote) == 1
        self._closing = _CLOSING[quote]
        return self._closing

    def finish(self) -> Iterator[Token]:
        if self._string or self._brackets or self._joined:
            raise Unreadable("the text ends within a string, within brackets, or after a backslash")
        if self._last and self._last[-1] not in "\r\n" and not self._last.strip().startswith("#"):
            yield "newline", "", (self._row, len(self._last)), (self._row, len(self._last) + 1)
        for _ in self._indents[1:]:
            yield "other", "", (self._row + 1, 0), (self._row + 1, 0)


def _indent(line: str) -> tuple[int, int]:
    """Return the offset at which a line's text begins, and its column."""
    offset = column = 0
    for character in line:
        if character == " ":
            column += 1
        elif character == "\t":
            column = (column // _TAB + 1) * _TAB
        # As in CPython, a form feed starts the columns again.
        elif character == "\f":
            column = 0
        else:
            break
        offset += 1
    return offset, column


# After `remove_comments_and_docstrings` of Microsoft's CodeXGLUE (MIT). It knows no template strings, regular
# expressions or raw strings, so `//` in one of these begins a comment, and a quote in one of these a string.
_COMMENT_OR_STRING = re.compile(r"//.*?$|/\*.*?\*/|'(?:\\.|[^\\'])*'|\"(?:\\.|[^\\\"])*\"", re.DOTALL | re.MULTILINE)


def strip_comments(language: str, text: str) -> str:
    """Return the text without comments and empty lines, in Python also without docstrings. Return the whole text if the
    tokens of Python cannot be read."""
    if language == "python":
        parts: list[str] = []
        before, last_row, last_column = "indent", -1, 0
        try:
            for kind, token, (row, column), (end_row, end_column) in read(text):
                last_column = 0 if row > last_row else last_column
                parts.append(" " * (column - last_column))
                # As in the original, a string at the beginning of a statement is taken for a docstring, and one at the
                # beginning of a line within brackets as well.
                if before not in ("indent", "newline") and column > 0 if kind == "string" else kind != "comment":
                    parts.append(token)
                before, last_row, last_column = kind, end_row, end_column
        except Unreadable:
            return text
        stripped = "".join(parts)
    else:
        stripped = _COMMENT_OR_STRING.sub(lambda match: " " if match[0].startswith("/") else match[0], text)
    return "\n".join(line for line in stripped.split("\n") if line.strip())
