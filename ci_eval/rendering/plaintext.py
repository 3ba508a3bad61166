"""Foreign text for a terminal or a log: characters that would move the cursor, hide or reorder text are shown by
number."""

from __future__ import annotations

import re
import unicodedata

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiners are parts of words and of emoji, so they are kept."""
_SUSPECT = re.compile(r"[^ -~\t\n]")


def lines(text: str) -> str:
    """The text, on as many lines as it has."""
    return _SUSPECT.sub(lambda found: _shown(found[0]), text)


def line(text: str) -> str:
    """The text, on one line."""
    return lines(text).replace("\n", "\\n")


def _shown(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN or character in _JOINERS:
        return character
    return character.encode("unicode_escape").decode()
