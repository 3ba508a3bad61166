"""A client that shows the engine's list unchanged, but each text only once."""

from __future__ import annotations

from collections.abc import Sequence

from ci_eval.core.interpret.clients import Client, Listing, TypedToken, remaining_tail
from ci_eval.core.model import Suggestion, plain


def show(answered: Sequence[Suggestion], caret: TypedToken) -> Listing:
    first: dict[tuple[str, str], Suggestion] = {}
    for suggestion in caret.mark(answered):
        tail = remaining_tail(suggestion, caret.follows)
        # The same name with another tail leaves another text.
        if (suggestion.text, tail) not in first:
            first[suggestion.text, tail] = plain(suggestion, tail)
    return Listing(list(first.values()))


CLIENT = Client(name="raw", summary="the engine's list as it came, each text once", show=show, keeps=False)
