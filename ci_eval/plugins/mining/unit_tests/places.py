"""The locations of pieces of code."""

from __future__ import annotations

from pathlib import PurePosixPath

from ci_eval.core.grammar.syntax import Node
from ci_eval.plugins.mining.trees import line_number
from ci_eval.plugins.mining.unit_tests.contract import Place


def place(source: bytes, path: str, node: Node) -> Place:
    return between(source, path, node.start_byte, node.end_byte)


def between(source: bytes, path: str, begin: int, end: int) -> Place:
    """Return the location of the bytes from `begin` to `end`."""
    first = line_number(source, begin)
    return Place(path=path, begin=begin, end=end, lines=(first, first + source.count(b"\n", begin, end)))


def folder(path: str) -> str:
    return path.rpartition("/")[0]


def stem(path: str) -> str:
    """Return the file's name without its extensions."""
    return PurePosixPath(path).name.partition(".")[0]
