"""The marks that language models and chat templates write, as data."""

from __future__ import annotations

import re

THOUGHTS: tuple[tuple[str, str], ...] = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<reflection>", "</reflection>"),
    ("<analysis>", "</analysis>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
    ("<longcat_think>", "</longcat_think>"),
    ("<unused94>thought", "<unused95>"),
    ("<|thought_start|>", "<|thought_end|>"),
    ("<|channel>thought", "<channel|>"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
)
"""The marks before and behind a thought: DeepSeek, Qwen and others; Mistral; Open Thoughts; Cohere; Seed; Kimi; …"""

_THINKS = "think|thought|reason|мысл|размышл|рассужд"
LEADING_THOUGHT = re.compile(
    r"\s*(?:(?P<tag>[<\[](?P<name>(?:\w+[_:-])?(?:think(?:ing)?|thoughts?|reasoning|reflections?|monologue|scratchpad|cot|"
    r"chain_of_thought|мысл[ьи]|размышлени[ея]|рассуждени[ея]|思考)(?:[_:-]\w+)?)(?:[ \t][^<>\n]*)?[>\]])|"
    rf"(?P<details><details[^<>]*>\s*<summary>[^<]*(?:{_THINKS})[^<]*</summary>))",
    re.IGNORECASE,
)
"""A tag at the begin of an answer whose name says that a thought follows, attributes included; or a part that a reader
may fold away."""

ENDS: tuple[str, ...] = (
    "<|im_end|>", "<|im_start|>", "<|im_sep|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>",
    "<|eos|>", "<|eos_token|>", "<|EOT|>", "<|eot|>", "<|eom|>", "<|end|>", "<|return|>", "<|call|>", "<EOT>", "<eos>",
    "<EOS>", "[EOS]", "<|endofturn|>", "<|end_of_turn|>", "<end_of_turn>", "<start_of_turn>", "<turn|>",
    "<|user|>",
    "<|assistant|>", "<|system|>", "<|observation|>", "<|start_header_id|>", "<|END_OF_TURN_TOKEN|>",
    "<|END_RESPONSE|>",
    "<|START_OF_TURN_TOKEN|>", "<|end_of_sentence|>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<\uff5cUser\uff5c>",
    "<\uff5cAssistant\uff5c>", "<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>", "<|file_sep|>",
    "<|repo_name|>", "<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim_pad>", "<file_sep>", "<|file_separator|>",
    "<|role_end|>", "<|role_sep|>", "<|message_sep|>", "<|tool_call|>", "<|eod|>", "<|endofprompt|>", "<|diff_marker|>",
    "[/INST]", "[INST]", "<|recipient|>", "<\u2581EOT>", "<[EOS]>", "[e~[", "<|box_end|>",
    "<|python_end|>",
)  # fmt: skip
"""The texts that end a turn, or begin the next one."""

ANY_END = (
    r"<\|[A-Za-z][\w ]{1,40}\|>|<(?:pad|eoa|eom|unk)>|\[end of text\]|\[UNUSED_TOKEN_\d+\]|"
    r"(?<=\n)#{2,3}[ \t]*(?:Instructions?|Input|Human|User):[ \t]*(?=\n|\Z)"
)
"""The pattern of other tokens of templates: no language has `<|word|>`. A heading with words behind it is a part of a
review."""
END_OF_LLAMA = re.compile(r"(?<![\"'])</s>(?!`)")
"""The end of a turn of Llama, which is also the end of a struck text in HTML."""

BEGINS = re.compile(
    r"\s*(?:<\|im_start\|>(?:assistant\b)?|<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|<\|start\|>assistant"
    r"|<\|assistant\|>|<start_of_turn>model\b|<\uff5cAssistant\uff5c>|<\|(?:begin_of_text|START_RESPONSE|python_tag|python_start)\|>"
    r"|<\|begin_of_\w+\|>|<\|header_start\|>\s*assistant\s*<\|header_end\|>|\[/INST\]"
    r"|<\|start_of_role\|>\s*assistant\s*<\|end_of_role\|>|<bos>|<s>)"
    r"[ \t]*\n?"
)
"""The pattern of the text at the beginning of a turn."""

NEXT_TURN = re.compile(
    r"(?<=\n)(?:#+[ \t]*)?\*{0,2}(?:user|human|instruction|question|пользователь)\*{0,2}:.*\n\s*(?:#+[ \t]*)?\*{0,2}"
    r"(?:assistant|response|answer|ai|ассистент)\*{0,2}:",
    re.IGNORECASE,
)
"""The begin of a dialogue that a model goes on to invent."""

BLANKS = re.compile(r"^[ \t\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]+", re.MULTILINE)
"""The indentation of a line, in whatever blanks."""
PLAIN_BLANKS: dict[int, str | None] = {
    **dict.fromkeys((0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F), " "),
    **dict.fromkeys((0x200B, 0x2060, 0xFEFF)),
    0x3000: "  ",
}
"""The code of a blank → the plain blanks that look like it, or None if it has no width."""

CHANNEL = re.compile(r"<\|channel\|>\s*(?P<name>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
"""A channel of harmony (gpt-oss): analysis, commentary, final."""
CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
BARE_CHANNELS = re.compile(
    r"\A\s*(?:analysis.*?assistant\s*final|Here(?:'s| is) my thought process:.*?Here(?:'s| is) my response:|"
    r"\**(?:Thoughts?|Reasoning|Мысли|Рассуждение):.*?\n[ \t]*[*#]*[ \t]*(?:Final [Aa]nswer|Answer|Ответ)\**:\**)",
    re.DOTALL,
)
"""The pattern of harmony's channels if a server left out all special tokens, and of thoughts that words begin and end:
Granite, ReAct."""

WRAPPINGS = ("answer", "final_answer", "final", "response", "output", "result", "completion", "code")
"""The tags that language models put around all that they answer."""

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
NO_CODE = frozenset({
    "bash", "sh", "shell", "zsh", "console", "terminal", "cmd", "powershell", "text", "txt", "plaintext", "plain",
    "output", "json", "jsonc", "yaml", "yml", "toml", "ini", "diff", "patch", "markdown", "md", "log", "xml", "html",
    "dockerfile", "makefile", "sql", "css",
})  # fmt: skip
"""The tags of fences that hold commands, what they print, and files of settings."""
