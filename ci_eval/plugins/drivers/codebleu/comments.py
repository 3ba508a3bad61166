"""A remover of comments from a text, as MERA CODE's CodeBLEU does it."""

from __future__ import annotations

import re

from ci_eval.plugins.drivers.codebleu.python_tokens import Unreadable, read

# After `remove_comments_and_docstrings` of Microsoft's CodeXGLUE (MIT). It knows no template strings, regular
# expressions or raw strings, so `//` in one of these begins a comment, and a quote in one of these a string.
_COMMENT_OR_STRING = re.compile(r"//.*?$|/\*.*?\*/|'(?:\\.|[^\\'])*'|\"(?:\\.|[^\\\"])*\"", re.DOTALL | re.MULTILINE)


def strip_comments(language: str, text: str) -> str:
    """Return the text without comments and empty lines, in Python without docstrings. If Python's tokens cannot be
    read, it is the whole text."""
    if language != "python":
        return _full_lines(_COMMENT_OR_STRING.sub(lambda match: " " if match[0].startswith("/") else match[0], text))
    try:
        return _full_lines(_strip_python(text))
    except Unreadable:
        return text


def _full_lines(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip())


def _strip_python(text: str) -> str:
    parts: list[str] = []
    before, last_row, last_column = "indent", -1, 0
    for kind, token, (row, column), (end_row, end_column) in read(text):
        if row > last_row:
            last_column = 0
        if column > last_column:
            parts.append(" " * (column - last_column))
        # A string at the beginning of a statement is a docstring; one at the beginning of a line within brackets is
        # taken for one, too.
        stays = before not in ("indent", "newline") and column > 0 if kind == "string" else kind != "comment"
        if stays:
            parts.append(token)
        before, last_row, last_column = kind, end_row, end_column
    return "".join(parts)
