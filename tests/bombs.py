"""Files that are small as long as nobody unpacks them."""

from __future__ import annotations

import gzip


def zeros(megabytes: int, *, every: int) -> bytes:
    """Packed to a thousandth; a line ends after so many bytes."""
    return gzip.compress((b"0" * (every - 1) + b"\n") * (megabytes * 1_000_000 // every), 6)
