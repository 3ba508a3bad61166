"""A client that shows lists as Visual Studio Code does with default settings, without a memory of earlier choices.

It follows VS Code 1.95 (npm monaco-editor 0.52.2 has the same code): the order of `defaultComparator` in
`src/vs/editor/contrib/suggest/browser/suggest.ts`, the filter in `completionModel.ts` and the selection of
`Memory.select` in `suggestMemory.ts` in the same folder. `tests/interpret/clients/` has lists of suggestions, and the
lists that VS Code's own code displayed for them. If no suggestion has a `sort_text`, the engine's order stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from operator import itemgetter

from ci_eval.core.interpret.clients import Client, Listing, TypedToken, remaining_tail
from ci_eval.core.interpret.fuzzy import full_score, graceful_score, units
from ci_eval.core.model import Suggestion
from ci_eval.core.model.sessions import Offer, plain

UNTYPED = -100
"""The score of each suggestion without a word to filter by (`FuzzyScore.Default`)."""

MANY = 2000
"""If a list has more suggestions than this, the typed word is not tried with swapped letters."""

Scored = tuple[int, Suggestion]


def show(answered: Sequence[Suggestion], caret: TypedToken) -> Listing:
    scored = [(UNTYPED, suggestion) for suggestion in _sort(answered)]
    # As in the editor, each typed letter filters the list that the letter before it left, in the order of that list.
    for typed in range(min(caret.asked, len(caret.prefix)), len(caret.prefix) + 1):
        scored = _filter(scored, _Words(caret, typed))
    # Among the suggestions with the best score, the first with `preselect` is selected; without one, the first of all.
    best = list(takewhile(lambda pair: pair[0] == scored[0][0], scored))
    asks = (index for index, (_, item) in enumerate(best) if isinstance(item, Offer) and item.preselect)
    shown = [
        item if type(item) is Suggestion and not item.tail else plain(item, remaining_tail(item, caret.follows))
        for _, item in scored
    ]
    return Listing(shown, next(asks, 0))


def _sort(answered: Sequence[Suggestion]) -> list[Suggestion]:
    if all(suggestion.sort_text is None for suggestion in answered):
        return list(answered)
    labels = [_label(suggestion) for suggestion in answered]
    texts = [(item.sort_text or label).lower() for item, label in zip(answered, labels, strict=True)]
    # JavaScript compares strings by UTF-16 units, Python by code points. For ASCII, the order is the same.
    if not ("".join(texts).isascii() and "".join(labels).isascii()):
        texts, labels = [*map(units, texts)], [*map(units, labels)]
    numbers = [suggestion.number if isinstance(suggestion, Offer) else 0 for suggestion in answered]
    keys = [*zip(texts, labels, numbers, strict=True)]
    return [answered[index] for index in sorted(range(len(keys)), key=keys.__getitem__)]


def _label(suggestion: Suggestion) -> str:
    return suggestion.label or suggestion.text


class _Words:
    def __init__(self, caret: TypedToken, typed: int) -> None:
        """`typed`: the number of characters of the prefix that are typed."""
        self._line = caret.line[: len(caret.line) - len(caret.prefix) + typed]
        self._typed = typed
        self._since = typed - caret.asked
        self._known: dict[int, tuple[str, int, str]] = {}

    def of(self, begin: int) -> tuple[str, int, str]:
        """Return the word from `begin` (0 = the token's first character) to the caret, the number of blanks at its
        beginning that are ignored, since they were there when the engine was asked, and a letter without which nothing
        matches, or ""."""
        known = self._known.get(begin)
        if known is None:
            length = self._typed - begin
            word = self._line[-length:] if length else ""
            stood = length - self._since
            blanks = word[: max(stood, 0)]
            ignored = len(blanks) - len(blanks.lstrip(" \t"))
            known = self._known[begin] = word, ignored, word[ignored : ignored + 1].lower() if word.isascii() else ""
        return known


def _filter(scored: Sequence[Scored], words: _Words) -> list[Scored]:
    score = graceful_score if len(scored) <= MANY else full_score
    fitting, of_token = list[Scored](), words.of(0)
    if not of_token[0] and not any(isinstance(suggestion, Offer) for _, suggestion in scored):
        return list(scored)
    for _, suggestion in scored:
        if isinstance(suggestion, Offer):
            if not suggestion.visible:
                continue
            word, begin, letter = words.of(suggestion.begin)
            text = suggestion.filtered_by or _label(suggestion)
            # The extension vscode-clangd 0.1.33 (`provideCompletionItem` in src/clangd-context.ts) makes everything
            # match equally well, so that VS Code keeps the order of clangd.
            if suggestion.extension == "clangd":
                text = f"{word}_{text}"
        else:
            word, begin, letter = of_token
            text = suggestion.filter_text or suggestion.text
        if begin >= len(word):
            fitting.append((UNTYPED, suggestion))
        # Most texts of a long list lack the letter, and scores take longer.
        elif letter in text.lower() and (points := score(word, begin, text)) is not None:
            fitting.append((points, suggestion))
    # The sort is stable, so equal scores keep the order of `defaultComparator`.
    fitting.sort(key=itemgetter(0), reverse=True)
    return fitting


CLIENT = Client(name="vscode", summary="Visual Studio Code 1.95, with its default settings", show=show, keeps=True)
