"""The shards of a run, which several machines evaluate. A shard has whole files, and pieces of large files."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Mapping
from itertools import accumulate, pairwise

import msgspec

from ci_eval.core.base.errors import ConfigError

EVEN = 1.1
"""The largest allowed ratio of the largest shard to the mean shard."""
SMALL = 20
"""About the smallest number of sessions in a piece of a file."""
FINER = 0.8
"""The factor by which the largest size of a piece shrinks from one attempt to the next."""


class Shard(msgspec.Struct, frozen=True):
    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parse a shard such as `1/4`. Raises ConfigError."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if match and 1 <= int(match[1]) <= int(match[2]):
            return cls(int(match[1]), int(match[2]))
        raise ConfigError(f"--shard {text!r}: give I/N with I from 1 to N, for example 2/4")

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"


def deal(sessions: Mapping[str, int], of: int) -> dict[str, dict[int, range]]:
    """Return path → number of a shard (from 1) → range of the indices of the file's sessions that the shard evaluates.

    `sessions`: path → number of sessions. Files are dealt from the largest to the smallest, each to the shard with the
    fewest sessions so far (LPT: Graham 1969, "Bounds on multiprocessing timing anomalies"). If the largest shard then
    has more than EVEN times the mean, the largest files are cut into pieces, and the pieces are dealt.
    """
    mean = sum(sessions.values()) / of
    most = max(sessions.values(), default=0)
    while True:
        pieces = {path: max(math.ceil(size / most), 1) if size else 1 for path, size in sessions.items()}
        cut = []
        for path, count in pieces.items():
            ends = [sessions[path] * number // count for number in range(count + 1)]
            cut += [(end - begin, path) for begin, end in pairwise(ends)]
        waiting = [(0, shard) for shard in range(1, of + 1)]
        # Path → shard → number of the file's sessions in the shard.
        shares: dict[str, dict[int, int]] = {path: {} for path in sessions}
        # Ties are broken by path, so that every machine computes the same shards.
        for size, path in sorted(cut, key=lambda piece: (-piece[0], piece[1])):
            load, shard = heapq.heappop(waiting)
            heapq.heappush(waiting, (load + size, shard))
            shares[path][shard] = shares[path].get(shard, 0) + size
        if max(waiting)[0] <= EVEN * mean or most <= SMALL:
            return {path: _ranges(shares[path]) for path in sessions}
        # The shards are uneven: try again with smaller pieces.
        most = max(int(min(most, mean) * FINER), SMALL)


def _ranges(share: Mapping[int, int]) -> dict[int, range]:
    ends = accumulate(share[shard] for shard in sorted(share))
    return {shard: range(end - share[shard], end) for shard, end in zip(sorted(share), ends, strict=True)}
