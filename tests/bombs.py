"""Files that are small as long as nobody unpacks them."""

from __future__ import annotations

from ci_eval.core.base import stored


def packed_zeros(megabytes: int, *, every: int) -> bytes:
    """Packed to a thousandth or less; a line ends after so many bytes."""
    return stored.pack([(b"0" * (every - 1) + b"\n") * (megabytes * 1_000_000 // every)])
