"""Files that are small as long as nobody unpacks them."""

from __future__ import annotations

import gzip

from ci_eval.core.base import stored


def zeros(megabytes: int, *, every: int) -> bytes:
    """Packed to a thousandth; a line ends after so many bytes."""
    return gzip.compress(_lines(megabytes, every), 6)


def packed_zeros(megabytes: int, *, every: int) -> bytes:
    """The same as sessions are packed, to much less."""
    return stored.pack([_lines(megabytes, every)])


def _lines(megabytes: int, every: int) -> bytes:
    return (b"0" * (every - 1) + b"\n") * (megabytes * 1_000_000 // every)
