"""The grammars: one way to parse with either bundle of tree-sitter languages."""

from __future__ import annotations

import sys
import warnings
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

if sys.version_info >= (3, 13):
    from tree_sitter_language_pack import get_parser
else:
    from tree_sitter_languages import get_parser


_get_parser: Any = get_parser  # the one bundle has no types, the other a list of all names it knows


class Node(Protocol):
    """The part of tree-sitter's node that languages use; byte offsets into the UTF-8 source."""

    @property
    def type(self) -> str: ...
    @property
    def is_named(self) -> bool: ...
    @property
    def start_byte(self) -> int: ...
    @property
    def end_byte(self) -> int: ...
    @property
    def children(self) -> list[Node]: ...
    @property
    def child_count(self) -> int: ...
    @property
    def has_error(self) -> bool: ...
    @property
    def is_missing(self) -> bool: ...
    @property
    def parent(self) -> Node | None: ...
    def child_by_field_name(self, name: str, /) -> Node | None: ...


class Tree(Protocol):
    """A parsed text."""

    @property
    def root_node(self) -> Node: ...


class Parser(Protocol):
    """Never fails: what it cannot read becomes ERROR nodes."""

    def parse(self, source: bytes, /) -> Tree: ...


@cache
def parser(grammar: str) -> Parser:
    """The parser for a grammar's name in the bundles, for example "python"."""
    with warnings.catch_warnings():
        # tree-sitter 0.21 warns about the way tree-sitter-languages loads its own library.
        warnings.simplefilter("ignore", FutureWarning)
        found: Parser = _get_parser(grammar)
    return found


def bundle() -> str:
    """Name and version of the grammar bundle, for the manifest."""
    name = "tree-sitter-language-pack" if sys.version_info >= (3, 13) else "tree-sitter-languages"
    return f"{name} {version(name)}"
