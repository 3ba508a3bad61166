"""The parsers of source text: tree-sitter with either of two bundles of grammars."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Protocol

# Which of them is installed depends on the version of Python, see pyproject.toml.
_BUNDLE = "tree_sitter_languages" if find_spec("tree_sitter_languages") else "tree_sitter_language_pack"
# The names of grammars are those of the first; the second spells this one otherwise.
_SPELLINGS = {"c_sharp": "csharp"} if _BUNDLE == "tree_sitter_language_pack" else {}
# Any: one bundle has no types, the other takes only the names that it knows.
_get_parser: Any = import_module(_BUNDLE).get_parser


class Node(Protocol):
    """The part of tree-sitter's node that languages use; offsets are in bytes of the UTF-8 source."""

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


class Cursor(Protocol):
    """A cursor that goes from node to node; each step returns whether there was a node to go to."""

    @property
    def node(self) -> Node: ...
    def goto_first_child(self) -> bool: ...
    def goto_next_sibling(self) -> bool: ...
    def goto_parent(self) -> bool: ...


class Tree(Protocol):
    """The syntax tree of a parsed text."""

    @property
    def root_node(self) -> Node: ...
    def walk(self) -> Cursor: ...


class Parser(Protocol):
    """A parser, which never fails: text that it cannot read becomes ERROR nodes."""

    def parse(self, source: bytes, /) -> Tree: ...


def parser(grammar: str) -> Parser:
    """Return a new parser for a grammar, by its name in the bundles, for example "python"."""
    # A parser is used once: that of Scala in tree-sitter-languages reads a text otherwise after one with errors.
    with warnings.catch_warnings():
        # tree-sitter 0.21 warns about the way tree-sitter-languages loads its own library.
        warnings.simplefilter("ignore", FutureWarning)
        result: Parser = _get_parser(_SPELLINGS.get(grammar, grammar))
    return result


def bundle() -> str:
    """Return the name and version of the grammar bundle, for the manifest."""
    name = _BUNDLE.replace("_", "-")
    return f"{name} {version(name)}"


def choose_grammar(grammars: Mapping[str, str], path: str) -> str:
    """Return the grammar for a file of that name. The longest suffix decides, else the language's first one."""
    suffixes = (suffix for suffix in grammars if path.endswith(suffix))
    # An evaluation root may be a file with another suffix, or none.
    return grammars[max(suffixes, key=len, default=next(iter(grammars)))]
