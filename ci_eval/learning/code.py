"""Code as tokens, line by line, read without a grammar: fast, for any language, and the same in every file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

Class = Literal["name", "keyword", "literal", "operator", "punctuation"]
"""What the text of a token tells about it."""

HASH, SLASHES = r"\#(?!\[)", "//"
COMMENTS = {"python": HASH, "ruby": HASH, "php": f"{HASH}|{SLASHES}"}
"""What comments begin with that end with their line; of every other language: two slashes."""
OPENERS = {"python": ('"""', "'''"), "ruby": (), "go": ("/*",), "php": ("/*",), "javascript": ("/*",)}
"""What opens text of several lines that holds no code; of every other language: `/*` and three quotes."""
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
    """Reads the lines of one text in order; it remembers whether they are within a comment or text of several lines."""

    def __init__(self, language: str) -> None:
        self._tokens, self._plain, self._marks = _compiled(language)
        self.opened: str | None = None
        """What ends the text of several lines that is open."""

    def copy(self) -> Lexer:
        """One that is at the same place, and reads on by itself."""
        other = Lexer.__new__(Lexer)
        other._tokens, other._plain, other._marks = self._tokens, self._plain, self._marks
        other.opened = self.opened
        return other

    def line(self, line: str) -> list[str]:
        """The tokens of the next line; comments have none."""
        if not (self.opened or self._marks.search(line)):
            return self._plain.findall(line)
        found, at = [], 0
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
                if end >= 0 and self.opened != "*/":
                    found.append(line[match.start() : end + len(self.opened)])
            else:
                found.append(match.group())
        return found


@lru_cache(maxsize=32)
def _compiled(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What finds the next token, comment or opener; the tokens of a line without comments and openers; and these."""
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


def lines_of(text: str, language: str) -> Iterator[list[str]]:
    """The tokens of each line of a text."""
    lexer = Lexer(language)
    return map(lexer.line, text.split("\n"))


def class_of(token: str, keywords: frozenset[str]) -> Class:
    """What its text tells."""
    if token in keywords:
        return "keyword"
    if _LITERAL_START.match(token):
        return "literal"
    if token[0].isalpha() or token[0] == "_" or (token[0] in "@$#" and len(token) > 1):
        return "name"
    return "punctuation" if token in _PUNCTUATION else "operator"


def distinct(texts: Iterable[str]) -> Iterator[str]:
    """Each text when it comes for the first time."""
    seen = set[str]()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text
