"""The table of runs. A row is a run in its own folder: a choice of values, a project or a shard."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from ci_eval.ci import Screen
from ci_eval.core.base.shards import Shard

S = TypeVar("S")
T = TypeVar("T")
MOST_NAMED = 60
"""The most characters of a row's folder that say what the row is."""


@dataclass(frozen=True, kw_only=True)
class Row(Generic[S]):
    folder: str
    title: str
    given: S


def run_rows(
    kind: str,
    rows: Sequence[Row[S]],
    folder: Path,
    run: Callable[[S, Path], T],
    screen: Screen,
    shard: Shard | None = None,
) -> dict[str, T]:
    """Run a job for each row, in its folder below `folder`; return its result by the name of that folder. `kind`: the
    word for a row in messages. `shard`: only its own rows are run."""
    done = {}
    for number, row in enumerate(rows, 1):
        if shard is None or is_of(number, shard):
            screen.say(f"{kind} {number} of {len(rows)}: {row.title}")
            done[row.folder] = run(row.given, folder / row.folder)
    return done


def is_of(number: int, shard: Shard) -> bool:
    """Return whether the shard has the row of that number (from 1). Rows are dealt in turns."""
    return (number - 1) % shard.of == shard.index - 1


def name_row(number: int, text: str, otherwise: str, *, ending: bool = False) -> str:
    """Return the name of the folder of the row with that number (from 1), by its text, or its `ending` if it is long.
    `otherwise`: the name of a row whose text has nothing that a folder's name may have."""
    # The number keeps apart what the slug makes equal.
    characters = re.sub(r"[^A-Za-z0-9._-]+", "-", text)
    characters = characters[-MOST_NAMED:] if ending else characters[:MOST_NAMED]
    return f"{number:02}-{characters.strip('-.') or otherwise}"
