"""How much of a line, a statement or a block a suggestion gets right."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci_eval.contracts import Grader, Pairing

_TOKEN = re.compile(r"\w+|[^\w\s]")


class Inline:
    """Five views of it: all or nothing, how similar, how far right from the beginning, its first line, its first token.

    lineMatch: 1 where it is the expected text. editSimilarity: 2 · common / (both lengths), where common is the length
    of the longest common subsequence of characters (`fuzz.ratio`, as CodeXGLUE, CrossCodeEval and RepoBench report it).
    matched: characters that it saves typing: its length where the expected text begins with it, else 0 (as the matched
    ratio of JetBrains' plugin). firstLine: characters of its first line where that is the expected one, else 0.
    firstToken: 1 where the first word or sign is the expected one.
    """

    name = "inline"
    summary = "lines and blocks: exact match, edit similarity, characters saved, first token"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
        """See Grader."""
        expected, text = pairing.reference, pairing.hypothesis
        line = text.partition("\n")[0]
        return {
            "editSimilarity": similarity(expected, text),
            "lineMatch": float(text == expected),
            "matched": float(len(text) if expected.startswith(text) else 0),
            "firstLine": float(len(line) if expected.partition("\n")[0] == line else 0),
            "firstToken": float(_first(text) == _first(expected)),
        }


def similarity(one: str, other: str) -> float:
    """2 · common / (both lengths); 1 of two empty texts."""
    lengths = len(one) + len(other)
    return 2 * _common(one, other) / lengths if lengths else 1.0


def _common(one: str, other: str) -> int:
    """Length of the longest common subsequence: Hyyrö's bit-parallel way, a machine word being as long as it must.

    H. Hyyrö, "Bit-Parallel LCS-length Computation Revisited", AWOCA 2004.
    """
    places: dict[str, int] = {}
    for number, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << number
    every = (1 << len(one)) - 1
    row = every
    for letter in other:
        matches = row & places.get(letter, 0)
        row = ((row + matches) | (row - matches)) & every
    return len(one) - row.bit_count()


def _first(text: str) -> str:
    found = _TOKEN.search(text)
    return found[0] if found else ""


GRADER: Grader = Inline()
