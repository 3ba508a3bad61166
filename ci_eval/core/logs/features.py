"""The features of a suggestion, for rankers and logs.

Features are computed from the text before the caret, the list, and the project's other files; never from the text after
the caret or the expected text. Names are found by regular expressions and blocks by indentation, in every language.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np
from numpy.typing import NDArray

from ci_eval.core.contracts import CaretContext, FileContext
from ci_eval.core.logs.names import START_OF_LINE, Others, hash_token, load_other_names, tokenise_line
from ci_eval.core.model import Suggestion, Value

Floats = NDArray[np.float32]

MISSING = float("nan")
FARTHEST = 10_000
"""The greatest `distance`, in tokens; names that were last seen further back have this distance."""


class Feature(Value, frozen=True, kw_only=True):
    name: str
    type: str
    range: str
    meaning: str


KINDS = {
    "": 0, "method": 1, "function": 2, "constructor": 3, "field": 4, "property": 4, "event": 4, "variable": 5,
    "statement": 5, "instance": 5, "value": 5, "class": 6, "struct": 6, "interface": 6, "enum": 6, "typeparameter": 6,
    "type": 6, "trait": 6, "object": 6, "module": 7, "namespace": 7, "package": 7, "file": 7, "folder": 7, "path": 7,
    "keyword": 8, "constant": 9, "enummember": 9, "param": 10, "parameter": 10, "snippet": 11, "text": 11, "word": 11,
}  # fmt: skip
KIND_NAMES = (
    "other", "method", "function", "constructor", "field", "variable", "type", "module", "keyword", "constant",
    "parameter", "text",
)  # fmt: skip
MEMBER_MARKS = frozenset({".", ":", "->", "?."})
OPENING, CLOSING = frozenset("([{"), frozenset(")]}")

UP = "0 and up"

FEATURES = tuple(
    Feature(name=name, type=kind, range=values, meaning=meaning)
    for name, kind, values, meaning in (
        ("prefix_length", "number", UP, "characters typed"),
        ("query", "number", UP, "queries made in this session before this one"),
        ("list_size", "number", "1 and up", "suggestions shown"),
        (
            "token_before",
            "category",
            "0 to 7",
            "0 start of the line, 1 name, 2 keyword, 3 number, 4 member access, 5 opening bracket, 6 comma, 7 other",
        ),
        ("in_brackets", "number", UP, "brackets open on the line before the caret"),
        ("indentation", "number", UP, "blocks around the line"),
        ("position", "number", "1 and up", "place in the engine's order, as the client shows it"),
        ("position_share", "number", "0 to 1", "the same, as a share of the list"),
        ("score_rank", "number", "1 and up, or missing", "place of the engine's sortText among the different ones"),
        ("kind", "category", "0 to 11", ", ".join(f"{number} {kind}" for number, kind in enumerate(KIND_NAMES))),
        ("length", "number", "1 and up", "characters"),
        ("words", "number", UP, "words in the name, as in getName or get_name"),
        ("is_keyword", "flag", "0, 1", "a keyword of the language"),
        ("underscores", "category", "0 to 2", "0 none in front, 1 one, 2 two or more"),
        ("case", "category", "0 to 2", "0 small first letter, 1 capital, 2 all capitals"),
        ("prefix_match", "number", "0 to 2", "2 begins with what was typed, 1 apart from case, 0 otherwise"),
        ("prefix_share", "number", "0 to 1", "characters typed / length"),
        ("in_file", "number", UP, "times in the file before the caret"),
        ("distance", "number", "1 to 10,000, or missing", "tokens since the last time"),
        ("scope_distance", "number", "0 and up, or missing", "blocks around the line that began after the last time"),
        ("is_parameter", "flag", "0, 1", "stands in brackets in the first line of a block around the caret"),
        ("assigned", "number", UP, "times in the file with = behind it"),
        ("called", "number", "0 to 1, or missing", "share of its times in the file with ( behind it"),
        ("after_last", "number", UP, "times in the file after the same token"),
        ("after_last_two", "number", UP, "times in the file after the same two tokens"),
        ("same_line", "number", UP, "times on the line before the caret"),
        ("line_overlap", "number", "0 to 1", "share of its words that stand in names on the line before the caret"),
        ("in_project", "number", UP, "log(1 + times in other files of the project)"),
        ("in_project_files", "number", UP, "log(1 + other files it stands in)"),
        ("after_last_in_project", "number", UP, "log(1 + times in other files after the same token)"),
    )
)
NAMES = tuple(feature.name for feature in FEATURES)
CATEGORIES = tuple(feature.name for feature in FEATURES if feature.type == "category")
OF_PLACE = NAMES.index("position")
OF_PROJECT = NAMES.index("in_project")
"""The index of the first feature that looks at other files."""
COLUMN = {name: number for number, name in enumerate(NAMES)}

Columns = dict[str, Sequence[float]]
"""Features → the value for each suggestion of a list."""

SCHEMA = hashlib.blake2b(msgspec.json.encode(FEATURES), digest_size=8).hexdigest()
"""A digest of the columns; logs or models with different ones are never mixed."""

_NAME = re.compile(r"[^\W\d]\w*")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class _Block(msgspec.Struct, frozen=True):
    indent: int
    first: int
    line: str


class Reader:
    """A reader of a file up to the caret. It reads only new lines, or the whole file again if the caret moves back."""

    def __init__(self, keywords: frozenset[str], others: Others) -> None:
        self._keywords = keywords
        self._others = others
        self._forget()

    @classmethod
    def of(cls, context: FileContext) -> Reader:
        return cls(context.keywords, load_other_names(context))

    def _forget(self) -> None:
        self._read, self._count = "", 0
        self._times: Counter[str] = Counter()
        self._last: dict[str, int] = {}
        self._after: Counter[tuple[str, str]] = Counter()
        self._after_two: Counter[tuple[str, str, str]] = Counter()
        self._assigned: Counter[str] = Counter()
        self._called: Counter[str] = Counter()
        self._blocks: list[_Block] = []

    def rows(self, caret: CaretContext, suggestions: Sequence[Suggestion]) -> Floats:
        """Return (suggestions x features), with columns in the order of FEATURES."""
        line = self._advance(caret.before)
        tokens, size = tokenise_line(line), len(suggestions)
        indent = _indent(line) if tokens else len(line.expandtabs(4))
        around = [block for block in self._blocks if block.indent < indent]
        _, before_last, last = ["", "", START_OF_LINE, *tokens][-3:]
        opened = sum((token in OPENING) - (token in CLOSING) for token in tokens)
        prefix, facts = caret.prefix, [_facts(suggestion.text) for suggestion in suggestions]
        table = np.empty((size, len(FEATURES)), dtype=np.float32)
        # The features that are the same for all suggestions, in the order of FEATURES.
        token_type = _token_type(last, self._keywords)
        table[:, :OF_PLACE] = [len(prefix), caret.query, size, token_type, max(opened, 0), len(around)]
        # The LSP compares sortText as text, so each different sortText has a rank (from 1).
        different = sorted({text for suggestion in suggestions if (text := suggestion.sort_text) is not None})
        scores: dict[str | None, float] = {text: place for place, text in enumerate(different, 1)}
        columns: Columns = {
            "position": range(1, size + 1),
            "position_share": [number / size for number in range(1, size + 1)],
            "score_rank": [scores.get(suggestion.sort_text, MISSING) for suggestion in suggestions],
            "kind": [KINDS.get(suggestion.kind.lower(), 0) for suggestion in suggestions],
            "length": [len(fact.text) for fact in facts],
            "words": [fact.words for fact in facts],
            "is_keyword": [fact.text in self._keywords for fact in facts],
            "underscores": [fact.underscores for fact in facts],
            "case": [fact.case for fact in facts],
            "prefix_match": [
                2 if fact.text.startswith(prefix) else int(fact.text.lower().startswith(prefix.lower()))
                for fact in facts
            ],
            "prefix_share": [min(len(prefix) / len(fact.text), 1.0) if fact.text else 0.0 for fact in facts],
        }
        columns |= self._file_columns(facts, tokens, around, before_last, last)
        for name, values in columns.items():
            table[:, COLUMN[name]] = values
        hashes = np.fromiter((fact.hash for fact in facts), np.uint64, len(facts))
        table[:, OF_PROJECT:] = np.log1p(self._others.of(hashes, hash_token(last)))
        return table

    def _advance(self, before: str) -> str:
        """Read new whole lines, and return the caret's line up to the caret."""
        end = before.rfind("\n") + 1
        if not before.startswith(self._read) or end < len(self._read):
            self._forget()
        for line in before[len(self._read) : end].splitlines():
            if not (tokens := tokenise_line(line)):
                continue
            indent = _indent(line)
            while self._blocks and self._blocks[-1].indent >= indent:
                self._blocks.pop()
            self._blocks.append(_Block(indent, self._count, line))
            padded = ["", START_OF_LINE, *tokens, ""]
            for before_last, last, token, following in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
                if _NAME.match(token):
                    self._times[token] += 1
                    self._last[token] = self._count
                    self._after[last, token] += 1
                    self._after_two[before_last, last, token] += 1
                    self._called[token] += following == "("
                    self._assigned[token] += following == "="
                self._count += 1
        self._read = before[:end]
        return before[end:]

    def _file_columns(
        self, facts: Sequence[_Facts], tokens: Sequence[str], around: Sequence[_Block], before_last: str, last: str
    ) -> Columns:
        """Return the features of the file. `tokens`: those before the caret. `around`: the blocks, outermost first."""
        texts, times, called = [fact.text for fact in facts], self._times, self._called
        on_line, starts = Counter(tokens), [block.first for block in around]
        line = {word for token in tokens if _NAME.match(token) for word in _words(token)}
        parameters = frozenset().union(*(_bracket_names(block.line) for block in around))
        here = [on_line[text] for text in texts]
        seen = [self._count if count else self._last.get(text) for text, count in zip(texts, here, strict=True)]
        return {
            "in_file": [times[text] + count for text, count in zip(texts, here, strict=True)],
            "distance": [MISSING if at is None else min(max(self._count - at, 1), FARTHEST) for at in seen],
            "scope_distance": [MISSING if at is None else len(starts) - bisect_right(starts, at) for at in seen],
            "is_parameter": [text in parameters for text in texts],
            "assigned": [self._assigned[text] for text in texts],
            "called": [called[text] / times[text] if text in times else MISSING for text in texts],
            "after_last": [self._after[last, text] for text in texts],
            "after_last_two": [self._after_two[before_last, last, text] for text in texts],
            "same_line": here,
            "line_overlap": [len(fact.parts & line) / len(fact.parts) if fact.parts else 0.0 for fact in facts],
        }


class _Facts(msgspec.Struct, frozen=True):
    text: str
    words: int
    parts: frozenset[str]
    underscores: int
    case: int
    hash: int


@lru_cache(maxsize=200_000)
def _facts(text: str) -> _Facts:
    name = text.lstrip("_")
    case = 2 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 0
    words = _words(text)
    return _Facts(text, len(words), frozenset(words), min(len(text) - len(name), 2), case, hash_token(text))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _token_type(before: str, keywords: frozenset[str]) -> int:
    if before == START_OF_LINE:
        return 0
    if before in keywords:
        return 2
    if _NAME.match(before):
        return 1
    if before[:1].isdigit():
        return 3
    if before in MEMBER_MARKS:
        return 4
    return 5 if before in OPENING else 6 if before == "," else 7


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())


@lru_cache(maxsize=10_000)
def _bracket_names(line: str) -> frozenset[str]:
    """Return the names after the first opening bracket, such as the parameters of a function."""
    return frozenset(_NAME.findall(line.partition("(")[2]))
