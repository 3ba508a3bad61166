"""The parsers of source text: one grammar per language, the same on every Python."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import tree_sitter
import tree_sitter_language_pack

Node = tree_sitter.Node
"""A node of a syntax tree; offsets are in bytes of the UTF-8 source."""
Tree = tree_sitter.Tree


class Parser(Protocol):
    """A parser, which never fails: text that it cannot read becomes ERROR nodes."""

    def parse(self, source: bytes, /) -> Tree: ...


OLDER = frozenset({"java", "ruby"})
"""The grammars that tree-sitter-languages reads where it is installed: its trees have the tokens of the others."""


class _Reader:
    """A parser that reads every identifier by Unicode's rules; a tree of the first grammar that has an error is
    replaced by that of the last."""

    def __init__(self, *grammars: tree_sitter.Language) -> None:
        self._grammars = grammars

    def parse(self, source: bytes, /) -> Tree:
        masked = mask_identifiers(source)
        first, last = (self._grammars[at] for at in (0, -1))
        tree = tree_sitter.Parser(first).parse(masked)
        return tree_sitter.Parser(last).parse(masked) if first is not last and tree.root_node.has_error else tree


# A letter alone between quotes, or behind the `?` of Ruby, is one character of the language: it stays one.
_FOREIGN = re.compile(r"'[^\0-\x7f]'|\?[^\0-\x7f]|[^\0-\x7f]")


def mask_identifiers(source: bytes) -> bytes:
    """Return UTF-8 text with ASCII letters, as many bytes, in place of what Unicode lets identifiers have besides:
    grammars know only a part of that. (XID_Continue, https://www.unicode.org/reports/tr31/)"""
    if source.isascii():
        return source
    # What is not UTF-8 comes through as it is.
    text = source.decode(errors="surrogateescape")
    return _FOREIGN.sub(_mask_letter, text).encode(errors="surrogateescape")


def _mask_letter(match: re.Match[str]) -> str:
    letter = match[0]
    if len(letter) > 1 or not f"a{letter}".isidentifier():
        return letter
    # In some languages, a capital makes another kind of name.
    return ("X" if letter.isupper() else "x") * len(letter.encode())


def parser(grammar: str) -> Parser:
    """Return a new parser for a grammar, by its name in tree-sitter-languages, for example "python"."""
    older = _older_language(grammar) if grammar in OLDER else None
    return _Reader(older, language(grammar)) if older else _Reader(language(grammar))


@cache
def language(grammar: str) -> tree_sitter.Language:
    """Return the grammar that reads a language on every Python."""
    # Any: it takes only the names that it knows, and spells this one otherwise.
    name: Any = {"c_sharp": "csharp"}.get(grammar, grammar)
    return tree_sitter_language_pack.get_language(name)


@cache
def _older_language(grammar: str) -> tree_sitter.Language | None:
    library = _older_library()
    if library is None:
        return None
    function = getattr(library, f"tree_sitter_{grammar}")
    # Without it, the pointer would be cut to 32 bits.
    function.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    pointer: object = capsule(function(), b"tree_sitter.Language", None)
    return tree_sitter.Language(pointer)


@cache
def _older_library() -> ctypes.CDLL | None:
    """Return the library of tree-sitter-languages, whose own module needs an older tree-sitter."""
    spec = find_spec("tree_sitter_languages")
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in sorted(Path(folder).glob("languages.*")):
            return ctypes.CDLL(str(path))
    return None


def leaves(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        inner = stack.pop()
        if inner.child_count:
            stack += reversed(inner.children)
        else:
            yield inner


def bundle() -> str:
    """Return the name and version of the grammars that decide which tokens there are, for the manifest."""
    return f"tree-sitter-language-pack {version('tree-sitter-language-pack')}"


def choose_grammar(grammars: Mapping[str, str], path: str) -> str:
    """Return the grammar for a file of that name. The longest suffix decides, else the language's first one."""
    suffixes = (suffix for suffix in grammars if path.endswith(suffix))
    # An evaluation root may be a file with another suffix, or none.
    return grammars[max(suffixes, key=len, default=next(iter(grammars)))]
