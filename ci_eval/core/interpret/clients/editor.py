"""The rule that ci-eval had before VS Code's: evaluations of that time can be compared with those of now.

A list shows what the typed word fits, what it fits best first, then by sortText, then by text, both without regard to
case; then by text as it is. Of equal first words the first counts. If an engine gives no sortText, its order does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter

from msgspec.structs import replace

from ci_eval.core.interpret.clients import Client, Listing, TypedToken
from ci_eval.core.interpret.fuzzy import score
from ci_eval.core.model import Suggestion
from ci_eval.core.model.sessions import Offer, plain

WORD = re.compile(r"[@$#]*\w+[?!$]?[\w$]*")


def show(answered: Sequence[Suggestion], caret: TypedToken) -> Listing:
    suggestions = [_first_word(suggestion) for suggestion in answered]
    if any(suggestion.sort_text is not None for suggestion in suggestions):
        return Listing(_filter_matches(_sort(suggestions), caret.prefix))
    first: dict[str, Suggestion] = {}
    for suggestion in suggestions:
        first.setdefault(suggestion.text, suggestion)
    return Listing(_filter_matches(list(first.values()), caret.prefix))


def _first_word(suggestion: Suggestion) -> Suggestion:
    if isinstance(suggestion, Offer):
        suggestion = plain(suggestion, "")
        word = WORD.match(suggestion.text)
        return replace(suggestion, text=word[0]) if word and word[0] != suggestion.text else suggestion
    return suggestion


def _sort(answered: Sequence[Suggestion]) -> list[Suggestion]:
    best: dict[str, Suggestion] = {}
    for suggestion in answered:
        known = best.setdefault(suggestion.text, suggestion)
        if known is not suggestion and _tie_key(suggestion) < _tie_key(known):
            best[suggestion.text] = suggestion
    return sorted(best.values(), key=_sort_text)


def _filter_matches(shown: list[Suggestion], prefix: str) -> list[Suggestion]:
    if prefix:
        scored = [(score(prefix, suggestion.filter_text or suggestion.text), suggestion) for suggestion in shown]
        fitting = [
            (-points, rank, suggestion) for rank, (points, suggestion) in enumerate(scored) if points is not None
        ]
        shown = [suggestion for _, _, suggestion in sorted(fitting, key=itemgetter(0, 1))]
    return shown


def _sort_text(suggestion: Suggestion) -> tuple[str, str, str]:
    return (
        (suggestion.text if suggestion.sort_text is None else suggestion.sort_text).lower(),
        suggestion.text.lower(),
        suggestion.text,
    )


def _tie_key(suggestion: Suggestion) -> tuple[str, str, str, str]:
    sort_text = suggestion.text if suggestion.sort_text is None else suggestion.sort_text
    return sort_text.lower(), sort_text, suggestion.filter_text or suggestion.text, suggestion.kind


CLIENT = Client(
    name="editor", summary="ci-eval's rule before it had VS Code's; each first word once", show=show, keeps=True
)
