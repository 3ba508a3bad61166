"""Inline completion of the protocol's version 3.18: the grey text that an editor shows behind the caret.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.18/specification/#textDocument_inlineCompletion
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ci_eval.adapters.lsp.places import Encoding, offset_in_line
from ci_eval.adapters.lsp.protocol import Range
from ci_eval.contracts import Query
from ci_eval.model import Suggestion
from ci_eval.spans import cut


class Snippet(msgspec.Struct):
    """A StringValue."""

    value: str


class InlineItem(msgspec.Struct, rename="camel"):
    """One text, and the part of the caret's line that it replaces; without one it is inserted at the caret."""

    insert_text: str | Snippet
    range: Range | None = None


class InlineList(msgspec.Struct):
    """Some of them."""

    items: list[InlineItem] = []


ANSWER: msgspec.json.Decoder[list[InlineItem] | InlineList | None] = msgspec.json.Decoder(
    list[InlineItem] | InlineList | None
)


def suggested(
    answer: list[InlineItem] | InlineList | None, text: str, query: Query, encoding: Encoding
) -> Iterator[Suggestion]:
    """What each item would leave from the beginning of the expected text on, cut to what is asked for.

    An item that changes what stands before that is none of what is expected, and left out; so is one that adds nothing.
    """
    items = answer.items if isinstance(answer, InlineList) else answer or []
    token = query.offset - len(query.prefix)
    line = text.rfind("\n", 0, query.offset) + 1
    whole_line = text[line:].partition("\n")[0]
    for item in items:
        begin = query.offset
        if item.range:
            begin = line + offset_in_line(whole_line, item.range.start.character, encoding)
        new = item.insert_text if isinstance(item.insert_text, str) else item.insert_text.value
        kept = text[begin:token]
        if not new.startswith(kept):
            continue
        found = cut(text[token:begin] + new[len(kept) :], text[:token], query.span, query.word)
        if found not in {"", query.prefix}:
            yield Suggestion(text=found)
