"""An n-gram model of the text that follows the code typed so far, and a lexer that needs no grammar.

After Hellendoorn and Devanbu, "Are deep neural networks the best choice for modeling source code?" (FSE 2017), as their
SLP-Core computes it (JMModel, InverseMixModel, the capacity of CacheModel). The cache comes from Tu, Su and Devanbu,
"On the localness of software" (FSE 2014). Contexts hold all tokens, but only names and keywords are predicted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

import msgspec
import numpy as np

from ci_eval.core.logs.names import START_OF_LINE, Floats, is_name, tokenise_line

Class = Literal["name", "keyword", "literal", "operator", "punctuation"]

HASH, SLASHES = r"\#", "//"
# In PHP, `#[` begins an attribute.
COMMENTS = {"python": HASH, "ruby": HASH, "php": rf"{HASH}(?!\[)|{SLASHES}"}
"""Language → the beginning of a one-line comment. In other languages, it is SLASHES."""
OPENERS = {"python": ('"""', "'''"), "ruby": (), "go": ("/*",), "php": ("/*",), "javascript": ("/*",)}
"""Language → the beginnings of multi-line strings and comments. In other languages, they are `/*` and three quotes."""
CLOSERS = {"/*": "*/"}

_LITERAL = r"""
    (?:[rbfulRBFUL]{1,2})?(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|`[^`]*`
  | \d\w*(?:\.\d\w*)?
"""
_NAME = {
    "ruby": r"(?:@{0,2}|\$?)[^\W\d]\w*[?!]?(?!=)|(?:@{1,2}|\$)?[^\W\d]\w*",
    "javascript": r"[^\W\d][\w$]*|\$[\w$]*|\#[^\W\d]\w*",
    "typescript": r"[^\W\d][\w$]*|\$[\w$]*|\#[^\W\d]\w*",
}
_SYMBOL = {"cpp": r"\#[a-z]+|", "ruby": r"(?<![:\w]):[^\W\d]\w*[?!]?|"}
_OPERATOR = r"""
    <<<|<=>|\.\.\.|===|!==|\*\*=|&&=|\|\|=|\?\?=|<<=|\?->|->|=>|<-|:=|::|==|!=|<=|>=|&&|\|\||\?\?|\?\.|\?:|&\.|=~
  | \+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|\.=|\*\*|//|<<|<:|\.\.|!!|[^\w\s]
"""
_LITERAL_START = re.compile(r"""\d|[rbfulRBFUL]{0,2}["']|`|:[^\W\d]""")
_PUNCTUATION = frozenset("( ) [ ] { } , ; : . :: $ @ \\".split())


class Lexer:
    def __init__(self, language: str) -> None:
        self._tokens, self._plain, self._marks = _compile(language)
        self.opened: str | None = None
        """The end mark of the string or comment that the next line continues, or None."""

    def line(self, line: str) -> list[str]:
        """Return the tokens of the next line."""
        if not (self.opened or self._marks.search(line)):
            return self._plain.findall(line)
        tokens, at = [], 0
        while at < len(line):
            if self.opened:
                end = line.find(self.opened, at)
                if end < 0:
                    break
                at, self.opened = end + len(self.opened), None
                continue
            match = self._tokens.search(line, at)
            if match is None or match.lastgroup == "comment":
                break
            at = match.end()
            if match.lastgroup == "opener":
                self.opened = CLOSERS.get(match.group(), match.group())
                end = line.find(self.opened, at)
                # A string in three quotes that ends on the same line is an ordinary literal.
                if end >= 0 and self.opened != "*/":
                    tokens.append(line[match.start() : end + len(self.opened)])
            else:
                tokens.append(match.group())
        return tokens


@lru_cache(maxsize=32)
def _compile(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return three patterns: for openers, comments and tokens; for tokens only; and for openers and comments only."""
    openers = "|".join(map(re.escape, OPENERS.get(language, ("/*", '"""'))))
    opener = f"(?P<opener>{openers})|" if openers else ""
    comment = COMMENTS.get(language, SLASHES)
    names = _NAME.get(language, r"[^\W\d]\w*")
    token = f"{_SYMBOL.get(language, '')}{_LITERAL}|{names}|{_OPERATOR}"
    return (
        re.compile(f"{opener}(?P<comment>{comment})|(?P<token>{token})", re.VERBOSE),
        re.compile(token, re.VERBOSE),
        re.compile(f"{openers}|{comment}" if openers else comment, re.VERBOSE),
    )


def tokenize_lines(text: str, language: str) -> Iterator[list[str]]:
    lexer = Lexer(language)
    return map(lexer.line, text.split("\n"))


def classify_token(token: str, keywords: frozenset[str]) -> Class:
    if token in keywords:
        return "keyword"
    if _LITERAL_START.match(token):
        return "literal"
    if token[0].isalpha() or token[0] == "_" or (token[0] in "@$#" and len(token) > 1):
        return "name"
    return "punctuation" if token in _PUNCTUATION else "operator"


def distinct(texts: Iterable[str]) -> Iterator[str]:
    seen = set[str]()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text


ORDER = 6
"""The length of the longest counted sequences in tokens: five of context, and the token that follows."""
CAPACITY = 5_000
"""The number of tokens before the caret's line that the cache keeps."""
SURE = 1_000.0
"""The largest weight of a model in a mixture. A model with ten seen contexts reaches it."""

Level = tuple[Floats, float]
"""How often each candidate followed a context, and how often any predicted token followed the context."""


def interpolate(levels: Iterable[Level]) -> tuple[Floats, int]:
    """Return the probabilities of the candidates, and the number of seen contexts.

    This is Jelinek-Mercer smoothing over the seen contexts of 0, 1, 2 … tokens. A context weighs as much as all shorter
    contexts together.
    """
    probability: Floats = np.zeros(1)
    mass, seen = 0.0, 0
    for counts, total in levels:
        if not total:
            break
        probability = 0.5 * probability + 0.5 * counts / total
        mass, seen = 0.5 * mass + 0.5, seen + 1
    return (probability / mass if seen else probability), seen


def mix(nearer: tuple[Floats, int], wider: tuple[Floats, int]) -> Floats:
    """Return the mean of two models' probabilities, weighted by `shares`."""
    (share_of_wider, share_of_nearer), _ = shares((wider[1], nearer[1]))
    return wider[0] * share_of_wider + nearer[0] * share_of_nearer


@lru_cache(maxsize=4096)
def shares(seen: tuple[int, ...]) -> tuple[tuple[float, ...], float]:
    """Return the share of each model in a mixture, and the weight of the mixture. `seen`: the number of seen contexts
    of each model, the widest model first. Each model is mixed with the mixture of all models before it.

    As in InverseMixModel, a model with n seen contexts has confidence 1 - 2^-n and weight 1 / (1 - confidence), at most
    SURE. The confidence of a mixture is the mean confidence of its parts, weighted in the same way.
    """
    parts, weight = tuple[float, ...](), 0.0
    for count in seen:
        own = min(2.0**count, SURE) if count else 0.0
        together = max(own + weight, 1.0)
        parts = (*(part * weight / together for part in parts), own / together)
        unsure = (bool(own) + bool(weight)) / together  # the mean of 1 / weight
        weight = min(1 / unsure, SURE) if unsure else 0.0
    return parts, weight


def factors(totals: Sequence[float], weight: float) -> list[float]:
    """Return a factor for each context length: a token's probability is the sum of its counts times these factors.
    `totals`: how often any token follows the contexts of 0, 1, 2 … tokens; all are above 0. `weight`: the share of a
    context in its mean with all shorter contexts (`interpolate` has 0.5)."""
    faded = [weight * (1 - weight) ** shorter for shorter in reversed(range(len(totals)))]
    mass = sum(faded)
    return [part / mass / total for part, total in zip(faded, totals, strict=True)]


class _After(msgspec.Struct):
    total: int
    counts: dict[str, int]


NEVER_SEEN = _After(0, {})


class Cache:
    """The counts of tokens after contexts, in a text whose end can grow and shrink, and whose oldest tokens expire."""

    def __init__(self, order: int = ORDER, predicted: Callable[[str], bool] = is_name) -> None:
        """`order`: the length of the longest counted sequences. `predicted`: whether to count a token as a follower."""
        self.order = order
        self._predicted = predicted
        self.forget()

    def forget(self) -> None:
        self.tokens: list[str] = []
        self._oldest = 0
        self._places: dict[str, list[int]] = defaultdict(list)
        self._after: dict[tuple[str, ...], _After] = {}

    def add(self, tokens: Iterable[str]) -> None:
        for token in tokens:
            self._places[token].append(len(self.tokens))
            self.tokens.append(token)
            self._count(len(self.tokens) - 1, 1)

    def take_back(self, number: int) -> None:
        for _ in range(number):
            self._count(len(self.tokens) - 1, -1)
            self._places[self.tokens.pop()].pop()

    def keep(self, number: int) -> None:
        while len(self.tokens) - self._oldest > number:
            self._count(self._oldest, -1)
            self._oldest += 1

    def _count(self, place: int, times: int) -> None:
        token = self.tokens[place]
        if place < self._oldest or not self._predicted(token):
            return
        longest = tuple(self.tokens[max(place - self.order + 1, 0) : place])
        for begin in range(len(longest) + 1):
            context = longest[begin:]
            after = self._after.get(context)
            if after is None:
                self._after[context] = _After(times, {token: times})
                continue
            after.total += times
            counts = after.counts
            counts[token] = counts.get(token, 0) + times
            if not counts[token]:
                del counts[token]
                if not counts:
                    del self._after[context]

    def context(self, length: int) -> tuple[str, ...]:
        return tuple(self.tokens[max(len(self.tokens) - length, 0) :])

    def following(self, context: tuple[str, ...]) -> Mapping[str, int]:
        return self._after.get(context, NEVER_SEEN).counts

    def total(self, context: tuple[str, ...]) -> int:
        return self._after.get(context, NEVER_SEEN).total

    def last(self, text: str) -> int:
        """Return the position (from 1) of the token's last occurrence, or 0 if it does not occur."""
        places = self._places.get(text)
        return places[-1] + 1 if places else 0

    def levels(self, texts: Sequence[str]) -> Iterable[Level]:
        """Yield a level for each context of the last 0, 1, 2 … tokens, with the counts of these texts."""
        longest = self.context(self.order - 1)
        for length in range(len(longest) + 1):
            last = longest[len(longest) - length :]
            after = self.following(last)
            counts = np.array([after.get(text, 0) for text in texts], dtype=np.float64)
            yield counts, float(self.total(last))


NOTHING: Mapping[str, int] = {}


class Typed(Cache):
    """The tokens of the open file up to the caret."""

    def forget(self) -> None:
        super().forget()
        self._read = ""
        self._on_line = 0

    def read(self, before: str) -> None:
        # The caret's line is read again each time, since its tokens may have changed.
        self.take_back(self._on_line)
        end = before.rfind("\n") + 1
        if not before.startswith(self._read) or end < len(self._read):
            self.forget()
        for line in before[len(self._read) : end].splitlines():
            if tokens := tokenise_line(line):
                self.add([START_OF_LINE, *tokens])
        self.keep(CAPACITY)
        self._read = before[:end]
        begun = [START_OF_LINE, *tokenise_line(before[end:])]
        self.add(begun)
        self._on_line = len(begun)
