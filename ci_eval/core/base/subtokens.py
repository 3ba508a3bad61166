"""The sub-tokens of a name, which are the words in it, in any convention and script, and scores of what names share."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType


def split(name: str) -> list[str]:
    """Return the sub-tokens of a name in order, case-folded: `HTTPServer2_go` → http, server, 2, go.

    A sub-token ends at a character that is neither letter nor digit, between a small letter and a capital, before the
    last capital of a row if a small letter follows, between letters and digits, and between letters with and without
    case.
    """
    return list(_split(name))


@lru_cache(maxsize=100_000)
def _split(name: str) -> tuple[str, ...]:
    # An accented letter may be stored as one character or as two.
    text = unicodedata.normalize("NFC", name)
    # The kind of each character; "" = the character belongs to no sub-token.
    kinds: list[str] = []
    for character in text:
        # An accent, vowel sign, letter apostrophe or joiner continues the kind of its letter.
        joins = unicodedata.category(character) in ("Mn", "Mc", "Me", "Lm", "Cf")
        kinds.append(_kind(character) or (kinds[-1] if kinds and joins else ""))
    cuts = [0]
    for offset, (before, after) in enumerate(pairwise(kinds), 1):
        is_cut = before != after and (before, after) != ("capital", "small")
        # The last capital of a row belongs to the small letter after it.
        if is_cut or (before == after == "capital" and kinds[offset + 1 : offset + 2] == ["small"]):
            cuts.append(offset)
    cuts.append(len(text))
    return tuple(text[begin:end].casefold() for begin, end in pairwise(cuts) if end > begin and kinds[begin])


def _kind(character: str) -> str:
    if character.isupper() or character.istitle():
        return "capital"
    if character.islower():
        return "small"
    # A modifier letter, such as an apostrophe, continues the word before it.
    if character.isalpha() and unicodedata.category(character) != "Lm":
        return "letter"
    return "digit" if character.isnumeric() else ""


Shared = Callable[[Sequence[str], Sequence[str]], int]
"""A function: the sub-tokens of two names → the number of sub-tokens that count as shared."""


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by Hyyrö's bit-parallel method. H. Hyyrö, "Bit-Parallel
    LCS-length Computation Revisited", AWOCA 2004."""
    # Python's integers have any length, so all bits of a row fit into one.
    positions: dict[str, int] = {}
    for position, token in enumerate(one):
        positions[token] = positions.get(token, 0) | 1 << position
    row = everything = (1 << len(one)) - 1
    for token in other:
        matches = row & positions.get(token, 0)
        row = (row + matches | row - matches) & everything
    return len(one) - row.bit_count()


NONE: Mapping[str, float] = MappingProxyType({"precision": 0.0, "recall": 0.0, "f1": 0.0})
ALL: Mapping[str, float] = MappingProxyType({"precision": 1.0, "recall": 1.0, "f1": 1.0})


def scores(reference: str, hypothesis: str, shared: Shared) -> Mapping[str, float]:
    """Return precision, recall and F1 (0 to 1) of the sub-tokens of `hypothesis`, of which `shared` says how many
    count. Two names without a sub-token (`_`) have 1 if they are equal, else 0."""
    # Most predictions have nothing in common with what was expected.
    if _distinct(reference).isdisjoint(_distinct(hypothesis)):
        return ALL if reference == hypothesis else NONE
    return _scores(reference, hypothesis, shared)


@lru_cache(maxsize=100_000)
def _distinct(name: str) -> frozenset[str]:
    return frozenset(_split(name))


# Few different names are compared with one expected name, many times each.
@lru_cache(maxsize=200_000)
def _scores(reference: str, hypothesis: str, shared: Shared) -> Mapping[str, float]:
    expected, actual = _split(reference), _split(hypothesis)
    hits, sizes = shared(expected, actual), len(actual) + len(expected)
    return {"precision": hits / len(actual), "recall": hits / len(expected), "f1": 2 * hits / sizes}
