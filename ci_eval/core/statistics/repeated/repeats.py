"""A test whether changes between two engines could be those of one engine that answers differently each time.

In most runs, a sample of the sessions was asked twice. If all of that sample was answered alike, the engine may still
vary: if it varies in 1 % of its sessions, a sample of 20 shows nothing four times out of five. So the test reads the
changes themselves, too: an engine that is compared with itself changes a session for the better as often as for the
worse, and changes about as many sessions as differ when they are asked twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, lgamma, log

PLENTY = 15
"""The changed sessions that a sample of that size would hold, if none of its own sessions varied: sessions that may
vary unseen are then at most a fifth of the changed ones."""


def sign_test(up: int, down: int) -> float:
    """Return the exact two-sided p-value of so many changes in each direction, if both were equally likely."""
    changes, fewer = up + down, min(up, down)
    if not changes:
        return 1.0
    # Logarithms, since 2^-changes underflows from about 1,075 changes on.
    term = exp(lgamma(changes + 1) - lgamma(fewer + 1) - lgamma(changes - fewer + 1) - changes * log(2))
    tail = 0.0
    for count in range(fewer, -1, -1):
        tail += term
        # Smaller terms no longer change a float's last digit.
        if term < tail * 1e-17:
            break
        term *= count / (changes - count + 1)
    return min(1.0, 2 * tail)


@dataclass(frozen=True)
class Repeats:
    """The knowledge whether two engines answer alike when they are asked again."""

    asked: int = 0
    """The sessions of both engines together that were asked more than once."""
    differed: int = 0
    """The sessions of these that were not answered alike each time."""
    checked: bool = True
    """True if both engines were asked anything more than once."""
    whole: bool = True
    """True if all sessions were asked in several rounds of both engines, so that their noise is measured."""

    @property
    def alike(self) -> bool:
        """Return whether everything that was asked again was answered alike."""
        return self.checked and not self.differed

    @property
    def least_changed(self) -> float | None:
        """Return the share of the sessions that must have changed, unless none has, to show that the engines answer
        alike; None if they do not.

        If all sessions were asked in several rounds, their answers decide. In a sample, no difference among n sessions
        leaves it open that 3 in n vary (rule of three), which must be a small part of the sessions that changed.
        """
        if not self.alike:
            return None
        return 0.0 if self.whole else PLENTY / max(self.asked, 1)

    def shows_determinism(self, changes: float, observed: float) -> bool:
        """Return whether a change of so many of the sessions is the engines' own, and not that of an engine that
        varies. `observed`: the sessions that could have changed."""
        least = self.least_changed
        return least is not None and (not changes or changes >= least * observed)


DETERMINISTIC = Repeats()
"""The knowledge after all sessions were asked in several rounds, and answered alike."""
