"""A grader of how much of a line, a statement or a block a suggestion gets right."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ci_eval.core.base.subtokens import longest_common
from ci_eval.core.contracts import Grader, Pairing

_TOKEN = re.compile(r"\w+|[^\w\s]")


class Inline:
    """A grader with five views: all or nothing, how similar, how far right from the beginning, its first line, its
    first token.

    lineMatch: 1 if it is the expected text.
    editSimilarity: 2 · common / (both lengths), where common is the length of the longest common subsequence of
    characters (`fuzz.ratio`, as CodeXGLUE, CrossCodeEval and RepoBench report it).
    matched: the characters that it saves typing: its length if the expected text begins with it, else 0 (as the matched
    ratio of JetBrains' plugin).
    firstLine: the characters of its first line if that is the expected one, else 0.
    firstToken: 1 if the first word or sign is the expected one.
    """

    name = "inline"
    summary = "lines and blocks: exact match, edit similarity, characters saved, first token"

    def grade(self, pairing: Pairing) -> Mapping[str, float]:
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
    """Return 2 · common / (both lengths), which is 1 for two empty texts."""
    lengths = len(one) + len(other)
    return 2 * longest_common(one, other) / lengths if lengths else 1.0


def _first(text: str) -> str:
    match = _TOKEN.search(text)
    return match[0] if match else ""


GRADER: Grader = Inline()
