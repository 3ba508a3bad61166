"""The words that a grammar lets stand at a caret, by the parser's own table."""

from __future__ import annotations

from typing import NamedTuple

from ci_eval.core.grammar.syntax import Node, parser

_NO_STATE = 65535
"""The state of a node whose text the parser read in several ways at once (`TS_TREE_STATE_NONE`)."""
_LITERALS = ("comment", "continuation", "string", "char", "integer", "number", "float", "regex", "escape", "template")
"""Parts of the names of symbols that hold no name."""


class Continuation(NamedTuple):
    """The symbols that may come next."""

    symbols: frozenset[str]
    names: bool
    """True if a name may come next."""


class Continuations:
    """The continuations at the carets of one file. An LR parser may accept a word too early: what its table bars cannot
    stand there, what it allows may be wrong later."""

    def __init__(self, text: str, grammar: str) -> None:
        self._text = text
        self._tree = parser(grammar).parse(text.encode())
        self._by_state: dict[int, Continuation] = {}

    def leaf(self, offset: int) -> Node | None:
        """Return the leaf that begins at an offset (code points); None if none does."""
        byte = offset if self._text.isascii() else len(self._text[:offset].encode())
        node = self._tree.root_node.descendant_for_byte_range(byte, byte + 1)
        return node if node is not None and node.start_byte == byte and not node.child_count else None

    def at(self, offset: int) -> Continuation | None:
        """Return what may come at an offset; None if that is not known."""
        leaf = self.leaf(offset)
        # At the beginning of a line, many languages end a statement only if the next word asks for it.
        if leaf is None or not self._text[self._text.rfind("\n", 0, offset) + 1 : offset].strip():
            return None
        state = leaf.parse_state
        around: Node | None = leaf
        while around is not None and around.parent is not None:
            # In text that the parser repaired, its state is that of the repair.
            if around.has_error:
                return None
            around = around.parent
        return None if state == _NO_STATE else self._of_state(state)

    def is_symbol(self, word: str) -> bool:
        """Return whether the grammar has a symbol for the word, also in small letters, as `none` for `None`."""
        kinds = ((word, False), (word.lower(), True))
        return any(self._tree.language.id_for_node_kind(name, is_named) is not None for name, is_named in kinds)

    def _of_state(self, state: int) -> Continuation:
        known = self._by_state.get(state)
        if known is None:
            language = self._tree.language
            iterator = language.lookahead_iterator(state)
            symbols = dict(iterator or ())
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
        """Return whether a keyword or a name may stand at an offset; None if that is not known."""
        continuation = self.at(offset)
        if continuation is None:
            return None
        if not keyword:
            return continuation.names
        return (word in continuation.symbols or word.lower() in continuation.symbols) if self.is_symbol(word) else None
