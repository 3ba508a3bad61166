"""The inline completion of the protocol's version 3.18: the grey text that an editor shows behind the caret.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.18/specification/#textDocument_inlineCompletion
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ci_eval.core.contracts import Query
from ci_eval.core.model import Suggestion
from ci_eval.core.text_spans import cut
from ci_eval.plugins.adapters.lsp.protocol import Encoding, Range, offset_in_line


class Snippet(msgspec.Struct):
    value: str


class InlineItem(msgspec.Struct, rename="camel"):
    """A text, and the part of the caret's line that it replaces. A text without a range is inserted at the caret."""

    insert_text: str | Snippet
    range: Range | None = None


class InlineList(msgspec.Struct):
    items: list[InlineItem] = []


ANSWER: msgspec.json.Decoder[list[InlineItem] | InlineList | None] = msgspec.json.Decoder(
    list[InlineItem] | InlineList | None
)


def read_inline_items(
    answer: list[InlineItem] | InlineList | None, text: str, query: Query, encoding: Encoding
) -> Iterator[Suggestion]:
    """Yield the text that each item would leave from the beginning of the expected text on, cut to the span that is
    asked for.

    An item is left out if it changes the text before that beginning, or adds nothing.
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
        typed = text[begin:token]
        # The item changes the text before the token, so it is none of what is expected.
        if not new.startswith(typed):
            continue
        suggestion = cut(text[token:begin] + new[len(typed) :], text[:token], query.span, query.word)
        if suggestion not in {"", query.prefix}:
            yield Suggestion(text=suggestion)
