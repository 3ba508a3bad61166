"""The edits that acceptance of a suggestion makes elsewhere in the file, such as an import."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import EngineRaised
from ci_eval.core.model import Suggestion
from ci_eval.core.model.engine.offers import Offer
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
    name: str,
    answer: CompletionList,
    resolve: Resolve | None,
    text: str,
    encoding: Encoding,
) -> list[Suggestion]:
    """Return the suggestions, those of that name with the edits of their acceptance.

    `resolve`: for a server that tells the edits of an item only if it is asked for them. `text`: the document that was
    asked about. Raises EngineRaised if edits cannot be read.
    """
    if not any(suggestion.text == name for suggestion in suggestions):
        return list(suggestions)
    whole: Any = msgspec.json.decode(answer.source)
    is_list = isinstance(whole, list)
    items: list[Any] = whole if is_list else whole["items"]
    shared = {} if is_list else whole.get("itemDefaults") or {}
    read = _Edits(text, encoding)

    def edits(suggestion: Suggestion) -> Suggestion:
        if suggestion.text != name or not isinstance(suggestion, Offer):
            return suggestion
        item = items[suggestion.item]
        if resolve and not item.get("additionalTextEdits"):
            item = resolve({"data": shared["data"], **item} if "data" in shared else item)
        try:
            return replace(suggestion, edits=read.offsets(item))
        except UNREADABLE as error:
            raise EngineRaised(f"the edits of {name!r} cannot be read: {error}") from error

    return [edits(suggestion) for suggestion in suggestions]


class _Edits:
    def __init__(self, text: str, encoding: Encoding) -> None:
        self._lines = text.split("\n")
        self._begins = [0]
        for line in self._lines:
            self._begins.append(self._begins[-1] + len(line) + 1)
        self._encoding: Encoding = encoding

    def offsets(self, item: Any) -> tuple[tuple[int, int, str], ...]:
        raw = item.get("additionalTextEdits") if isinstance(item, dict) else None
        # Not strict: a line number may be written as 6.0.
        edits = msgspec.convert(raw or [], list[TextEdit], strict=False)
        ranges = [(edit, edit.range) for edit in edits]
        return tuple(
            (self._offset(span.start), max(self._offset(span.end) - self._offset(span.start), 0), edit.new_text)
            for edit, span in ranges
            if span
        )

    def _offset(self, position: Position) -> int:
        # A position behind the text is its end.
        if position.line >= len(self._lines):
            return self._begins[-1] - 1
        line = max(position.line, 0)
        return self._begins[line] + offset_in_line(self._lines[line], position.character, self._encoding)
