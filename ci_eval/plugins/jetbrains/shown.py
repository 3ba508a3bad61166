"""The fields of sessions, lookups and suggestions that were added in 2021."""

from __future__ import annotations

from ci_eval.core.model import Lookup, Session, Suggestion


def write_session(session: Session) -> dict[str, object]:
    """Return how much of the text may be completed, and whether the last list held it."""
    success = bool(session.lookups) and session.lookups[session.until - 1].rank is not None
    return {"completableLength": len(session.expected_text), "success": success}


def write_lookup(lookup: Lookup, number: int) -> dict[str, object]:
    """Return the lookup's offset in the session, the suggestion that was taken, and whether the list was opened for
    it."""
    taken = lookup.rank - 1 if lookup.selected and lookup.rank else -1
    return {
        "offset": len(lookup.prefix),
        "features": None,
        "selectedPosition": taken,
        "isNew": number == 0,
        "additionalInfo": {},
    }


def write_suggestion(_suggestion: Suggestion, lookup: Lookup, place: int) -> dict[str, object]:
    """Return the origin of a suggestion, and whether it is the expected one."""
    right = place == lookup.rank
    return {
        "source": "STANDARD",
        "details": {},
        "kind": "TOKEN",
        "isSelected": right and lookup.selected,
        "isRelevant": right,
    }
