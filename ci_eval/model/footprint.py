"""What an engine takes of the machine."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.model.tokens import Milliseconds, Number, Value

MOST_STARTS = 1_000
"""Starts whose times are kept."""


class Footprint(Value, frozen=True, kw_only=True, omit_defaults=True):
    """How long an engine took to start, and how much memory it held, in a whole run."""

    start_ups: Annotated[tuple[Milliseconds, ...], Meta(max_length=MOST_STARTS)] = ()
    """Of each start, in rising order: from then until the first answer was there, but for what was not the engine's. An
    engine is started by each worker, in each round, and after a crash."""
    waited: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    """Seconds spent, in all starts, on waiting for work that the engine had announced."""
    unready: Number = 0
    """Starts after which it still announced work when that had been waited for as long as `engine.ready` allows."""
    dropped: Number = 0
    """Items of its lists that could not be read, and are missing in what was shown."""
    memory: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    """The most bytes that were resident in the processes of one engine; None where that is not known."""
    weighed: Number = 0
    """How often its processes were looked at: after each file, and before they are ended for a failure."""
    of_worker: bool = False
    """Whether it has no process of its own, so that the memory is that of ci-eval's worker process, all in all."""


UNKNOWN = Footprint()
"""Nothing is known."""
