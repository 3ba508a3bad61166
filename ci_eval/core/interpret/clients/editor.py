"""The display rule that ci-eval used before it had VS Code's. It keeps old evaluations comparable.

A list shows the suggestions that match the typed word, ordered by match, then by sortText, then by text, both
case-insensitive; then by exact text. If several suggestions have the same first word, only the first is shown. If no
suggestion has a sortText, the engine's order is used instead of sortText and text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter

from msgspec.structs import replace

from ci_eval.core.interpret.clients import Client, Listing, TypedToken
from ci_eval.core.interpret.fuzzy import score
from ci_eval.core.model import Offer, Suggestion, plain

WORD = re.compile(r"[@$#]*\w+[?!$]?[\w$]*")


def show(answered: Sequence[Suggestion], caret: TypedToken) -> Listing:
    best: dict[str, Suggestion] = {}
    is_sorted = any(suggestion.sort_text is not None for suggestion in answered)
    for suggestion in answered:
        if isinstance(suggestion, Offer):
            suggestion = plain(suggestion, "")
            word = WORD.match(suggestion.text)
            suggestion = replace(suggestion, text=word[0]) if word and word[0] != suggestion.text else suggestion
        known = best.setdefault(suggestion.text, suggestion)
        if is_sorted and known is not suggestion and _tie_key(suggestion) < _tie_key(known):
            best[suggestion.text] = suggestion
    shown = list(best.values())
    if is_sorted:
        shown.sort(key=lambda item: (_tie_key(item)[0], item.text.lower(), item.text))
    if caret.prefix:
        scored = [(score(caret.prefix, item.filter_text or item.text), item) for item in shown]
        fitting = [(-points, item) for points, item in scored if points is not None]
        # The sort is stable, so suggestions with equal points keep their order.
        shown = [item for _, item in sorted(fitting, key=itemgetter(0))]
    return Listing(shown)


def _tie_key(suggestion: Suggestion) -> tuple[str, str, str, str]:
    sort_text = suggestion.text if suggestion.sort_text is None else suggestion.sort_text
    return sort_text.lower(), sort_text, suggestion.filter_text or suggestion.text, suggestion.kind


CLIENT = Client(
    name="editor", summary="ci-eval's rule before it had VS Code's; each first word once", show=show, keeps=True
)
