"""The marks that language models and chat templates write, as data."""

from __future__ import annotations

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
ROLE = r"(?:(?:assistant|model)\b[ \t]*(?=\n|<)|final[ \t]*(?=<))?"
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
