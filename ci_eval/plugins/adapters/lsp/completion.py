"""Converts completion items into suggestions: the text that the document would have from the token's beginning on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from ci_eval.core.base.errors import EngineRaised
from ci_eval.core.contracts import Query
from ci_eval.core.model.sessions import REMOVED, REMOVED_BEFORE, Extension, Offer, Suggestion
from ci_eval.core.text_spans import cut
from ci_eval.plugins.adapters.lsp import protocol

LONGEST_LINE = 1000
WINDOW = 15
"""The limits, in characters, of the searched part of a line and of a step back (`_defaultConfig` in wordHelper.ts)."""


def _pattern(*, without: str = "") -> re.Pattern[str]:
    separators = "".join(sign for sign in "`~!@#$%^&*()-=+[{]}\\|;:'\",.<>/?" if sign not in without)
    return re.compile(rf"-?[0-9]*\.[0-9][0-9A-Za-z_]*|[^{re.escape(separators)}\s\ufeff]+")


DEFAULT = _pattern()
BY_LANGUAGE = {
    "php": _pattern(without="$"),
    **dict.fromkeys(("typescript", "typescriptreact", "javascript", "javascriptreact"), _pattern(without="$#")),
}


def find_word(line: str, caret: int, language: str) -> tuple[int, int]:
    """Return the begin and end of the word at the caret, or the caret twice if there is no word. As in `getWordAtText`
    of wordHelper.ts, the search starts further back in each step until a match reaches the caret."""
    cut = max(0, caret - LONGEST_LINE // 2) if len(line) > LONGEST_LINE else 0
    text = line[cut : caret + LONGEST_LINE // 2] if len(line) > LONGEST_LINE else line
    pattern, target = BY_LANGUAGE.get(language, DEFAULT), caret - cut
    match, previous = None, -1
    for begin in range(target - WINDOW, -WINDOW, -WINDOW):
        reaching = None
        for candidate in pattern.finditer(text, max(begin, 0)):
            if candidate.start() <= target <= candidate.end():
                reaching = candidate
            if reaching or candidate.start() > max(previous, target) or 0 < previous < candidate.start():
                break
        if reaching is None and match is not None:
            break
        match, previous = reaching, begin
        if begin <= 0:
            break
    return (cut + match.start(), cut + match.end()) if match else (caret, caret)


_STOP = re.compile(r"\$(?:(?P<number>\d+)|(?P<name>[A-Za-z_]\w*))", re.ASCII)
_OPENED = re.compile(r"\$\{(?:(?P<number>\d+)|(?P<name>[A-Za-z_]\w*))(?P<next>[:}/|])", re.ASCII)
_CHOICES = re.compile(r"((?:\\[\\,|]|[^\\,|])*)(?:,(?:\\[\\,|]|[^\\,|])*)*\|\}")
# The pattern matches no text in two ways; otherwise, each further `${…}` would double the time.
_TRANSFORM = re.compile(r"(?:\\.|[^\\/])*/(?:\\.|\$\{[^}$]*\}|\$(?!\{[^}$]*\})|[^\\/$])*/[a-z]*\}", re.ASCII)
_PLAIN = re.compile(r"[^$\\}]+")
DEEPEST = 20
LONGEST_SNIPPET = 20_000
"""A snippet with more characters is not parsed, but inserted as plain text."""
MOST_UNCLOSED = 20
"""After this many unclosed transforms, further transforms are text, since the search for each end takes time."""


def expand(snippet: str) -> tuple[str, int]:
    """Return the text that a snippet inserts, and the length of the part before the first placeholder."""
    if ("$" not in snippet and "\\" not in snippet) or len(snippet) > LONGEST_SNIPPET:
        return snippet, len(snippet)
    reader = _SnippetReader(snippet)
    text = reader.read()
    return text, len(text) if reader.firm is None else reader.firm


class _SnippetReader:
    def __init__(self, snippet: str) -> None:
        self._snippet = snippet
        self._at = 0
        self._length = 0
        self._unclosed = 0
        self.firm: int | None = None
        """The number of characters before the first placeholder, or None if no placeholder was read yet."""

    def read(self, depth: int = 0) -> str:
        text = ""
        while self._at < len(self._snippet) and not (depth and self._snippet[self._at] == "}"):
            text += self._piece(depth)
        return text

    def _piece(self, depth: int) -> str:
        snippet, at = self._snippet, self._at
        if plain := _PLAIN.match(snippet, at):
            return self._write(plain[0], len(plain[0]))
        if snippet[at] == "\\":
            escaped = snippet[at + 1 : at + 2] in {"$", "}", "\\"}
            return self._write(snippet[at + escaped], 1 + escaped)
        if snippet[at] != "$":
            return self._write(snippet[at], 1)
        if stop := _STOP.match(snippet, at):
            self._stop(stop["number"])
            self._at = stop.end()
            return ""
        # Deeper nesting is read as text, since a hostile snippet could otherwise exhaust the stack.
        if (opened := _OPENED.match(snippet, at)) and depth < DEEPEST:
            return self._placeholder(opened, depth)
        return self._write("$", 1)

    def _placeholder(self, opened: re.Match[str], depth: int) -> str:
        before = self._at, self._length, self.firm
        self._stop(opened["number"])
        self._at = opened.end()
        match opened["next"]:
            case "}":
                return ""
            case ":":
                firm, self.firm = self.firm, before[2]
                text = self.read(depth + 1)
                if self._snippet[self._at : self._at + 1] == "}":
                    self._at += 1
                    self.firm = self.firm if firm is None else firm
                    return text
                # An unclosed placeholder is text. The text after it is not read again, since that would double the
                # time for each placeholder.
                self._length += len(opened[0])
                if before[2] is None and self.firm is not None:
                    self.firm += len(opened[0])
                return opened[0] + text
            case "|" if opened["number"] and (choices := _CHOICES.match(self._snippet, self._at)):
                self._at = choices.end()
                first = re.sub(r"\\([\\,|])", r"\1", choices[1])
                self._length += len(first)
                return first
            case "/" if self._unclosed < MOST_UNCLOSED:
                if transform := _TRANSFORM.match(self._snippet, self._at):
                    self._at = transform.end()
                    return ""
                self._unclosed += 1
        # Unclosed placeholders are text.
        self._at, self._length, self.firm = before
        return self._write("$", 1)

    def _stop(self, number: str | None) -> None:
        # A placeholder with a name is a variable, which editors fill in. Only numbered ones end the firm part.
        if self.firm is None and number:
            self.firm = self._length

    def _write(self, text: str, read: int) -> str:
        self._at += read
        self._length += len(text)
        return text


KINDS = (
    "",
    *"text method function constructor field variable class interface module property unit value enum keyword".split(),
    *"snippet color file reference folder enum-member constant struct event operator type-parameter".split(),
)

NUMBERS = {
    name: number
    for number, name in enumerate(
        "method function constructor field variable class struct interface module property event operator unit value "
        "constant enum enum-member keyword text color file reference customcolor folder type-parameter user issue "
        "snippet".split()
    )
}
"""Kind → its number in VS Code (`CompletionItemKind` in `src/vs/editor/common/languages.ts`, 1.95)."""

SNIPPET = 2
_KINDS: dict[float | None, tuple[str, int]] = {float(i): (name, NUMBERS[name]) for i, name in enumerate(KINDS) if i}
# Unknown numbers mean text (`asCompletionItemKind` in protocolConverter.ts, 9.0.1).
TEXT = "text", NUMBERS["text"]
# VS Code takes an item without a kind for a property (`_inflateSuggestDto` in mainThreadLanguageFeatures.ts).
NO_KIND = "", NUMBERS["property"]
_SIGNS = re.compile(r"^\W+")


class Replaced(NamedTuple):
    begin: int
    end: int
    visible: bool


class Question:
    def __init__(
        self,
        text: str,
        offset: int,
        prefix: str,
        encoding: protocol.Encoding,
        language: str = "",
        *,
        since: int = 0,
        replaces: bool = False,
    ) -> None:
        """`prefix`: the typed part of the token. `since`: how many characters of `prefix` were typed after the list was
        made. `language`: the language's name in the protocol. `replaces`: whether accepting an item replaces the
        token's text after the caret (`editor.suggest.insertMode` of VS Code)."""
        begin = text.rfind("\n", 0, offset) + 1
        end = text.find("\n", offset)
        self.line = text[begin : end if end >= 0 else len(text)]
        self.number = text.count("\n", 0, begin)
        self.caret = offset - begin
        self.asked = self.caret - since
        self.token = self.caret - len(prefix)
        self._encoding: protocol.Encoding = encoding
        self._document = _Document(text, encoding)
        word, word_end = find_word(self.line[: self.asked] + self.line[self.caret :], self.asked, language)
        self.replaces = replaces
        self._word = Replaced(word, word_end if replaces else self.asked, visible=True)
        self._format: float | None = None
        self._default: Replaced | None = None
        self._last_ranges: tuple[protocol.Range | None, ...] = ()
        self._last_replaced = self._word

    def offers(
        self, answer: protocol.CompletionList, name: re.Pattern[str], extension: Extension = "", *, kinds: bool = True
    ) -> list[Suggestion]:
        """Return suggestions in the server's order. `name`: the pattern of a token of the language. `kinds`: whether
        the suggestions have kinds."""
        defaults = answer.item_defaults or protocol.Defaults()
        self._format, self._default = defaults.insert_text_format, None
        shared = defaults.edit_range
        if shared and shared.insert:
            self._default = self._range_of_edit(protocol.TextEdit("", None, shared.insert, shared.replace))
        elif shared and shared.start:
            self._default = self._range(shared.start, shared.end or shared.start)
        return list(self._read(answer, name, extension, kinds=kinds))

    def _read(
        self, answer: protocol.CompletionList, name: re.Pattern[str], extension: Extension, *, kinds: bool
    ) -> Iterator[Suggestion]:
        filtered_by = ""
        # The extension golang.go 0.52 gives all items of an incomplete list the first item's filterText, so that VS
        # Code keeps gopls' order (`provideCompletionItem` in extension/src/language/goLanguageServer.ts).
        if extension == "gopls" and answer.is_incomplete and len(answer.items) > 1:
            filtered_by = answer.items[0].filter_text or answer.items[0].label
        # The loop usually calls one function per item, since some servers list thousands of items at each caret.
        token, last, begin, whole, document = self.token, None, 0, False, self._document
        for index, item in enumerate(answer.items):
            replaced, new, firm = self._insertion(item)
            if replaced is not last:
                last, begin = replaced, replaced.begin
                whole = begin == token and replaced.end == self.asked
            written = new if begin == token else self._from_token(new, begin)
            # Items that insert nothing are skipped: VS Code shows them, but rankers need a text.
            if not written:
                continue
            label, own = item.label, item.filter_text
            if written.isidentifier():
                text, tail = written, ""
            else:
                text = self._extract_token(written, item, name)
                tail = written[len(text) :]
            if not whole:
                tail = self._tail(replaced, new, tail)
            firm += len(written) - len(new) - len(text)
            # Without a placeholder, all of the tail is firm.
            if not tail or not 0 <= firm < len(written) - len(text) or REMOVED in tail or REMOVED_BEFORE in tail:
                firm = len(tail)
            kind, number = _KINDS.get(item.kind) or (
                TEXT if item.kind is not None and item.kind.is_integer() else NO_KIND
            )
            filter_text = self._from_token(own, begin) if own else None
            yield Offer(
                text=text,
                tail=tail,
                label="" if label == text else label,
                kind=kind if kinds else "",
                filter_text=None if filter_text == text else filter_text,
                edits=document.edits(item.additional_text_edits) if item.additional_text_edits else None,
                # By the protocol, items without `sortText` are sorted by their labels.
                sort_text=item.sort_text or label,
                filtered_by=filtered_by or own or None,
                begin=begin - token,
                firm=firm,
                number=number,
                item=index,
                preselect=item.preselect is True,
                visible=replaced.visible and bool(label),
                extension=extension,
            )

    def _insertion(self, item: protocol.CompletionItem) -> tuple[Replaced, str, int]:
        """Return the replaced range, the new text, and the length of the new text before the first placeholder, like
        `asCompletionInsertText` in protocolConverter.ts of vscode-languageclient 9.0.1."""
        edit = item.text_edit
        if edit is not None:
            replaced, new = self._range_of_edit(edit), edit.new_text
        elif self._default is not None:
            replaced, new = self._default, item.label if item.text_edit_text is None else item.text_edit_text
        else:
            replaced, new = self._word, item.insert_text or item.label
        snippet = (self._format if item.insert_text_format is None else item.insert_text_format) == SNIPPET
        # An inserted label is not a snippet.
        if not snippet or (edit is None and self._default is None and not item.insert_text):
            return replaced, new, len(new)
        return replaced, *expand(new)

    def _range_of_edit(self, edit: protocol.TextEdit) -> Replaced:
        # Almost all items of a list replace the same range, so the last conversion is cached.
        ranges = edit.range, edit.insert, edit.replace
        if ranges != self._last_ranges:
            self._last_ranges, self._last_replaced = ranges, self._convert_ranges(edit)
        return self._last_replaced

    def _convert_ranges(self, edit: protocol.TextEdit) -> Replaced:
        if edit.insert is None or edit.replace is None:
            span = edit.range or edit.insert
            return self._range(span.start, span.end) if span else self._word
        insert = self._range(edit.insert.start, edit.insert.end)
        replace = self._range(edit.replace.start, edit.replace.end)
        same = edit.insert.start == edit.replace.start
        end = replace.end if self.replaces else insert.end
        return Replaced(insert.begin, end, visible=insert.visible and replace.visible and same)

    def _range(self, start: protocol.Position, end: protocol.Position) -> Replaced:
        # VS Code never shows an item with a range on another line (`isInvalid` in suggest.ts, 1.95).
        if start.line != self.number or end.line != self.number:
            return Replaced(self._word.begin, self._word.end, visible=False)
        first, last = (
            protocol.offset_in_line(self.line, position.character, self._encoding) for position in (start, end)
        )
        return Replaced(first, last, visible=True)

    def _from_token(self, new: str, begin: int) -> str:
        line, token = self.line, self.token
        if begin == token:
            return new
        if begin > token:
            return line[token:begin] + new
        before = line[begin:token]
        return new[len(before) :] if new.startswith(before) else new

    def _tail(self, replaced: Replaced, new: str, written: str) -> str:
        after = replaced.end - self.asked
        if replaced.begin == self.token and not after:
            return written
        caret = self.caret
        if after < 0:
            written += self.line[caret + after : caret]
        lost = self.line[caret : caret + max(after, 0)]
        if lost and written.endswith(lost):
            written, lost = written[: -len(lost)], ""
        before = self.line[replaced.begin : self.token]
        changed = "" if new.startswith(before) else REMOVED_BEFORE + before
        return written + changed + (REMOVED + lost if lost else "")

    def _extract_token(self, written: str, item: protocol.CompletionItem, pattern: re.Pattern[str]) -> str:
        """Return the first token of `written` if the item's label or filterText begins with it (`join` of `join(x)`).
        Otherwise, return all of `written` (`std::vector` for the label `vector`)."""
        match = pattern.match(written)
        if not match:
            return written
        name = match[0]
        if len(name) < len(written):
            bare = _SIGNS.sub("", name)
            if not any(_SIGNS.sub("", text).startswith(bare) for text in (item.label, item.filter_text or "")):
                return written
        return name


TAGS = frozenset({"class", "struct", "constructor"})
HIDING = frozenset({"function", "variable", "interface"})
"""Kinds of names that can hide a type. The kind of an alias is `interface` in clangd."""
_MARKS = " \u2022"
"""The characters with which clangd's labels begin. The second one marks items that insert an `#include`."""


def drop_hidden_types(offers: list[Suggestion]) -> list[Suggestion]:
    """Drop each type with the same name as a function, variable or alias, which hides the type in C++
    ([basic.scope.hiding])."""
    hiding = {_name(offer) for offer in offers if offer.kind in HIDING}
    return [offer for offer in offers if offer.kind not in TAGS or _name(offer) not in hiding]


def _name(offer: Suggestion) -> str:
    return offer.label.lstrip(_MARKS) or offer.text


def settle_ties(offers: Sequence[Suggestion]) -> list[Suggestion]:
    """Order items with the same label and `sortText` by the text that they insert, and by their edits elsewhere: clangd
    lists such overloads in a different order in each process."""
    groups: dict[tuple[str | None, str], list[int]] = {}
    for index, offer in enumerate(offers):
        groups.setdefault((offer.sort_text, offer.label), []).append(index)
    settled = list(offers)
    for tied in groups.values():
        if len(tied) > 1:
            alike = [offers[index] for index in tied]
            in_order = sorted(alike, key=lambda offer: (offer.text, offer.tail, offer.edits or ()))
            for index, offer in zip(tied, in_order, strict=True):
                settled[index] = offer
    return settled


# ------------------------------------------------------------------------------------------------------------- imports

Resolve = Callable[[dict[str, Any]], Any]


class _Document:
    """A text in which edits have positions. Its lines are looked for only if there are edits."""

    def __init__(self, text: str, encoding: protocol.Encoding) -> None:
        self._text = text
        self._encoding: protocol.Encoding = encoding
        self._last_range = protocol.Range(protocol.Position(0, 0), protocol.Position(0, 0))
        self._last_span = 0, 0

    def edits(self, edits: Sequence[protocol.TextEdit]) -> tuple[tuple[int, int, str], ...]:
        """Return offset, number of deleted characters, and new text of each edit with a range."""
        changes = []
        for edit in edits:
            if edit.range:
                # Most imports of a list are inserted at the same position, so the last conversion is cached.
                if edit.range != self._last_range:
                    begin, end = self._find_offset(edit.range.start), self._find_offset(edit.range.end)
                    self._last_range, self._last_span = edit.range, (begin, max(end - begin, 0))
                changes.append((*self._last_span, edit.new_text))
        return tuple(changes)

    def _find_offset(self, position: protocol.Position) -> int:
        # A position after the text means the end of the text.
        if position.line >= len(self._lines):
            return len(self._text)
        line = max(position.line, 0)
        begin = sum(map(len, self._lines[:line])) + line
        return begin + protocol.offset_in_line(self._lines[line], position.character, self._encoding)

    @cached_property
    def _lines(self) -> list[str]:
        return self._text.split("\n")


def add_edits(
    suggestions: Sequence[Suggestion],
    answer: protocol.CompletionList,
    text: str,
    encoding: protocol.Encoding,
    names: Collection[str],
    resolve: Resolve | None = None,
) -> list[Suggestion]:
    """Return the suggestions; those with a text in `names` get the edits that accepting them makes in other parts of
    the document `text`, or () if there are none.

    `resolve`: asks the server for the edits of an item in `names` if the list does not have them. Raises EngineRaised
    if edits cannot be read.
    """
    raw: _RawList | None = None
    document = _Document(text, encoding)
    completed: list[Suggestion] = []
    for suggestion in suggestions:
        if isinstance(suggestion, Offer) and not suggestion.edits and suggestion.text in names:
            edits: list[protocol.TextEdit] = []
            if resolve and suggestion.edits is None:
                raw = raw or _read_raw(answer)
                resolved = resolve(_decode_item(raw, suggestion.item))
                listed = resolved.get("additionalTextEdits") if isinstance(resolved, dict) else None
                try:
                    # The conversion is not strict, since a line number may be written as 6.0.
                    edits = msgspec.convert(listed or [], list[protocol.TextEdit], strict=False)
                except protocol.UNREADABLE as error:
                    raise EngineRaised(f"the edits of {suggestion.text!r} cannot be read: {error}") from error
            suggestion = replace(suggestion, edits=document.edits(edits))
        completed.append(suggestion)
    return completed


class _RawList(msgspec.Struct, rename="camel"):
    items: list[msgspec.Raw]
    item_defaults: dict[str, Any] | None = None


def _read_raw(answer: protocol.CompletionList) -> _RawList:
    """Return the items without decoding them, since most items of a long list are never needed."""
    whole = msgspec.json.decode(answer.source, type=list[msgspec.Raw] | _RawList)
    return whole if isinstance(whole, _RawList) else _RawList(whole)


def _decode_item(listed: _RawList, index: int) -> dict[str, Any]:
    item: dict[str, Any] = msgspec.json.decode(listed.items[index])
    shared = listed.item_defaults or {}
    return {"data": shared["data"], **item} if "data" in shared else item


def read_inline_items(
    answer: list[protocol.InlineItem] | protocol.InlineList | None, text: str, query: Query, encoding: protocol.Encoding
) -> Iterator[Suggestion]:
    """Yield the text of each item from the beginning of the token on, cut to the query's span. Items that change the
    text before the token, or that add nothing, are skipped."""
    items = answer.items if isinstance(answer, protocol.InlineList) else answer or []
    token = query.offset - len(query.prefix)
    line = text.rfind("\n", 0, query.offset) + 1
    whole_line = text[line:].partition("\n")[0]
    for item in items:
        begin = query.offset
        if item.range:
            begin = line + protocol.offset_in_line(whole_line, item.range.start.character, encoding)
        new = item.insert_text if isinstance(item.insert_text, str) else item.insert_text.value
        typed = text[begin:token]
        if not new.startswith(typed):
            continue
        suggestion = cut(text[token:begin] + new[len(typed) :], text[:token], query.span, query.word)
        if suggestion not in {"", query.prefix}:
            yield Suggestion(text=suggestion)
