"""The typing that completion saves. The metrics read all lookups of a session, in the order they were made."""

from __future__ import annotations

from ci_eval.core.contracts import Metric
from ci_eval.core.model import FAILED, LookupScore, SessionScore
from ci_eval.core.model.sessions import count_keys
from ci_eval.core.scoring import mean_over_sessions


def saved_effort(session: SessionScore) -> float:
    """Return 1 - i/L, i = length of the first prefix at which the expected text (length L) was first in the list; 0 if
    it never was.

    The deterministic user of Kharitonov et al., SIGIR 2013, takes only the first suggestion. The sum starts at i = 0.
    """
    if session.status in FAILED:
        return 0.0
    for lookup in session.lookups:
        if lookup.rank == 1:
            return max(0.0, 1 - len(lookup.prefix) / _length(session))
    return 0.0


def saved_typing(session: SessionScore) -> float:
    """Return 1 - i/L, i = length of the prefix at which the expected text (length L) was taken; 0 if it never was.

    With a modelled user, this is the saved effort of that user (Kharitonov et al., SIGIR 2013: satisfied once, at
    prefix i).
    """
    return 1 - len(taken.prefix) / _length(session) if (taken := _taken(session)) else 0.0


def _length(session: SessionScore) -> int:
    # A stored session may hold an empty text; a length of 0 would divide by zero.
    return len(session.expected_text) or 1


def _taken(session: SessionScore) -> LookupScore | None:
    """Return the lookup at which the expected text was taken, or None."""
    # A failed session saves nothing, whatever it was answered before.
    if session.status not in FAILED:
        for lookup in session.lookups:
            if lookup.selected:
                return lookup
    return None


def saved_keystrokes(session: SessionScore) -> float:
    """Return (L - keys)/L, keys = typed characters + steps from the highlighted suggestion + 1 to accept if the
    expected text was taken, else L.

    Without a modelled user the expected text is taken if that needs fewer keys than typing on, so the figure is never
    negative.
    """
    taken = _taken(session)
    if taken is None or not taken.rank:
        return 0.0
    length = _length(session)
    return (length - len(taken.prefix) - count_keys(taken.rank, taken.highlighted)) / length


METRICS: tuple[Metric, ...] = (
    mean_over_sessions(
        "ESaved",
        "share of the text left to type when the expected text first stood first",
        saved_effort,
        order=(5,),
        of_the_user=True,
        summary_of_a_user="share of the text left to type when the expected text first stood first in any list",
    ),
    mean_over_sessions(
        "TypingSaved",
        "share of the text that is not typed, since it was taken from the list, if that takes fewer keys",
        saved_typing,
        order=(5,),
        summary_of_a_user="share of the text that is not typed, since it was taken from the list",
        order_of_a_user=(0, 1),
    ),
    mean_over_sessions(
        "KeystrokesSaved",
        "share of keys saved by taking it with the arrow keys, if that takes fewer keys than typing on",
        saved_keystrokes,
        order=(5,),
        summary_of_a_user="share of keys saved by taking it with the arrow keys; below 0 if that took more than typing",
        # A user may take the expected text from far down the list.
        bounds_of_a_user=(None, 1.0),
        order_of_a_user=(0, 1),
    ),
)
