"""The list of Visual Studio Code, with its default settings and nothing remembered of earlier choices.

After VS Code 1.95 (npm monaco-editor 0.52.2 has the same code): the order of `defaultComparator` in
`src/vs/editor/contrib/suggest/browser/suggest.ts`, the filter of `completionModel.ts` in the same folder, the selection
of `Memory.select` in `suggestMemory.ts`. `tests/interpret/clients/` has lists of suggestions, and what VS Code's own
code displayed of them. If no suggestion has a text to sort by, the engine's order stays.
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
"""The score of everything if there is no word to filter by (`FuzzyScore.Default`)."""

MANY = 2000
"""If there are more candidates, swapped letters are not tried."""

Scored = tuple[int, Suggestion]


def show(answered: Sequence[Suggestion], caret: TypedToken) -> Listing:
    scored = [(UNTYPED, suggestion) for suggestion in _sort(answered)]
    # Like in the editor, each typed letter filters what the letter before it has left, in that order.
    for typed in range(min(caret.asked, len(caret.prefix)), len(caret.prefix) + 1):
        scored = _filter(scored, _Words(caret, typed))
    # Selected is the first of the best that has `preselect`, else the first.
    best = list(takewhile(lambda pair: pair[0] == scored[0][0], scored))
    asks = (index for index, (_, item) in enumerate(best) if isinstance(item, Offer) and item.preselect)
    shown = [plain(suggestion, remaining_tail(suggestion, caret.follows)) for _, suggestion in scored]
    return Listing(shown, next(asks, 0))


def _sort(answered: Sequence[Suggestion]) -> list[Suggestion]:
    if all(suggestion.sort_text is None for suggestion in answered):
        return list(answered)
    keyed = [
        (
            (suggestion.sort_text or _label(suggestion)).lower(),
            _label(suggestion),
            suggestion.number if isinstance(suggestion, Offer) else 0,
        )
        for suggestion in answered
    ]
    # JavaScript compares strings by their UTF-16 units, Python by code points: the same below the surrogates.
    if not all(key[0].isascii() and key[1].isascii() for key in keyed):
        keyed = [(units(key[0]), units(key[1]), key[2]) for key in keyed]
    return [suggestion for _, suggestion in sorted(zip(keyed, answered, strict=True), key=itemgetter(0))]


def _label(suggestion: Suggestion) -> str:
    return suggestion.label or suggestion.text


class _Words:
    def __init__(self, caret: TypedToken, typed: int) -> None:
        """`typed`: the number of characters of the prefix that are typed."""
        self._line = caret.line[: len(caret.line) - len(caret.prefix) + typed]
        self._typed = typed
        self._since = typed - caret.asked
        self._known: dict[int, tuple[str, int]] = {}

    def of(self, found: Suggestion) -> tuple[str, int]:
        """Return the typed text to filter by, and the number of its leading blanks, which are ignored."""
        begin = found.begin if isinstance(found, Offer) else 0
        known = self._known.get(begin)
        if known is None:
            length = self._typed - begin
            word = self._line[-length:] if length else ""
            stood = length - self._since
            blanks = word[: max(stood, 0)]
            known = self._known[begin] = word, len(blanks) - len(blanks.lstrip(" \t"))
        return known


def _filter(scored: Sequence[Scored], words: _Words) -> list[Scored]:
    score = graceful_score if len(scored) <= MANY else full_score
    fitting: list[Scored] = []
    for _, suggestion in scored:
        if isinstance(suggestion, Offer) and not suggestion.visible:
            continue
        word, begin = words.of(suggestion)
        if begin >= len(word):
            fitting.append((UNTYPED, suggestion))
        elif (points := score(word, begin, _compared_text(suggestion, word))) is not None:
            fitting.append((points, suggestion))
    # The sort is stable, so equal scores keep the order of `defaultComparator`.
    fitting.sort(key=lambda scored: -scored[0])
    return fitting


def _compared_text(suggestion: Suggestion, word: str) -> str:
    if not isinstance(suggestion, Offer):
        return suggestion.filter_text or suggestion.text
    text = suggestion.filtered_by or _label(suggestion)
    # The extension vscode-clangd 0.1.33 (`provideCompletionItem` in src/clangd-context.ts) makes
    # everything fit alike, so that VS Code keeps the order of clangd.
    return f"{word}_{text}" if suggestion.extension == "clangd" else text


CLIENT = Client(name="vscode", summary="Visual Studio Code 1.95, with its default settings", show=show, keeps=True)
