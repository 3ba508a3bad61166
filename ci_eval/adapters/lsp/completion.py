"""Turns completion items into suggestions: for each, the text that would stand there from the token's beginning on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ci_eval.adapters.lsp.places import Encoding, offset_in_line
from ci_eval.adapters.lsp.protocol import CompletionItem, CompletionList, Defaults, EditRange, Position
from ci_eval.model import Suggestion

KINDS = (
    "",
    *"text method function constructor field variable class interface module property unit value enum keyword".split(),
    *"snippet color file reference folder enum-member constant struct event operator type-parameter".split(),
)
"""The names of the protocol's CompletionItemKind, by number."""

SNIPPET = 2
WORD = re.compile(r"[@$#]*\w+")
"""The part of an inserted text that is compared with the expected one: of `join(${1:parts})` it is `join`."""


def suggestions(
    answer: list[CompletionItem] | CompletionList | None,
    text: str,
    offset: int,
    prefix: str,
    encoding: Encoding,
    word: re.Pattern[str],
) -> list[Suggestion]:
    """The items as suggestions, in the server's order.

    `offset`: of the caret. `prefix`: what is typed of the token. `word`: what a token of the language looks like.
    """
    if answer is None:
        return []
    items, defaults = (answer, None) if isinstance(answer, list) else (answer.items, answer.item_defaults)
    reader = _Reader(text, offset, prefix, encoding, word, defaults or Defaults())
    return list(reader.read(items))


class _Reader:
    """Reads the items of one list. Almost all replace the same range, so the offset of its beginning is remembered."""

    def __init__(
        self, text: str, offset: int, prefix: str, encoding: Encoding, word: re.Pattern[str], defaults: Defaults
    ) -> None:
        self._text = text
        self._encoding: Encoding = encoding
        self._word = word
        self._token = offset - len(prefix)
        self._line = text.rfind("\n", 0, self._token) + 1
        self._number = text.count("\n", 0, self._line)
        self._defaults = defaults
        shared = defaults.edit_range or EditRange()
        self._range = shared.insert.start if shared.insert else shared.start
        self._begins: dict[tuple[int, int], int] = {}

    def read(self, items: Sequence[CompletionItem]) -> Iterator[Suggestion]:
        all_snippets = self._defaults.insert_text_format == SNIPPET
        for item in items:
            new, start = self._inserted(item)
            if "\\$" in new and (all_snippets or item.insert_text_format == SNIPPET):
                new = new.replace("\\$", "$")
            begin = self._begin(start) if start else None
            written = self._from_token(new, begin)
            if not written.isidentifier():
                found = self._word.match(written)
                written = found[0] if found else written
            if not written:
                continue
            filter_text = item.filter_text
            if filter_text is not None:
                filter_text = self._from_token(filter_text, begin)
            yield Suggestion(
                text=written,
                kind=KINDS[item.kind] if 0 <= item.kind < len(KINDS) else "",
                filter_text=None if filter_text == written else filter_text,
                sort_text=item.sort_text if item.sort_text is not None else item.label,
            )

    def _inserted(self, item: CompletionItem) -> tuple[str, Position | None]:
        edit = item.text_edit
        if edit is not None:
            place = edit.range or edit.insert
            return edit.new_text, place.start if place else None
        if self._range is not None:
            return item.text_edit_text or item.label, self._range
        return item.insert_text or item.label.strip(), None

    def _begin(self, start: Position) -> int | None:
        """The offset of a position on the caret's line; None if it is on another line."""
        if start.line != self._number:
            return None
        key = (start.line, start.character)
        if key not in self._begins:
            end = self._text.find("\n", self._line)
            line = self._text[self._line : end if end >= 0 else len(self._text)]
            self._begins[key] = self._line + offset_in_line(line, start.character, self._encoding)
        return self._begins[key]

    def _from_token(self, new: str, begin: int | None) -> str:
        """The text from the token's beginning on, once `new` has replaced the text from `begin` on."""
        token = self._token
        if begin is not None and begin > token:
            return self._text[token:begin] + new
        if begin is not None and begin < token:
            before = self._text[begin:token]
            return new[len(before) :] if new.startswith(before) else new
        # Where an item has no range, an editor replaces the word before the caret. Of `$` and `$name` it makes `$name`,
        # not `$$name`.
        sign = new[:1]
        if begin is None and sign in _SIGNS and self._text[token - 1 : token] == sign:
            return new[1:]
        return new


_SIGNS = frozenset("$@#.")


TAGS = frozenset({"class", "struct"})
HIDING = frozenset({"function", "variable", "interface"})
"""`interface` is what clangd calls an alias."""


def without_hidden(found: list[Suggestion]) -> list[Suggestion]:
    """Without the classes whose name also is that of a function, a variable or an alias: in C++, these hide the class
    ([basic.scope.hiding])."""
    hidden = {each.text for each in found if each.kind in TAGS} & {each.text for each in found if each.kind in HIDING}
    return [each for each in found if each.text not in hidden or each.kind not in TAGS] if hidden else found
