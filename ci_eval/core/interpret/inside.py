"""Acceptance inside a word: what a suggestion changes of code in which the whole token stands already."""

from __future__ import annotations

from msgspec.structs import replace

from ci_eval.core.model import Suggestion
from ci_eval.core.model.engine.offers import REMOVED, REMOVED_BEFORE, Offer


def settle_tail(suggestion: Suggestion, rest: str) -> Suggestion:
    """Return the suggestion with a tail that is relative to the end of the token, not to the caret. `rest`: the part of
    the token behind the caret.

    Without a tail, acceptance puts the text in place of the token. `path` for `pa|th` has the tail `th` if the engine
    replaces nothing behind the caret, so that acceptance leaves `pathth`.
    """
    # An engine that is no language server names no range: the editor replaces the word.
    if not isinstance(suggestion, Offer):
        return suggestion
    tail, _, removed = suggestion.tail.partition(REMOVED)
    tail, before, changed = tail.partition(REMOVED_BEFORE)
    tail += rest[len(removed) :]
    removed = removed[len(rest) :]
    if removed and tail.endswith(removed):
        tail, removed = tail[: -len(removed)], ""
    settled = tail + before + changed + (REMOVED + removed if removed else "")
    # Placeholders stand for code that is still to be written, and here it stands there.
    return replace(suggestion, tail=settled, firm=len(settled))
