"""Random numbers that depend only on a seed and an identity."""

from __future__ import annotations

from hashlib import blake2b
from math import nextafter

BELOW_ONE = nextafter(1.0, 0.0)


def draw(seed: int, identity: str) -> float:
    """Return a random number in [0, 1). It is the same in every run, worker and shard with this seed and identity."""
    digest = blake2b(f"{seed}\0{identity}".encode(), digest_size=7).digest()
    # The largest digests would be rounded to 1.
    return min(int.from_bytes(digest, "big") / 2**56, BELOW_ONE)
