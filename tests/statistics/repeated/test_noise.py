"""How far an engine differs from itself."""

from __future__ import annotations

import pytest

from ci_eval.core.model import Kind, LookupScore, Properties, SessionScore, Status
from ci_eval.core.statistics.repeated.noise import Rounds, measure_noise, noise_text


def session(*latencies: float | None, differing: int = 0, status: Status = Status.OK) -> SessionScore:
    lookup = LookupScore(prefix="", total=1, rank=1, latency=1.0, latencies=latencies)
    return SessionScore(
        id="1", file="a", offset=0, expected_text="x", properties=Properties(kind=Kind.FIELD), status=status,
        differing=differing, lookups=(lookup,),
    )  # fmt: skip


def test_rounds_are_averaged_and_what_is_missing_is_left_out() -> None:
    measured = measure_noise([session(10, 12, differing=1), session(20, None), session(status=Status.SKIPPED)], 2)
    assert measured
    assert (measured.sessions, measured.differing, measured.latencies) == (2, 1, (15, 12))
    assert measured.spread == pytest.approx(0.2)
    assert "answers differed in 1 of 2 sessions (50.0%); mean latency by round 15.0, 12.0 ms" in noise_text(measured)


def test_one_round_has_no_noise() -> None:
    assert measure_noise([session(10)], 1) is None


def test_sessions_may_be_added_up_apart() -> None:
    all_sessions = [session(10, 12, differing=1), session(20, None), session(8, 6)]
    parts = [Rounds(2), Rounds(2)]
    for number, each in enumerate(all_sessions):
        parts[number > 0].add(each)
    parts[0].add_all(parts[1])
    assert parts[0].noise() == measure_noise(all_sessions, 2)
