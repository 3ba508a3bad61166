"""The list of Visual Studio Code, with its default settings and nothing remembered of earlier choices.

After VS Code 1.95 (npm monaco-editor 0.52.2 has the same code): the order of `defaultComparator` in
`src/vs/editor/contrib/suggest/browser/suggest.ts`, the filter of `completionModel.ts` beside it, the selection of
`Memory.select` in `suggestMemory.ts`. `tests/stages/interpret/clients/` has lists that this code was given, and what it
made of them.

An engine that gives no text to sort by is taken to be one whose extension keeps its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

from ci_eval.model import Suggestion
from ci_eval.model.engine.offers import Offer, plain
from ci_eval.stages.interpret.contract import Caret, Client, Listing, tail_of
from ci_eval.stages.interpret.fuzzyscore import full_score, graceful_score, units

UNTYPED = -100
"""The score of everything where there is no word to filter by (`FuzzyScore.Default`)."""

MANY = 2000
"""With more candidates, no swapped letters are tried."""

Scored = tuple[int, Suggestion]


def show(answered: Sequence[Suggestion], caret: Caret) -> Listing:
    scored = [(UNTYPED, found) for found in _sorted(answered)]
    # As the editor does while letters are typed: each filters what the one before it has left, in that order.
    for typed in range(min(caret.asked, len(caret.prefix)), len(caret.prefix) + 1):
        scored = _filtered(scored, _Words(caret, typed))
    return Listing([plain(found, tail_of(found, caret.follows)) for _, found in scored], _highlighted(scored))


def _sorted(answered: Sequence[Suggestion]) -> list[Suggestion]:
    if all(found.sort_text is None for found in answered):
        return list(answered)
    keyed = [((found.sort_text or _label(found)).lower(), _label(found), _number(found)) for found in answered]
    # JavaScript compares strings by their UTF-16 units, Python by code points: the same below the surrogates.
    if not all(key[0].isascii() and key[1].isascii() for key in keyed):
        keyed = [(units(key[0]), units(key[1]), key[2]) for key in keyed]
    return [found for _, found in sorted(zip(keyed, answered, strict=True), key=itemgetter(0))]


def _label(found: Suggestion) -> str:
    return found.label or found.text


def _number(found: Suggestion) -> int:
    return found.number if isinstance(found, Offer) else 0


class _Words:
    """The text that each range covers: what the suggestions that replace it are filtered by."""

    def __init__(self, caret: Caret, typed: int) -> None:
        """`typed`: how many characters of the prefix are."""
        self._line = caret.line[: len(caret.line) - len(caret.prefix) + typed]
        self._typed = typed
        self._since = typed - caret.asked
        self._known: dict[int, tuple[str, int]] = {}

    def of(self, found: Suggestion) -> tuple[str, int]:
        """Return the text, and how much of its beginning is not looked at: blanks that stood there before."""
        begin = found.begin if isinstance(found, Offer) else 0
        known = self._known.get(begin)
        if known is None:
            length = self._typed - begin
            word = self._line[-length:] if length else ""
            stood = length - self._since
            blanks = word[: max(stood, 0)]
            known = self._known[begin] = word, len(blanks) - len(blanks.lstrip(" \t"))
        return known


def _filtered(scored: Sequence[Scored], words: _Words) -> list[Scored]:
    score = graceful_score if len(scored) <= MANY else full_score
    kept: list[Scored] = []
    for _, found in scored:
        if isinstance(found, Offer) and not found.visible:
            continue
        word, begin = words.of(found)
        if begin >= len(word):
            kept.append((UNTYPED, found))
        elif (points := score(word, begin, _filtered_by(found, word))) is not None:
            kept.append((points, found))
    kept.sort(key=_best_first)
    return kept


def _best_first(scored: Scored) -> int:
    return -scored[0]


def _filtered_by(found: Suggestion, word: str) -> str:
    if not isinstance(found, Offer):
        return found.filter_text or found.text
    text = found.filtered_by or _label(found)
    # The extension vscode-clangd 0.1.33 (`provideCompletionItem` in src/clangd-context.ts) makes
    # everything fit alike, so that VS Code keeps the order of clangd.
    return f"{word}_{text}" if found.extension == "clangd" else text


def _highlighted(scored: Sequence[Scored]) -> int:
    """The first of the best that asks for it, else the first."""
    for index, (points, found) in enumerate(scored):
        if points != scored[0][0]:
            break
        if isinstance(found, Offer) and found.preselect:
            return index
    return 0


CLIENT = Client(name="vscode", summary="Visual Studio Code 1.95, with its default settings", show=show, keeps=True)
