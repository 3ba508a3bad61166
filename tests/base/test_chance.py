"""Draws that depend on the seed and on what is drawn for."""

from __future__ import annotations

import pytest

from ci_eval.core.base import chance
from ci_eval.core.base.chance import draw

IDS = [f"session {number}" for number in range(2000)]


def test_a_draw_is_the_same_everywhere_and_another_for_another_seed_or_identity() -> None:
    assert round(draw(0, "a"), 6) == 0.494623
    assert len({draw(0, "a"), draw(1, "a"), draw(0, "b")}) == 3


def test_the_largest_draw_is_below_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Largest:
        def __init__(self, *_: object, digest_size: int) -> None:
            self.size = digest_size

        def digest(self) -> bytes:
            return b"\xff" * self.size

    monkeypatch.setattr(chance, "blake2b", Largest)
    assert draw(0, "a") < 1


def test_draws_are_spread_evenly() -> None:
    draws = [draw(7, each) for each in IDS]
    assert all(abs(sum(each < share for each in draws) / len(IDS) - share) < 0.04 for share in (0.1, 0.5, 0.9))
