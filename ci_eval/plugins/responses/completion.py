"""A reader of the part of a response that would be inserted at a caret."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ci_eval.core.grammar.syntax import Node, Tree, parser
from ci_eval.plugins.responses.cleaning import bounds, end_of_thought
from ci_eval.plugins.responses.fences import find_fences
from ci_eval.plugins.responses.marks import Pairs, fence_tags

_SPAN = re.compile(r"\s*(?P<ticks>`+)(?P<code>[^`]+)(?P=ticks)\.?\s*")
_BLANK_LINES = re.compile(r"(?:[ \t\r]*\n)+")
_FOREIGN_BLANKS = re.compile(r"(?:[^\S\x00-\x7f]|[\u200b-\u200f\u2060\ufeff])+")
"""The pattern of blanks and invisible signs outside of ASCII, with which no code begins."""
_TEXT_NODES = re.compile(r"comment|string|heredoc|literal|text|content")
_DIFF = re.compile(r"\s*(?:diff --git |--- [^\n]*\n\+\+\+ )")
"""The pattern of the beginning of a diff, for which nobody asked: many languages read its first line as code."""
BACKTICK_FREE = frozenset({"python", "java", "c", "cpp", "c_sharp", "rust", ""})
"""The grammars of languages in which no code begins with a backtick."""


@dataclass(frozen=True, kw_only=True)
class Inserted:
    """The part of a response from `begin` to `end`, and the rules that found it."""

    begin: int
    end: int
    rules: tuple[str, ...] = ()
    is_readable: bool = True
    """False if no part of the response, or more than one, is code at the caret."""


@dataclass(frozen=True, kw_only=True)
class Hole:
    """A caret in a file, and the grammar that says what is code there."""

    before: str
    after: str
    original: str
    """The text that the file has at the caret."""
    grammar: str = ""
    """The name of the grammar; "" = none is known, and every text counts as code."""
    _trees: dict[str, Tree] = field(default_factory=dict)

    def reads(self, text: str) -> bool:
        """Return whether the text at the caret gives no ERROR node that the file with its original text has not."""
        return not self.grammar or text == self.original or self._errors(text) <= self._errors(self.original)

    def is_quoted(self, text: str, offset: int) -> bool:
        """Return whether, with the text at the caret, this offset of the text is within a comment or a literal."""
        if not self.grammar:
            return False
        position = len((self.before + text[:offset]).encode())
        node: Node | None = self._parse(text).root_node
        while node is not None:
            if _TEXT_NODES.search(node.type) and node.start_byte < position:
                return True
            inner = (child for child in node.children if child.start_byte <= position < child.end_byte)
            node = next(inner, None)
        return False

    def _parse(self, text: str) -> Tree:
        if text not in self._trees:
            self._trees[text] = parser(self.grammar).parse(f"{self.before}{text}{self.after}".encode())
        return self._trees[text]

    def _errors(self, text: str) -> set[tuple[int, int]]:
        """Return the ERROR and missing nodes. Offsets after the caret are counted from the end, where they are the same
        whatever stands at the caret."""
        root = self._parse(text).root_node
        caret, length = len(self.before.encode()), root.end_byte
        waiting: list[Node] = [root]
        errors = set()
        while waiting:
            node = waiting.pop()
            if node.type == "ERROR" or node.is_missing:
                begin, end = (
                    offset if offset <= caret else offset - length - 1 for offset in (node.start_byte, node.end_byte)
                )
                errors.add((begin, end))
            if node.has_error:
                waiting.extend(node.children)
        return errors


def extract_insertion(
    text: str,
    hole: Hole,
    suggest: Callable[[str], str] = str,
    *,
    language: str = "",
    thoughts: Pairs = (),
    ends: Sequence[str] = (),
    chat: bool = False,
) -> Inserted:
    """Return the part of a response that goes on at the caret. `suggest`: what a part would insert there, cut to the
    span that was asked for; `chat`: blank lines before the answer do not belong to it.

    The answer is taken as it is. A fence, backticks around all of it, or a begin of the line that is there already are
    removed only if they cannot be code at the caret. If several parts may be meant, the answer is unreadable.
    """

    def reads(begin: int, end: int) -> bool:
        suggestion = suggest(text[begin:end])
        return not suggestion or hole.reads(suggestion)

    answer = end_of_thought(text, thoughts)
    begin, end = bounds(text, answer, ends)
    if not reads(begin, end):
        begin, end = bounds(text, answer, ends, ambiguous=True)
    is_cut = text[begin:end].strip() != text[answer:].strip()
    rules = [*(["thought"] if answer else []), *(["end token"] if is_cut else [])]
    for pattern in (*([_BLANK_LINES] if chat else []), _FOREIGN_BLANKS):
        if blank := pattern.match(text, begin, end):
            begin = blank.end()
    parts = list(_parts(text, begin, end, hole, fence_tags(language)))
    readable: dict[str, tuple[int, int, str]] = {}
    for first, last, rule in parts:
        inner_parts = list(_inner_parts(text, first, last, rule, hole))
        # The grammar of Python reads backticks, which the language has not.
        is_span = hole.grammar in BACKTICK_FREE and any(inner[2] == "backticks" for inner in inner_parts)
        options = inner_parts if is_span else [(first, last, rule), *inner_parts]
        if option := next((option for option in options if reads(*option[:2])), None):
            readable.setdefault(suggest(text[option[0] : option[1]]), option)
    first, last, rule = next(iter(readable.values()), (parts or [(begin, end, "")])[-1])
    is_readable = len(readable) == 1 and not (_DIFF.match(text[first:last]) or _is_json(text[first:last]))
    return Inserted(begin=first, end=last, rules=(*rules, *([rule] if rule else [])), is_readable=is_readable)


def _is_json(text: str) -> bool:
    """Return whether all of a text is an object of JSON, for which nobody asked: most languages read it as code."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _parts(text: str, begin: int, end: int, hole: Hole, tags: set[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the parts that may be meant: the text before the first fence, and the code in fences of the language."""
    inner = text[begin:end]
    fences = find_fences(inner)
    if fences and inner[: fences[0].start].strip():
        # A fence in a comment or literal of the code is part of it.
        fences = [fence for fence in fences if not hole.is_quoted(inner, fence.start)]
    if not fences:
        yield begin, end, ""
        return
    if inner[: fences[0].start].strip():
        yield begin, begin + fences[0].start, ""
    for fence in fences:
        if fence.tag in tags and (fence.text.strip() or not inner[: fences[0].start].strip()):
            yield begin + fence.begin, begin + fence.end, "fence"


def _inner_parts(text: str, begin: int, end: int, rule: str, hole: Hole) -> Iterator[tuple[int, int, str]]:
    """Yield the part without what may be around it: the begin of the line, which is there already, or backticks."""
    inner = text[begin:end]
    line = hole.before.rpartition("\n")[2].lstrip()
    if line and inner.lstrip().startswith(line):
        yield end - len(inner.lstrip()) + len(line), end, rule
    if not rule and (span := _SPAN.fullmatch(inner)):
        yield begin + span.start("code"), begin + span.end("code"), "backticks"
