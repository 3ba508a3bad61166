"""The time and memory that an engine uses on the machine."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from ci_eval.core.model.engine.determinism import Determinism
from ci_eval.core.model.tokens import Milliseconds, Number, Value

MOST_STARTS = 1_000
"""The most starts whose times are stored."""


class Footprint(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The start-up times of an engine, and the memory it held, in a whole run."""

    start_ups: Annotated[tuple[Milliseconds, ...], Meta(max_length=MOST_STARTS)] = ()
    """The time of each start, in rising order: until the first answer was there, without time that was not the
    engine's. An engine is started by each worker, in each round, and after a crash."""
    waited: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    """The seconds spent, in all starts, on waiting for work that the engine had announced."""
    unready: Number = 0
    """The number of starts after which the engine still announced work after a wait as long as `engine.ready`
    allows."""
    dropped: Number = 0
    """The number of items of its lists that could not be read, and are missing in the displayed list."""
    deletion: Determinism = Determinism()
    """The sessions that were asked again with their text reached by a deletion, and those of them that were answered
    differently than after typing."""
    memory: Annotated[int, Meta(ge=0, le=2**53)] | None = None
    """The most bytes that were resident in the processes of one engine; None if that is not known."""
    weighed: Number = 0
    """The number of measurements of its processes: after each file, and before they are ended for a failure."""
    of_worker: bool = False
    """True if the engine has no process of its own, so that the memory is that of ci-eval's whole worker process."""


UNKNOWN = Footprint()
"""A footprint of which nothing is known."""
