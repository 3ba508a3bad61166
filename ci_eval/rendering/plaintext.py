"""Escape text for terminals and logs. Characters that move the cursor, or hide or reorder text, are shown by number."""

from __future__ import annotations

import re
import unicodedata

HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""The categories of characters that move the cursor, or hide or reorder text."""
_JOINERS = "\u200c\u200d"
"""The zero-width (non-)joiners are shown as they are: words and emoji contain them."""
_SUSPECT = re.compile(r"[^ -~\t\n]")


def lines(text: str) -> str:
    """Escape harmful characters except line ends."""
    return _SUSPECT.sub(lambda match: _escape(match[0]), text)


def line(text: str) -> str:
    return lines(text).replace("\n", "\\n")


def _escape(character: str) -> str:
    if unicodedata.category(character) not in HIDDEN or character in _JOINERS:
        return character
    return character.encode("unicode_escape").decode()
