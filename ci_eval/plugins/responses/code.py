"""A reader of the code in an answer: in JSON, in fences, or by the grammar."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from ci_eval.core.grammar.syntax import Node, parser
from ci_eval.plugins.responses.fences import Fence, find_fences
from ci_eval.plugins.responses.structured import find_json, find_texts

ALIASES = {
    "python": {"python", "python3", "py", "py3", "pytest", "python2", "pyi", "ipython"},
    "java": {"java", "junit"},
    "go": {"go", "golang"},
    "javascript": {
        "javascript", "js", "jsx", "mjs", "cjs", "node", "nodejs", "typescript", "ts", "tsx", "jest", "mocha",
    },
    "csharp": {"csharp", "c#", "cs", "c_sharp", "c-sharp", "dotnet"},
    "kotlin": {"kotlin", "kt", "kts"},
    "cpp": {"cpp", "c++", "cc", "cxx", "h", "hpp"},
    "rust": {"rust", "rs"},
    "ruby": {"ruby", "rb"},
    "php": {"php"},
    "scala": {"scala", "sc"},
    "typescript": {"typescript", "ts", "tsx", "javascript", "js", "jsx"},
}  # fmt: skip
"""The tags that language models put at a fence around code, by language."""
GRAMMARS = {
    "python": "python", "java": "java", "go": "go", "javascript": "javascript", "csharp": "c_sharp",
    "typescript": "typescript", "kotlin": "kotlin", "ruby": "ruby", "php": "php", "scala": "scala", "cpp": "cpp",
}  # fmt: skip
NO_CODE = frozenset({
    "bash", "sh", "shell", "zsh", "console", "terminal", "cmd", "powershell", "text", "txt", "plaintext", "plain",
    "output", "json", "jsonc", "yaml", "yml", "toml", "ini", "diff", "patch", "markdown", "md", "log", "xml", "html",
    "dockerfile", "makefile",
})  # fmt: skip
"""The tags of fences that hold commands, what they print, and files of settings."""
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


def fence_tags(language: str) -> set[str]:
    """Return the tags of fences that hold code of that language."""
    low = language.lower()
    return next((names for names in ALIASES.values() if low in names), {low} if low else set())


def extract_code(text: str, language: str, depth: int = 0) -> tuple[str, str]:
    """Return the code in an answer without thoughts and tokens, and the rule that read it."""
    fences = find_fences(text)
    json_tags = {"json", "jsonc", "json5"}
    if depth < DEEPEST and all(fence.tag in json_tags or fence.text.lstrip()[:1] in "{[" for fence in fences):
        parsed = find_json(text)
        texts = find_texts(parsed.content, NAMES) if parsed and parsed.share >= SHARE else []
        if texts:
            inner = [extract_code(part.replace("\r\n", "\n"), language, depth + 1)[0] for part in texts]
            return "\n".join(inner).strip("\n"), "json"
    if fences:
        code, rule = _read_fences(fences, fence_tags(language), depth, language)
        if code or not any(fence.text.strip() for fence in fences):
            return code, rule
    if blocks := [html.unescape(first or second) for first, second in _PRE.findall(text)]:
        return "\n".join(block.strip("\n") for block in blocks).strip("\n"), "html"
    whole = text.strip("\n")
    stripped = whole.strip()
    if ticks := re.fullmatch(r"(`+)([^`].*?)\1", stripped, re.DOTALL):
        return ticks[2].strip("\n"), "backticks"
    grammar = _grammar(language)
    run = longest_code(whole, grammar) if grammar else None
    return (whole, "whole") if run in {None, whole} else (run or "", "grammar")


def _read_fences(fences: list[Fence], names: set[str], depth: int, language: str) -> tuple[str, str]:
    other_tags = {fence.tag for fence in fences} - NO_CODE - {""}
    rules = (
        ("fence", names),
        ("bare fence", {""}),
        ("other fence", other_tags),
        ("other fence", {f.tag for f in fences}),
    )
    for rule, tags in rules:
        texts = [fence.text.strip("\n") for fence in fences if fence.tag in tags and fence.text.strip()]
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
