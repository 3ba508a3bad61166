"""How large the package is: lines, and lines of code."""

from __future__ import annotations

import ast
import tokenize
from pathlib import Path

NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def lines_of(path: Path) -> int:
    """Return the number of lines."""
    return len(path.read_text(encoding="utf-8").splitlines())


def code_lines(path: Path) -> int:
    """Return the number of lines that are neither blank, nor comments or docstrings alone."""
    words = set[int]()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            words.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    with path.open("rb") as file:
        tokens = [each for each in tokenize.tokenize(file.readline) if each.type not in NO_CODE]
    return len({line for each in tokens for line in range(each.start[0], each.end[0] + 1)} - words)
