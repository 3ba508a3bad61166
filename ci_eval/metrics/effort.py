"""How much typing completion saves. Both look at all lookups of a session, in the order they were made."""

from __future__ import annotations

from ci_eval.contracts import Metric
from ci_eval.model import FAILED, SessionScore
from ci_eval.support.observing import mean_over_sessions


def effort_saved(session: SessionScore) -> float:
    """1 - i/L, i = length of the first prefix at which the expected text (length L) stood first; 0 if it never did.

    The deterministic user of Kharitonov et al., SIGIR 2013: takes the first place only. The sum starts at i = 0.
    """
    if session.status in FAILED:
        return 0.0
    prefixes = (len(lookup.prefix) for lookup in session.lookups if lookup.rank == 1)
    length = len(session.expected_text)
    return max(0.0, 1 - next(prefixes, length) / length)


def keystrokes_saved(session: SessionScore) -> float:
    """(L - keys)/L, keys = typed characters + (place - 1) steps down + 1 to accept where it was selected, else L.

    Without a user model the expected text is selected where that takes fewer keys than typing on, so never negative.
    """
    length = len(session.expected_text)
    for lookup in session.lookups:
        if lookup.selected and lookup.rank is not None:
            return (length - len(lookup.prefix) - lookup.rank) / length
    return 0.0


METRICS: tuple[Metric, ...] = (
    mean_over_sessions(
        "ESaved", "share of the text left to type when the expected text first stood first", effort_saved
    ),
    mean_over_sessions(
        "KeystrokesSaved",
        "share of keys saved by selecting with the arrow keys wherever that is shorter",
        keystrokes_saved,
    ),
)
