"""Splitting of names into sub-tokens (words), for any naming convention and script, and scores of their overlap."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType


@lru_cache(maxsize=100_000)
def split(name: str) -> tuple[str, ...]:
    """Return the sub-tokens of a name in order, case-folded: `HTTPServer2_go` → http, server, 2, go.

    A sub-token ends before a character that is neither letter nor digit, between a lower-case and an upper-case letter,
    before the last of several upper-case letters if a lower-case letter follows, between a letter and a digit, and
    between a letter of a script with case and a letter of a script without case.
    """
    # Normalise, since an accented letter may be one code point or two.
    text = unicodedata.normalize("NFC", name)
    # The kind of each character; "" if the character belongs to no sub-token.
    kinds: list[str] = []
    for character in text:
        # An accent, vowel sign, modifier letter or joiner has the kind of the letter before it.
        joins = unicodedata.category(character) in ("Mn", "Mc", "Me", "Lm", "Cf")
        kinds.append(_kind(character) or (kinds[-1] if kinds and joins else ""))
    cuts = [0]
    for offset, (before, after) in enumerate(pairwise(kinds), 1):
        is_cut = before != after and (before, after) != ("capital", "small")
        # The last of several capitals starts the word that continues with the small letter after it.
        if is_cut or (before == after == "capital" and kinds[offset + 1 : offset + 2] == ["small"]):
            cuts.append(offset)
    cuts.append(len(text))
    return tuple(text[begin:end].casefold() for begin, end in pairwise(cuts) if end > begin and kinds[begin])


def _kind(character: str) -> str:
    if character.isupper() or character.istitle():
        return "capital"
    if character.islower():
        return "small"
    # A modifier letter, such as the apostrophe U+02BC, has no kind of its own.
    if character.isalpha() and unicodedata.category(character) != "Lm":
        return "letter"
    return "digit" if character.isnumeric() else ""


Shared = Callable[[Sequence[str], Sequence[str]], int]
"""A function: the sub-tokens of one name, those of another → the number of shared sub-tokens."""


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, with the bit-parallel algorithm of H. Hyyrö, "Bit-Parallel
    LCS-length Computation Revisited", AWOCA 2004."""
    # Python's integers have any length, so one integer holds a row of bits.
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
    """Return precision, recall and F1 (0 to 1) of the sub-tokens of `hypothesis`. `shared` counts the right sub-tokens.
    The scores of two names without sub-tokens, such as `_`, are 1 if the names are equal, otherwise 0."""
    # Most predictions have no sub-token in common with the expected name, so this case must be fast.
    if _distinct(reference).isdisjoint(_distinct(hypothesis)):
        return ALL if reference == hypothesis else NONE
    return _scores(reference, hypothesis, shared)


@lru_cache(maxsize=100_000)
def _distinct(name: str) -> frozenset[str]:
    return frozenset(split(name))


# The cache helps because the same few pairs of names are compared many times.
@lru_cache(maxsize=200_000)
def _scores(reference: str, hypothesis: str, shared: Shared) -> Mapping[str, float]:
    expected, actual = split(reference), split(hypothesis)
    hits, sizes = shared(expected, actual), len(actual) + len(expected)
    return {"precision": hits / len(actual), "recall": hits / len(expected), "f1": 2 * hits / sizes}
