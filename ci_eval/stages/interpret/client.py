"""What stands between engine and person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from ci_eval.model import (
    Suggestion,
)


def shown_by(client: Literal["editor", "raw"], answered: Sequence[Suggestion], prefix: str) -> list[Suggestion]:
    """What a person sees of the answer; of equal texts the first.

    `editor` sorts by sortText and leaves out what does not contain the typed characters in their order, whatever their
    case; `raw` shows everything as it came.
    """
    shown = list({found.text: found for found in reversed(answered)}.values())[::-1]
    if client == "raw":
        return shown
    if any(found.sort_text is not None for found in shown):
        shown.sort(key=_sort_text)
    if prefix:
        shown = [found for found in shown if _is_typed(prefix.casefold(), (found.filter_text or found.text).casefold())]
    return shown


def _sort_text(found: Suggestion) -> str:
    return found.text if found.sort_text is None else found.sort_text


def _is_typed(prefix: str, text: str) -> bool:
    rest = iter(text)
    return all(character in rest for character in prefix)


def with_positions(ordered: Sequence[Suggestion], shown: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Remember where the engine had put what the completion type moved."""
    place = {found.text: i for i, found in enumerate(shown, 1)}
    return tuple([replace(found, position=place[found.text]) for found in ordered])
