"""Shards: the parts of one run that several machines evaluate, file by file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from ci_eval.errors import ConfigError

BIG = 2_000
"""A file with at least so many sessions counts as large."""


@dataclass(frozen=True)
class Shard:
    """Shard number `index` (from 1) of `of`."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that `I/N` stands for. Raises ConfigError."""
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if found and 1 <= int(found[1]) <= int(found[2]):
            return cls(int(found[1]), int(found[2]))
        raise ConfigError(f"--shard {text!r}: give I/N with I from 1 to N, for example 2/4")

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"


def deal(sessions: Mapping[str, int], of: int) -> dict[str, int]:
    """Path → number of the shard (from 1) that evaluates the file; `sessions`: path → number of its sessions.

    The shard of most files is drawn from their path alone, so that it stays the same when other files are added. Large
    files would be spread too unevenly by that: from the largest to the smallest, each goes to the shard with the fewest
    sessions of large files so far.
    """
    load = [0] * of
    dealt = {}
    for path, size in sorted(sessions.items(), key=lambda each: (-each[1], each[0])):
        if size >= BIG:
            place = min(range(of), key=lambda shard: (load[shard], shard))
            load[place] += size
        else:
            place = int.from_bytes(blake2b(path.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") % of
        dealt[path] = place + 1
    return dealt
