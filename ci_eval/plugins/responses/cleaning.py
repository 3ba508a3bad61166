"""A cleaner of responses: it takes out fences of Markdown, thoughts, and tokens of templates around an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

Pairs = tuple[tuple[str, str], ...]

THOUGHTS: Pairs = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<reasoning_content>", "</reasoning_content>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<unused94>thought", "<unused95>"),
    ("<|channel>thought", "<channel|>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
)
"""The marks before and after a thought: DeepSeek, Qwen and others; Mistral; Open Thoughts; Cohere; Seed; Kimi; Gemma;
gpt-oss."""

SENTINEL = (
    r"<\|[A-Za-z_][\w .:/-]{0,40}\|>|<\uff5c[^\uff5c<>\n]{1,40}\uff5c>|"
    r"<(?:fim_(?:prefix|suffix|middle|pad)|file_sep|(?:start|end)_of_turn)>|\u2581?<\u2581?EOT>"
)
"""The pattern of the tokens of templates, of all families: no language has them outside of texts and comments."""
AMBIGUOUS_SENTINEL = (
    r"</?s>|<(?:EOS|eos|bos|PRE|SUF|MID)>|\u2581<(?:PRE|SUF|MID)>|\[(?:PREFIX|SUFFIX|MIDDLE|EOS|/?INST|end of text)\]"
)
"""The pattern of tokens that may be code as well: HTML's struck text, a constant as an index."""
ROLE = r"(?:(?:assistant|model)\b[ \t]*(?=\n|<))?"
"""The pattern of the name that a template has after the token that begins a turn."""

ALIASES = {
    "python": {"python", "python3", "py", "py3", "pytest", "python2", "pyi", "ipython"},
    "java": {"java", "junit"},
    "go": {"go", "golang"},
    "javascript": {
        "javascript", "js", "jsx", "mjs", "cjs", "node", "nodejs", "typescript", "ts", "tsx", "jest", "mocha",
    },
    "csharp": {"csharp", "c#", "cs", "c_sharp", "c-sharp", "dotnet"},
    "kotlin": {"kotlin", "kt", "kts"},
    "cpp": {"cpp", "c++", "cc", "cxx", "h", "hpp", "c"},
    "c": {"c", "h", "cpp", "c++"},
    "rust": {"rust", "rs"},
    "ruby": {"ruby", "rb"},
    "php": {"php"},
    "scala": {"scala", "sc"},
    "typescript": {"typescript", "ts", "tsx", "javascript", "js", "jsx"},
}  # fmt: skip
"""The tags that language models put at a fence around code, by language."""


def fence_tags(language: str) -> set[str]:
    """Return the tags of fences that hold code of the language, in small letters; "" is a fence without a tag."""
    low = language.lower()
    named = next((names for name, names in ALIASES.items() if low == name), None)
    return {"", low, *(named or next((names for names in ALIASES.values() if low in names), set()))}


_BLANKS = re.compile(r"(?:[ \t\r]*\n)+")
_FINAL = re.compile(
    r"(?:.*<\|(?:end|return|call)\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>", re.DOTALL
)
"""The pattern of all before the final channel of harmony (gpt-oss)."""


class Cleaned(msgspec.Struct, frozen=True, kw_only=True):
    """A response without what surrounds the answer."""

    text: str
    thought: str = ""
    rules: tuple[str, ...] = ()
    """The kinds of text that were removed: "thought", "end token"."""


def clean(text: str, thoughts: Pairs = (), ends: Sequence[str] = ()) -> Cleaned:
    """Return the answer in a response. `thoughts` and `ends` are marks besides the known ones."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    # Both marks of HTML's struck text, if there is one, are part of the answer.
    answer, begin, end, rules = find_answer(plain, thoughts, ends, lambda text: "<s>" in text and "</s>" in text)
    return Cleaned(text=plain[begin:end], thought=plain[:answer].strip(), rules=rules)


def find_answer(
    text: str, thoughts: Pairs, ends: Sequence[str], is_whole: Callable[[str], bool]
) -> tuple[int, int, int, tuple[str, ...]]:
    """Return the end of the thoughts, the begin and end of the answer, and the kinds of text that were left out.

    Tokens that may be code as well, and `ends`, are left out only if the answer is not whole with them.
    """
    answer = end_of_thought(text, thoughts)
    begin, end = bounds(text, answer)
    if not is_whole(text[begin:end]):
        begin, end = bounds(text, answer, (AMBIGUOUS_SENTINEL, *map(re.escape, ends)))
    is_cut = text[begin:end].strip() != text[answer:].strip()
    return answer, begin, end, (*(["thought"] if answer else []), *(["end token"] if is_cut else []))


def end_of_thought(text: str, thoughts: Pairs = ()) -> int:
    """Return the offset at which the answer begins, after the thoughts and the blank lines that follow them; 0 without
    any. A thought that is not closed is all of the text."""
    if final := _FINAL.match(text):
        return final.end()
    pairs, offset = (*thoughts, *THOUGHTS), 0
    while True:
        begin = text[offset:].lstrip()[:80].lower()
        closing = next((closing for opening, closing in pairs if begin.startswith(opening.lower())), "")
        if not closing:
            break
        end = text.find(closing, offset)
        offset = end + len(closing) if end >= 0 else len(text)
    for _, closing in pairs:
        # Templates swallow the first opening mark: a closing mark alone ends a thought that began with the answer. In
        # quotes it is code.
        mark = re.compile(rf"(?<![\"'`]){re.escape(closing)}(?![\"'`])")
        if not closing.startswith("<|") and (match := mark.search(text, offset)):
            offset = match.end()
    blank = _BLANKS.match(text, offset) if offset else None
    return blank.end() if blank else offset


def bounds(text: str, begin: int, patterns: Sequence[str] = ()) -> tuple[int, int]:
    """Return the begin and end of the answer, which begins at `begin`, between the tokens of templates at either end.
    `patterns`: of further tokens."""
    pattern = "|".join((SENTINEL, *patterns))
    if opened := re.compile(rf"\s*(?:(?:{pattern}){ROLE}[ \t]*)+").match(text, begin):
        blank = _BLANKS.match(text, opened.end())
        begin = blank.end() if blank else opened.end()
    end = len(text)
    # From the end backwards, since a search for a repeated group would try every offset.
    last = re.compile(rf"[ \t]*(?:{pattern})\s*\Z")
    while match := last.search(text, max(begin, end - LONGEST), end):
        end = match.start()
    return begin, end


LONGEST = 100
"""The most characters of a token and the blanks around it."""


_OPENING = re.compile(r"(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)")
_FIRST_LINE = re.compile(r"[\w+#-]+[ \t]+(?P<code>[^={]*(?:[(;].*|[:{]))")
"""The pattern of an info string with the first line of the code."""


class Fence(msgspec.Struct, frozen=True, kw_only=True):
    """The code between two fences; `begin` and `end` are the offsets of its text, which has the indentation of the
    fence no more."""

    tag: str
    """The first word of the info string, in small letters."""
    text: str
    begin: int
    end: int
    start: int
    """The offset of the signs that open the fence."""
    is_closed: bool = True


def find_fences(text: str) -> list[Fence]:
    """Return the fences of a text in their order, by the rules of CommonMark (https://spec.commonmark.org, 4.5).

    A fence that is not closed goes on to the end of the text, and there is none if nothing follows it.
    """
    fences: list[Fence] = []
    opened: re.Match[str] | None = None
    start = begin = offset = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        opening = _OPENING.fullmatch(bare)
        if opened and opening and opening["info"] and opening["fence"] == opened["fence"]:
            # The model began its answer again.
            fences.append(_make_fence(text, opened, start, begin, offset, is_closed=False))
            opened = None
        if opened is None:
            if opened := opening:
                start, begin = offset + len(opening["indent"]), offset + len(line)
                if code := _FIRST_LINE.fullmatch(opening["info"]):
                    begin = offset + opening.start("info") + code.start("code")
        elif (end := _closing_offset(bare, opened["fence"])) is not None:
            fences.append(_make_fence(text, opened, start, begin, offset + end))
            opened = None
        offset += len(line)
    if opened is not None and text[begin:].strip():
        fences.append(_make_fence(text, opened, start, begin, len(text), is_closed=False))
    return fences


def _closing_offset(line: str, fence: str) -> int | None:
    """Return the offset in the line at which the code ends, or None if it goes on."""
    sign, bare = fence[0], line.strip()
    if len(bare) >= len(fence) and not bare.strip(sign):
        return 0
    # Language models also close a fence on the last line of the code.
    is_end = line.endswith(fence) and line.count(sign) == len(fence)
    return len(line) - len(fence) if is_end else None


def _make_fence(text: str, opened: re.Match[str], start: int, begin: int, end: int, *, is_closed: bool = True) -> Fence:
    begin = min(begin, end)
    # The end of the last line is no part of the code.
    end = begin + len(text[begin:end].rstrip("\r\n")) if is_closed else end
    indent = len(opened["indent"])
    plain = re.sub(rf"(?m)^ {{0,{indent}}}", "", text[begin:end]) if indent else text[begin:end]
    begin += len(text[begin:end].partition("\n")[0]) - len(plain.partition("\n")[0])
    tag = re.split(r"[\s:,={]", opened["info"].strip().lstrip("{."), maxsplit=1)[0].rstrip("}").lower()
    return Fence(tag=tag, text=plain, begin=begin, end=end, start=start, is_closed=is_closed)
