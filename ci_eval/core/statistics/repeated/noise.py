"""The difference of an engine from itself: the same sessions are asked in several rounds, each by a fresh process."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from statistics import median

from ci_eval.core.model import Noise, SessionScore
from ci_eval.core.scoring import evaluated


class Rounds:
    """The differences between the rounds of each session, added up."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._sessions = 0
        self._differing = 0
        self._sums = [(0.0, 0) for _ in range(rounds)]
        self._spreads = array("d")

    def add(self, session: SessionScore) -> None:
        """Count one session, unless it was skipped."""
        if not evaluated(session):
            return
        self._sessions += 1
        self._differing += session.differing > 0
        for lookup in session.lookups:
            known = [latency for latency in lookup.latencies if latency is not None]
            # A clock may show 0 ms, against which no other time has a ratio.
            if len(known) > 1 and min(known) > 0:
                self._spreads.append(max(known) / min(known) - 1)
            for number, latency in enumerate(lookup.latencies[: self._rounds]):
                if latency is not None:
                    total, count = self._sums[number]
                    self._sums[number] = total + latency, count + 1

    def add_all(self, other: Rounds) -> None:
        """Count the sessions of another instance."""
        self._sessions += other._sessions
        self._differing += other._differing
        self._sums = [
            (total + more, count + others)
            for (total, count), (more, others) in zip(self._sums, other._sums, strict=True)
        ]
        self._spreads += other._spreads

    def noise(self) -> Noise | None:
        """Return the noise over all sessions added, or None if there was only one round."""
        if self._rounds == 1:
            return None
        return Noise(
            rounds=self._rounds,
            sessions=self._sessions,
            differing=self._differing,
            latencies=tuple([total / count if count else None for total, count in self._sums]),
            spread=median(self._spreads) if self._spreads else None,
        )


def measure_noise(sessions: Iterable[SessionScore], rounds: int) -> Noise | None:
    """Return how much an engine differed from itself in these sessions, or None if they were asked once."""
    totals = Rounds(rounds)
    for session in sessions if rounds > 1 else ():
        totals.add(session)
    return totals.noise()


def noise_text(noise: Noise) -> str:
    """Return the noise as one sentence for reports."""
    share = noise.differing / max(noise.sessions, 1)
    times = ", ".join("none" if latency is None else f"{latency:.1f}" for latency in noise.latencies)
    typical = f"; of a typical lookup, the slowest is {noise.spread:.0%} above the fastest" if noise.spread else ""
    return (
        f"asked in {noise.rounds} rounds, each with a fresh process: answers differed in {noise.differing:,} of "
        f"{noise.sessions:,} sessions ({share:.1%}); mean latency by round {times} ms{typical}"
    )
