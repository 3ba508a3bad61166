"""The time and memory that an engine uses on the machine, and how alike it answers."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from ci_eval.core.model.tokens import Milliseconds, Number, Value

State = Literal["exact", "sampled", "once", "noisy", "weighted", "none"]
"""The reliability of a figure.

exact: all sessions were asked, in two rounds that agree, or of an engine that is a function of its question. sampled:
some were asked. once: all were asked, in one round. noisy: answers differ when sessions are asked again. weighted:
sessions stand for different numbers of others. none: there is no figure, or none to compare it with.
"""


class Determinism(Value, frozen=True, kw_only=True):
    """The sessions that were asked more than once, and those of them that were not answered alike each time."""

    asked: Number = 0
    differed: Number = 0

    def __add__(self, other: Determinism) -> Determinism:
        return Determinism(asked=self.asked + other.asked, differed=self.differed + other.differed)

    @property
    def share(self) -> float:
        """The share of the sessions asked again that differed; 0 if none was asked again."""
        return self.differed / self.asked if self.asked else 0.0


MOST_STARTS = 1_000
"""The most starts whose times are stored."""


class Footprint(Value, frozen=True, kw_only=True, omit_defaults=True):
    """The start-up times of an engine, and the memory it held, in a whole run."""

    start_ups: Annotated[tuple[Milliseconds, ...], Meta(max_length=MOST_STARTS)] = ()
    """The time of each start, in rising order: until the first answer was there, without time that was not the
    engine's. An engine is started by each worker, in each round, and after a crash."""
    start_cpus: Annotated[tuple[Milliseconds, ...], Meta(max_length=MOST_STARTS)] = ()
    """The CPU time of the engine's processes up to the first answer after each start, in rising order, if known."""
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
