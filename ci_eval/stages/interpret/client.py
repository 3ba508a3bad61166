"""What stands between engine and person."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Literal

from msgspec.structs import replace

from ci_eval.model import Suggestion
from ci_eval.stages.interpret.fuzzy import score


def shown_by(client: Literal["editor", "raw"], answered: Sequence[Suggestion], prefix: str) -> list[Suggestion]:
    """What a person sees of the answer; of equal texts the first.

    `editor` shows what the typed word fits, what it fits best first, then by sortText, then by text, both without
    regard to case; where an engine gives no sortText, its own order counts. `raw` shows everything as it came.
    """
    first: dict[str, Suggestion] = {}
    for found in answered:
        first.setdefault(found.text, found)
    shown = list(first.values())
    if client == "raw":
        return shown
    if any(found.sort_text is not None for found in shown):
        shown.sort(key=_sort_text)
    if prefix:
        scored = [(score(prefix, found.filter_text or found.text), found) for found in shown]
        fitting = [(-points, place, found) for place, (points, found) in enumerate(scored) if points is not None]
        shown = [found for _, _, found in sorted(fitting, key=itemgetter(0, 1))]
    return shown


def _sort_text(found: Suggestion) -> tuple[str, str]:
    return (found.text if found.sort_text is None else found.sort_text).lower(), found.text.lower()


def with_positions(ordered: Sequence[Suggestion], shown: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Remember where the engine had put what the completion type moved."""
    place = {found.text: i for i, found in enumerate(shown, 1)}
    return tuple([replace(found, position=place[found.text]) for found in ordered])
