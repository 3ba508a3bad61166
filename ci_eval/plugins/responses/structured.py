"""A reader of answers in JSON and in tables."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ci_eval.plugins.responses.fences import find_fences

_TRAILING_COMMA = re.compile(r",(\s*[}\]])")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*")
_CELL = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Json:
    """An object or a list, and the share of the answer that it makes up."""

    content: Any
    share: float


def find_json(text: str) -> Json | None:
    """Return the JSON that an answer consists of, or that is in one of its fences or behind words, or None without
    any."""
    fences = find_fences(text)
    candidates = [
        (text.strip(), 0),
        *(
            (fence.text.strip(), fence.stop - fence.start - len(fence.text))
            for fence in fences
            if fence.tag in {"json", "jsonc", "json5", ""}
        ),
    ]
    if not fences:
        begin = min((offset for offset in (text.find("{"), text.find("[")) if offset >= 0), default=-1)
        inner = text[begin : max(text.rfind("}"), text.rfind("]")) + 1] if begin >= 0 else ""
        candidates.append((inner, 0))
    for candidate, signs in candidates:
        if candidate.startswith(("{", "[")) and (content := _load(candidate)) is not None:
            return Json(content, len(candidate) / (len(text.strip()) - signs))
    return None


def _load(text: str) -> Any:
    # Language models write trailing commas, and Python's literals in place of JSON.
    for read, attempt in (
        (_parse_json, text),
        (_parse_json, _TRAILING_COMMA.sub(r"\1", text)),
        (ast.literal_eval, text),
    ):
        try:
            content = read(attempt)
        # Malformed text makes `ast.literal_eval` raise any of these (https://docs.python.org/3/library/ast.html).
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(content, (dict, list)):
            return content
    return _objects(text)


def _parse_json(text: str) -> Any:
    # Language models write line ends within texts, which JSON forbids.
    return json.loads(text, strict=False)


def _objects(text: str) -> list[Any] | None:
    """Return the objects of a text that has one on each line, or None if it has not."""
    lines = [line.strip().rstrip(",") for line in text.split("\n") if line.strip()]
    try:
        contents = [json.loads(line) for line in lines]
    except ValueError:
        return None
    return contents if len(contents) > 1 and all(isinstance(content, dict) for content in contents) else None


def find_texts(content: Any, names: Sequence[str]) -> list[str]:
    """Return the texts under one of these names (the first that an object has), in the order of the content.

    A list of texts gives these. An object without such a name gives its text if it has one alone, or those of the lists
    in it.
    """
    return [text for text in _texts(content, names) if text.strip()]


def _texts(content: Any, names: Sequence[str]) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for item in content:
            yield from _texts(item, names)
    elif isinstance(content, Mapping):
        low = {str(name).lower().replace("-", "_").replace(" ", "_"): value for name, value in content.items()}
        chosen = next((low[name] for name in names if low.get(name)), None)
        if chosen is not None:
            yield from _texts(chosen, names)
        # Some language models number their keys: `comment_1`, `comment_2`.
        elif numbered := [value for name, value in low.items() if re.search(r"\d+$", name)]:
            yield from _texts(numbered, names)
        elif lists := [value for value in low.values() if isinstance(value, (list, dict))]:
            yield from _texts(lists, names)
        elif len(strings := [value for value in low.values() if isinstance(value, str)]) == 1:
            yield from strings


def read_column(text: str, names: re.Pattern[str]) -> list[str]:
    """Return the cells of the column that such a name heads, or else of the one with most text. There are none without
    a table."""
    lines = text.split("\n")
    for number, line in enumerate(lines[1:], 1):
        if "|" in line and "-" in line and _RULE.fullmatch(line) and "|" in lines[number - 1]:
            head = _cells(lines[number - 1])
            rows = []
            for row in lines[number + 1 :]:
                if "|" not in row:
                    break
                rows.append(_cells(row))
            return _column(head, rows, names)
    return []


def _column(head: Sequence[str], rows: Sequence[Sequence[str]], names: re.Pattern[str]) -> list[str]:
    if not rows:
        return []
    widths = [sum(len(row[column]) for row in rows if column < len(row)) for column in range(len(head))]
    named = [column for column, title in enumerate(head) if names.search(title)]
    chosen = max(named or range(len(head)), key=lambda column: widths[column])
    return [row[chosen] for row in rows if chosen < len(row)]


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    # A cell of Markdown holds no line end, so language models write `<br>`.
    return [re.sub(r"<br */?>", "\n", cell).replace("\\|", "|").strip() for cell in _CELL.split(inner)]
