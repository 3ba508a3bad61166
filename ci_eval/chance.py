"""Random numbers that depend on nothing but the seed and what is drawn for."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b


def draw(seed: int, identity: str) -> float:
    """A random number in [0, 1); the same for the same seed and identity, in every run, worker and shard."""
    digest = blake2b(f"{seed}\0{identity}".encode(), digest_size=7).digest()
    return int.from_bytes(digest, "big") / 2**56


def threshold(identities: Iterable[str], *, seed: int, probability: float, limit: int | None) -> float:
    """The number below which the draws of chosen identities are: each is chosen with `probability`, and at most `limit`
    are.

    The identities are only looked at where there is a limit.
    """
    if limit is None:
        return probability
    draws = sorted(value for value in (draw(seed, identity) for identity in identities) if value < probability)
    return draws[limit] if limit < len(draws) else probability
