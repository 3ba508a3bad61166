"""Escape foreign text in GitHub-flavoured Markdown, so that it cannot act as markup, link or mention."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from ci_eval.core.model import GateResult
from ci_eval.rendering.plaintext import HIDDEN

LONGEST = 160
# Even in plain text, GitHub makes links of `www.`, `//` and `GH-1`, and emphasis of underscores.
_WORDS = re.compile(r"(?!.*(?:www\.|GH-|//))(?:[\w .,;()/+'\"%?=…·-](?<!_)|:(?= |$))*", re.IGNORECASE)
_NEEDS_ENTITIES = frozenset("`|\\")


def code(text: str, longest: int = LONGEST) -> str:
    """Return the text as one line of code, in which GitHub makes no links of mentions, issue numbers or addresses."""
    shown = _one_line(text, longest)
    if not shown:
        return ""
    if _NEEDS_ENTITIES.isdisjoint(shown):
        return f"`{shown}`"
    # In a table, a pipe ends the cell even within backticks, and parsers treat backslashes there differently.
    return f"<code>{re.sub(r'[^A-Za-z0-9 /.]', lambda match: f'&#{ord(match.group())};', shown)}</code>"


def prose(text: str, longest: int = LONGEST) -> str:
    """Return the text itself if it has only words and plain punctuation, else as code."""
    # Escapes do not help, since GitHub treats an escaped mention as a mention.
    shown = _one_line(text, longest)
    return shown if _WORDS.fullmatch(shown) else code(shown, longest)


def _one_line(text: str, longest: int) -> str:
    seen = "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(character) in HIDDEN else character for character in text
    )
    shown = " ".join(seen.split())
    return shown if len(shown) <= longest else f"{shown[: longest // 2]}…{shown[-(longest // 2) + 1 :]}"


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; "" if there are no rows. Columns whose names begin with ">" are right-aligned."""
    lines = [_line(row) for row in rows]
    if not lines:
        return ""
    names = _line([column.removeprefix(">") for column in columns])
    ruler = _line(["--:" if column.startswith(">") else ":--" for column in columns])
    return "\n".join((*((f"## {title}", "") if title else ()), names, ruler, *lines))


def fold(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""


GATES = {
    ("kept", True): "✓ kept",
    ("broken", False): "**✗ broken**",
    ("undecided", True): "? undecided, passes",
    ("undecided", False): "**? undecided, fails**",
}


def gate_table(gates: Iterable[GateResult]) -> str:
    """Return the table of gates, with those that do not pass first; "" if there are no gates."""
    rows = (
        (GATES[gate.word, gate.passed], code(gate.rule), prose(gate.reason, 300))
        for gate in sorted(gates, key=lambda gate: gate.passed)
    )
    return table("Gates", ("Result", "Rule", "Why"), rows)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
