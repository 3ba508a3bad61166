"""A reader of answers in JSON and in tables."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ci_eval.plugins.responses.fences import find_fences

_NO_JSON = re.compile(
    r"(?P<kept>\"(?:[^\"\\]|\\.)*\")|//[^\n]*|/\*.*?\*/|(?:(?<=\n)|(?<=[\[{,]))[ \t]*#[^\n]*|,(?=\s*[}\]])", re.DOTALL
)
"""The comments and trailing commas in JSON, and the texts, in which both are text."""
_SIGNS = re.compile(r"\"(?:[^\"\\]|\\.)*\"|[\[\]{},]|\"", re.DOTALL)
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
        candidates += [(inner, 0), (text[begin:].strip() if begin >= 0 else "", 0)]
    for candidate, signs in candidates:
        if candidate.startswith(("{", "[")) and (content := _load(candidate)) is not None:
            return Json(content, len(candidate) / (len(text.strip()) - signs))
    return None


def _load(text: str) -> Any:
    # Language models write comments and trailing commas, and Python's literals in place of JSON; or are cut off.
    # Twice, since a trailing comma may stand before a comment.
    bare = _strip_comments(_strip_comments(text))
    for read, attempt in (
        (_parse_json, text),
        (_parse_json, bare),
        (ast.literal_eval, text),
        *((_parse_json, whole) for whole in _complete(bare)),
    ):
        try:
            content = read(attempt)
        # Malformed text makes `ast.literal_eval` raise any of these (https://docs.python.org/3/library/ast.html).
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        if isinstance(content, (dict, list)):
            return content
    return _objects(text)


def _strip_comments(text: str) -> str:
    return _NO_JSON.sub(lambda match: match["kept"] or "", text)


def _complete(text: str) -> list[str]:
    """Return what JSON that was cut off may have been: its last text ended and its brackets closed, with and without
    the last element. Nothing is returned for text that ends with its first bracket closed."""
    opened, closers, commas = "", {"{": "}", "[": "]"}, []
    for match in _SIGNS.finditer(text):
        sign = match[0]
        if sign in closers:
            opened += closers[sign]
        elif opened and sign == opened[-1]:
            opened = opened[:-1]
            if not opened:
                return []
        elif sign == ",":
            commas.append((match.start(), opened))
        elif sign == '"':
            # A text that does not end: behind it, nothing is a sign.
            half = re.sub(r"\\+(?:u[0-9a-fA-F]{0,3})?$", "", text)
            return [f'{half}"{opened[::-1]}', *_without_last(text, commas)]
    return [text + opened[::-1], *_without_last(text, commas)] if opened else []


def _without_last(text: str, commas: list[tuple[int, str]]) -> list[str]:
    return [text[:offset] + opened[::-1] for offset, opened in commas[-1:]]


def _parse_json(text: str) -> Any:
    # Language models write line ends within texts, which JSON forbids.
    return json.loads(text, strict=False)


def _objects(text: str) -> list[Any] | None:
    """Return the objects of a text that has one on each line, or None if it has not."""
    lines = [line.strip().rstrip(",") for line in text.split("\n") if line.strip()]
    try:
        contents = [json.loads(line) for line in lines]
    except (ValueError, RecursionError):
        return None
    return contents if len(contents) > 1 and all(isinstance(content, dict) for content in contents) else None


def find_texts(content: Any, names: Sequence[str]) -> list[str]:
    """Return the texts under one of these names (the first that an object has), in the order of the content.

    A list of texts gives these. An object without such a name gives its text that is longer than all others together,
    or those of the lists in it.
    """
    try:
        return [text for text in _texts(content, names) if text.strip()]
    except RecursionError:
        # Hundreds of objects within objects are a model's loop, not an answer.
        return []


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
        else:
            *names_beside, longest = ["", *sorted((text for text in low.values() if isinstance(text, str)), key=len)]
            # Beside the text there may be names and degrees.
            if len(longest) > sum(map(len, names_beside)):
                yield longest


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
