"""The readers of a response: they return the text at a caret, the code for a record, or a reviewer's comments."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ci_eval.core.grammar.syntax import Node, Tree, parse_tree
from ci_eval.plugins.responses.cleaning import BLANK_LINES, Pairs, fence_tags, find_answer, find_fences

_SPAN = re.compile(
    r"\s*(?P<ticks>`+)(?:(?<=```)(?P<tag>[\w+#-]+)[ \t]+)?(?P<code>[^`](?:.*?[^`])?)(?P=ticks)\.?\s*", re.DOTALL
)
"""The pattern of an answer between two equal runs of backticks. A language tag may follow three backticks."""
_FOREIGN_BLANKS = re.compile(r"(?:[^\S\x00-\x7f]|[\u200b-\u200f\u2060\ufeff])+")
"""The pattern of whitespace and invisible characters outside of ASCII. No code begins with them."""
_TEXT_NODES = re.compile(r"comment|string|heredoc|literal|text|content")
_NO_CODE = re.compile(
    r"diff --git |--- [^\n]*\n\+\+\+ |#{2,6} [^#\n]+\n\s*\S|"
    r"[*_>#]*[ \t]*(?=[^\W\d_])(?![a-z])[\w .,!'’-]+[:\uff1a][*_]*[ \t]*\n\s*\S|[Nn]/[Aa]\W*\Z"
)
"""The pattern of a text that begins with a diff or with a heading (`Code:`) above the answer, or that is `N/A`. Many
grammars parse its first line as code."""
_LEAD = re.compile(r"(?:[\W\d_]*[\s\"'“`：•]|.*(?:[:：`]|\w!|<[^<>]+>)\s*)")
"""The pattern of the text before code in a list, table, JSON array or tag, or after a label."""
_MARKS = re.compile(r"[\W\d_]*(?:</\w+>)?[\W\d_]*")
FEWEST_REPEATED = 8
"""The minimum length of a line that counts as repeated: lines such as `}` or `end` also occur twice by chance."""
BACKTICK_FREE = frozenset({"python", "java", "c", "cpp", "c_sharp", "rust", ""})
"""The grammars of languages in which no code begins with a backtick."""


class Inserted(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a response that is inserted at a caret, and the rules that found it."""

    begin: int
    end: int
    rules: tuple[str, ...] = ()
    is_readable: bool = True
    """False if no part of the response is code at the caret, or if several parts are."""


class Hole(msgspec.Struct, frozen=True, kw_only=True):
    before: str
    after: str
    original: str
    """The expected text at the caret."""
    grammar: str = ""
    """Empty if the grammar is not known: then every text counts as code."""
    _trees: dict[str, Tree] = msgspec.field(default_factory=dict)

    def reads(self, text: str) -> bool:
        """Return whether `text` at the caret causes no ERROR nodes beyond those that the original text causes."""
        return not self.grammar or text == self.original or self._errors(text) <= self._errors(self.original)

    def is_quoted(self, text: str, offset: int) -> bool:
        """Return whether this offset of `text` is in a comment or literal when `text` is inserted at the caret."""
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
            self._trees[text] = parse_tree(f"{self.before}{text}{self.after}".encode(), self.grammar)
        return self._trees[text]

    def _errors(self, text: str) -> set[tuple[int, int]]:
        """Return the ranges of ERROR and missing nodes. Offsets after the caret are counted from the end of the file,
        so they do not depend on the length of the inserted text."""
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
    """Return the part of a response that continues the text at the caret. `suggest` returns what a part would insert,
    cut to the span. If `chat` is true, blank lines before the answer are removed.

    A fence, backticks around the answer, or a repeated beginning of the line are removed only if they cannot be code at
    the caret. If several parts may be the answer, the response is unreadable.
    """

    def reads(part: str) -> bool:
        suggestion = suggest(part)
        return not suggestion or hole.reads(suggestion)

    _, begin, end, rules = find_answer(text, thoughts, ends, reads)
    for pattern in (*([BLANK_LINES] if chat else []), _FOREIGN_BLANKS):
        if blank := pattern.match(text, begin, end):
            begin = blank.end()
    parts = list(_parts(text, begin, end, hole, fence_tags(language), suggest, chat=chat))
    readable: dict[str, tuple[int, int, str]] = {}
    for part in parts:
        options, repeated = _without_ticks(text, part, hole, fence_tags(language)), _without_repeated(text, part, hole)
        if repeated and len(text[part[0] : repeated[0]].strip()) < FEWEST_REPEATED:
            options.append(repeated)
            repeated = None
        option = next((option for option in options if reads(text[option[0] : option[1]])), None)
        for span in (option, repeated):
            if span and reads(text[span[0] : span[1]]):
                readable.setdefault(suggest(text[span[0] : span[1]]), span)
    if len(readable) > 1:
        readable.pop("", None)
    first, last, rule = next(iter(readable.values()), (parts or [(begin, end, "")])[-1])
    answer = text[first:last]
    is_readable = len(readable) == 1 and (
        suggest(answer) == hole.original
        or not (_NO_CODE.match(answer.lstrip()) or _is_json(answer) or _contains_expected(answer, hole))
    )
    return Inserted(begin=first, end=last, rules=(*rules, *([rule] if rule else [])), is_readable=is_readable)


def _contains_expected(text: str, hole: Hole) -> bool:
    """Return whether the response has the expected text on its own after a mark (`1. x`, `["x"]`) or label, or below
    another line. Such an answer counts as unreadable; reports show it, so a right answer in another form is noticed."""
    words, start = hole.original.split(), hole.before.rpartition("\n")[2].strip()
    plain = html.unescape(text).replace('\\"', '"')
    original = r"\s+".join(map(re.escape, words))
    for match in re.finditer(rf"(?<!\w){original}(?!\w)", plain) if words else ():
        earlier, _, lead = plain[: match.start()].rpartition("\n")
        is_below = bool(earlier.strip()) and len("".join(words)) >= FEWEST_REPEATED
        is_marked = bool(lead.strip()) and bool(_LEAD.fullmatch(lead))
        is_repeated = bool(start) and lead.strip() != start and lead.rstrip().endswith(start)
        is_alone = bool(_MARKS.fullmatch(plain[match.end() :].partition("\n")[0]))
        if is_alone and (is_marked or is_repeated or (is_below and (lead.strip() == start or _MARKS.fullmatch(lead)))):
            return True
    return False


def _is_json(text: str) -> bool:
    """Return whether the whole text is a JSON object. No prompt asks for JSON, but most grammars parse it as code."""
    if not text.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _parts(
    text: str, begin: int, end: int, hole: Hole, tags: set[str], suggest: Callable[[str], str], *, chat: bool
) -> Iterator[tuple[int, int, str]]:
    """Yield the candidates for the answer: the text before the first fence, and the code in fences of the language. If
    a chat response has a closed fence tagged with the language, the text before that fence is not code."""
    inner = text[begin:end]
    fences = find_fences(inner)
    is_asked = chat and any(fence.is_closed and fence.tag and fence.tag in tags for fence in fences)
    if fences and not is_asked and inner[: fences[0].start].strip():
        # A fence inside a comment or literal is part of the code.
        fences = [fence for fence in fences if not hole.is_quoted(inner, fence.start)]
    if not fences:
        yield begin, end, ""
        return
    if not is_asked and inner[: fences[0].start].strip():
        yield begin, begin + fences[0].start, ""
    for fence in fences:
        part = inner[fence.begin : fence.end]
        # In an indented fence, all lines have the fence's indentation, so use such a part only if it inserts one line.
        is_plain = part == fence.text or "\n" not in suggest(part)
        if is_plain and fence.tag in tags and (fence.text.strip() or not inner[: fences[0].start].strip()):
            yield begin + fence.begin, begin + fence.end, "fence"


def _without_ticks(text: str, part: tuple[int, int, str], hole: Hole, tags: set[str]) -> list[tuple[int, int, str]]:
    """Return the part without the backticks around it, and also unchanged if the language has backticks."""
    begin, end, rule = part
    span = None if rule else _SPAN.fullmatch(text, begin, end)
    if not span or span["ticks"] in re.findall("`+", span["code"]):
        return [part]
    name = "code" if (span["tag"] or "").lower() in tags else "tag" if span["tag"] else "code"
    inner = (span.start(name), span.end("code"), "backticks")
    # Python's grammar accepts backticks although Python 3 has none. No language has several backticks around code.
    return [inner] if hole.grammar in BACKTICK_FREE or len(span["ticks"]) > 1 else [part, inner]


def _without_repeated(text: str, part: tuple[int, int, str], hole: Hole) -> tuple[int, int, str] | None:
    """Return the part without the text that repeats the caret's line (and lines above), or None without such a text."""
    begin, end, rule = part
    *earlier, line = hole.before.split("\n")
    before, line = [text.strip() for text in earlier], line.lstrip()
    given = text[begin:end].lstrip().split("\n")
    stripped = [text.strip() for text in given]
    for count in range(min(len(before) + 1, len(given))):
        is_repeated = len("".join([*stripped[:count], line])) >= FEWEST_REPEATED if count else bool(line)
        rest = given[count].lstrip() if line else given[count]
        if is_repeated and before[len(before) - count :] == stripped[:count] and rest.startswith(line):
            length = len("\n".join([rest[len(line) :], *given[count + 1 :]]))
            return (end - length, end, rule) if length else None
    return None


def extract_code(answer: str, language: str, prompt: str = "") -> str | None:
    """Return the code in a fence of a cleaned answer (without thoughts and tokens), or None if there is no fence.

    Fences that are tagged with another language or that repeat text of the prompt are ignored. Closed fences are
    preferred, then fences tagged with the language, then the last fence.
    """
    tags = fence_tags(language)
    fences = [fence for fence in find_fences(answer) if fence.tag in tags]
    own = [fence for fence in fences if not fence.text.strip() or f"\n{fence.text.strip()}\n" not in f"\n{prompt}\n"]
    chosen = [fence for fence in own if fence.is_closed] or own
    chosen = [fence for fence in chosen if fence.tag] or chosen
    return chosen[-1].text.strip("\n") if chosen else None


_NUMBER = r"(?:Комментарий|Comment)[ \t]*[#№]?[ \t]*(?P<number>\d{1,2})(?:[ \t]*[(\[][^()\[\]\n]{1,80}[)\]])?"
MARKER = re.compile(
    rf"^[*_#>`•+\t -]{{0,8}}{_NUMBER}[*_`]*[ \t]*(?:[:\uff1a.)—–-]|$)[*_`]*[ \t]*|^(?P<item>\d{{1,2}})[.)][ \t]+|"
    r"(?<=\s)(?:Комментарий|Comment) (?P<inline>\d{1,2}):[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
"""The pattern of a comment's marker: `Комментарий 1:` or `Comment 1:`, as prompts request, or the number in a list."""
NOTHING = "no comments"
"""The answer that means that there are no comments, in lower case."""
_SIGNS = " \t\n.!*_`"
_RULE = re.compile(r"(?:\n[ \t]*[-*_•]+[ \t]*)+\Z")
"""The pattern of horizontal rules (`---`) after a comment."""
_PLACEHOLDER = re.compile(r"<[^<>\n]+>|…|\.\.\.")


def extract_comments(answer: str) -> list[str] | None:
    """Return the comments in a cleaned answer, or None if the answer has neither a marker nor NO COMMENTS.

    Markers count up from 0 or 1; any other number belongs to a comment. Placeholders of the prompt are dropped, and so
    are single words (`None`, `-`) if there are longer comments.
    """
    if answer.strip(_SIGNS).lower() == NOTHING:
        return []
    fences = find_fences(answer.strip())
    if fences and (fences[0].start, fences[0].end) == (0, len(answer.strip().removesuffix("```").rstrip())):
        answer = fences[0].text
    fences = [fence for fence in find_fences(answer) if fence.is_closed]
    # A marker inside a fence is code and belongs to a comment.
    markers = [mark for mark in MARKER.finditer(answer) if not any(f.start < mark.start() < f.end for f in fences)]
    at_lines = {int(match["number"]) for match in markers if match["number"]}
    marks: list[re.Match[str]] = []
    last = 0
    for match in markers:
        number = int(match["number"] or match["item"] or match["inline"])
        # Some models count from 0, and some start again at 1 for each file.
        is_next = number == last + 1 or (number in {0, 1} and (bool(match["number"]) or not marks))
        if match["inline"] and number in at_lines:
            continue  # a comment refers to another comment
        # Numbered items are markers only if the answer begins with one; otherwise they are a list inside a comment.
        first = marks[0] if marks else match
        is_list = first["item"] is not None and not answer[: first.start()].strip()
        if is_next and (match["item"] is None or is_list) and (match["item"] is None) == (first["item"] is None):
            marks.append(match)
            last = number
    if not marks:
        return None
    ends = [*(mark.start() for mark in marks[1:]), len(answer)]
    texts = [_RULE.sub("", answer[mark.end() : end].strip()).rstrip() for mark, end in zip(marks, ends, strict=True)]
    # If the text also has literal angle brackets, its entities are part of the comment.
    texts = [text if "<" in text or ">" in text else html.unescape(text) for text in texts]
    filled = [text for text in texts if not (_PLACEHOLDER.fullmatch(text) or text.strip(_SIGNS).lower() == NOTHING)]
    return [text for text in filled if " " in text or "\n" in text] or filled
