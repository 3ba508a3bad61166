"""What stands between engine and person."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Literal

from msgspec.structs import replace

from ci_eval.model import Suggestion
from ci_eval.stages.interpret.fuzzy import score


def shown_by(client: Literal["editor", "raw"], answered: Sequence[Suggestion], prefix: str) -> list[Suggestion]:
    """What a person sees of the answer, each text once.

    `editor` shows what the typed word fits, what it fits best first, then by sortText, then by text, both without
    regard to case; then by text as it is: many servers list what is equal so far in another order each time. Of equal
    texts the first counts. Where an engine gives no sortText, its own order counts. `raw` shows everything as it came.
    """
    if client == "editor" and any(found.sort_text is not None for found in answered):
        return _fitting(_sorted(answered), prefix)
    first: dict[str, Suggestion] = {}
    for found in answered:
        first.setdefault(found.text, found)
    return list(first.values()) if client == "raw" else _fitting(list(first.values()), prefix)


def _sorted(answered: Sequence[Suggestion]) -> list[Suggestion]:
    """In an order that does not depend on the one in which they came."""
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


def with_positions(ordered: Sequence[Suggestion], shown: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Remember where the engine had put what the completion type moved."""
    place = {found.text: i for i, found in enumerate(shown, 1)}
    return tuple([replace(found, position=place[found.text]) for found in ordered])
