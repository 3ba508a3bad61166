"""The knowledge whether engines answer alike when they are asked again.

Only a second round, in a fresh process, or an engine that is a function of its question, shows that. A second question
to the same process sees neither an index that was not ready nor a process that crashed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, lgamma, log

from ci_eval.core.model import Determinism

RULE_OF_THREE = 3.0
"""If none of n sessions differed, at most a share of 3/n does, with 95 % (rule of three)."""


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
    """The knowledge whether engines (one of a figure, two of a difference) answer alike when they are asked again."""

    asked: int = 0
    """The sessions of all these engines together that were asked more than once."""
    differed: int = 0
    """The sessions of these that were not answered alike each time."""
    whole: bool = True
    """True if each engine is a function of its question, or was asked all sessions in several rounds."""

    @classmethod
    def of(cls, sides: Iterable[tuple[bool, int, Determinism | None]]) -> Repeats:
        """Return the knowledge about these engines: whether each is a function of its question, its rounds, and the
        sessions of it that were asked again."""
        unsure = [(rounds, state) for constructed, rounds, state in sides if not constructed]
        again = sum((state for _, state in unsure if state), Determinism())
        return cls(again.asked, again.differed, all(rounds > 1 and state for rounds, state in unsure))

    @property
    def alike(self) -> bool:
        """Return whether the engines were shown to answer alike."""
        return self.whole and not self.differed

    @property
    def unseen(self) -> float:
        """Return the share of sessions that may be answered otherwise although all rounds agreed; 0 of functions."""
        return RULE_OF_THREE / self.asked if self.asked else 0.0


DETERMINISTIC = Repeats()
"""The knowledge of engines that are functions of their question."""
