"""The bound on what an engine may waver by that was asked its sessions once, and some of them a second time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from ci_eval.core.model import Determinism, SessionScore
from ci_eval.core.statistics.repeated.wavering import NoiseVariance
from ci_eval.core.statistics.student import NORMAL, Floats


@dataclass
class SecondQuestions:
    """The sessions that were asked a second time by the same process, and the files that they are in."""

    sessions: Determinism = field(default_factory=Determinism)
    files: Determinism = field(default_factory=Determinism)

    def add(self, again: Collection[SessionScore]) -> None:
        """Add the sessions of one file that were asked again."""
        differed = sum(session.differing > 0 for session in again)
        self.sessions += Determinism(asked=len(again), differed=differed)
        self.files += Determinism(asked=int(len(again) > 0), differed=int(differed > 0))

    def add_all(self, other: SecondQuestions) -> None:
        """Add what another process counted in other files."""
        self.sessions += other.sessions
        self.files += other.files

    def bound(self, sizes: Floats, span: float) -> NoiseVariance:
        """Return an upper bound on the variance of a mean over sessions whose answers vary file by file.

        `sizes`: the sessions of each file. `span`: the most that one session may move by. A file that is answered
        otherwise half of the time has a variance of 1/4 of its sessions' square; asked twice, it differs half of the
        time. A figure moves by no more than the share of the sessions that may be answered otherwise.
        """
        of_files = most(self.files) / 2 * float((sizes**2).sum()) / max(float(sizes.sum()) ** 2, 1)
        variance = span**2 * min(of_files, (most(self.sessions) / NORMAL.inv_cdf(0.975)) ** 2)
        return NoiseVariance(np.array([variance]), np.array([np.inf]))


def most(state: Determinism) -> float:
    """Return the share that may differ, with 95 %: close to Poisson's upper bound, which for none is 3 of those
    asked."""
    return min(1.0, (state.differed + 3 + 2 * sqrt(state.differed)) / max(state.asked, 1))
