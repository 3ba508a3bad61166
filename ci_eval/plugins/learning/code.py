"""A lexer without a grammar, which splits code of any language into tokens, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

Class = Literal["name", "keyword", "literal", "operator", "punctuation"]
"""Class of a token, as far as its text shows it."""

HASH, SLASHES = r"\#", "//"
# In PHP, `#[` begins an attribute.
COMMENTS = {"python": HASH, "ruby": HASH, "php": rf"{HASH}(?!\[)|{SLASHES}"}
"""Pattern of the beginning of comments that end with their line. In other languages these are two slashes."""
OPENERS = {"python": ('"""', "'''"), "ruby": (), "go": ("/*",), "php": ("/*",), "javascript": ("/*",)}
"""Beginnings of text that spans lines and holds no code. In other languages these are `/*` and three quotes."""
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
    """A lexer that reads the lines of one text in order, and remembers whether it is within a comment or text of
    several lines."""

    def __init__(self, language: str) -> None:
        self._tokens, self._plain, self._marks = _compile(language)
        self.opened: str | None = None
        """End of the text of several lines that is open."""

    def copy(self) -> Lexer:
        """Return a lexer at the same position, which reads on by itself."""
        twin = Lexer.__new__(Lexer)
        twin._tokens, twin._plain, twin._marks = self._tokens, self._plain, self._marks
        twin.opened = self.opened
        return twin

    def line(self, line: str) -> list[str]:
        """Return the tokens of the next line, without comments."""
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
                # Three quotes that close on the same line are a literal like others.
                if end >= 0 and self.opened != "*/":
                    tokens.append(line[match.start() : end + len(self.opened)])
            else:
                tokens.append(match.group())
        return tokens


@lru_cache(maxsize=32)
def _compile(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return three patterns: for the next token, comment or opener; for the tokens of a line without comments and
    openers; and for comments and openers."""
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
    """Yield each text when it comes for the first time."""
    seen = set[str]()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text
