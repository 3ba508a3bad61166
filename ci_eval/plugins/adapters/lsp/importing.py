"""The edits that acceptance of a suggestion makes elsewhere in the file, such as an import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import EngineRaised
from ci_eval.core.model import Suggestion
from ci_eval.core.model.sessions import Offer
from ci_eval.plugins.adapters.lsp.protocol import (
    UNREADABLE,
    CompletionList,
    Encoding,
    Position,
    TextEdit,
    offset_in_line,
)

Resolve = Callable[[dict[str, Any]], Any]
"""A function that asks the server for the rest of an item."""


def add_edits(
    suggestions: Sequence[Suggestion],
    answer: CompletionList,
    text: str,
    encoding: Encoding,
    name: str = "",
    resolve: Resolve | None = None,
) -> list[Suggestion]:
    """Return the suggestions with the edits of their acceptance; without any, it is None, but () for those of `name`.

    `text`: the document that was asked about. `resolve`: for a server that gives the edits of an item only if it is
    asked for them; items of `name` are. Raises EngineRaised if edits cannot be read.
    """
    edited = [item.additional_text_edits for item in answer.items]
    if not any(edited) and not any(suggestion.text == name for suggestion in suggestions):
        return list(suggestions)
    offset = _Offsets(text, encoding)
    raw: list[Any] | None = None

    def edits(suggestion: Suggestion) -> Suggestion:
        nonlocal raw
        if not isinstance(suggestion, Offer):
            return suggestion
        found = edited[suggestion.item]
        if not found and suggestion.text != name:
            return suggestion
        if not found and resolve:
            raw = raw or _raw_items(answer)
            found = _resolved(raw[suggestion.item], resolve, name)
        return replace(suggestion, edits=tuple(map(offset.of, filter(lambda edit: edit.range, found or ()))))

    return [edits(suggestion) for suggestion in suggestions]


def _raw_items(answer: CompletionList) -> list[Any]:
    """Return the items as they were sent, each with the data that the list shares."""
    whole: Any = msgspec.json.decode(answer.source)
    if isinstance(whole, list):
        return whole
    shared = whole.get("itemDefaults") or {}
    return [{"data": shared["data"], **item} if "data" in shared else item for item in whole["items"]]


def _resolved(item: Any, resolve: Resolve, name: str) -> list[TextEdit]:
    resolved = resolve(item)
    raw = resolved.get("additionalTextEdits") if isinstance(resolved, dict) else None
    try:
        # Not strict: a line number may be written as 6.0.
        return msgspec.convert(raw or [], list[TextEdit], strict=False)
    except UNREADABLE as error:
        raise EngineRaised(f"the edits of {name!r} cannot be read: {error}") from error


class _Offsets:
    def __init__(self, text: str, encoding: Encoding) -> None:
        self._lines = text.split("\n")
        self._begins = [0]
        for line in self._lines:
            self._begins.append(self._begins[-1] + len(line) + 1)
        self._encoding: Encoding = encoding

    def of(self, edit: TextEdit) -> tuple[int, int, str]:
        assert edit.range
        begin, end = self._offset(edit.range.start), self._offset(edit.range.end)
        return begin, max(end - begin, 0), edit.new_text

    def _offset(self, position: Position) -> int:
        # A position behind the text is its end.
        if position.line >= len(self._lines):
            return self._begins[-1] - 1
        line = max(position.line, 0)
        return self._begins[line] + offset_in_line(self._lines[line], position.character, self._encoding)
