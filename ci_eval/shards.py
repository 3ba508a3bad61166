"""One run dealt out to several machines: which of them does which file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from ci_eval.errors import ConfigError

BIG = 2_000
"""Sessions from which on a file counts as big."""


@dataclass(frozen=True)
class Shard:
    """The `index`-th of `of`, from 1."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """`I/N`. Raises ConfigError."""
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if found and 1 <= int(found[1]) <= int(found[2]):
            return cls(int(found[1]), int(found[2]))
        raise ConfigError(f"--shard {text!r}: give I/N with I from 1 to N, for example 2/4")

    def __str__(self) -> str:
        return f"{self.index}/{self.of}"


def deal(sessions: Mapping[str, int], of: int) -> dict[str, int]:
    """Path → the shard (from 1) that does it, by the number of its sessions.

    A file stays where it is when others are added: where it belongs is drawn from its path alone. Only the big ones go,
    in order of size, to where least is so far, since a draw would deal them unevenly; a new one may move smaller ones.
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
