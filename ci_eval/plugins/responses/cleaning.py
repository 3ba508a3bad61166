"""Functions that find the thoughts, template tokens and Markdown fences around an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

Pairs = tuple[tuple[str, str], ...]

THOUGHTS: Pairs = (
    *((f"<{tag}>", f"</{tag}>") for tag in ("think", "thinking", "thought", "reasoning", "reasoning_content")),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<unused94>thought", "<unused95>"),
    ("<|channel|>analysis<|message|>", "<|end|>"),
    ("<|channel>thought", "<channel|>"),
)
"""The marks before and after a thought of DeepSeek, Qwen and others, Mistral, Open Thoughts, Cohere, Seed, Kimi, Gemma
and gpt-oss."""

SENTINEL = (
    r"<\|[A-Za-z_][\w .:/-]{0,40}\|>|<\uff5c[^\uff5c<>\n]{1,40}\uff5c>|"
    r"<(?:fim_(?:prefix|suffix|middle|pad)|file_sep|(?:start|end)_of_turn)>|\u2581?<\u2581?EOT>"
)
"""The pattern of the template tokens of all model families. In code, they occur only in strings and comments."""
AMBIGUOUS_SENTINEL = (
    r"</?s>|<(?:EOS|eos|bos|PRE|SUF|MID)>|\u2581<(?:PRE|SUF|MID)>|\[(?:PREFIX|SUFFIX|MIDDLE|EOS|/?INST|end of text)\]"
)
"""The pattern of template tokens that may also be code, such as `<s>` (an HTML tag) or `[EOS]` (an index)."""
ROLE = r"(?:(?:assistant|model)\b[ \t]*(?=\n|<))?"
"""The pattern of the role after the token that begins a turn."""

ALIASES = {
    "python": "py python3 py3 python2 pyi pytest ipython",
    "java": "junit",
    "go": "golang",
    "javascript": "js jsx mjs cjs node nodejs typescript ts tsx jest mocha",
    "csharp": "c# cs c_sharp c-sharp dotnet",
    "kotlin": "kt kts",
    "cpp": "c++ cc cxx h hpp c",
    "c": "h cpp c++",
    "rust": "rs",
    "ruby": "rb",
    "scala": "sc",
    "typescript": "ts tsx javascript js jsx",
}
"""Language → the tags that language models put on a fence around code in that language."""


def fence_tags(language: str) -> set[str]:
    """Return the lower-case tags of fences that contain code of the language. "" stands for a fence without a tag."""
    low = language.lower()
    name = low if low in ALIASES else next((name for name, tags in ALIASES.items() if low in tags.split()), low)
    return {"", low, name, *ALIASES.get(name, "").split()}


BLANK_LINES = re.compile(r"(?:[ \t\r]*\n)+")
_FINAL = re.compile(
    r"(?:.*<\|(?:end|return|call)\|>)?(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>", re.DOTALL
)
"""The pattern of the text before the final channel of harmony, the response format of gpt-oss."""


class Cleaned(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    thought: str = ""
    rules: tuple[str, ...] = ()
    """The kinds of text that were removed: `thought` or `end token`."""


def clean(text: str, thoughts: Pairs = (), ends: Sequence[str] = ()) -> Cleaned:
    """Return the answer in a response. `thoughts` and `ends` are marks in addition to the known ones."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    # If the answer has both tags of HTML's `<s>` element, they are part of the answer.
    answer, begin, end, rules = find_answer(plain, thoughts, ends, lambda text: "<s>" in text and "</s>" in text)
    return Cleaned(text=plain[begin:end], thought=plain[:answer].strip(), rules=rules)


def find_answer(
    text: str, thoughts: Pairs, ends: Sequence[str], is_whole: Callable[[str], bool]
) -> tuple[int, int, int, tuple[str, ...]]:
    """Return the end of the thoughts, the start and end of the answer, and the kinds of removed text.

    Tokens that may also be code, and `ends`, are removed only if `is_whole` rejects the answer with them.
    """
    answer = find_end_of_thoughts(text, thoughts)
    begin, end = find_bounds(text, answer)
    if not is_whole(text[begin:end]):
        begin, end = find_bounds(text, answer, (AMBIGUOUS_SENTINEL, *map(re.escape, ends)))
    is_cut = text[begin:end].strip() != text[answer:].strip()
    return answer, begin, end, (*(["thought"] if answer else []), *(["end token"] if is_cut else []))


def find_end_of_thoughts(text: str, thoughts: Pairs = ()) -> int:
    """Return the offset after the thoughts and the blank lines that follow, or 0 if there are no thoughts. An unclosed
    thought extends to the end of the text."""
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
        # Templates swallow the first opening mark, so a lone closing mark also ends a thought. A quoted mark is code.
        mark = re.compile(rf"(?<![\"'`]){re.escape(closing)}(?![\"'`])")
        if not closing.startswith("<|") and (match := mark.search(text, offset)):
            offset = match.end()
    blank = BLANK_LINES.match(text, offset) if offset else None
    return blank.end() if blank else offset


def find_bounds(text: str, begin: int, patterns: Sequence[str] = ()) -> tuple[int, int]:
    """Return the start and end of the text after `begin` without template tokens at both ends. `patterns` match further
    tokens."""
    pattern = "|".join((SENTINEL, *patterns))
    if opened := re.compile(rf"\s*(?:(?:{pattern}){ROLE}[ \t]*)+").match(text, begin):
        blank = BLANK_LINES.match(text, opened.end())
        begin = blank.end() if blank else opened.end()
    end = len(text)
    # Remove one token at a time from the end: a regular expression with a repeated group would try every offset.
    last = re.compile(rf"[ \t]*(?:{pattern})\s*\Z")
    while match := last.search(text, max(begin, end - LONGEST_TOKEN), end):
        end = match.start()
    return begin, end


LONGEST_TOKEN = 100
"""The maximum length of a token with the whitespace around it."""

_OPENING = re.compile(r"(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)")
_FIRST_LINE = re.compile(r"[\w+#-]+[ \t]+(?P<code>[^={]*(?:[(;].*|[:{]))")
"""The pattern of a fence's info string that contains the first line of the code."""


class Fence(msgspec.Struct, frozen=True, kw_only=True):
    """The code in a fence. `text` is the code without the indentation of the fence; `begin` and `end` are its
    offsets."""

    tag: str
    """The first word of the info string, in lower case."""
    text: str
    begin: int
    end: int
    start: int
    """The offset of the opening fence."""
    is_closed: bool = True


def find_fences(text: str) -> list[Fence]:
    """Return the fences of a text in order, by the rules of CommonMark (https://spec.commonmark.org, 4.5).

    An unclosed fence extends to the end of the text. If only whitespace follows, the fence is ignored.
    """
    fences: list[Fence] = []
    opened: re.Match[str] | None = None
    start = begin = offset = 0
    for line in text.splitlines(keepends=True):
        bare = line.rstrip()
        opening = _OPENING.fullmatch(bare)
        if opened and opening and opening["info"] and opening["fence"] == opened["fence"]:
            # The model has started its answer again.
            fences.append(_make_fence(text, opened, start, begin, offset, is_closed=False))
            opened = None
        if opened is None:
            if opened := opening:
                start, begin = offset + len(opening["indent"]), offset + len(line)
                if code := _FIRST_LINE.fullmatch(opening["info"]):
                    begin = offset + opening.start("info") + code.start("code")
        else:
            sign, fence = opened["fence"][0], opened["fence"]
            is_fence = len(bare.strip()) >= len(fence) and not bare.strip().strip(sign)
            # Language models also close a fence at the end of the last line of code.
            if is_fence or (bare.endswith(fence) and bare.count(sign) == len(fence)):
                end = offset if is_fence else offset + len(bare) - len(fence)
                fences.append(_make_fence(text, opened, start, begin, end))
                opened = None
        offset += len(line)
    if opened is not None and text[begin:].strip():
        fences.append(_make_fence(text, opened, start, begin, len(text), is_closed=False))
    return fences


def _make_fence(text: str, opened: re.Match[str], start: int, begin: int, end: int, *, is_closed: bool = True) -> Fence:
    begin = min(begin, end)
    # The line break before the closing fence does not belong to the code.
    end = begin + len(text[begin:end].rstrip("\r\n")) if is_closed else end
    indent = len(opened["indent"])
    plain = re.sub(rf"(?m)^ {{0,{indent}}}", "", text[begin:end]) if indent else text[begin:end]
    begin += len(text[begin:end].partition("\n")[0]) - len(plain.partition("\n")[0])
    tag = re.split(r"[\s:,={]", opened["info"].strip().lstrip("{."), maxsplit=1)[0].rstrip("}").lower()
    return Fence(tag=tag, text=plain, begin=begin, end=end, start=start, is_closed=is_closed)
