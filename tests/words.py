"""The rules for docstrings and names that `tests/test_words.py` holds and `benchmarks/structure.py` prints."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# A docstring that begins so has neither verb nor noun in front.
INVERTED = re.compile(
    r"(After|All|Also|As|At|Because|Before|Beside|Between|Both|By|Each|Every|For|From|His|How|If|In|It|Its|Most|More|None|"
    r"Not|Nothing|Of|On|Only|See|Since|Some|Such|That|Their|They|Those|To|Until|What|When|Where|Whether|Which|Who|With)\b"
)
EMPTY_NAMES = frozenset({"found", "each", "wanted", "told"})
# An adjective or a noun, though it ends like a participle.
NO_PARTICIPLE = frozenset({"embed", "feed", "need", "proceed", "red", "seed", "shared", "speed", "typed", "unified"})
PREPOSITIONS = frozenset({"as", "at", "by", "for", "from", "in", "into", "of", "on", "to", "with"})

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Words:
    """The words of one module."""

    docstrings: list[tuple[int, str]]
    """Line and text of each docstring, and of each text under a field or constant."""
    functions: list[str]
    names: list[tuple[int, str]]
    """Line and name of each variable and parameter, once per use."""

    @property
    def inverted(self) -> list[int]:
        """The lines of docstrings that begin with a word of INVERTED."""
        return [line for line, text in self.docstrings if INVERTED.match(text)]

    @property
    def empty_names(self) -> list[int]:
        """The lines of names that say nothing."""
        return [line for line, name in self.names if name in EMPTY_NAMES]

    @property
    def participles(self) -> list[str]:
        """The functions that are named by a participle, or by words that end in a preposition."""
        return [name for name in self.functions if _is_participle(name)]


def read_words(path: Path) -> Words:
    """Read the docstrings and names of a module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = []
    functions, names = [], []
    for node in ast.walk(tree):
        if isinstance(node, Documented) and (text := ast.get_docstring(node)):
            docstrings.append((node.body[0].lineno, text))
        if isinstance(node, ast.Module | ast.ClassDef):
            docstrings += _attribute_docstrings(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append(node.name)
        elif isinstance(node, ast.Name):
            names.append((node.lineno, node.id))
        elif isinstance(node, ast.arg):
            names.append((node.lineno, node.arg))
    return Words(docstrings=docstrings, functions=functions, names=names)


def count_comments(path: Path) -> int:
    """Count the lines that have a comment for people: not for ruff, mypy or the interpreter."""
    with path.open("rb") as file:
        comments = [token.string for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT]
    return sum(not re.match(r"#\s*(noqa|type:|mypy:|ruff:|pragma|fmt:|!)|# -+ ", comment) for comment in comments)


def _attribute_docstrings(node: ast.Module | ast.ClassDef) -> Iterator[tuple[int, str]]:
    for field, text in zip(node.body, node.body[1:], strict=False):
        if isinstance(field, ast.Assign | ast.AnnAssign) and isinstance(text, ast.Expr):
            value = text.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield text.lineno, value.value


def _is_participle(name: str) -> bool:
    if name.startswith(("is_", "has_", "__", "test_")):
        return False
    *_, last = words = name.strip("_").split("_")
    if words[0] in {"with", "without", "of", "in", "by"}:
        return True
    return last in PREPOSITIONS or (last.endswith("ed") and last not in NO_PARTICIPLE)
