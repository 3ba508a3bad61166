"""Sub-tokens: the words that a name is made of, whatever its convention and script, and how many two names share."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from types import MappingProxyType


def split(name: str) -> list[str]:
    """Its sub-tokens in order, case-folded: `HTTPServer2_go` → http, server, 2, go.

    A sub-token ends at what is neither letter nor digit, between small letter and capital, before the last capital of a
    row that a small letter follows, between letters and digits, and between letters that have a case and such that
    have none.
    """
    return list(_split(name))


def pieces(name: str) -> list[str]:
    """Its sub-tokens as they stand there, and what is between them: `read_URLs2` → read, _, UR, Ls, 2."""
    return [piece for piece, _ in _cut(name)]


@lru_cache(maxsize=100_000)
def _split(name: str) -> tuple[str, ...]:
    return tuple(piece.casefold() for piece, kind in _cut(name) if kind)


def _cut(name: str) -> Iterator[tuple[str, str]]:
    """Each piece with the kind of its first character."""
    text = unicodedata.normalize("NFC", name)
    kinds = _kinds(text)
    cuts = [0, *(place for place in range(1, len(text)) if _is_cut(kinds, place)), len(text)]
    return ((text[begin:end], kinds[begin]) for begin, end in pairwise(cuts) if end > begin)


def _kinds(text: str) -> list[str]:
    """Of each character; "" = it belongs to no sub-token."""
    kinds: list[str] = []
    for character in text:
        kinds.append(_kind(character) or (kinds[-1] if kinds and _joins(character) else ""))
    return kinds


def _kind(character: str) -> str:
    if character.isupper() or character.istitle():
        return "capital"
    if character.islower():
        return "small"
    if character.isalpha() and unicodedata.category(character) != "Lm":
        return "letter"
    return "digit" if character.isnumeric() else ""


def _joins(character: str) -> bool:
    """Whether it belongs to the character before: accents, vowel signs, letter apostrophes, joiners."""
    return unicodedata.category(character) in ("Mn", "Mc", "Me", "Lm", "Cf")


def _is_cut(kinds: Sequence[str], place: int) -> bool:
    before, here = kinds[place - 1], kinds[place]
    if before == here == "capital":
        return kinds[place + 1 : place + 2] == ["small"]
    return before != here and (before, here) != ("capital", "small")


Shared = Callable[[Sequence[str], Sequence[str]], int]
"""The sub-tokens of two names → how many of them count as shared; 0 where none is in both."""

NONE: Mapping[str, float] = MappingProxyType({"precision": 0.0, "recall": 0.0, "f1": 0.0})
ALL: Mapping[str, float] = MappingProxyType({"precision": 1.0, "recall": 1.0, "f1": 1.0})


def scores(reference: str, hypothesis: str, shared: Shared) -> Mapping[str, float]:
    """Precision, recall and F1 (0 to 1) of the sub-tokens of `hypothesis`, of which `shared` says how many count.

    Two names without a sub-token (`_`) have 1 if they are equal, else 0.
    """
    # Most predictions have nothing in common with what was expected.
    if _distinct(reference).isdisjoint(_distinct(hypothesis)):
        return ALL if reference == hypothesis else NONE
    return _scores(reference, hypothesis, shared)


@lru_cache(maxsize=100_000)
def _distinct(name: str) -> frozenset[str]:
    return frozenset(_split(name))


# What is held against one expected name are the same few names again and again.
@lru_cache(maxsize=200_000)
def _scores(reference: str, hypothesis: str, shared: Shared) -> Mapping[str, float]:
    expected, given = _split(reference), _split(hypothesis)
    hits = shared(expected, given)
    return {
        "precision": hits / len(given),
        "recall": hits / len(expected),
        "f1": 2 * hits / (len(given) + len(expected)),
    }
