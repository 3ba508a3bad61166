"""The readers of what was asked for in a response: text for a caret, code for a record, a reviewer's comments."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ci_eval.core.grammar.syntax import Node, Tree, parser
from ci_eval.plugins.responses.cleaning import Pairs, fence_tags, find_answer, find_fences

_SPAN = re.compile(r"\s*(?P<ticks>`+)(?P<code>[^`]+)(?P=ticks)\.?\s*")
_BLANK_LINES = re.compile(r"(?:[ \t\r]*\n)+")
_FOREIGN_BLANKS = re.compile(r"(?:[^\S\x00-\x7f]|[\u200b-\u200f\u2060\ufeff])+")
"""The pattern of blanks and invisible signs outside of ASCII, with which no code begins."""
_TEXT_NODES = re.compile(r"comment|string|heredoc|literal|text|content")
_DIFF = re.compile(r"\s*(?:diff --git |--- [^\n]*\n\+\+\+ )")
"""The pattern of the beginning of a diff, for which nobody asked: many languages read its first line as code."""
BACKTICK_FREE = frozenset({"python", "java", "c", "cpp", "c_sharp", "rust", ""})
"""The grammars of languages in which no code begins with a backtick."""


class Inserted(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a response from `begin` to `end`, and the rules that found it."""

    begin: int
    end: int
    rules: tuple[str, ...] = ()
    is_readable: bool = True
    """False if no part of the response, or more than one, is code at the caret."""


class Hole(msgspec.Struct, frozen=True, kw_only=True):
    """A caret in a file, and the grammar that says what is code there."""

    before: str
    after: str
    original: str
    """The text that the file has at the caret."""
    grammar: str = ""
    """The name of the grammar; "" = none is known, and every text counts as code."""
    _trees: dict[str, Tree] = msgspec.field(default_factory=dict)

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

    def reads(part: str) -> bool:
        suggestion = suggest(part)
        return not suggestion or hole.reads(suggestion)

    _, begin, end, rules = find_answer(text, thoughts, ends, reads)
    for pattern in (*([_BLANK_LINES] if chat else []), _FOREIGN_BLANKS):
        if blank := pattern.match(text, begin, end):
            begin = blank.end()
    parts = list(_parts(text, begin, end, hole, fence_tags(language), chat=chat))
    readable: dict[str, tuple[int, int, str]] = {}
    for first, last, rule in parts:
        inner_parts = list(_inner_parts(text, first, last, rule, hole))
        # The grammar of Python reads backticks, which the language has not.
        is_span = hole.grammar in BACKTICK_FREE and any(inner[2] == "backticks" for inner in inner_parts)
        options = inner_parts if is_span else [(first, last, rule), *inner_parts]
        if option := next((option for option in options if reads(text[option[0] : option[1]])), None):
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


def _parts(
    text: str, begin: int, end: int, hole: Hole, tags: set[str], *, chat: bool
) -> Iterator[tuple[int, int, str]]:
    """Yield the parts that may be meant: the text before the first fence, and the code in fences of the language. In a
    chat, which is asked for a fence, a closed one that names the language has no code before it."""
    inner = text[begin:end]
    fences = find_fences(inner)
    is_asked = chat and any(fence.is_closed and fence.tag and fence.tag in tags for fence in fences)
    if fences and not is_asked and inner[: fences[0].start].strip():
        # A fence in a comment or literal of the code is part of it.
        fences = [fence for fence in fences if not hole.is_quoted(inner, fence.start)]
    if not fences:
        yield begin, end, ""
        return
    if not is_asked and inner[: fences[0].start].strip():
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


def extract_code(answer: str, language: str, prompt: str = "") -> str | None:
    """Return the code in an answer without thoughts and tokens; None if the fence is missing that was asked for.

    Fences that name another language, and those that repeat a text of the prompt, are none. The last closed one counts;
    if no fence is closed, the last one, which was cut off.
    """
    tags = fence_tags(language)
    fences = [fence for fence in find_fences(answer) if fence.tag in tags]
    own = [fence for fence in fences if not fence.text.strip() or f"\n{fence.text.strip()}\n" not in f"\n{prompt}\n"]
    chosen = [fence for fence in own if fence.is_closed] or own
    return _strip_numbers(chosen[-1].text.strip("\n")) if chosen else None


_NUMBERED = re.compile(r"[ \t]*(?P<number>\d{1,4})[:.)|]?(?:[ \t](?P<code>.*))?")


def _strip_numbers(code: str) -> str:
    """Return numbered lines without their numbers, which count up by one, and without the one blank after each."""
    matches = [_NUMBERED.fullmatch(line) for line in code.split("\n")]
    numbers = [int(match["number"]) for match in matches if match]
    is_numbered = len(matches) > 1 and numbers == [*range(numbers[0], numbers[0] + len(matches))] if numbers else False
    return "\n".join(match["code"] or "" for match in matches if match) if is_numbered else code


_NUMBER = r"(?:Комментарий|Comment)[ \t]*[#№]?[ \t]*(?P<number>\d{1,2})(?:[ \t]*\([^()\n]{1,80}\))?"
MARKER = re.compile(
    rf"^[*_#>`•+\t -]{{0,8}}{_NUMBER}[*_`]*[ \t]*(?:[:.)—–-]|$)[*_`]*[ \t]*|^(?P<item>\d{{1,2}})[.)][ \t]+|"
    r"(?<=\s)(?:Комментарий|Comment) (?P<inline>\d{1,2}):[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
"""The pattern of a marker: `Комментарий 1:` and `Comment 1:`, as the prompts ask for it, or the number of a list."""
NOTHING = "no comments"
"""The answer that says that there is nothing to remark, in small letters."""
_SIGNS = " \t\n.!*_`"
_RULE = re.compile(r"(?:\n[ \t]*[-*_•]+[ \t]*)+\Z")
"""The pattern of lines between two comments that belong to neither."""
_PLACEHOLDER = re.compile(r"<[^<>\n]+>|…|\.\.\.")


def extract_comments(answer: str) -> list[str] | None:
    """Return the comments in an answer without thoughts and tokens; None if neither a marker nor NO COMMENTS is there.

    The markers count up from 1; other numbers are part of a comment. A placeholder of the prompt is no comment, and
    neither is a single word (`None`, `-`) next to comments of several.
    """
    if answer.strip(_SIGNS).lower() == NOTHING:
        return []
    fences = find_fences(answer.strip())
    if fences and (fences[0].start, fences[0].end) == (0, len(answer.strip().removesuffix("```").rstrip())):
        answer = fences[0].text
    marks: list[re.Match[str]] = []
    for match in MARKER.finditer(answer):
        is_next = int(match["number"] or match["item"] or match["inline"]) == len(marks) + 1
        # A list within a comment has numbers as well: one of comments begins with the answer.
        first = marks[0] if marks else match
        is_list = first["item"] is not None and not answer[: first.start()].strip()
        if is_next and (match["item"] is None or is_list) and (match["item"] is None) == (first["item"] is None):
            marks.append(match)
    if not marks:
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(answer)]
    texts = [_RULE.sub("", answer[mark.end() : end].strip()).rstrip() for mark, end in zip(marks, ends, strict=True)]
    # Entities next to plain signs are what the comment is about.
    texts = [text if "<" in text or ">" in text else html.unescape(text) for text in texts]
    filled = [text for text in texts if not (_PLACEHOLDER.fullmatch(text) or text.strip(_SIGNS).lower() == NOTHING)]
    return [text for text in filled if " " in text or "\n" in text] or filled
