"""The rule of ci-eval before it had VS Code's: so that evaluations of then can be compared with those of now.

A list shows what the typed word fits, what it fits best first, then by sortText, then by text, both without regard to
case; then by text as it is. Of equal first words the first counts. If an engine gives no sortText, its order does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import itemgetter

from msgspec.structs import replace

from ci_eval.model import Suggestion
from ci_eval.model.engine.offers import Offer, plain
from ci_eval.stages.interpret.contract import Caret, Client, Listing
from ci_eval.stages.interpret.fuzzy import score

WORD = re.compile(r"[@$#]*\w+[?!$]?[\w$]*")


def show(answered: Sequence[Suggestion], caret: Caret) -> Listing:
    found = [_first_word(each) for each in answered]
    if any(each.sort_text is not None for each in found):
        return Listing(_fitting(_sorted(found), caret.prefix))
    first: dict[str, Suggestion] = {}
    for each in found:
        first.setdefault(each.text, each)
    return Listing(_fitting(list(first.values()), caret.prefix))


def _first_word(found: Suggestion) -> Suggestion:
    if isinstance(found, Offer):
        found = plain(found, "")
        word = WORD.match(found.text)
        return replace(found, text=word[0]) if word and word[0] != found.text else found
    return found


def _sorted(answered: Sequence[Suggestion]) -> list[Suggestion]:
    """Return the suggestions in an order that does not depend on the one in which they came."""
    best: dict[str, Suggestion] = {}
    for found in answered:
        known = best.setdefault(found.text, found)
        if known is not found and _among_equals(found) < _among_equals(known):
            best[found.text] = found
    return sorted(best.values(), key=_sort_text)


def _fitting(shown: list[Suggestion], prefix: str) -> list[Suggestion]:
    if prefix:
        scored = [(score(prefix, found.filter_text or found.text), found) for found in shown]
        fitting = [(-points, place, found) for place, (points, found) in enumerate(scored) if points is not None]
        shown = [found for _, _, found in sorted(fitting, key=itemgetter(0, 1))]
    return shown


def _sort_text(found: Suggestion) -> tuple[str, str, str]:
    return (found.text if found.sort_text is None else found.sort_text).lower(), found.text.lower(), found.text


def _among_equals(found: Suggestion) -> tuple[str, str, str, str]:
    sort_text = found.text if found.sort_text is None else found.sort_text
    return sort_text.lower(), sort_text, found.filter_text or found.text, found.kind


CLIENT = Client(
    name="editor", summary="ci-eval's rule before it had VS Code's; each first word once", show=show, keeps=True
)
