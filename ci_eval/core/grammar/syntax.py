"""Syntax trees of source text, made by the same grammars on every Python; colours and possible continuations."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import tree_sitter
import tree_sitter_language_pack

from ci_eval.core.grammar.document import code_points

Node = tree_sitter.Node
Tree = tree_sitter.Tree


OLDER = frozenset({"java", "ruby"})
"""The grammars for which tree-sitter-languages is tried first, if it is installed; a tree without errors is used."""


def parse_tree(source: bytes, grammar: str) -> Tree:
    """Return the syntax tree of UTF-8 text. Unreadable text becomes ERROR nodes."""
    masked = mask_identifiers(source)
    older = _older_language(grammar) if grammar in OLDER else None
    if older and not (tree := tree_sitter.Parser(older).parse(masked)).root_node.has_error:
        return tree
    return tree_sitter.Parser(language(grammar)).parse(masked)


# A single letter between quotes, or after Ruby's `?`, is a character literal and must stay a single character.
_FOREIGN = re.compile(r"'[^\0-\x7f]'|\?[^\0-\x7f]|[^\0-\x7f]")


def mask_identifiers(source: bytes) -> bytes:
    """Return UTF-8 text of the same length in bytes, in which ASCII letters replace other identifier characters:
    grammars know only some of them. (XID_Continue, https://www.unicode.org/reports/tr31/)"""
    if source.isascii():
        return source

    def mask(match: re.Match[str]) -> str:
        letter = match[0]
        if len(letter) > 1 or not f"a{letter}".isidentifier():
            return letter
        # In some languages, a capital letter marks another kind of name.
        return ("X" if letter.isupper() else "x") * len(letter.encode())

    # Bytes that are not UTF-8 are not changed.
    return _FOREIGN.sub(mask, source.decode(errors="surrogateescape")).encode(errors="surrogateescape")


@cache
def language(grammar: str) -> tree_sitter.Language:
    # The type is Any, since get_language declares literal names and spells this one differently.
    name: Any = {"c_sharp": "csharp"}.get(grammar, grammar)
    return tree_sitter_language_pack.get_language(name)


@cache
def _older_language(grammar: str) -> tree_sitter.Language | None:
    spec = find_spec("tree_sitter_languages")
    folders = spec.submodule_search_locations or () if spec else ()
    paths = [path for folder in folders for path in sorted(Path(folder).glob("languages.*"))]
    if not paths:
        return None
    # Only the library is loaded, since its Python module needs an older tree-sitter.
    function = getattr(ctypes.CDLL(str(paths[0])), f"tree_sitter_{grammar}")
    # Without this type, the pointer would be cut to 32 bits.
    function.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    pointer: object = capsule(function(), b"tree_sitter.Language", None)
    return tree_sitter.Language(pointer)


def leaves(node: Node) -> Iterator[Node]:
    stack = [node]
    while stack:
        inner = stack.pop()
        if inner.child_count:
            stack += reversed(inner.children)
        else:
            yield inner


class SourceReader:
    def __init__(self, source: bytes) -> None:
        self.source = source

    def text(self, node: Node) -> str:
        # A grammar may begin a name inside a character: Python's parses `!` and a letter as one node.
        return self.source[node.start_byte : node.end_byte].decode(errors="replace")


def bundle() -> str:
    """Return name and version of the grammars that decide which tokens exist, for the manifest."""
    return f"tree-sitter-language-pack {version('tree-sitter-language-pack')}"


def choose_grammar(grammars: Mapping[str, str], path: str) -> str:
    """Return the grammar for a file name: that of the longest matching suffix, else the language's first one."""
    suffixes = (suffix for suffix in grammars if path.endswith(suffix))
    # An evaluation root may be a file with any suffix, or without one.
    return grammars[max(suffixes, key=len, default=next(iter(grammars)))]


Colour = Literal["K", "S", "C"]


def colours(text: str, grammar: str) -> list[tuple[int, int, Colour]]:
    data = text.encode()
    points = code_points(data)
    return [(points[begin], points[end], colour) for begin, end, colour in _walk_colours(parse_tree(data, grammar))]


def colour_file(path: str, text: str, grammars: Mapping[str, str]) -> list[tuple[int, int, Colour]]:
    """Return the coloured spans of a file, by the grammar of the longest matching end of its path."""
    # Plain text has an empty grammar.
    ends = [end for end, grammar in grammars.items() if grammar and path.endswith(end)]
    return colours(text, grammars[max(ends, key=len)]) if ends else []


def _walk_colours(tree: Tree) -> Iterator[tuple[int, int, Colour]]:
    # A cursor makes one node at a time, and takes less than half the time of lists of children.
    cursor = tree.walk()
    while True:
        node = cursor.node
        assert node, "only a cursor that was moved out of its tree has none"
        type_ = node.type
        if "comment" in type_:
            yield node.start_byte, node.end_byte, "C"
        elif node.is_named and "string" in type_:
            yield node.start_byte, node.end_byte, "S"
        elif cursor.goto_first_child():
            continue
        elif not node.is_named and type_.isalpha():
            yield node.start_byte, node.end_byte, "K"
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


_NO_STATE = 65535
"""The state of a node for which the parser followed several readings (`TS_TREE_STATE_NONE`)."""
_LITERALS = ("comment", "continuation", "string", "char", "integer", "number", "float", "regex", "escape", "template")
"""Words in the names of grammar symbols that are not names in code."""


class Continuation(NamedTuple):
    symbols: frozenset[str]
    names: bool


class Continuations:
    """What may be at the carets of a file: words that the LR parser's table forbids cannot, others may be wrong."""

    def __init__(self, text: str, grammar: str) -> None:
        self._text = text
        self._tree = parse_tree(text.encode(), grammar)
        self._by_state: dict[int, Continuation] = {}

    def leaf(self, offset: int) -> Node | None:
        """Return the leaf that begins at an offset (code points), or None."""
        byte = offset if self._text.isascii() else len(self._text[:offset].encode())
        node = self._tree.root_node.descendant_for_byte_range(byte, byte + 1)
        return node if node is not None and node.start_byte == byte and not node.child_count else None

    def at(self, offset: int) -> Continuation | None:
        leaf = self.leaf(offset)
        # Many languages end a statement at a line end only if the next word requires it.
        if leaf is None or not self._text[self._text.rfind("\n", 0, offset) + 1 : offset].strip():
            return None
        state = leaf.parse_state
        around: Node | None = leaf
        while around is not None and around.parent is not None:
            # In text that the parser repaired, the state is that of the repaired text.
            if around.has_error:
                return None
            around = around.parent
        if state == _NO_STATE:
            return None
        known = self._by_state.get(state)
        if known is None:
            language = self._tree.language
            symbols = dict(language.lookahead_iterator(state) or ())
            known = self._by_state[state] = Continuation(
                frozenset(symbols.values()),
                any(
                    "identifier" in name
                    or (
                        language.node_kind_is_named(number)
                        and language.node_kind_is_visible(number)
                        and not any(part in name for part in _LITERALS)
                    )
                    for number, name in symbols.items()
                ),
            )
        return known

    def allows(self, offset: int, word: str, *, keyword: bool) -> bool | None:
        """Return whether a keyword or a name may be at an offset; None if that is not known."""
        continuation = self.at(offset)
        if continuation is None:
            return None
        if not keyword:
            return continuation.names
        lower, find = word.lower(), self._tree.language.id_for_node_kind
        is_symbol = find(word, False) is not None or find(lower, True) is not None
        return (word in continuation.symbols or lower in continuation.symbols) if is_symbol else None
