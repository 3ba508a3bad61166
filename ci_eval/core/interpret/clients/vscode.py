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
    asked, items, scored = min(caret.asked, len(caret.prefix)), answered, list[Scored]()
    # As in the editor, each typed letter filters the list that the letter before it left, in the order of that list.
    for typed in range(asked, len(caret.prefix) + 1):
        scored = _filter(items, caret, typed)
        # The list is filtered before it is sorted, since few suggestions fit. Both sorts are stable.
        if typed == asked and any(suggestion.sort_text is not None for suggestion in answered):
            scored = _sort(scored)
        scored.sort(key=itemgetter(0), reverse=True)
        items = [suggestion for _, suggestion in scored]
    # Among the suggestions with the best score, the first with `preselect` is selected; without one, the first of all.
    best = takewhile(lambda pair: pair[0] == scored[0][0], scored)
    asks = (index for index, (_, item) in enumerate(best) if isinstance(item, Offer) and item.preselect)
    return Listing([plain(item, remaining_tail(item, caret.follows)) for item in caret.mark(items)], next(asks, 0))


def _sort(scored: Sequence[Scored]) -> list[Scored]:
    labels = [item.label or item.text for _, item in scored]
    texts = [(item.sort_text or label).lower() for (_, item), label in zip(scored, labels, strict=True)]
    # JavaScript compares strings by UTF-16 units, Python by code points. For ASCII, the order is the same.
    if not ("".join(texts).isascii() and "".join(labels).isascii()):
        texts, labels = [*map(units, texts)], [*map(units, labels)]
    numbers = [item.number if isinstance(item, Offer) else 0 for _, item in scored]
    keys = [*zip(texts, labels, numbers, strict=True)]
    return [scored[index] for index in sorted(range(len(keys)), key=keys.__getitem__)]


def _filter(items: Sequence[Suggestion], caret: TypedToken, typed: int) -> list[Scored]:
    """Return the suggestions that match the word, with their scores. `typed`: how many characters of the prefix are
    typed."""
    score = graceful_score if len(items) <= MANY else full_score
    line, since = caret.line[: len(caret.line) - len(caret.prefix) + typed], typed - caret.asked
    fitting: list[Scored] = []
    begin, word, blanks, is_untyped = None, "", 0, True
    for item in items:
        offer = item if isinstance(item, Offer) else None
        if offer and not offer.visible:
            continue
        # Almost all suggestions of a list begin at the same character.
        at = offer.begin if offer else 0
        if at != begin:
            begin = at
            word = line[begin - typed :] if begin != typed else ""
            # Blanks at the beginning are ignored if they were there when the engine was asked.
            stood = word[: max(typed - begin - since, 0)]
            blanks = len(stood) - len(stood.lstrip(" \t"))
            is_untyped = blanks >= len(word)
        if is_untyped:
            fitting.append((UNTYPED, item))
            continue
        if offer:
            text = offer.filtered_by or item.label or item.text
            # The extension vscode-clangd 0.1.33 (`provideCompletionItem` in src/clangd-context.ts) makes everything
            # match equally well, so that VS Code keeps the order of clangd.
            if offer.extension == "clangd":
                text = f"{word}_{text}"
        else:
            text = item.filter_text or item.text
        points = score(word, blanks, text)
        if points is not None:
            fitting.append((points, item))
    return fitting


CLIENT = Client(name="vscode", summary="Visual Studio Code 1.95, with its default settings", show=show, keeps=True)
