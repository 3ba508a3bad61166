"""A reader of the code in an answer: in JSON, in fences, or by the grammar."""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Iterator

from ci_eval.core.grammar.syntax import Node, parser
from ci_eval.plugins.responses.fences import Fence, find_fences, strip_listing, unescape_lines
from ci_eval.plugins.responses.marks import ALIASES, NO_CODE
from ci_eval.plugins.responses.structured import find_json, find_texts

GRAMMARS = {
    "python": "python", "java": "java", "go": "go", "javascript": "javascript", "csharp": "c_sharp",
    "typescript": "typescript", "kotlin": "kotlin", "ruby": "ruby", "php": "php", "scala": "scala", "cpp": "cpp",
    "rust": "rust",
}  # fmt: skip
NAMES = (
    "test", "tests", "test_code", "unit_test", "unit_tests", "unittest", "code", "answer", "solution", "completion",
    "test_function", "function", "implementation", "content", "result", "output", "response", "source", "text", "body",
    "тест", "тесты", "код", "ответ",
)  # fmt: skip
"""The names under which JSON holds the code."""
SHARE = 0.5
"""The lowest share of an answer at which JSON in it is the answer."""
DEEPEST = 3
"""The most answers within answers, such as code in a fence in a text of JSON."""
# The runs of a text grow with the square of its lines, and each run is parsed.
MOST_LINES = 400
MOST_ATTEMPTS = 200
_PRE = re.compile(
    r"<pre[^>]*>\s*(?:<code[^>]*>)?\n?(.*?)(?:</code>)?\s*</pre>|<code[^>]*>\n?(.*?\n.*?)</code>", re.DOTALL
)

_TAGS = re.compile(
    r"(?:^|(?<=\n))[ \t]*[<\[](?P<tag>answer|final_answer|response|output|result|solution|code|"
    r"(?:unit_?)?tests?(?:_?code|_function)?|python|java|javascript|js|typescript|go|golang|csharp|kotlin)[>\]]"
    r"[ \t]*\n?(?P<code>.*?)\n?[ \t]*[<\[]/(?P=tag)[>\]]",
    re.DOTALL | re.IGNORECASE,
)
"""Code between tags that name it, as Code Llama's `[PYTHON]`."""
_QUOTES = re.compile(
    r"^[ \t]*(?P<quotes>\'\'\'|\"\"\"|``)(?P<tag>[\w+#]+)[ \t]*\n(?P<code>.*)\n[ \t]*(?P=quotes)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)
"""Code between signs that were meant as a fence."""
_INDENTED = re.compile(r"(?:^(?:(?: {4}|\t).*|[ \t]*)(?:\n|\Z))+", re.MULTILINE)
"""Lines that are indented, and blank ones between them."""


def fence_tags(language: str) -> set[str]:
    low = language.lower()
    return next((names for names in ALIASES.values() if low in names), {low} if low else set())


def extract_code(text: str, language: str, depth: int = 0) -> tuple[str, str]:
    """Return the code in an answer without thoughts and tokens, and the rule that read it."""
    fences = find_fences(text)
    if depth < DEEPEST and (texts := _json_texts(text, fences)):
        inner = [extract_code(part.replace("\r\n", "\n"), language, depth + 1)[0] for part in texts]
        return "\n".join(inner).strip("\n"), "json"
    names, grammar = fence_tags(language), _grammar(language)
    if depth < DEEPEST and grammar:
        plain = unescape_lines(text, lambda line: _is_code(line, grammar))
        if plain != text:
            return extract_code(plain, language, depth + 1)[0], "escapes"
    if fences and not (outside := _outside(text, fences, names, grammar)):
        code, rule = _read_fences(fences, names, depth, language)
        if code or not any(fence.text.strip() for fence in fences):
            return code, rule
    elif fences:
        return outside, "grammar"
    if marked := _read_tags(text, names):
        code, rule = marked
        return (extract_code(code, language, depth + 1)[0] if depth < DEEPEST else code), rule
    whole = text.strip("\n")
    stripped = whole.strip()
    if ticks := re.fullmatch(r"(`+)([^`].*?)\1", stripped, re.DOTALL):
        return strip_listing(ticks[2].strip("\n"), "", names), "backticks"
    listing = strip_listing(whole, "", names).strip("\n")
    run = longest_code(listing, grammar) or _indented_code(listing, grammar) if grammar else None
    return (listing, "whole") if run in {None, listing} else (run or "", "grammar")


def _json_texts(text: str, fences: list[Fence]) -> list[str]:
    """Return the texts of code in an answer in JSON; none if it is not in JSON."""
    json_tags = {"json", "jsonc", "json5"}
    if not all(fence.tag in json_tags or fence.text.lstrip()[:1] in "{[" for fence in fences):
        return []
    parsed = find_json(text)
    texts = find_texts(parsed.content, NAMES) if parsed and parsed.share >= SHARE else []
    # Some write a list of lines, the indentation of which counts.
    return texts if any("\n" in part for part in texts) or not texts else ["\n".join(texts)]


def _outside(text: str, fences: list[Fence], names: set[str], grammar: str) -> str:
    """Return the code that stands beside fences which hold none: a last fence whose first one the prompt had, or what a
    command prints. An empty text is returned without such code."""
    tags = {fence.tag for fence in fences}
    if not grammar or tags & names or tags - NO_CODE - {""} or any(_is_code(fence.text, grammar) for fence in fences):
        return ""
    edges = [0, *(edge for fence in fences for edge in (fence.start, fence.stop)), len(text)]
    parts = (text[begin:end].strip("\n") for begin, end in zip(edges[::2], edges[1::2], strict=True))
    return max((longest_code(part, grammar) or "" for part in parts), key=len)


def _read_tags(text: str, names: set[str]) -> tuple[str, str] | None:
    """Return the code between tags or quotes, and the rule, or None without any."""
    if blocks := [html.unescape(first or second) for first, second in _PRE.findall(text)]:
        return "\n".join(block.strip("\n") for block in blocks).strip("\n"), "html"
    if blocks := [match["code"] for match in _TAGS.finditer(text)]:
        return "\n".join(block.strip("\n") for block in blocks).strip("\n"), "tags"
    for match in _QUOTES.finditer(text):
        if match["tag"].lower() in names:
            return match["code"].strip("\n"), "quotes"
    return None


def _indented_code(text: str, grammar: str) -> str | None:
    """Return the longest block of code that is indented as Markdown's blocks of code are, or None."""
    blocks = (textwrap.dedent(match[0]).strip("\n") for match in _INDENTED.finditer(text))
    return max((block for block in blocks if _is_code(block, grammar)), key=len, default=None)


def _read_fences(fences: list[Fence], names: set[str], depth: int, language: str) -> tuple[str, str]:
    other_tags = {fence.tag for fence in fences} - NO_CODE - {""}
    rules = (
        ("fence", names),
        ("bare fence", {""}),
        ("other fence", other_tags),
        ("other fence", {f.tag for f in fences}),
    )
    for rule, tags in rules:
        texts = [
            strip_listing(fence.text.strip("\n"), fence.tag, names)
            for fence in fences
            if fence.tag in tags and fence.text.strip()
        ]
        if not texts:
            continue
        code = "\n".join(texts).strip("\n")
        if depth < DEEPEST and len(texts) == 1 and find_fences(code) and rule != "fence":
            # Some put all that they say into a fence of its own.
            return extract_code(code, language, depth + 1)[0], rule
        return code, rule
    return "", "fence"


def _grammar(language: str) -> str:
    low = language.lower()
    return next((GRAMMARS[name] for name, names in ALIASES.items() if low in names and name in GRAMMARS), "")


def longest_code(text: str, grammar: str) -> str | None:
    """Return the longest run of paragraphs that the grammar reads without an error and that holds more than words, or
    None."""
    lines = text.split("\n")
    if len(lines) > MOST_LINES:
        return None
    best, most = None, 0
    for attempt, (begin, end) in enumerate(_runs(lines)):
        if attempt >= MOST_ATTEMPTS or end - begin <= most:
            continue
        code = "\n".join(lines[begin:end])
        if _is_code(code, grammar):
            best, most = code, end - begin
    return best.strip("\n") if best is not None else None


def _runs(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of lines that begin at the left edge, the longest first."""
    blank = [not line.strip() for line in lines]
    edge = [not blank[n] and not lines[n][:1].isspace() for n in range(len(lines))]
    begins = [n for n in range(len(lines)) if edge[n]]
    ends = [n for n in range(1, len(lines) + 1) if not blank[n - 1] and (n == len(lines) or blank[n] or edge[n])]
    runs = ((begin, end) for begin in begins for end in ends if end > begin)
    return iter(sorted(runs, key=lambda run: (run[0] - run[1], run[0])))


def _is_code(text: str, grammar: str) -> bool:
    # JSON may hold half of a surrogate pair, which UTF-8 cannot.
    root = parser(grammar).parse(text.encode("utf-8", "replace")).root_node
    if root.has_error or not root.children:
        return False
    first, last = root.children[0], root.children[-1]
    return not (_is_word(first) or _is_word(last)) and any(child.child_count for child in root.children)


def _is_word(node: Node) -> bool:
    """Return whether a statement is a word alone, as a line of prose may be."""
    while node.child_count == 1:
        node = node.children[0]
    return node.type in {"identifier", "name", "constant", "simple_identifier"}
