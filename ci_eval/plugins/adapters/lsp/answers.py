"""A lenient reader of answers to `textDocument/completion`: an item that cannot be read does not cost the others.

VS Code's client (`protocolConverter.ts` of vscode-languageclient 9.0.1) looks at one field after the other, ignores a
`kind` that is no number, and takes null for absent almost everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ci_eval.core.base.quoting import quote
from ci_eval.plugins.adapters.lsp.protocol import UNREADABLE, CompletionItem, CompletionList, Defaults

_STRICT: msgspec.json.Decoder[list[CompletionItem] | CompletionList | None] = msgspec.json.Decoder(
    list[CompletionItem] | CompletionList | None
)
_NUMBERS = ("kind", "insertTextFormat")


def read_answer(answer: bytes) -> CompletionList:
    """Return the items of an answer; none for null. Raises one of UNREADABLE if the answer is no list, or none of its
    items can be read."""
    try:
        # The fast path: almost all answers can be read strictly.
        strict = _STRICT.decode(answer)
    except UNREADABLE:
        return _lenient(msgspec.json.decode(answer))
    if isinstance(strict, CompletionList):
        # The server may have sent fields of these names.
        strict.dropped, strict.source = 0, answer
        return strict
    return CompletionList(items=strict or [], source=answer)


def _lenient(answer: Any) -> CompletionList:
    whole: Mapping[str, Any] = answer if isinstance(answer, dict) else {"items": answer}
    items = whole.get("items")
    if items is not None and not isinstance(items, list):
        raise msgspec.ValidationError(f"items: expected a list, got {quote(str(items), 80)}")
    pairs = [(raw, item) for raw in items or () if (item := _item(raw)) is not None]
    read = [item for _, item in pairs]
    if items and not read:
        raise msgspec.ValidationError(f"none of its {len(items):,} items can be read, the first of which is {items[0]}")
    return CompletionList(
        items=read,
        is_incomplete=whole.get("isIncomplete") is True,
        item_defaults=_convert(whole.get("itemDefaults"), Defaults, _NUMBERS),
        dropped=len(items or ()) - len(read),
        source=msgspec.json.encode({**whole, "items": [raw for raw, _ in pairs]}),
    )


def _item(raw: Any) -> CompletionItem | None:
    item: CompletionItem | None = _convert(raw, CompletionItem, (*_NUMBERS, "preselect"))
    return item


def _convert(raw: Any, kind: type[Any], ignored: Sequence[str]) -> Any:
    """Return the value as that type, or None if it has another shape. The fields in `ignored` are left out if they are
    wrong."""
    if not isinstance(raw, dict):
        return None
    fields = {name: value for name, value in raw.items() if value is not None}
    for name in ignored:
        if not isinstance(fields.get(name), int | float) or (name == "preselect" and fields[name] not in {True, False}):
            fields.pop(name, None)
    try:
        # Not strict: a line number may be written as 6.0.
        return msgspec.convert(_drop_nulls(fields), kind, strict=False)
    except UNREADABLE:
        return None


def _drop_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _drop_nulls(member) for name, member in value.items() if member is not None}
    return value
