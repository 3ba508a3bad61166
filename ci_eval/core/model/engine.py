"""The configuration that an engine is sent, the machine it ran on, and the time and memory it used there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from ci_eval.core.model.tokens import Milliseconds, Number, Value

Seconds = Annotated[float, Meta(ge=0, le=1e12)]

AutoImported = Literal["on", "off", "none", "unknown"]
"""The policy on names that would first have to be imported, if known: `none` = the engine never suggests them,
`unknown` = ci-eval does not know, since the engine was not configured either way."""

SET = "(set)"


class SentConfiguration(Value, frozen=True, kw_only=True):
    """The configuration that an engine is sent. Folders have names: `{engine}` is where it is installed, `{root}` the
    project, `{dependencies}` what the project needs, `{scratch}` the temporary folder that it may write to."""

    like: str = ""
    """The named engine whose configuration a command was given; "" = none."""
    arguments: tuple[str, ...] = ()
    prepared: tuple[str, ...] = ()
    """The arguments of a program that is run before it starts."""
    settings: dict[str, Any] = {}
    options: Any = None
    environment: dict[str, str] = {}
    """The environment variables of its process; of those that may be secrets, the names alone."""
    files: dict[str, str] = {}
    """The content of the files that were written for it, by path; of long ones, size and digest."""
    capabilities: dict[str, Any] = {}
    language_ids: dict[str, str] = {}
    """The name of the language in the protocol, by suffix of a file."""
    quirks: dict[str, Any] = {}
    """The special treatment that the engine gets, unlike other servers."""
    auto_import: AutoImported = "unknown"
    dependencies: Literal["told", "not told", "none"] = "none"
    """Whether the engine knows the location of the packages that the project needs; `none` = none installed."""
    limits: dict[str, float] = {}
    """The limits `timeout` and `heap`, `memory` and `suggestions`: seconds, bytes, and suggestions that count."""


class Condition(Value, frozen=True, kw_only=True):
    """A difference between two runs: their grammars, seeds, or configurations sent to the engines; None = not sent."""

    name: str
    base: str | None
    new: str | None


class CpuTimes(Value, frozen=True, kw_only=True):
    """The seconds of CPU that a stage took."""

    engine: Seconds = 0.0
    """Those of the engine's processes; of an engine of another machine, or within ci-eval's own process, 0."""
    checks: Seconds = 0.0
    """Those of engine and ci-eval while sessions were asked once more, to see whether answers differ."""
    own: Seconds = 0.0
    """The rest of ci-eval's own, without the supervisors of engines."""

    def __add__(self, other: CpuTimes) -> CpuTimes:
        return CpuTimes(
            engine=round(self.engine + other.engine, 3),
            checks=round(self.checks + other.checks, 3),
            own=round(self.own + other.own, 3),
        )

    @property
    def total(self) -> float:
        return self.engine + self.checks + self.own


class MachineState(Value, frozen=True, kw_only=True):
    """The load of the machine while the engine was asked; None if the system does not say."""

    load: float | None = None
    """The number of processes that ran or waited for a processor, on average over the last minute."""
    pressure: float | None = None
    """The share of the time in which at least one process waited for a processor."""
    cores: int = 0
    busy: bool = False
    """True if times say more about the machine than about the engine."""


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
    """The number of starts after which announced work was not done within `engine.ready`."""
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
