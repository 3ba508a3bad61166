"""Syntax trees of source text, the colours of its parts, and the words that the grammar allows at an offset."""

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
"""For these grammars, tree-sitter-languages is tried first if it is installed. Its tree is used if free of errors."""


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
    """Replace each non-ASCII identifier character by as many ASCII letters as it has bytes, since grammars know only
    some of these characters. (XID_Continue, https://www.unicode.org/reports/tr31/)"""
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
    # The type is Any, since get_language's signature lists literal names. It lists C# as `csharp`, not `c_sharp`.
    name: Any = {"c_sharp": "csharp"}.get(grammar, grammar)
    return tree_sitter_language_pack.get_language(name)


_WORD = re.compile(r"[A-Za-z]\w+[?@]?")


def read_keywords(grammar: str) -> frozenset[str]:
    """Return the words that are symbols of the grammar, such as `while`."""
    known = language(grammar)
    numbers = [n for n in range(known.node_kind_count) if known.node_kind_is_visible(n)]
    symbols = [known.node_kind_for_id(n) or "" for n in numbers if not known.node_kind_is_named(n)]
    return frozenset(filter(_WORD.fullmatch, symbols))


@cache
def _older_language(grammar: str) -> tree_sitter.Language | None:
    spec = find_spec("tree_sitter_languages")
    folders = spec.submodule_search_locations or () if spec else ()
    paths = [path for folder in folders for path in sorted(Path(folder).glob("languages.*"))]
    if not paths:
        return None
    # The shared library is loaded directly, since its Python module needs an older tree-sitter.
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
        # A node may begin in the middle of a character: Python's grammar parses `!` and a letter as one node.
        return self.source[node.start_byte : node.end_byte].decode(errors="replace")


def bundle() -> str:
    """Return the name and version of the grammars' package for the manifest: the grammars decide which tokens exist."""
    return f"tree-sitter-language-pack {version('tree-sitter-language-pack')}"


def choose_grammar(grammars: Mapping[str, str], path: str) -> str:
    """Return the grammar of the longest suffix that matches the path; the language's first grammar if none matches."""
    suffixes = (suffix for suffix in grammars if path.endswith(suffix))
    # An evaluation root may be a file with any suffix, or without a suffix.
    return grammars[max(suffixes, key=len, default=next(iter(grammars)))]


Colour = Literal["K", "S", "C"]


def colour_file(path: str, text: str, grammars: Mapping[str, str]) -> list[tuple[int, int, Colour]]:
    """Return the coloured spans of a file. `grammars`: end of a path → grammar; the longest matching end counts."""
    # Plain text has an empty grammar.
    ends = [end for end, grammar in grammars.items() if grammar and path.endswith(end)]
    data = text.encode()
    points = code_points(data)
    spans = _walk_colours(parse_tree(data, grammars[max(ends, key=len)])) if ends else ()
    return [(points[begin], points[end], colour) for begin, end, colour in spans]


def _walk_colours(tree: Tree) -> Iterator[tuple[int, int, Colour]]:
    # A cursor takes less than half the time of lists of children.
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
"""The parse state of a node for which the parser followed several readings (`TS_TREE_STATE_NONE`)."""
_LITERALS = ("comment", "continuation", "string", "char", "integer", "number", "float", "regex", "escape", "template")
"""A grammar symbol that has one of these words in its name does not stand for a name in code."""


class Continuation(NamedTuple):
    symbols: frozenset[str]
    names: bool


class Continuations:
    """The words that the LR parser's table allows at an offset of a file. An allowed word may still be wrong."""

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
        # Nothing is known at the beginning of a line: in many languages, the next word decides if a statement goes on.
        if leaf is None or not self._text[self._text.rfind("\n", 0, offset) + 1 : offset].strip():
            return None
        state = leaf.parse_state
        around: Node | None = leaf
        while around is not None and around.parent is not None:
            # In text that the parser repaired, the leaf's state belongs to the repaired text.
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
